import PharosModel
import PharosPresence
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

  @Test("a limit below what is held is refused, with the number that is held, and nothing changes")
  func lowLimit() throws {
    var registry = try RegionRegistryTests.full()
    let before = registry.site
    let refusal = RegionRefusal.regionLimitTooLow(limit: 19, application: "gallery", held: 20)
    #expect(throws: refusal) { try registry.accept(.setRegionLimit(application: "gallery", 19)) }
    #expect(refusal.description.contains("19") && refusal.description.contains("20"))
    #expect(registry.site == before)
    try registry.accept(.setRegionLimit(application: "gallery", 21))
    try registry.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
  }

  @Test("of several changes all are accepted or none")
  func several() throws {
    var registry = try RegionRegistryTests.full()
    let before = registry.site
    let changes: [RegionChange] = [
      .stopMonitoring(application: "gallery", identifier: "r1"),
      .startMonitoring(application: "gallery", Timeline.region("new")),
      .startMonitoring(application: "gallery", Timeline.region("r1")),
    ]
    #expect(throws: RegionRefusal.self) { try registry.accept(changes) }
    #expect(registry.site == before)
    try registry.accept(Array(changes.prefix(2)))
    #expect(registry.applications[0].regions.map(\.identifier).suffix(2) == ["r20", "new"])
  }

  @Test("of an application of which nothing is left nothing is kept")
  func leftOver() throws {
    var registry = try RegionRegistry(site: Site())
    try registry.accept(.startMonitoring(application: "shop", Timeline.region()))
    try registry.accept(.setRegionLimit(application: "shop", 5))
    try registry.accept(.stopMonitoring(application: "shop", identifier: "door"))
    #expect(registry.applications == [Application(identifier: "shop", regionLimit: 5)])
    try registry.accept(.setRegionLimit(application: "shop", Application.defaultRegionLimit))
    #expect(registry.applications.isEmpty)
  }

  @Test("an edited site gives the changes that lead to it once, from the site that it takes the place of")
  func adoption() throws {
    let first = Site(applications: [Application(identifier: "a", regions: [Timeline.region("one")])])
    var second = first
    second.applications[0].regions = [Timeline.region("two")]
    var registry = try RegionRegistry(site: first)
    try registry.accept(.startMonitoring(application: "a", Timeline.region("own")))
    #expect(
      try registry.adopt(second) == [
        .stopMonitoring(application: "a", identifier: "one"),
        .startMonitoring(application: "a", Timeline.region("two")),
      ]
    )
    #expect(try registry.adopt(second).isEmpty)
    #expect(registry.applications[0].regions.map(\.identifier) == ["own", "two"])
    // Who knows of the region that was added has it removed too.
    _ = try registry.adopt(first, replacing: registry.site)
    #expect(registry.site == first)
  }

  @Test("observers are accepted and dismissed, and declarations leave applications alone")
  func settings() throws {
    var registry = try RegionRegistryTests.full()
    let gate = ObserverID.name("gate")
    try registry.accept([.acceptObserver(gate), .acceptObserver(gate)])
    #expect(registry.site.observers.map(\.id) == [gate])
    try registry.accept(.dismissObserver(gate))
    #expect(registry.site.observers.isEmpty)
    try registry.accept(.declare(Site(pathLossExponent: 3)))
    #expect(registry.site.pathLossExponent == 3)
    #expect(registry.applications[0].regions.count == 20)
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
