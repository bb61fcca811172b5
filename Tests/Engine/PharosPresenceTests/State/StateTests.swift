import PharosDocuments
import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A state that is written and read back is the same engine")
struct StateTests {
  /// Seeds of worlds in which a lag becomes shorter, or a state is written between two events of one instant.
  private static let hard = [3_068, 31_965, 50_360]

  @Test(
    "written and read back again and again, by any number of engines, the events are the same",
    arguments: Seeds.drawn(0..<6) + hard
  )
  func sameEvents(seed: Int) throws {
    let world = StateWorld(seed: seed)
    var whole = StateRun(world)
    whole.play()
    let (events, links) = whole.committed
    #expect(events.count > 200)
    #expect(events.allSatisfy { $0.time <= $0.decidedAt })
    for (earlier, later) in zip(links, links.dropFirst()) where earlier.observer == later.observer {
      #expect((earlier.decidedAt, earlier.ordinal) < (later.decidedAt, later.ordinal))
    }
    var random = SeededGenerator(seed: UInt64(seed))
    var cut = StateRun(world, shards: Int.random(in: 1...3, using: &random))
    var cuts = 0
    try cut.play { run, _ in
      guard Int.random(in: 0..<18, using: &random) == 0 else { return }
      try run.revive(shards: Int.random(in: 1...3, using: &random))
      cuts += 1
    }
    #expect(cuts > 20)
    let (others, otherLinks) = cut.committed
    let difference = zip(events, others).first { $0 != $1 }
    #expect(others == events, "seed \(seed): \(String(describing: difference))")
    #expect(otherLinks == links, "seed \(seed)")
  }

  @Test("a state that is read gives the same bytes when it is written", arguments: 20..<23)
  func sameBytes(seed: Int) throws {
    let world = StateWorld(seed: seed, count: 500)
    var run = StateRun(world)
    var checked = 0
    try run.play { run, number in
      guard number % 25 == 0 else { return }
      let parts = run.parts
      try run.revive(shards: 1)
      #expect(run.parts == parts, "seed \(seed), input \(number)")
      checked += 1
    }
    #expect(checked > 10)
  }

  @Test(
    "bounds evict the same tracks and observers after a state was read",
    arguments: 30..<32
  )
  func sameEvictions(seed: Int) throws {
    let world = StateWorld(seed: seed)
    let limits = MonitoringLimits(observers: 4, tracksPerObserver: 16, trackRetention: .seconds(30))
    var whole = StateRun(world, limits: limits)
    whole.play()
    #expect(whole.engines[0].counters.observerEvictions > 10)
    var cut = StateRun(world, limits: limits)
    try cut.play { run, number in
      if number % 7 == 0 { try run.revive(shards: 1) }
    }
    #expect(cut.committed.events == whole.committed.events, "seed \(seed)")
    #expect(cut.committed.links == whole.committed.links, "seed \(seed)")
  }

  @Test("a copy that is written later holds what was known when it was made")
  func copies() throws {
    let world = StateWorld(seed: 40, count: 400)
    var run = StateRun(world)
    var kept: [(engine: MonitoringEngine, bytes: [UInt8])] = []
    run.play { run, number in
      guard number % 50 == 0 else { return }
      kept.append((run.engines[0], run.parts[0]))
    }
    #expect(kept.count >= 5)
    for (engine, bytes) in kept {
      var writer = FieldWriter()
      engine.writeState(to: &writer)
      #expect(writer.bytes == bytes)
    }
  }

  @Test("an engine keeps nothing of an observer that is not its own, nor of a state that cannot be read")
  func others() throws {
    let world = StateWorld(seed: 41, count: 400)
    var run = StateRun(world)
    run.play()
    let part = run.parts[0]
    var engine = StateRun.fresh(world, 1, MonitoringLimits())[0]
    var reader = FieldReader(part[...])
    try engine.restoreState(from: &reader) { $0 == .eui48(2) }
    #expect(engine.observers().map(\.id) == [.eui48(2)])
    #expect(engine.observers() == run.engines[0].observers().filter { $0.id == .eui48(2) })
    var untouched = StateRun.fresh(world, 1, MonitoringLimits())[0]
    var cut = FieldReader(part[..<(part.count - 1)])
    #expect(throws: FieldError.self) { try untouched.restoreState(from: &cut) { _ in true } }
    #expect(untouched.observers().isEmpty)
    var again = FieldReader(part[...])
    try untouched.restoreState(from: &again) { _ in true }
    var writer = FieldWriter()
    untouched.writeState(to: &writer)
    #expect(writer.bytes == part)
  }
}
