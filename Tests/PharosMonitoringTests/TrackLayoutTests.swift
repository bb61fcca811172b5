import PharosEvents
import PharosMonitoring
import PharosReports
import PharosTestSupport
import Testing

@Suite("What a track holds in its 128 bytes")
struct TrackLayoutTests {
  static let address = DeviceAddress(bits: 0xAC23_3FA0_0001, kind: .public)

  static func track(_ beacon: BeaconID = Timeline.beacon(), policies: [UInt16] = [3]) -> Track {
    var set = MatchSet()
    set.policies = policies
    return Track(beacon: beacon, at: Timeline.at(0), number: 0, set: set, epoch: 7)
  }

  @Test(
    "identities of every kind come back, keyed by an address or not",
    arguments: [
      Timeline.beacon(), Timeline.beacon().keyed(by: address), .address(address),
      .eddystone(EddystoneNamespace(high: 5, low: 6), instance: 7),
      BeaconID.eddystone(EddystoneNamespace(high: 5, low: 6), instance: 7).keyed(by: address),
    ]
  )
  func identities(beacon: BeaconID) {
    var track = TrackLayoutTests.track(beacon)
    #expect(track.beacon == beacon)
    #expect(track.isKnown(as: beacon, epoch: 7))
    #expect(!track.isKnown(as: beacon, epoch: 8))
    #expect(!track.isKnown(as: Timeline.beacon(9, 9), epoch: 7))
    // Whatever address a sample brings, that of an identity stays.
    track.sampleKey = 5 << 48 | 0x1122_3344_5566
    track.surroundings = 2
    track.isCrowd = true
    #expect(track.beacon == beacon)
    #expect(track.sampleKey >> 48 == 5)
    track.isLive = false
    #expect(!track.isKnown(as: beacon, epoch: 7))
  }

  @Test(
    "a level at one metre comes back, whole or not",
    arguments: [-59, -128, 0, 127, -59.25, 1e6, .infinity, .nan]
  )
  func powers(power: Float) {
    var track = TrackLayoutTests.track()
    #expect(track.measuredPower == nil)
    track.power = power
    #expect(track.power == power || power.isNaN && track.power.isNaN)
    #expect(track.measuredPower == (power.isNaN ? nil : Double(power)))
  }

  @Test("the beginning of a sample is known as long as reports may join it")
  func starts() {
    var track = TrackLayoutTests.track()
    #expect(track.sampleStart == .distantPast)
    for nanoseconds: Int64 in [0, 1, 14_999_999, 15_000_000] {
      track.sampleStart = track.lastHeard - TimeSpan(nanoseconds: nanoseconds)
      #expect(track.sampleStart == track.lastHeard - TimeSpan(nanoseconds: nanoseconds))
    }
    for nanoseconds: Int64 in [-1, 15_000_001, .max] {
      track.sampleStart = track.lastHeard - TimeSpan(nanoseconds: nanoseconds)
      #expect(track.sampleStart == .distantPast)
    }
  }

  @Test("presences come back, in the track or in its extras", arguments: Seeds.drawn(0..<20))
  func presences(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let count = seed % 3 + 1
    var track = TrackLayoutTests.track(policies: (0..<UInt16(count)).map { $0 + 3 })
    for _ in 0..<200 {
      let place = Int.random(in: 0..<count, using: &generator)
      var presence = Presence(policy: UInt16(place + 3))
      presence.phase = Presence.Phase(rawValue: .random(in: 0...2, using: &generator)) ?? .outside
      presence.isWaiting = .random(using: &generator)
      presence.allowed =
        [.forever, .milliseconds(7_350), TimeSpan(nanoseconds: 5), .seconds(1e8)].randomElement(
          using: &generator
        )
        ?? .zero
      let time = Timeline.at(.random(in: 0...1_000, using: &generator))
      if presence.phase == .outside { presence.mark = time } else { presence.began = time }
      if Bool.random(using: &generator) { presence.setLevels(enter: -70, exit: -80) }
      if Int.random(in: 0..<4, using: &generator) == 0 { presence.earlier = [time] }
      track[presence: place] = presence
      let back = track[presence: place]
      #expect(back.policy == presence.policy)
      #expect(back.phase == presence.phase && back.isWaiting == presence.isWaiting)
      #expect(back.allowed == presence.allowed && back.since == presence.since)
      #expect(presence.phase != .outside || back.mark == presence.mark)
      #expect(back.enterLevel == presence.enterLevel || presence.enterLevel.isNaN && back.enterLevel.isNaN)
      #expect(back.earlier == presence.earlier)
      #expect(track.policy(at: place) == place + 3)
      #expect(track.isHere(at: place) == presence.isHere && track.isWaiting(at: place) == presence.isWaiting)
    }
    #expect(track.presenceCount == count)
  }

  @Test("extras go when nothing is left in them, and a copy shares none that are changed")
  func extras() {
    var track = TrackLayoutTests.track()
    track.noteExtras()
    #expect(track.box == nil)
    var history = track.history
    history.shorter = 0.5
    history.runs = 3
    track.history = history
    #expect(track.history.shorter == 0.5)
    var copy = track
    history.shorter = 0.25
    copy.history = history
    #expect(track.history.shorter == 0.5)
    #expect(copy.history.shorter == 0.25)
    #expect(track.box !== copy.box)
    track.declaredInterval = 2
    _ = track.turnWindow()
    #expect(track.declaredInterval == 2)
    track.declaredInterval = nil
    _ = track.turnWindow()
    #expect(track.box == nil)
    #expect(track.runs == 3)
  }

  @Test("counts of gaps hold what four bytes would", arguments: Seeds.drawn(0..<10))
  func gapCounts(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var counts = GapCounts()
    var (divisor, gaps, regular, shorts): (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
    for _ in 0..<500 {
      let multiple = UInt8.random(in: 1...16, using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: (regular, counts.regular) = (multiple % 9, multiple % 9)
      case 1: (shorts, counts.shorts) = (multiple % 8, multiple % 8)
      case 2:
        divisor = 1
        gaps += 1
        counts.noteOne()
        if gaps == GapCounts.window { (divisor, gaps) = (0, 0) }
      default:
        divisor = GapCounts.commonDivisor(multiple, divisor)
        let common = divisor
        gaps += 1
        if gaps == GapCounts.window { (divisor, gaps) = (0, 0) }
        #expect(counts.note(multiple: multiple) == (gaps == 0 && common >= 2))
      }
      #expect(
        [counts.divisor, counts.gaps, counts.regular, counts.shorts] == [divisor, gaps, regular, shorts]
      )
    }
  }
}
