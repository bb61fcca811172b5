import PharosModel
import PharosPresence
import Testing

/// An engine must learn from what says something about a beacon or an observer, and from nothing else.
@Suite("Samples that are not learned")
struct LearningTests {
  static let door = Region(identifier: "door", constraint: .proximity(Timeline.uuid, major: 1))

  /// How long after it was last heard a beacon's exit lies.
  static func silence(_ timeline: Timeline, lastHeard: Double) -> Double? {
    timeline.events.last { $0.kind == .regionExit }.map { ($0.time - Timeline.at(lastHeard)).seconds }
  }

  @Test("the time for which a radio was off, or an observer down, is not a run of lost adverts")
  func timeDown() throws {
    var timeline = Timeline(Timeline.site([LearningTests.door]))
    for second in 0...300 { timeline.receive(at: Double(second)) }
    timeline.give(.scanState(.off), at: 300.5)
    timeline.give(.scanState(.foreground), at: 560.5)
    for second in 561...700 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 1_500)
    let silence = try #require(LearningTests.silence(timeline, lastHeard: 700))
    #expect(silence < 40, "\(silence) s: the 260 s without a radio were taken for losses")
  }

  @Test("weak gaps of a beacon that leaves are no losses, those of one that stays are")
  func stragglers() throws {
    var timeline = Timeline(Timeline.site([LearningTests.door]))
    var silences: [Double] = []
    for visit in 0..<8 {
      let start = Double(visit) * 1_000
      for step in 0...600 { timeline.receive(at: start + Double(step) / 5, rssi: -80) }
      for second in [124.0, 129, 135] { timeline.receive(at: start + second, rssi: -93) }
      timeline.advance(to: start + 900)
      silences.append(try #require(LearningTests.silence(timeline, lastHeard: start + 135)))
    }
    let first = try #require(silences.first)
    #expect(silences.allSatisfy { $0 <= first + 0.5 }, "\(silences)")
    // The same gaps, and each time it is loud again.
    for round in 0..<8 {
      let start = 10_000 + Double(round) * 200
      for step in 0...600 { timeline.receive(at: start + Double(step) / 5, rssi: -80) }
      for second in [124.0, 129, 135] { timeline.receive(at: start + second, rssi: -93) }
      for step in 0...100 { timeline.receive(at: start + 140 + Double(step) / 5, rssi: -80) }
    }
    timeline.advance(to: 20_000)
    let stayed = try #require(LearningTests.silence(timeline, lastHeard: 11_560))
    #expect(stayed > first + 5, "\(stayed) s")
  }

  @Test("weak gaps before an entry are no losses, nor those before an absence in which the radio was off")
  func wayInAndOut() throws {
    for isOff in [false, true] {
      var timeline = Timeline(Timeline.site([LearningTests.door]))
      var silences: [Double] = []
      for visit in 0..<8 {
        let start = Double(visit) * 1_000 + 50
        if !isOff { for second in [-20, -14, -9, -4.0] { timeline.receive(at: start + second, rssi: -93) } }
        for step in 0...600 { timeline.receive(at: start + Double(step) / 5, rssi: -80) }
        if isOff { for second in [124.0, 129, 135] { timeline.receive(at: start + second, rssi: -93) } }
        let last = start + (isOff ? 135 : 120)
        timeline.advance(to: start + 700)
        silences.append(try #require(LearningTests.silence(timeline, lastHeard: last)))
        guard isOff else { continue }
        timeline.give(.scanState(.off), at: start + 710)
        timeline.give(.scanState(.foreground), at: start + 800)
      }
      let first = try #require(silences.first)
      #expect(silences.allSatisfy { $0 <= first + 0.5 }, "radio off \(isOff): \(silences)")
    }
  }

  @Test("the silence before an outage is noticed is not a run of lost adverts either")
  func outage() throws {
    var timeline = Timeline(Timeline.site([LearningTests.door], liveness: .heartbeat))
    for second in 0...200 {
      timeline.receive(at: Double(second))
      timeline.give(.heartbeat(Heartbeat()), at: Double(second) + 0.5)
    }
    timeline.advance(to: 400)
    for second in 401...600 {
      timeline.give(.heartbeat(Heartbeat()), at: Double(second))
      if second < 500 { timeline.receive(at: Double(second) + 0.2) }
    }
    timeline.advance(to: 600)
    #expect(timeline.events.count { $0.kind == .observerOffline } == 1)
    let silence = try #require(LearningTests.silence(timeline, lastHeard: 499.2))
    #expect(silence < 40, "\(silence) s")
  }

  @Test("a backlog of late reports says that the beacon was heard all the time")
  func backlog() throws {
    var site = Timeline.site([LearningTests.door])
    site.observers[0].lag = .seconds(1)
    var timeline = Timeline(site)
    for second in 0...100 { timeline.receive(at: Double(second)) }
    // The uplink was down for twelve seconds; what the gateway kept comes at once.
    timeline.receive(at: 113.01, timing: .age(.seconds(0.01)))
    for second in 114...200 { timeline.receive(at: Double(second)) }
    timeline.advance(to: 1_000)
    let lossy = try #require(LearningTests.silence(timeline, lastHeard: 200))
    #expect(lossy > 40, "without them it was a run of twelve losses")

    timeline = Timeline(site)
    for second in 0...100 { timeline.receive(at: Double(second)) }
    for second in 101...112 {
      timeline.receive(at: 113, timing: .age(.seconds(113 - Double(second))))
    }
    for second in 113...200 { timeline.receive(at: Double(second) + 0.01) }
    timeline.advance(to: 1_000)
    let silence = try #require(LearningTests.silence(timeline, lastHeard: 200))
    #expect(silence < 40, "\(silence) s")
  }

  @Test("late adverts count as samples before the one that enters, and never enter themselves")
  func lateSamples() {
    var site = Timeline.site([LearningTests.door])
    site.observers[0].lag = .seconds(1)
    func enters(_ hearings: [(received: Double, age: Double)]) -> Int {
      var timeline = Timeline(site)
      for second in 0..<60 { timeline.receive(9, 9, at: Double(second)) }
      for hearing in hearings { timeline.receive(at: hearing.received, timing: .age(.seconds(hearing.age))) }
      timeline.advance(to: 200)
      return timeline.events.count { $0.kind == .regionEnter }
    }
    #expect(enters([(60, 8), (60.5, 0)]) == 1)
    #expect(enters([(60, 8), (60, 6), (60, 4)]) == 0, "none of them is of now")
    #expect(enters([(60, 40), (60.5, 0)]) == 0, "the first lies outside of the window")
  }

  @Test("repeats within less than the shortest interval change no learned interval")
  func repeats() {
    var (learner, history) = (IntervalLearner(), LossHistory())
    for _ in 0..<3 { _ = learner.learn(gap: 0.0163, &history) }
    #expect(learner.interval == 0)
    for _ in 0..<4 {
      for gap in [Float(1.02), 0.0163] { _ = learner.learn(gap: gap, &history) }
    }
    #expect(abs(learner.interval - 1.02) < 0.01)
  }

  @Test("of an observer whose beacon is erased, the silence behind that decides")
  func erased() throws {
    var timeline = Timeline(Timeline.site([LearningTests.door]))
    for second in 0..<60 {
      timeline.receive(at: Double(second))
      timeline.receive(9, 9, at: Double(second) + 0.5)
    }
    timeline.apply(.forget(try #require(SubjectTraces("\(Timeline.beacon())"))), at: 60)
    for second in 61..<300 { timeline.receive(9, 9, at: Double(second) + 0.5) }
    timeline.advance(to: 300)
    #expect(timeline.states().last?.contains(">outside") == true, "\(timeline.states())")
  }

  @Test("an observer's time down is not a gap between its heartbeats")
  func heartbeatsAfterOutage() throws {
    var timeline = Timeline(Timeline.site([LearningTests.door], liveness: .heartbeat))
    for second in 0...100 { timeline.give(.heartbeat(Heartbeat()), at: Double(second)) }
    let before = try #require(timeline.engine.observers().first).allowedGap
    timeline.advance(to: 400)
    for second in 400...500 { timeline.give(.heartbeat(Heartbeat()), at: Double(second)) }
    let after = try #require(timeline.engine.observers().first)
    #expect(after.isUp)
    #expect(after.allowedGap == before, "the next outage is noticed as soon as this one was")
    timeline.advance(to: 600)
    #expect(timeline.events.count { $0.kind == .observerOffline } == 2)
  }

  @Test("a lone tag that sends several kinds of frames is one transmitter, not traffic of others")
  func interleavedFrames() {
    let uid: [UInt8] =
      [0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEE] + (0..<10).map { UInt8($0) } + [0, 0, 0, 0, 0, 9]
    let url: [UInt8] = [0x09, 0x16, 0xAA, 0xFE, 0x10, 0xEE, 0x00, 0x61, 0x00, 0x62]
    let address = DeviceAddress(bits: 0xAC_233F_000001, kind: .public)
    var timeline = Timeline(Timeline.site([Timeline.region(silence: .seconds(5))], liveness: .auto))
    for second in 0...60 {
      timeline.receive(at: Double(second), address: address)
      timeline.advert(uid, at: Double(second) + 0.3, address: address)
      timeline.advert(url, at: Double(second) + 0.6, address: address)
    }
    timeline.advance(to: 1_000)
    #expect(timeline.story() == ["regionEnter door 0.0", "regionExit door 65.0"])
  }
}

extension LearningTests {
  static let levels = PresencePolicy(
    enterSamples: 2,
    enterRSSI: -80,
    exitRSSI: -90,
    exitDwell: .seconds(5),
    silence: .fixed(.seconds(60))
  )

  static func leveled() -> Timeline {
    var region = door
    region.presence = levels
    return Timeline(Timeline.site([region]))
  }

  @Test("one loud advert of a beacon that is far away does not enter, though the filter still holds it")
  func spikeBeforeWeakAdverts() {
    var timeline = LearningTests.leveled()
    timeline.receive(at: 0, rssi: -50)
    for second in 1...20 { timeline.receive(at: Double(second), rssi: -95) }
    #expect(timeline.story().isEmpty)
    timeline.receive(at: 21, rssi: -60)
    timeline.receive(at: 22, rssi: -60)
    timeline.receive(at: 23, rssi: -60)
    #expect(timeline.story().count == 1)
  }

  @Test("one weak advert of a slow beacon does not leave, since a level needs two samples to stay low")
  func dipOfSlowBeacon() {
    var timeline = LearningTests.leveled()
    for step in 0...5 { timeline.receive(at: Double(step) * 10, rssi: -70) }
    timeline.receive(at: 60, rssi: -110)
    for step in 7...10 { timeline.receive(at: Double(step) * 10, rssi: -70) }
    #expect(timeline.story() == ["regionEnter door 10.0"])
    for step in 11...14 { timeline.receive(at: Double(step) * 10, rssi: -110) }
    timeline.advance(to: 150)
    #expect(timeline.story() == ["regionEnter door 10.0", "regionExit door 120.0"])
  }

  @Test("a slow beacon stays in ranging for three of the intervals that the directory declares")
  func declaredRanging() {
    let entry = BeaconEntry(constraint: .proximity(Timeline.uuid), interval: .seconds(10))
    let request = RangingRequest(constraint: .proximity(Timeline.uuid, major: 1))
    var timeline = Timeline(Timeline.site([], ranging: [request], beacons: [entry]))
    timeline.receive(at: 0)
    timeline.advance(to: 60)
    let sizes = timeline.events.compactMap { event -> Int? in
      guard case .ranging(_, let beacons) = event.detail else { return nil }
      return beacons.count
    }
    #expect(sizes == Array(repeating: 1, count: 30) + [0])
  }

  @Test("an exit by level has no negative gap, though the beacon is heard while its lag passes")
  func gapOfLevelExit() throws {
    var timeline = LearningTests.leveled()
    for step in 0..<20 { timeline.receive(at: Double(step) / 10, rssi: -60) }
    for step in 20..<200 { timeline.receive(at: Double(step) / 10, rssi: -110) }
    let evidence = try #require(timeline.transitions(.regionExit).first).evidence
    #expect(evidence.rule == .level)
    #expect(evidence.gap == .zero)
  }
}
