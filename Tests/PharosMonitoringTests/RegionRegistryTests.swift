import PharosModel
import PharosMonitoring
import Testing

@Suite("The registry of regions")
struct RegionRegistryTests {
  static func full() throws -> RegionRegistry {
    var registry = try RegionRegistry(site: Site())
    for number in 1...20 {
      try registry.accept(.startMonitoring(application: "gallery", Timeline.region("r\(number)")))
    }
    return registry
  }

  @Test("the 21st region is refused, the message names limit and application, and nothing changes")
  func limit() throws {
    var registry = try RegionRegistryTests.full()
    let before = registry.applications
    let refusal = RegionRefusal.regionLimitExceeded(limit: 20, application: "gallery", identifier: "r21")
    #expect(throws: refusal) {
      try registry.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
    }
    #expect(registry.applications == before)
    #expect(refusal.description.contains("20") && refusal.description.contains("gallery"))
    try registry.accept(.startMonitoring(application: "shop", Timeline.region("r21")))
  }

  @Test("a limit below none, as a damaged recording may have it, holds none", arguments: [-1, Int.min, 0])
  func negativeLimit(limit: Int) throws {
    let region = Region(identifier: "r", constraint: .proximity(UUID128(high: 1, low: 2)))
    let full = Site(applications: [Application(identifier: "a", regions: [region], regionLimit: limit)])
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 0, application: "a", identifier: "r")) {
      _ = try RegionRegistry(site: full)
    }
    _ = try RegionRegistry(site: Site(applications: [Application(identifier: "a", regionLimit: limit)]))
  }

  @Test("replacing an identifier at the limit is accepted, and stopping one makes room")
  func replacing() throws {
    var registry = try RegionRegistryTests.full()
    try registry.accept(.startMonitoring(application: "gallery", Timeline.region("r7", major: 3)))
    #expect(registry.applications[0].regions.count == 20)
    try registry.accept(.stopMonitoring(application: "gallery", identifier: "r1"))
    try registry.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
    #expect(registry.applications[0].regions.last?.identifier == "r21")
  }

  @Test("ranging requests have no limit")
  func ranging() throws {
    var registry = try RegionRegistryTests.full()
    for major in 0..<50 {
      let constraint = BeaconConstraint.proximity(Timeline.uuid, major: UInt16(major))
      try registry.accept(.startRanging(application: "gallery", RangingRequest(constraint: constraint)))
    }
    #expect(registry.applications[0].ranging.count == 50)
  }

  @Test(
    "what cannot be monitored is refused",
    arguments: [
      (RegionChange.startMonitoring(application: "", Timeline.region()), RegionRefusal.emptyApplication),
      (.startMonitoring(application: "a", Timeline.region("")), .emptyIdentifier(application: "a")),
      (
        .startMonitoring(application: "a", Timeline.region("x", enter: -80, exit: -70)),
        .crossedLevels(application: "a", identifier: "x", enter: -80, exit: -70)
      ),
      (
        .requestState(application: "a", identifier: "x", subject: .none),
        .unknownRegion(application: "a", identifier: "x")
      ),
      (
        .setRotation(
          application: "a",
          [RegionNode(region: Timeline.region("x")), RegionNode(region: Timeline.region("x"))]
        ),
        .duplicateIdentifier(application: "a", identifier: "x")
      ),
    ]
  )
  func refused(change: RegionChange, refusal: RegionRefusal) throws {
    var registry = try RegionRegistry(site: Site())
    #expect(throws: refusal) { try registry.accept(change) }
    #expect(registry.applications.isEmpty)
    #expect(!refusal.description.isEmpty)
  }

  @Test("a site with too many regions, or with one twice, is refused")
  func sites() {
    let many = Application(identifier: "a", regions: (0..<21).map { Timeline.region("r\($0)") })
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 20, application: "a", identifier: "r20")) {
      _ = try RegionRegistry(site: Site(applications: [many]))
    }
    let twice = Application(identifier: "a", regions: [Timeline.region(), Timeline.region()])
    #expect(throws: RegionRefusal.duplicateIdentifier(application: "a", identifier: "door")) {
      _ = try RegionRegistry(site: Site(applications: [twice]))
    }
    #expect(throws: RegionRefusal.duplicateApplication("a")) {
      _ = try RegionRegistry(
        site: Site(applications: [Application(identifier: "a"), Application(identifier: "a")])
      )
    }
  }
}
