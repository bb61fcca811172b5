import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("An outage is not a departure")
struct OutageTests {
  static let modes: [ObserverEntry.Liveness] = [.auto, .heartbeat, .traffic]

  private static func drill(_ kind: LifeDrill.Trouble, _ span: Double, seed: UInt64) -> LifeDrill {
    var drill = LifeDrill()
    drill.tags = 4
    drill.length = 340
    let start = 200 + Double(seed % 7) / 3
    drill.troubles = [(kind, start, start + span)]
    return drill
  }

  @Test(
    "tags that stay neither exit nor enter again",
    arguments: [
      (LifeDrill.Trouble.dead, 60.0), (.dead, 8), (.restarted, 20), (.hung, 60), (.lost, 15),
      (.congested(0.1), 40),
    ],
    OutageTests.modes
  )
  func stay(trouble: (kind: LifeDrill.Trouble, span: Double), liveness: ObserverEntry.Liveness) {
    for seed in 0..<3 as Range<UInt64> {
      var drill = OutageTests.drill(trouble.kind, trouble.span, seed: seed)
      drill.liveness = liveness
      drill.interval = seed == 0 ? 0.2 : 1
      drill.loss = seed == 2 ? 0.3 : 0
      let outcome = drill.play(seed: seed)
      #expect(outcome.falseExits == 0, "seed \(seed)")
      #expect(outcome.secondEnters == 0, "seed \(seed)")
    }
  }

  @Test(
    "a hung radio whose heartbeats count nothing at all makes regions unmonitored",
    arguments: [true, false]
  )
  func hung(counts: Bool) {
    var drill = OutageTests.drill(.hung, 60, seed: 1)
    drill.countsAdverts = counts
    let outcome = drill.play(seed: 1)
    #expect(outcome.falseExits == 0)
    #expect(outcome.offline == 1)
  }

  @Test(
    "an exit during an outage is published after it",
    arguments: [LifeDrill.Trouble.dead, .restarted, .hung]
  )
  func leavesDuringOutage(kind: LifeDrill.Trouble) {
    for seed in 0..<3 as Range<UInt64> {
      var drill = OutageTests.drill(kind, 40, seed: seed)
      drill.silence = .fixed(8)
      drill.departures = [220, 230]
      let outcome = drill.play(seed: seed)
      #expect(outcome.falseExits == 0, "seed \(seed)")
      #expect(outcome.omitted == 0, "seed \(seed)")
      // Back 23.4 s after the last advert at the latest; then the allowed gap, the lag and a heartbeat.
      let latest = 23.4 + 8 + 2.5
      #expect(outcome.delays.allSatisfy { $0 < latest }, "seed \(seed)")
    }
  }

  @Test("a gateway that is up for 20 s and down for 40 s makes no event", arguments: OutageTests.modes)
  func flapping(liveness: ObserverEntry.Liveness) {
    var drill = LifeDrill()
    drill.tags = 2
    drill.liveness = liveness
    drill.length = 1_500
    drill.troubles = (0..<20).map { (.dead, 200 + Double($0) * 60 + 20, 200 + Double($0 + 1) * 60) }
    let outcome = drill.play(seed: 5)
    #expect(outcome.falseExits == 0)
    #expect(outcome.secondEnters == 0)
  }

  @Test("the time that datagrams lost on the way cover is no silence")
  func lostDatagrams() {
    var timeline = Timeline(Timeline.site([Timeline.region(silence: .seconds(5))]))
    func head(_ sequence: UInt32, at second: Double) {
      let head = Transmission(bootID: 1, sequence: sequence, uptime: .zero)
      timeline.give(.transmission(head), at: second)
    }
    for second in 0...20 {
      head(UInt32(second), at: Double(second))
      timeline.receive(at: Double(second))
    }
    // Three of four datagrams are lost: 3 s of these 4 say nothing.
    head(24, at: 24)
    timeline.advance(to: 28)
    #expect(timeline.story() == ["regionEnter door 0.0"])
    timeline.advance(to: 40)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 28.0"])
    #expect(timeline.transitions(.regionExit).first?.evidence.gap == .seconds(5))
  }

  /// That the last datagram of an upload was lost shows only when the next upload comes.
  @Test(
    "whichever datagram of an upload but the last is lost, no beacon in it is gone",
    arguments: Seeds.drawn(0..<6)
  )
  func lostUploads(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let period = Double.random(in: 10...60, using: &generator)
    let interval = Double.random(in: 0.5...5, using: &generator)
    let lost = (
      upload: Int.random(in: 20..<50, using: &generator), part: Int.random(in: 0..<2, using: &generator)
    )
    let regions = (0..<6).map { number in
      let constraint = BeaconConstraint.proximity(Timeline.uuid, major: UInt16(number))
      return Region(identifier: "tag \(number)", constraint: constraint)
    }
    var timeline = Timeline(Timeline.site(regions, liveness: .auto))
    var sequence: UInt32 = 0
    for upload in 1...60 {
      let end = Double(upload) * period
      for part in 0..<3 {
        sequence += 1
        guard (upload, part) != lost else { continue }
        let received = end + Double(part) * 0.01
        let head = Transmission(bootID: 1, sequence: sequence, uptime: .zero)
        timeline.give(.transmission(head), at: received)
        for tag in [2 * part, 2 * part + 1] {
          let phase = interval * Double(tag) / 6
          var sent = ((end - period - phase) / interval).rounded(.up) * interval + phase
          while sent < end {
            timeline.receive(UInt16(tag), 1, at: received, timing: .age(.seconds(received - sent)))
            sent += interval
          }
        }
      }
    }
    #expect(timeline.events.count { $0.kind == .regionEnter } == 6)
    #expect(!timeline.events.contains { $0.kind == .regionExit }, "\(period) s, \(interval) s, \(lost)")
  }

  @Test("a backlog that an outage held up does not make the lag longer")
  func backlog() throws {
    var timeline = Timeline(Timeline.site([Timeline.region(silence: .seconds(5))], liveness: .auto))
    for second in 0...120 {
      timeline.give(.heartbeat(Heartbeat()), at: Double(second))
      timeline.receive(at: Double(second) + 0.1)
    }
    timeline.advance(to: 200)
    for age in (1...70).reversed() { timeline.receive(at: 200, timing: .age(.seconds(Double(age)))) }
    for second in 201...230 { timeline.receive(at: Double(second)) }
    let status = try #require(timeline.engine.observers().first)
    #expect(status.lag == .milliseconds(500))
    #expect(timeline.story() == ["regionEnter door 0.1"])
  }

  @Test("a doubt about an earlier hole in all traffic does not shorten the wait behind the next one")
  func holes() {
    var timeline = Timeline(
      Timeline.site([Timeline.region(major: 1, silence: .seconds(4))], liveness: .auto)
    )
    func isHole(_ seconds: Double) -> Bool { (60..<69).contains(seconds) || (80..<89).contains(seconds) }
    for tenth in 10..<1_300 {
      let seconds = Double(tenth) / 10
      guard !isHole(seconds) else { continue }
      // Four other beacons and the beacon, each once a second.
      switch tenth % 10 {
      case 0, 2, 4, 6: timeline.receive(2, UInt16(tenth % 10), at: seconds)
      case 8: timeline.receive(at: seconds)
      default: break
      }
    }
    #expect(timeline.story() == ["regionEnter door 1.8"])
    #expect(!timeline.events.contains { $0.kind == .observerOffline })
    // When it leaves with the others and one stays, the exit does not wait.
    for second in 130..<140 { timeline.receive(2, 0, at: Double(second)) }
    timeline.advance(to: 150)
    #expect(timeline.story().last == "regionExit door 133.8")
  }

  @Test("deaf times are joined when there are many, and their credit is bounded")
  func spans() {
    var spans = DeafSpans()
    for second in stride(from: 0.0, to: 200, by: 10) {
      spans.add(from: Timeline.at(second), to: Timeline.at(second + 1))
    }
    #expect(spans.end == Timeline.at(191))
    #expect(spans.credit(since: Timeline.at(191)) == .zero)
    #expect(spans.credit(since: Timeline.at(190.5)) == .milliseconds(500))
    #expect(spans.credit(since: Timeline.at(0)) >= .seconds(20))
    spans.add(from: Timeline.at(0), to: Timeline.at(5_000))
    #expect(spans.credit(since: Timeline.at(0)) == DeafSpans.maximumCredit)
  }

  @Test("a heartbeat's clock learns its period, not its outages, and that it goes slower")
  func clock() {
    var clock = HeartbeatClock()
    for second in 0...20 { clock.record(Timeline.at(Double(second))) }
    #expect(clock.maximumPause == .seconds(3))
    clock.record(Timeline.at(60))
    clock.record(Timeline.at(61))
    #expect(clock.gaps.maximumGap <= 1)
    for second in stride(from: 71.0, through: 131, by: 10) { clock.record(Timeline.at(second)) }
    #expect(clock.gaps.maximumGap == 10)
  }
}
