import PharosDocuments
import PharosModel
import PharosPresence
import Testing

/// An observer whose way to us was cut: what it says first proves that it lives, and nothing about its beacons.
@Suite("The first word of an observer that was out of reach")
struct SilentReturnTests {
  private static let door = Timeline.region("door", major: 1, silence: .seconds(4))
  private static let site = Timeline.site([door], liveness: .traffic)

  /// The beacon and another one, twice a second.
  private static func surround(_ timeline: inout Timeline, _ seconds: Range<Double>) {
    for second in stride(from: seconds.lowerBound, to: seconds.upperBound, by: 0.5) {
      timeline.receive(2, 9, at: second)
      timeline.receive(at: second + 0.1)
    }
  }

  @Test("over a restart: its beacons may be silent up to its first word", arguments: [true, false])
  func restart(hasCheckpoint: Bool) throws {
    var timeline = Timeline(Self.site)
    Self.surround(&timeline, 1..<60)
    let kept = timeline.checkpoint(at: 60)
    try timeline.restart(from: hasCheckpoint ? kept : nil, at: 100, site: Self.site)
    timeline.advance(to: 107.9)
    // The deadline was at 104; the other beacon is in the datagram in front of the beacon.
    timeline.receive(2, 9, at: 108)
    #expect(timeline.story() == ["regionEnter door 1.1"])
    Self.surround(&timeline, 108.5..<130)
    timeline.advance(to: 130)
    #expect(timeline.story() == ["regionEnter door 1.1"])
  }

  @Test(
    "over a restart: a beacon that left meanwhile gets its exit at its deadline after the last event",
    arguments: [true, false]
  )
  func leaves(hasCheckpoint: Bool) throws {
    var timeline = Timeline(Self.site)
    Self.surround(&timeline, 1..<60)
    let kept = timeline.checkpoint(at: 60)
    try timeline.restart(from: hasCheckpoint ? kept : nil, at: 100, site: Self.site)
    for step in 0..<40 { timeline.receive(2, 9, at: 108 + Double(step) / 2) }
    timeline.advance(to: 128)
    #expect(timeline.story() == ["regionEnter door 1.1", "regionExit door 112.0"])
    #expect(timeline.transitions(.regionExit).first?.evidence.deafFor == .seconds(8))
  }

  @Test("while little is known of it: a silence of all it hears is no beacon's own")
  func unlearned() {
    let site = Timeline.site([Timeline.region("door", major: 1, silence: .seconds(10))], liveness: .auto)
    for isBack in [true, false] {
      var timeline = Timeline(site)
      Self.surround(&timeline, 1..<4)
      timeline.advance(to: 23.9)
      timeline.receive(2, 9, at: 24)
      #expect(timeline.story() == ["regionEnter door 1.1"])
      if isBack {
        Self.surround(&timeline, 24.5..<60)
        timeline.advance(to: 60)
        #expect(timeline.story() == ["regionEnter door 1.1"])
      } else {
        for step in 1..<80 { timeline.receive(2, 9, at: 24 + Double(step) / 2) }
        timeline.advance(to: 60)
        #expect(timeline.story().last?.hasPrefix("regionExit door 3") == true)
      }
    }
  }

  @Test("while little is known of it: what its numbers say was lost is no silence, be it more than came")
  func numbers() {
    var timeline = Timeline(Timeline.site([Timeline.region("door", major: 1, silence: .seconds(5))]))
    func send(_ sequence: UInt32, at second: Double, withBeacon: Bool) {
      let head = Transmission(bootID: 1, sequence: sequence, uptime: .zero)
      timeline.give(.transmission(head), at: second)
      if withBeacon { timeline.receive(at: second) } else { timeline.receive(2, 9, at: second) }
    }
    for second in 0...4 { send(UInt32(second), at: Double(second), withBeacon: true) }
    // Nothing of 8 s comes before the first deadline, which is put off by them.
    send(8, at: 8, withBeacon: false)
    send(16, at: 12, withBeacon: false)
    timeline.advance(to: 14)
    #expect(timeline.story() == ["regionEnter door 0.0"])
  }

  @Test("an unmonitored region is published again once the beacon is heard, whatever the checkpoint knew")
  func unmonitored() throws {
    let site = Timeline.site([
      Timeline.region("tags", subject: .beacon(observers: nil))
    ])
    var timeline = Timeline(site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    let kept = timeline.checkpoint(at: 20.5)
    let word = Self.word("tags", .unmonitored, at: 25)
    let back = PublishedState.ObserverRecord(
      observer: Timeline.handset,
      isUp: true,
      time: Timeline.at(30),
      decidedAt: Timeline.at(30)
    )
    var committed = PublishedState()
    committed.regions = [word]
    committed.observers = [back]
    _ = try Self.resume(&timeline, kept, site, committed)
    let before = timeline.links.count
    timeline.receive(at: 101)
    #expect(Self.presences(timeline.links[before...]) == ["tags inside"])
  }

  @Test("where the exit of one region was published, the like regions learn that nothing is known")
  func unsaid() throws {
    let site = Timeline.site([
      Timeline.region("room", subject: .beacon(observers: [Timeline.handset])),
      Timeline.region("tags", subject: .beacon(observers: nil)),
      Timeline.region("slow", silence: .seconds(60), subject: .beacon(observers: nil)),
    ])
    var timeline = Timeline(site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    let kept = timeline.checkpoint(at: 20.5)
    var committed = PublishedState()
    committed.regions = [Self.word("room", .outside, at: 25)]
    let output = try Self.resume(&timeline, kept, site, committed)
    #expect(output.events.isEmpty)
    #expect(Self.presences(output.links[...]) == ["tags unknown"])
    let before = timeline.links.count
    timeline.receive(at: 101)
    #expect(Self.presences(timeline.links[before...]) == ["room inside", "tags inside"])
  }

  private static func word(
    _ region: String,
    _ state: RegionState,
    at seconds: Double
  ) -> PublishedState.RegionRecord {
    PublishedState.RegionRecord(
      application: "gallery",
      region: region,
      subject: .beacon(Timeline.beacon()),
      state: state,
      lastKnown: state == .unmonitored ? .inside : state,
      time: Timeline.at(seconds),
      decidedAt: Timeline.at(seconds)
    )
  }

  private static func resume(
    _ timeline: inout Timeline,
    _ kept: Timeline.Kept,
    _ site: Site,
    _ committed: PublishedState
  ) throws -> StageOutput {
    timeline.engine = MonitoringEngine(site: site)
    var reader = FieldReader(kept.bytes[...])
    try timeline.engine.restoreState(from: &reader) { _ in true }
    var output = StageOutput()
    timeline.engine.resume(at: Timeline.at(100), publishedState: committed, into: &output)
    return output
  }

  private static func presences(_ links: ArraySlice<StageLink>) -> [String] {
    links.compactMap { link in
      guard case .presence(let change) = link else { return nil }
      return "\(change.region) \(change.state)"
    }
  }
}
