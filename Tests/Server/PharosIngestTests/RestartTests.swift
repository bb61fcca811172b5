import PharosCaptures
import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import Testing

/// A server over real sockets that is stopped as if it were killed, and another one that goes on from what it left.
@Suite("A server that starts again", .serialized, .timeLimit(.minutes(20)))
struct RestartTests {
  /// Regions with a silence so long that nothing but a mistake ends a visit within a test.
  private static let site: Site = {
    var site = Samples.site
    for index in site.applications[0].regions.indices {
      site.applications[0].regions[index].presence.silence = .fixed(.seconds(900))
    }
    site.applications[0].ranging = []
    return site
  }()

  private func enters(_ events: [Event]) -> [Event] { events.filter { $0.kind == .regionEnter } }

  /// A server that has heard some tags, its checkpoint, and the events published after that.
  private func killed(
    loops: Int,
    clock: ManualClock,
    behind: [UInt16] = []
  ) async throws -> (events: [Event], restoration: Restoration) {
    let harness = try await ServerHarness.start(site: Self.site) {
      $0.loops = loops
      $0.clock = clock.ingest
    }
    let sender = try harness.sender()
    for minor in UInt16(1)...5 {
      try sender.sendWaiting(Samples.raddec(observer: UInt64(minor), minor: minor))
    }
    await harness.output.wait { enters($0).count == 10 }
    await harness.pass(.seconds(1), on: clock)
    try await harness.server.checkpoint()
    for minor in behind { try sender.sendWaiting(Samples.raddec(observer: UInt64(minor), minor: minor)) }
    await harness.output.wait { enters($0).count == 10 + 2 * behind.count }
    await harness.server.stopAtOnce()
    let kept = try #require(harness.output.kept.last)
    let committed = StateTable(after: harness.output.all.dropFirst(Int(kept.eventsBefore))).state
    let checkpoint = try Checkpoint(decoding: kept.bytes)
    return (harness.output.all, Restoration(checkpoint: checkpoint, publishedState: committed))
  }

  @Test(
    "no exit, no second entry and no repeated id, with any number of loops",
    arguments: [(1, 1), (2, 1), (1, 3), (3, 2)]
  )
  func resumes(before: Int, after: Int) async throws {
    let clock = ManualClock()
    let (committed, restoration) = try await killed(loops: before, clock: clock, behind: [6, 7])
    #expect(restoration.publishedState.regions.count == 4)
    // An hour of downtime.
    clock.pass(.seconds(3_600))
    let harness = try await ServerHarness.start(site: Self.site, restoring: restoration) {
      $0.loops = after
      $0.clock = clock.ingest
    }
    let sender = try harness.sender()
    for minor in UInt16(1)...7 {
      try sender.sendWaiting(Samples.raddec(observer: UInt64(minor), minor: minor))
    }
    try sender.sendWaiting(Samples.raddec(observer: 8, minor: 8))
    await harness.output.wait { enters($0).count >= 2 }
    // No event is published for those that had entered before: they have to be waited for too.
    _ = await harness.snapshot(datagrams: 8)
    // 15 minutes of silence later all of them have left, each once.
    await harness.pass(.seconds(899), on: clock)
    for minor in UInt64(1)...8 { try sender.sendWaiting(Samples.raddec(observer: minor, minor: 99)) }
    _ = await harness.snapshot(datagrams: 16)
    await harness.pass(.seconds(20), on: clock)
    for minor in UInt64(1)...8 { try sender.sendWaiting(Samples.raddec(observer: minor, minor: 99)) }
    await harness.output.wait { events in events.count { $0.kind == .regionExit } >= 8 }
    await harness.server.shutdown()
    let events = harness.output.all
    let entered = enters(events).filter { $0.subject != .beacon(beacon(99)) }
    #expect(Set(entered.map(\.subject)) == [.observer(.eui48(8)), .beacon(beacon(8))])
    let outages: Set<EventKind> = [.observerOffline, .regionUnmonitored]
    #expect(!events.contains { outages.contains($0.kind) })
    let ids = (committed + events).map(\.id)
    #expect(Set(ids).count == ids.count)
    // Who leaves had entered before the restart, and its visit has lasted since.
    let start = committed.first?.time ?? .distantFuture
    for event in events where event.kind == .regionExit && event.subject != .beacon(beacon(8)) {
      guard case .region(let transition) = event.detail else { continue }
      let enteredAt = try #require(transition.enteredAt)
      #expect(enteredAt < start + .seconds(60))
    }
  }

  @Test("a recording that begins with a restart gives the same events", arguments: [1, 2])
  func isRecorded(loops: Int) async throws {
    let clock = ManualClock()
    let (_, restoration) = try await killed(loops: 2, clock: clock, behind: [6])
    clock.pass(.seconds(60))
    let harness = try await ServerHarness.start(
      site: Self.site,
      isRecording: true,
      restoring: restoration
    ) {
      $0.loops = loops
      $0.clock = clock.ingest
    }
    let sender = try harness.sender()
    for minor in UInt16(1)...9 {
      try sender.sendWaiting(Samples.raddec(observer: UInt64(minor), minor: minor))
    }
    await harness.output.wait { enters($0).count >= 6 }
    var edited = Self.site
    edited.applications[0].regions[0].presence.silence = .fixed(.seconds(1_000))
    try await harness.server.adopt(edited)
    for second in 0..<4 {
      await harness.pass(.seconds(300), on: clock)
      try sender.sendWaiting(Samples.raddec(observer: UInt64(second), minor: 1))
      _ = await harness.snapshot(datagrams: UInt64(10 + second))
    }
    await harness.server.shutdown()
    let events = harness.output.all
    #expect(events.contains { $0.kind == .regionExit })
    for shards in [1, 3] {
      let lines = try harness.replayed(shards: shards).map { $0.cloudEvent(stream: "test") }
      #expect(lines == events.map { $0.cloudEvent(stream: "test") })
    }
  }

  @Test("the last checkpoint of an orderly end covers every event")
  func concludes() async throws {
    let clock = ManualClock()
    let harness = try await ServerHarness.start(site: Self.site) { $0.clock = clock.ingest }
    let sender = try harness.sender()
    for minor in UInt16(1)...5 {
      try sender.sendWaiting(Samples.raddec(observer: UInt64(minor), minor: minor))
    }
    _ = await harness.snapshot(datagrams: 5)
    await harness.server.shutdown()
    let last = try #require(harness.output.kept.last)
    #expect(last.eventsBefore == UInt64(harness.output.all.count))
    #expect(enters(harness.output.all).count == 10)
    let pipeline = try Pipeline(site: Self.site, restoring: Checkpoint(decoding: last.bytes))
    #expect(pipeline.insideNow().count == 10)
    await #expect(throws: IngestError.stopped) { try await harness.server.checkpoint() }
  }

  @Test("checkpoints come at the start, at their interval and behind an edit, none while one is held")
  func usesThemByTheClock() async throws {
    let clock = ManualClock()
    let held = HeldCheckpoints()
    let harness = try await ServerHarness.start(site: Self.site) {
      $0.clock = clock.ingest
      $0.checkpointInterval = .seconds(30)
      $0.checkpoint = { held.hold($0) }
    }
    await harness.pass(.seconds(2), on: clock)
    await held.wait(for: 1)
    let sender = try harness.sender()
    try sender.sendWaiting(Samples.raddec(observer: 1, minor: 1))
    await harness.output.wait { enters($0).count == 2 }
    // As long as the first one is held there is no second one, however much time passes.
    for round in 0..<3 {
      await harness.pass(.seconds(31), on: clock)
      try sender.sendWaiting(Samples.raddec(observer: 1, minor: UInt16(round + 2)))
      await harness.output.wait { enters($0).count == 3 + round }
    }
    #expect(held.count == 1)
    held.letGo()
    await harness.pass(.seconds(31), on: clock)
    await held.wait(for: 2)
    held.letGo()
    try await harness.server.adopt(Self.site)
    await harness.pass(.seconds(2), on: clock)
    await held.wait(for: 3)
    await harness.server.shutdown()
  }

  @Test("an hour set back while it was down moves no event back, and is logged")
  func survivesTheClock() async throws {
    let clock = ManualClock()
    let (committed, restoration) = try await killed(loops: 1, clock: clock)
    clock.pass(.seconds(60))
    clock.setWall(by: .seconds(-3_600))
    let harness = try await ServerHarness.start(site: Self.site, restoring: restoration) {
      $0.clock = clock.ingest
    }
    await harness.output.wait { events in events.contains { $0.kind == .clockStepped } }
    let sender = try harness.sender()
    try sender.sendWaiting(Samples.raddec(observer: 8, minor: 8))
    await harness.output.wait { enters($0).count == 2 }
    await harness.server.shutdown()
    let step = try #require(harness.output.all.first { $0.kind == .clockStepped })
    guard case .clockStep(let span) = step.detail else { return }
    #expect(span < .seconds(-3_500) && span > .seconds(-3_600))
    // Published with the new time, decided after all that was decided before.
    let enter = try #require(enters(harness.output.all).first)
    #expect(abs((enter.time - clock.ingest.wall()).seconds) < 1)
    let last = try #require(committed.last?.decidedAt)
    #expect(enter.decidedAt - span > last)
    #expect(enters(harness.output.all).allSatisfy { $0.subject != .observer(.eui48(1)) })
  }

  private func beacon(_ minor: UInt16) -> BeaconID { .proximity(Samples.uuid, major: 1, minor: minor) }
}
