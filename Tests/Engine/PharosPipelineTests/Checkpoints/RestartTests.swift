import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A pipeline after a restart")
struct RestartTests {
  /// The result of inputs up to a crash, after which only a checkpoint and the published events are left.
  private struct Crash {
    var committed: [Event]
    var restoration: Restoration
    var instant: Timestamp

    init(_ inputs: [Traffic.Input], checkpointAt: Int, crashAt: Int, keepsCheckpoint: Bool) throws {
      var pipeline = try Pipeline(site: Traffic.site, shards: 2)
      var events: [Event] = []
      var checkpoint: Checkpoint?
      var covered = 0
      for (index, input) in inputs.prefix(crashAt).enumerated() {
        if index == checkpointAt {
          events += pipeline.advance(to: input.instant - .oneNanosecond)
          if keepsCheckpoint {
            checkpoint = try Checkpoint(decoding: pipeline.checkpoint().encoded)
            covered = events.count
          }
        }
        var batch = ReportBatch()
        Traffic.append(input, to: &batch)
        events += pipeline.ingest(batch)
      }
      instant = inputs[crashAt - 1].instant
      events += pipeline.advance(to: instant)
      committed = events
      let publishedState = StateTable(after: events.dropFirst(covered)).state
      restoration = Restoration(checkpoint: checkpoint, publishedState: publishedState)
    }
  }

  /// Where the events of two runs, one after the other, contradict each other: a visit entered twice, one left that was not
  /// entered, a change that begins where the one before did not end.
  private static func contradictions(_ events: [Event]) -> [String] {
    var states: [String: RegionState] = [:]
    var zones: [SubjectID: String] = [:]
    var found: [String] = []
    for event in events {
      let key = "\(event.application)/\(event.region)/\(event.subject)"
      switch (event.kind, event.detail) {
      case (.regionState, .region(let transition)) where transition.isAnswer:
        // A request may be the first to show that no observer has heard it.
        states[key] = transition.to
      case (.regionState, .region(let transition)):
        let isFirst = states[key] == nil
        // Who was up long before it was first asked about begins outside.
        if transition.from != states[key, default: .unknown], !(isFirst && transition.from == .outside) {
          found.append("\(key) goes on from \(transition.from), was \(states[key, default: .unknown])")
        }
        states[key] = transition.to
      case (.zoneEnter, _):
        if let zone = zones[event.subject] { found.append("\(event.subject) enters from \(zone) unseen") }
        zones[event.subject] = event.region
      case (.zoneExit, _):
        if zones[event.subject] != event.region { found.append("\(event.subject) leaves \(event.region)") }
        zones[event.subject] = nil
      default: break
      }
    }
    return found
  }

  @Test(
    "no event is published twice or contradicts a published one, with a checkpoint or without, after a crash anywhere",
    arguments: 500..<504 as Range<UInt64>,
    [true, false]
  )
  func consistent(seed: UInt64, keepsCheckpoint: Bool) throws {
    let inputs = Traffic.inputs(seed: seed, count: 900, changes: false)
    var random = SeededGenerator(seed: seed)
    let crashAt = Int.random(in: 300..<700, using: &random)
    let checkpointAt = crashAt - Int.random(in: 1..<200, using: &random)
    let crash = try Crash(
      inputs,
      checkpointAt: checkpointAt,
      crashAt: crashAt,
      keepsCheckpoint: keepsCheckpoint
    )
    // An hour later, or a moment.
    let down = TimeSpan.seconds(Bool.random(using: &random) ? 3_600 : 0.5)
    var pipeline = try Pipeline(site: Traffic.site, shards: Int.random(in: 1...3, using: &random))
    let resumeAt = crash.instant + down
    var events = pipeline.process(.restored(crash.restoration, at: resumeAt))
    let shift = down + .milliseconds(1)
    for input in inputs.dropFirst(crashAt) {
      guard case .report(let observer, let received, let timing, let body) = input else { continue }
      let later: ReportTiming
      if case .sent(let sent) = timing { later = .sent(sent + shift) } else { later = timing }
      var batch = ReportBatch()
      Traffic.append(.report(observer, received + shift, later, body), to: &batch)
      events += pipeline.ingest(batch)
    }
    let atOnce = events.filter { $0.decidedAt < resumeAt + .milliseconds(1) }
    let changes: Set<EventKind> = [
      .regionEnter, .regionExit, .regionUnmonitored, .observerOffline, .zoneEnter, .zoneExit,
    ]
    #expect(!atOnce.contains { changes.contains($0.kind) }, "the restart itself decided something")
    events += pipeline.finish(tail: .seconds(400))
    #expect(Self.contradictions(crash.committed) == [])
    #expect(Self.contradictions(crash.committed + events) == [])
    let ids = (crash.committed + events).map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(events.count > 10, "too little happens behind the crash to prove anything")
  }

  @Test("the same restart gives the same bytes at any shard count", arguments: 520..<522 as Range<UInt64>)
  func deterministic(seed: UInt64) throws {
    let inputs = Traffic.inputs(seed: seed, count: 700, changes: false)
    let crash = try Crash(inputs, checkpointAt: 300, crashAt: 400, keepsCheckpoint: true)
    let runs = try [1, 2, 7].map { shards in
      var pipeline = try Pipeline(site: Traffic.site, shards: shards)
      var events = pipeline.process(.restored(crash.restoration, at: crash.instant + .oneNanosecond))
      for input in inputs.dropFirst(400) where input.instant > crash.instant {
        var batch = ReportBatch()
        Traffic.append(input, to: &batch)
        events += pipeline.ingest(batch)
      }
      return events + pipeline.finish(tail: .seconds(400))
    }
    #expect(parting(runs[0], runs[1]) == nil)
    #expect(parting(runs[0], runs[2]) == nil)
    #expect(runs[0].count > 20)
  }
}
