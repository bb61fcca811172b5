import PharosModel
import PharosPipeline
import PharosSpace
import PharosStays
import PharosTestSupport
import Testing

/// Visits as the whole pipeline decides them, from reports of handsets and of gateways.
@Suite("Visits of a pipeline")
struct VisitPipelineTests {
  /// A hall that is too small to leave a place of 25 m.
  private static var site: Site {
    var site = Hall.site()
    site.visits = VisitSettings(minimum: .seconds(20), radius: 25, hold: .seconds(60))
    return site
  }

  @Test("shards, batches and ticks change not a byte of a visit")
  func identical() throws {
    let venues = [try Hall().ground]
    var walk = HallWalk(seed: 4)
    walk.walk(people: 0..<3, seconds: 60)
    walk.carry(tags: 10..<12, seconds: 60)
    walk.carry(tags: 12..<14, seconds: 60, atRest: true)
    let whole = FixRun(tail: .minutes(3))
    let expected = try whole.events(of: walk.inputs, on: venues, site: Self.site)
    let visits = expected.filter { $0.kind == .visitArrive || $0.kind == .visitDepart }
    #expect(!visits.isEmpty, "nothing to compare")
    let arrivals = visits.filter { $0.kind == .visitArrive }
    #expect(arrivals.count * 2 == visits.count, "each arrival has its departure")
    var runs = [
      FixRun(shards: 1, batch: 64), FixRun(shards: 2, batch: 7), FixRun(shards: 4, batch: 1_000),
      FixRun(shards: 4, batch: 5, ticks: 4),
    ]
    for index in runs.indices {
      runs[index].tail = whole.tail
      let lines = try runs[index].events(of: walk.inputs, on: venues, site: Self.site).lines
      #expect(lines == expected.lines, "\(runs[index])")
    }
  }

  @Test("without the setting there are no visits, and with it nothing else changes")
  func off() throws {
    let venues = [try Hall().ground]
    var walk = HallWalk(seed: 5)
    walk.walk(people: 0..<2, seconds: 40)
    let plain = try FixRun().events(of: walk.inputs, on: venues)
    let more = try FixRun().events(of: walk.inputs, on: venues, site: Self.site)
    #expect(more.filter { $0.kind != .visitArrive && $0.kind != .visitDepart }.lines == plain.lines)
  }
}
