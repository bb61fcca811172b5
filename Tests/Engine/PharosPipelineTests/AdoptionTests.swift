import PharosModel
import PharosPipeline
import PharosPresence
import Testing

@Suite("A pipeline takes over an edited site")
struct AdoptionTests {
  private static let inputs = Traffic.inputs(seed: 600, count: 900, changes: false)
  /// When the site is adopted: between two inputs.
  private static let instant = inputs[449].instant + .oneNanosecond

  private static func events(adopting next: Site?, shards: Int = 1) throws -> [Event] {
    var pipeline = try Pipeline(site: Traffic.site, shards: shards)
    var events: [Event] = []
    for (index, input) in inputs.enumerated() {
      if index == 450, let next { events += try pipeline.adopt(next, at: instant) }
      var batch = ReportBatch()
      Traffic.append(input, to: &batch)
      events += pipeline.ingest(batch)
    }
    return events + pipeline.finish(tail: .seconds(400))
  }

  @Test("one that is no different changes not a byte", arguments: [1, 3])
  func same(shards: Int) throws {
    let expected = try Self.events(adopting: nil)
    #expect(parting(try Self.events(adopting: Traffic.site, shards: shards), expected) == nil)
  }

  @Test("one region with another question starts again, and nothing else changes", arguments: [1, 3])
  func oneRegion(shards: Int) throws {
    var edited = Traffic.site
    edited.applications[0].regions[2].presence.silence = .fixed(.seconds(3))
    let (with, without) = (
      try Self.events(adopting: edited, shards: shards), try Self.events(adopting: nil)
    )
    // Ordinals count an observer's events, so that only their contents are compared.
    let others = { (events: [Event]) in
      events.filter { $0.region != "downstairs" }.map { $0.cloudEvent(stream: "s") }
    }
    #expect(others(with) == others(without))
    let own = { (events: [Event]) in events.filter { $0.region == "downstairs" } }
    #expect(
      parting(
        own(with).filter { $0.decidedAt < Self.instant },
        own(without).filter { $0.decidedAt < Self.instant }
      ) == nil
    )
    let behind = own(with).filter { $0.decidedAt >= Self.instant }
    #expect(behind.contains { $0.kind == .regionEnter })
    #expect(own(with).count != own(without).count)
  }

  @Test("regions added at run time stay; a site that conflicts with them is refused as a whole")
  func runTime() throws {
    var pipeline = try Pipeline(site: Traffic.site)
    let extra = Region(identifier: "extra", constraint: .proximity(Traffic.uuid, major: 3))
    _ = pipeline.apply(.startMonitoring(application: "gallery", extra), at: Traffic.start)
    var edited = Traffic.site
    edited.applications[0].regions.removeLast()
    edited.applications[0].regionLimit = 3
    _ = try pipeline.adopt(edited, at: Traffic.start + .seconds(1))
    #expect(pipeline.applications[0].regions.map(\.identifier) == ["any", "tags", "extra"])
    var crowded = edited
    crowded.applications[0].regions.append(
      Region(identifier: "more", constraint: .proximity(Traffic.uuid, major: 4))
    )
    let refusal = RegionRefusal.regionLimitExceeded(limit: 3, application: "gallery", identifier: "more")
    #expect(throws: refusal) { try pipeline.adopt(crowded, at: Traffic.start + .seconds(2)) }
    #expect(pipeline.applications[0].regions.map(\.identifier) == ["any", "tags", "extra"])
    var gone = edited
    gone.applications = []
    _ = try pipeline.adopt(gone, at: Traffic.start + .seconds(3))
    #expect(pipeline.applications[0].regions.map(\.identifier) == ["extra"])
  }
}
