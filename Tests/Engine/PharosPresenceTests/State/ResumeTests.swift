import PharosDecisionCheck
import PharosDocuments
import PharosModel
import PharosPresence
import Testing

/// The law: time that the server was down is no evidence of anything.
@Suite("Time down is no evidence")
struct ResumeTests {
  static let door = Timeline.region("door", silence: .seconds(4))
  static let adaptive = Region(identifier: "door", constraint: .proximity(Timeline.uuid))

  /// A beacon is heard every second in the spans that are drawn; a checkpoint, a crash, a start.
  struct Drawing: Sendable, CustomTestStringConvertible {
    var name: String
    /// When the beacon is heard, once a second.
    var heard: [ClosedRange<Int>]
    var checkpoint = 60.5
    var crash = 70.5
    var start = 670.5
    var region = ResumeTests.door
    var liveness = ObserverEntry.Liveness.assumed
    /// Enters, exits, unmonitored states, and outages.
    var story: [String]
    /// Until when time runs on.
    var end = 5_000.0

    var testDescription: String { name }
  }

  static let drawings = [
    Drawing(
      name: "it stays: nothing is published again",
      heard: [1...70, 671...700],
      story: ["regionEnter door 1.0", "regionExit door 704.0"]
    ),
    Drawing(
      name: "it left while the server was down: its silence begins with the start",
      heard: [1...70],
      story: ["regionEnter door 1.0", "regionExit door 674.5"]
    ),
    Drawing(
      name: "it came after the checkpoint and stays",
      heard: [65...70, 671...700],
      story: ["regionEnter door 65.0", "regionExit door 704.0"]
    ),
    Drawing(
      name: "it came after the checkpoint and is gone: no track says so, and the fixed time must pass",
      heard: [65...70],
      story: ["regionEnter door 65.0", "regionExit door 674.5"]
    ),
    Drawing(
      name: "it came after the checkpoint and is gone: adaptive silence waits for its ceiling",
      heard: [65...70],
      region: adaptive,
      story: ["regionEnter door 66.0", "regionExit door 970.5"]
    ),
    Drawing(
      name: "it left after the checkpoint, and stays away",
      heard: [1...60],
      story: ["regionEnter door 1.0", "regionExit door 64.0"]
    ),
    Drawing(
      name: "it left after the checkpoint, and is back after the start",
      heard: [1...60, 671...700],
      story: [
        "regionEnter door 1.0", "regionExit door 64.0", "regionEnter door 671.0", "regionExit door 704.0",
      ]
    ),
    Drawing(
      name: "its observer is silent after the start: an outage, and no exit",
      heard: [1...70],
      liveness: .traffic,
      story: ["regionEnter door 1.0", "observerOffline  680.5", "regionUnmonitored door 680.5"]
    ),
    Drawing(
      name: "its observer fell silent after the checkpoint, which was published, and comes back with it",
      heard: [1...60, 700...720],
      crash: 90.5,
      liveness: .traffic,
      story: [
        "regionEnter door 1.0", "observerOffline  70.0", "regionUnmonitored door 70.0",
        "observerOnline  700.0",
      ],
      end: 725
    ),
  ]

  @Test("drawn timelines", arguments: drawings)
  func drawn(drawing: Drawing) throws {
    let site = Timeline.site([drawing.region], liveness: drawing.liveness)
    var timeline = Timeline(site)
    func receive(_ timeline: inout Timeline, from: Double, to: Double) {
      for second in drawing.heard.joined() where Double(second) > from && Double(second) < to {
        timeline.receive(at: Double(second))
      }
    }
    receive(&timeline, from: 0, to: drawing.checkpoint)
    let kept = timeline.checkpoint(at: drawing.checkpoint)
    receive(&timeline, from: drawing.checkpoint, to: drawing.crash)
    timeline.advance(to: drawing.crash)
    try timeline.restart(from: kept, at: drawing.start, site: site)
    receive(&timeline, from: drawing.start, to: .infinity)
    timeline.advance(to: drawing.end)
    let kinds: Set<EventKind> = [
      .regionEnter, .regionExit, .regionUnmonitored, .observerOffline, .observerOnline,
    ]
    let first = timeline.events.first { $0.kind == .observerOnline }
    #expect(
      timeline.story(kinds).filter {
        $0 != "observerOnline  \(drawing.heard[0].lowerBound).0" || first == nil
      } == drawing.story
    )
    #expect(Set(timeline.events.map(\.id)).count == timeline.events.count, "no id is used twice")
    for event in timeline.events where event.kind == .regionExit || event.kind == .regionState {
      guard case .region(let transition) = event.detail else { continue }
      #expect(transition.evidence.recomputed() != .noDecision || transition.to != .outside)
    }
  }

  @Test(
    "without a checkpoint, only published events are known, and an observer known from them proves its life first"
  )
  func hearsay() throws {
    let site = Timeline.site([ResumeTests.door], liveness: .auto)
    for isHeard in [false, true] {
      var timeline = Timeline(site)
      for second in 1...20 { timeline.receive(at: Double(second)) }
      timeline.advance(to: 21)
      try timeline.restart(from: nil, at: 621, site: site)
      // Something else, so that the observer lives. Up to its first word, a second behind the start, it counts as deaf.
      if isHeard { for second in 0..<60 { timeline.give(.motionless, at: 622 + Double(second) / 2) } }
      timeline.advance(to: 2_000)
      let committed = timeline.story([.regionEnter, .regionExit, .regionUnmonitored])
      #expect(
        Array(committed.prefix(2)) == [
          "regionEnter door 1.0", isHeard ? "regionExit door 626.0" : "regionUnmonitored door 651.0",
        ]
      )
      let exit = timeline.transitions(.regionExit).first
      #expect(exit == nil || exit?.enteredAt == Timeline.at(1), "the visit began at the published time")
      #expect(Set(timeline.events.map(\.id)).count == timeline.events.count)
    }
  }

  @Test("a level that was below for a part of its dwell must be found there again")
  func dwell() throws {
    let region = Timeline.region("door", silence: .seconds(60), enter: -70, exit: -80)
    let site = Timeline.site([region])
    var timeline = Timeline(site)
    for second in 1...40 { timeline.receive(at: Double(second), rssi: -60) }
    for step in 0..<6 { timeline.receive(at: 41 + Double(step) / 4, rssi: -95) }
    let kept = timeline.checkpoint(at: 42.4)
    #expect(timeline.story() == ["regionEnter door 1.0"])
    try timeline.restart(from: kept, at: 400, site: site)
    timeline.advance(to: 450)
    #expect(
      timeline.story() == ["regionEnter door 1.0"],
      "nothing was heard, so nothing is known of its level"
    )
    for step in 0..<20 { timeline.receive(at: 450 + Double(step), rssi: -95) }
    timeline.advance(to: 470)
    #expect(timeline.story().last?.hasPrefix("regionExit door 45") == true)
  }

  @Test("ranging goes on in its phase, without the seconds of the downtime")
  func ranging() throws {
    let request = RangingRequest(constraint: .proximity(Timeline.uuid))
    let site = Timeline.site([ResumeTests.door], ranging: [request])
    var timeline = Timeline(site)
    for step in 0..<100 { timeline.receive(at: 1.25 + Double(step) / 10) }
    let kept = timeline.checkpoint(at: 11.3)
    let before = timeline.events.count { $0.kind == .ranging }
    try timeline.restart(from: kept, at: 3_611.3, site: site)
    timeline.advance(to: 3_612)
    for step in 0..<30 { timeline.receive(at: 3_612 + Double(step) / 10) }
    timeline.advance(to: 3_615.3)
    let after = timeline.events.filter { $0.kind == .ranging }.dropFirst(before)
    #expect((1...5).contains(after.count), "and not one for each second of an hour")
    for event in after {
      #expect((event.time - Timeline.at(1.25)).nanoseconds % 1_000_000_000 == 0, "in phase")
      #expect(event.time > Timeline.at(3_611.3))
    }
    guard case .ranging(_, let beacons)? = after.last?.detail else {
      Issue.record("no ranging")
      return
    }
    #expect(beacons.first?.samples == 10)
  }

  @Test("datagrams that were sent during the downtime were not lost on the way")
  func numbers() throws {
    let site = Timeline.site([ResumeTests.door])
    var timeline = Timeline(site)
    for number in 1...10 {
      let head = Transmission(bootID: 1, sequence: UInt32(number), uptime: .zero)
      timeline.give(.transmission(head), at: Double(number))
    }
    let kept = timeline.checkpoint(at: 11)
    try timeline.restart(from: kept, at: 611, site: site)
    for number in [611, 612, 614] as [UInt32] {
      timeline.give(
        .transmission(Transmission(bootID: 1, sequence: number, uptime: .zero)),
        at: Double(number)
      )
    }
    #expect(timeline.engine.observers().first?.lostDatagrams == 1, "613 alone")
    #expect(timeline.engine.counters.restarts == 0)
  }

  @Test("stage two receives the first sign of life of each observer that was up, and once")
  func signs() throws {
    let site = Timeline.site([Timeline.region("tags", subject: .beacon(observers: nil))], liveness: .auto)
    var timeline = Timeline(site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    let kept = timeline.checkpoint(at: 20.5)
    let before = timeline.links.count
    try timeline.restart(from: kept, at: 100, site: site)
    timeline.advance(to: 101)
    #expect(timeline.links.count == before)
    for second in 102...110 { timeline.receive(at: Double(second)) }
    let signs = timeline.links.dropFirst(before).compactMap { link -> ObserverChange? in
      guard case .observer(let change) = link else { return nil }
      return change
    }
    #expect(signs.map(\.isUp) == [true])
    #expect(signs.first?.time == Timeline.at(102))
  }

  @Test("a report from before the start that arrives after it keeps its own time")
  func datedByAge() throws {
    let site = Timeline.site([Timeline.region(major: 1, silence: .seconds(4))])
    var timeline = Timeline(site)
    timeline.receive(200, 1, at: 1)
    let kept = timeline.checkpoint(at: 20.5)
    try timeline.restart(from: kept, at: 100, site: site)
    timeline.receive(at: 100.1, timing: .age(.milliseconds(300)))
    #expect(timeline.story() == ["regionEnter door 99.8"])
    // Its silence counts from the start all the same.
    timeline.advance(to: 200)
    #expect(timeline.story() == ["regionEnter door 99.8", "regionExit door 104.0"])
  }

  @Test("a sender's clock is compared again after a start, by which the receive times may have moved")
  func senderClock() throws {
    let site = Timeline.site([Timeline.region("door", major: 1), Timeline.region("hall", major: 2)])
    var timeline = Timeline(site)
    for second in 1...30 {
      let seconds = Double(second)
      timeline.receive(at: seconds, timing: .sent(Timeline.at(seconds - 1e6)))
    }
    let kept = timeline.checkpoint(at: 30.5)
    // The wall clock was set by three seconds, and the server ended before it noticed.
    try timeline.restart(from: kept, at: 35, site: site)
    for second in 36...40 {
      let seconds = Double(second)
      timeline.receive(2, 7, at: seconds, timing: .sent(Timeline.at(seconds - 3 - 1e6)))
    }
    #expect(timeline.story([.regionEnter]) == ["regionEnter door 1.0", "regionEnter hall 36.0"])
    #expect(timeline.engine.counters.late == 0)
  }

  @Test(
    "a beacon that was published as outside ends its presence, so that its next advert is passed to stage two again"
  )
  func beaconWords() throws {
    let site = Timeline.site([
      Timeline.region("tags", silence: .seconds(300), subject: .beacon(observers: nil))
    ])
    var timeline = Timeline(site)
    for second in 1...20 { timeline.receive(at: Double(second)) }
    let kept = timeline.checkpoint(at: 20.5)
    let before = timeline.links.count
    timeline.engine = MonitoringEngine(site: site)
    var reader = FieldReader(kept.bytes[...])
    try timeline.engine.restoreState(from: &reader) { _ in true }
    var committed = PublishedState()
    committed.regions = [
      PublishedState.RegionRecord(
        application: "gallery",
        region: "tags",
        subject: .beacon(Timeline.beacon()),
        state: .outside,
        lastKnown: .outside,
        time: Timeline.at(25),
        decidedAt: Timeline.at(26)
      )
    ]
    var output = StageOutput()
    timeline.engine.resume(at: Timeline.at(100), publishedState: committed, into: &output)
    #expect(output.isEmpty)
    timeline.receive(at: 101)
    let presences = timeline.links.dropFirst(before).compactMap { link -> RegionState? in
      guard case .presence(let change) = link else { return nil }
      return change.state
    }
    #expect(presences == [.inside])
  }
}

extension ReportBody {
  /// Something that is neither an advert nor a heartbeat.
  fileprivate static var motionless: ReportBody { .displayOn }
}
