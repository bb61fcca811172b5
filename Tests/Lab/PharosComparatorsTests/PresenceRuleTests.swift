import PharosComparators
import PharosModel
import Testing

@Suite("Rules of presence")
struct PresenceRuleTests {
  @Test(
    "one spike of level enters, and silence ends the visit when the rule looks next",
    arguments: [
      ("fixed 10 s", SilenceRule.fixed(.seconds(10)) as any Comparator, ["enter 0.0", "exit 10.0"]),
      // 10 s lie within the tenth cycle of 1.1 s, which ends at 11.0 s; 30 s within the 28th, at 30.8 s.
      ("AltBeacon 10 s", SilenceRule.altBeacon(seconds: 10), ["enter 0.0", "exit 11.0"]),
      ("AltBeacon 30 s", SilenceRule.altBeacon(seconds: 30), ["enter 0.0", "exit 30.8"]),
      ("Core Location-like 30 s", SilenceRule.coreLocationLike, ["enter 0.0", "exit 30.0"]),
      ("reelyActive 15 s", ReelyActive(), ["enter 1.0", "exit 15.0"]),
      ("room-assistant 60 s", RoomAssistant(), ["enter 0.0", "exit 60.0"]),
      // The 29th look of 1.05 s is the first after 30 s.
      ("Bermuda 30 s", Bermuda(), ["enter 0.0", "exit 30.5"]),
      ("ESPresense 120 s", ESPresense<NearestNode>(), ["enter 0.0", "exit 120.0"]),
    ]
  )
  func spike(name: String, rule: any Comparator, expected: [String]) {
    var playback = Playback(any: rule)
    #expect(playback.rule.name == name)
    playback.receive(at: 0, level: -95)
    playback.advance(to: 300)
    #expect(playback.lines() == expected)
  }

  @Test(
    "a beacon of ten seconds flaps under a time-out of ten as soon as an advert is lost",
    arguments: [
      ("x-x-x-x-x-", 0, "none lost"),
      ("x-x---x-x-", 1, "one lost"),
      ("x-x---x---x-", 2, "every second lost"),
    ]
  )
  func flapping(picture: String, exits: Int, what: String) {
    var playback = Playback(SilenceRule.altBeacon(seconds: 10))
    playback.play(picture, step: 5)
    #expect(playback.exits == exits, "\(what): \(playback.lines())")
    var patient = Playback(SilenceRule.altBeacon(seconds: 30))
    patient.play(picture, step: 5)
    #expect(patient.exits == 0)
  }

  @Test("an advert at the deadline still counts, one after it begins a new visit")
  func boundary() {
    var onTime = Playback(SilenceRule.fixed(.seconds(10)))
    onTime.receive(at: 0)
    onTime.receive(at: 10)
    onTime.advance(to: 19)
    #expect(onTime.lines() == ["enter 0.0"])
    var late = Playback(SilenceRule.fixed(.seconds(10)))
    late.receive(at: 0)
    late.receive(at: 10.5)
    late.advance(to: 20.5)
    #expect(late.lines() == ["enter 0.0", "exit 10.0", "enter 10.5", "exit 20.5"])
  }

  @Test("AltBeacon looks at the ends of scan cycles only, a packet as old as the period being young enough")
  func scanCycle() {
    var playback = Playback(SilenceRule.altBeacon(seconds: 10))
    playback.receive(at: 0)
    // 1.0 + 10 s is 11.0 s, the end of the tenth cycle: not older than the period, so the eleventh's end, 12.1 s.
    playback.receive(at: 1)
    playback.advance(to: 12)
    #expect(playback.lines() == ["enter 0.0"])
    playback.advance(to: 12.1)
    #expect(playback.lines() == ["enter 0.0", "exit 12.1"])
  }

  @Test("a telephone's rule says both enter and exit at whole seconds")
  func seconds() {
    var playback = Playback(SilenceRule.coreLocationLike)
    playback.receive(observer: 0, beacon: 1, at: 0)
    playback.receive(at: 0.35)
    playback.receive(at: 0.7)
    playback.advance(to: 60)
    #expect(playback.lines() == ["enter 1.0", "exit 31.0"])
  }

  @Test("telephones decide each for itself, sites together")
  func scopes() {
    var phones = Playback(SilenceRule.altBeacon(seconds: 10))
    var site = Playback(RoomAssistant())
    for step in 0..<40 {
      phones.receive(observer: Int32(step / 20), at: Double(step))
      site.receive(observer: Int32(step / 20), at: Double(step))
    }
    #expect(phones.lines() == ["enter 0.0", "enter 20.0", "exit 29.7"])
    #expect(phones.verdicts.map(\.change) == [.enter(observer: 0), .enter(observer: 1), .exit(observer: 0)])
    #expect(site.verdicts.map(\.change) == [.enter(observer: nil)])
  }

  @Test("the exit of the longest silent beacon is reported first, however adverts of several beacons mix")
  func order() {
    var playback = Playback(SilenceRule.fixed(.seconds(5)))
    for (beacon, time) in [(2, 0.0), (0, 1), (1, 1.5), (2, 3), (0, 3.5)] {
      playback.receive(beacon: Int32(beacon), at: time)
    }
    playback.advance(to: 60)
    let exits = playback.verdicts.suffix(3)
    #expect(exits.map(\.beacon) == [1, 2, 0])
    #expect(exits.map { ($0.time - Playback.start).seconds } == [6.5, 8, 8.5])
  }
}
