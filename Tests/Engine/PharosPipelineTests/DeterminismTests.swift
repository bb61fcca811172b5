import PharosModel
import PharosPipeline
import PharosPresence
import Testing

@Suite("The same inputs give the same bytes")
struct DeterminismTests {
  /// How the same inputs are cut: a number of shards, the size of a batch, and the seed of ticks, if any.
  private static let cuts: [(shards: Int, batchSize: Int, ticks: UInt64?)] = [
    (1, 1, nil), (1, 64, nil), (2, .max, nil), (2, 3, nil), (3, 64, nil), (7, 1, nil), (7, .max, nil),
    (1, .max, 1),
    (3, 1, 3), (7, 64, 4),
  ]

  @Test(
    "at any shard count, batch size and with ticks anywhere",
    arguments: [(101, false), (102, true), (103, true)] as [(UInt64, Bool)]
  )
  func identical(seed: UInt64, changes: Bool) throws {
    let inputs = Traffic.inputs(seed: seed, count: 600, changes: changes)
    let expected = try Traffic.lines(inputs)
    #expect(expected.count > 100, "the inputs decide too little to prove anything")
    let ids = expected.compactMap { $0.split(separator: "\"id\":\"").last?.prefix(32) }
    #expect(Set(ids).count == expected.count, "an id is given twice")
    for (shards, batchSize, ticks) in Self.cuts {
      let lines = try Traffic.lines(
        inputs,
        shards: shards,
        batchSize: batchSize,
        ticks: ticks.map { $0 &+ seed }
      )
      let place = "\(shards) shards, batches of \(batchSize), \(ticks == nil ? "no ticks" : "ticks")"
      #expect(lines == expected, "\(place): \(Self.firstDifference(lines, expected))")
    }
  }

  @Test(
    "when there are more observers than are kept, the same ones go at any shard count",
    arguments: [2, 3, 16]
  )
  func evictions(shards: Int) throws {
    let one = try Self.crowd(shards: 1)
    #expect(one.evictions > 100, "the crowd is too small to prove anything")
    #expect(one.observers <= 1_024)
    let several = try Self.crowd(shards: shards)
    #expect(several.events == one.events)
    #expect(several.evictions == one.evictions)
  }

  /// Three thousand observers before a pipeline that keeps 1,024, each heard twice, some of them out of turn.
  private static func crowd(shards: Int) throws -> (events: [Event], evictions: UInt64, observers: UInt64) {
    let limits = MonitoringLimits(observers: 1_024)
    var pipeline = try Pipeline(site: Traffic.site, shards: shards, monitoring: limits)
    var events: [Event] = []
    var batch = ReportBatch()
    for step in 0..<6_000 {
      let observer = ObserverID.eui48(UInt64(step % 7 == 0 ? step / 3 : step / 2))
      let instant = Traffic.start + .milliseconds(Int64(step) * 2)
      Traffic.append(.report(observer, instant, .received, .advert(minor: 1, level: -60)), to: &batch)
      events += pipeline.ingest(batch)
      batch.removeAll()
    }
    events += pipeline.finish()
    let counters = pipeline.monitoringCounters
    return (events, counters.observerEvictions, counters.observers)
  }

  @Test("events of both stages and of the server are among them")
  func coverage() throws {
    let lines = try Traffic.lines(Traffic.inputs(seed: 101, count: 1_500, changes: true))
    for type in [
      "pharos.region.enter", "pharos.region.exit", "pharos.region.state", "pharos.zone.enter",
      "pharos.region.limitExceeded", "pharos.ranging",
    ] {
      #expect(lines.contains { $0.contains("\"type\":\"\(type)\"") }, "no \(type)")
    }
    #expect(lines.contains { $0.contains("\"subjectKind\":\"beacon\"") })
    #expect(lines.contains { $0.contains("\"subjectKind\":\"observer\"") })
  }

  private static func firstDifference(_ left: [String], _ right: [String]) -> String {
    for (index, pair) in zip(left, right).enumerated() where pair.0 != pair.1 {
      return "line \(index):\n\(pair.0)\n\(pair.1)"
    }
    return "\(left.count) lines instead of \(right.count)"
  }
}
