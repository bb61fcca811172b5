import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

@Suite("A pipeline restored from a checkpoint continues like one that never stopped")
struct CheckpointLawTests {
  @Test(
    "in random worlds, at random cuts and shard counts",
    arguments: Seeds.drawn(0..<6 as Range<UInt64>) + [38_773]
  )
  func worlds(seed: UInt64) throws {
    let world = World(seed: seed)
    let (expected, inside) = try world.play()
    let said = expected.flatMap { entry -> [Event] in
      if case .events(let events) = entry { return events }
      return []
    }
    var run = try Interruptions(site: world.site, seed: seed &+ 900, oneIn: 50, start: World.start)
    try world.play(into: &run)
    let events = run.finish(tail: .seconds(400))
    #expect(run.cuts.count > 1, "too few cuts to prove anything")
    #expect(said.count > 50, "the world decides too little to prove anything")
    #expect(parting(events, said) == nil)
    #expect(run.inside.map(\.subject) == inside.map(\.subject))
  }

  @Test("with zones, regions about tags, ranging and region changes", arguments: 200..<204 as Range<UInt64>)
  func traffic(seed: UInt64) throws {
    let inputs = Traffic.inputs(seed: seed, count: 900, changes: seed % 2 == 0)
    let expected = try Traffic.lines(inputs)
    var run = try Interruptions(site: Traffic.site, seed: seed, oneIn: 40, start: Traffic.start)
    for input in inputs {
      try run.process(at: input.instant) { pipeline in
        if case .change(let change, let instant) = input { return pipeline.apply(change, at: instant) }
        var batch = ReportBatch()
        Traffic.append(input, to: &batch)
        return pipeline.ingest(batch)
      }
    }
    let lines = run.finish(tail: .seconds(400)).map { $0.cloudEvent(stream: Traffic.site.stream) }
    #expect(run.cuts.count > 1, "too few cuts to prove anything")
    #expect(lines.contains { $0.contains("pharos.zone.enter") })
    let place = zip(lines, expected).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(place == nil, "\(place?.offset ?? 0):\n\(place?.element.0 ?? "")\n\(place?.element.1 ?? "")")
    #expect(lines.count == expected.count)
  }
}

extension World {
  /// Plays all inputs one by one into a run that is interrupted.
  func play(into run: inout Interruptions) throws {
    for input in inputs {
      try run.process(at: input.instant) { pipeline in
        if case .change(let change, let instant) = input { return pipeline.apply(change, at: instant) }
        var batch = ReportBatch()
        World.append(input, to: &batch)
        return pipeline.ingest(batch)
      }
    }
  }
}
