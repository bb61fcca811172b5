import PharosModel
import PharosPipeline
import PharosPresence
import Testing

@Suite("The pipeline")
struct PipelineTests {
  private static func batch(_ reports: [(Double, UInt16)], observer: ObserverID = .name("a")) -> ReportBatch {
    var batch = ReportBatch()
    for (seconds, minor) in reports {
      let instant = Traffic.start + .seconds(seconds)
      Traffic.append(.report(observer, instant, .received, .advert(minor: minor, level: -60)), to: &batch)
    }
    return batch
  }

  private static func region(_ index: Int) -> Region {
    Region(identifier: "region \(index)", constraint: .proximity(Traffic.uuid, major: UInt16(index)))
  }

  @Test("the 21st region is refused, an event says so, and nothing else changes")
  func regionLimit() throws {
    let regions = (1...20).map(Self.region)
    let site = Site(applications: [Application(identifier: "gallery", regions: regions)])
    var pipeline = try Pipeline(site: site)
    let change = RegionChange.startMonitoring(application: "gallery", Self.region(21))
    let refusal = RegionRefusal.regionLimitExceeded(
      limit: 20,
      application: "gallery",
      identifier: "region 21"
    )
    #expect(throws: refusal) { try pipeline.check(change) }
    let events = pipeline.apply(change, at: Traffic.start) + pipeline.finish()
    #expect(events.map(\.kind) == [.regionLimitExceeded])
    #expect(events.first?.stage == 0)
    #expect(events.first?.application == "gallery")
    #expect(events.first?.detail == .regionLimit(limit: 20, refused: "region 21"))
    #expect(pipeline.applications.first?.regions.count == 20)
  }

  @Test("replacing a region by its identifier is accepted at the limit")
  func replacement() throws {
    let regions = (1...20).map(Self.region)
    let site = Site(applications: [Application(identifier: "gallery", regions: regions)])
    var pipeline = try Pipeline(site: site)
    var other = Self.region(7)
    other.notifyOnExit = false
    let events =
      pipeline.apply(.startMonitoring(application: "gallery", other), at: Traffic.start) + pipeline.finish()
    #expect(events.isEmpty)
    #expect(pipeline.applications.first?.regions[6] == other)
    #expect(pipeline.counters.changes == 1)
  }

  @Test("a site whose declared regions exceed the limit makes no pipeline")
  func declaredLimit() {
    let site = Site(applications: [Application(identifier: "gallery", regions: (1...21).map(Self.region))])
    #expect(throws: RegionRefusal.self) { try Pipeline(site: site) }
  }

  @Test("subjects inside at the end are listed, and forgotten when their region is stopped")
  func standings() throws {
    var pipeline = try Pipeline(site: Traffic.site)
    _ = pipeline.ingest(Self.batch([(0, 1), (1, 1), (2, 1), (3, 1)]))
    _ = pipeline.finish()
    let inside = pipeline.insideNow()
    #expect(inside.contains { $0.region == "any" && $0.subject == .observer(.name("a")) })
    #expect(
      inside.contains {
        $0.region == "tags" && $0.subject == .beacon(.proximity(Traffic.uuid, major: 1, minor: 1))
      }
    )
    #expect(inside == inside.sorted { ($0.application, $0.region) < ($1.application, $1.region) })
    let stop = RegionChange.stopMonitoring(application: "gallery", identifier: "any")
    _ = pipeline.apply(stop, at: Traffic.start + .seconds(9))
    #expect(!pipeline.insideNow().contains { $0.region == "any" })
  }

  @Test("a receive time that goes back is held and counted, not obeyed")
  func backwards() throws {
    var pipeline = try Pipeline(site: Traffic.site, shards: 2)
    var events = pipeline.ingest(Self.batch([(10, 1), (11, 1), (12, 1)]))
    events += pipeline.ingest(Self.batch([(3, 2), (4, 2)], observer: .name("b")))
    events += pipeline.advance(to: Traffic.start + .seconds(5))
    events += pipeline.apply(.stopMonitoring(application: "gallery", identifier: "any"), at: Traffic.start)
    events += pipeline.finish(tail: .seconds(600))
    #expect(pipeline.counters.backwardReports == 2)
    #expect(pipeline.counters.backwardChanges == 1)
    #expect(zip(events, events.dropFirst()).allSatisfy { !Event.isOrderedBefore($1, $0) })
  }

  @Test("without a tail time ends at the last input; a tail lets deadlines pass")
  func tail() throws {
    let batch = Self.batch([(0, 1), (1, 1), (2, 1)])
    var short = try Pipeline(site: Traffic.site)
    var long = try Pipeline(site: Traffic.site)
    let ended = short.ingest(batch) + short.finish()
    let continued = long.ingest(batch) + long.finish(tail: .seconds(900))
    #expect(ended.contains { $0.kind == .regionEnter })
    #expect(ended.allSatisfy { $0.decidedAt <= Traffic.start + .seconds(2) })
    #expect(Array(continued.prefix(ended.count)) == ended)
    #expect(continued.count > ended.count)
  }

  @Test("a step of the wall clock is reported and decides nothing")
  func clockStep() throws {
    var pipeline = try Pipeline(site: Traffic.site)
    var events = pipeline.stepClock(by: .seconds(-3_600), at: Traffic.start)
    events += pipeline.finish()
    #expect(events.map(\.kind) == [.clockStepped])
    #expect(events.first?.detail == .clockStep(.seconds(-3_600)))
  }

  @Test("a pipeline that was given nothing says nothing")
  func empty() throws {
    var pipeline = try Pipeline(site: Traffic.site, shards: 3)
    #expect(pipeline.ingest(ReportBatch()).isEmpty)
    #expect(pipeline.finish(tail: .seconds(10)).isEmpty)
    #expect(pipeline.insideNow().isEmpty)
  }

  @Test("every report is counted once, whatever the number of shards", arguments: [1, 2, 5])
  func counters(shards: Int) throws {
    var pipeline = try Pipeline(site: Traffic.site, shards: shards)
    var batch = ReportBatch()
    for input in Traffic.inputs(seed: 9, count: 500, changes: false) { Traffic.append(input, to: &batch) }
    _ = pipeline.ingest(batch)
    #expect(pipeline.counters.reports == 500)
    #expect(pipeline.monitoringCounters.reports == 500)
    #expect(pipeline.counters.strayReports == 0)
  }
}
