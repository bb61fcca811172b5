import PharosModel
import PharosPresence
import Testing

@Suite("The registered site")
struct RegisteredSiteTests {
  static func full() throws -> RegisteredSite {
    var registered = try RegisteredSite(site: Site())
    for number in 1...20 {
      try registered.accept(.startMonitoring(application: "gallery", Timeline.region("r\(number)")))
    }
    return registered
  }

  @Test("the 21st region is refused, the message names limit and application, and nothing changes")
  func limit() throws {
    var registered = try RegisteredSiteTests.full()
    let before = registered.applications
    let refusal = RegionRefusal.regionLimitExceeded(limit: 20, application: "gallery", identifier: "r21")
    #expect(throws: refusal) {
      try registered.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
    }
    #expect(registered.applications == before)
    #expect(refusal.description.contains("20") && refusal.description.contains("gallery"))
    try registered.accept(.startMonitoring(application: "shop", Timeline.region("r21")))
  }

  @Test("a limit below none, as a damaged recording may have it, holds none", arguments: [-1, Int.min, 0])
  func negativeLimit(limit: Int) throws {
    let region = Region(identifier: "r", constraint: .proximity(UUID128(high: 1, low: 2)))
    let full = Site(applications: [Application(identifier: "a", regions: [region], regionLimit: limit)])
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 0, application: "a", identifier: "r")) {
      _ = try RegisteredSite(site: full)
    }
    _ = try RegisteredSite(site: Site(applications: [Application(identifier: "a", regionLimit: limit)]))
  }

  @Test("replacing an identifier at the limit is accepted, and stopping one makes room")
  func replacing() throws {
    var registered = try RegisteredSiteTests.full()
    try registered.accept(.startMonitoring(application: "gallery", Timeline.region("r7", major: 3)))
    #expect(registered.applications[0].regions.count == 20)
    try registered.accept(.stopMonitoring(application: "gallery", identifier: "r1"))
    try registered.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
    #expect(registered.applications[0].regions.last?.identifier == "r21")
  }

  @Test("a limit below what is held is refused, with the number that is held, and nothing changes")
  func lowLimit() throws {
    var registered = try RegisteredSiteTests.full()
    let before = registered.site
    let refusal = RegionRefusal.regionLimitTooLow(limit: 19, application: "gallery", held: 20)
    #expect(throws: refusal) { try registered.accept(.setRegionLimit(application: "gallery", 19)) }
    #expect(refusal.description.contains("19") && refusal.description.contains("20"))
    #expect(registered.site == before)
    try registered.accept(.setRegionLimit(application: "gallery", 21))
    try registered.accept(.startMonitoring(application: "gallery", Timeline.region("r21")))
  }

  @Test("of several changes all are accepted or none")
  func several() throws {
    var registered = try RegisteredSiteTests.full()
    let before = registered.site
    let changes: [RegionChange] = [
      .stopMonitoring(application: "gallery", identifier: "r1"),
      .startMonitoring(application: "gallery", Timeline.region("new")),
      .startMonitoring(application: "gallery", Timeline.region("r1")),
    ]
    #expect(throws: RegionRefusal.self) { try registered.accept(changes) }
    #expect(registered.site == before)
    try registered.accept(Array(changes.prefix(2)))
    #expect(registered.applications[0].regions.map(\.identifier).suffix(2) == ["r20", "new"])
  }

  @Test("of an application of which nothing is left nothing is kept")
  func leftOver() throws {
    var registered = try RegisteredSite(site: Site())
    try registered.accept(.startMonitoring(application: "shop", Timeline.region()))
    try registered.accept(.setRegionLimit(application: "shop", 5))
    try registered.accept(.stopMonitoring(application: "shop", identifier: "door"))
    #expect(registered.applications == [Application(identifier: "shop", regionLimit: 5)])
    try registered.accept(.setRegionLimit(application: "shop", Application.defaultRegionLimit))
    #expect(registered.applications.isEmpty)
  }

  @Test("an edited site gives the changes that lead to it once, from the site that it takes the place of")
  func adoption() throws {
    let first = Site(applications: [Application(identifier: "a", regions: [Timeline.region("one")])])
    var second = first
    second.applications[0].regions = [Timeline.region("two")]
    var registered = try RegisteredSite(site: first)
    try registered.accept(.startMonitoring(application: "a", Timeline.region("own")))
    #expect(
      try registered.adopt(second) == [
        .stopMonitoring(application: "a", identifier: "one"),
        .startMonitoring(application: "a", Timeline.region("two")),
      ]
    )
    #expect(try registered.adopt(second).isEmpty)
    #expect(registered.applications[0].regions.map(\.identifier) == ["own", "two"])
    // A refused file changes nothing.
    let before = registered.site
    second.applications[0].regionLimit = 1
    #expect(throws: RegionRefusal.self) { try registered.adopt(second) }
    #expect(registered.site == before)
    #expect(registered.sources.declared.applications[0].regionLimit == Application.defaultRegionLimit)
  }

  @Test("registrations leave the file's declarations as they are, and an edited file is merged with them")
  func registrations() throws {
    let (one, own) = (Timeline.region("one"), Timeline.region("own"))
    var sources = SiteSources(declared: Site(applications: [Application(identifier: "a", regions: [one])]))
    var registered = RegisteredSite(sources)
    sources.made["a"] = MadeApplication(regions: ["own": own])
    sources.zones["hall"] = Zone(identifier: "hall", observers: [.name("desk")])
    let changes: [RegionChange] = [
      .declare(sources.settings), .startMonitoring(application: "a", own),
    ]
    #expect(try registered.carryOut(.changes(changes, sources: sources)) == changes)
    #expect(registered.sources == sources)
    #expect(registered.site == sources.site)
    #expect(registered.site.zones.map(\.identifier) == ["hall"])
    var file = sources.declared
    file.applications[0].regions.append(Timeline.region("own", major: 9))
    #expect(
      try registered.carryOut(.file(file)) == [
        .startMonitoring(application: "a", file.applications[0].regions[1])
      ]
    )
    #expect(registered.sources.declared == file)
    // What the file no longer declares is the registration again.
    _ = try registered.carryOut(.file(sources.declared))
    #expect(registered.site == sources.site)
  }

  @Test("observers are accepted and dismissed, and declarations leave applications alone")
  func settings() throws {
    var registered = try RegisteredSiteTests.full()
    let gate = ObserverID.name("gate")
    try registered.accept([.acceptObserver(gate), .acceptObserver(gate)])
    #expect(registered.site.observers.map(\.id) == [gate])
    try registered.accept(.dismissObserver(gate))
    #expect(registered.site.observers.isEmpty)
    try registered.accept(.declare(Site(pathLossExponent: 3)))
    #expect(registered.site.pathLossExponent == 3)
    #expect(registered.applications[0].regions.count == 20)
  }

  @Test("ranging requests have no limit")
  func ranging() throws {
    var registered = try RegisteredSiteTests.full()
    for major in 0..<50 {
      let constraint = BeaconConstraint.proximity(Timeline.uuid, major: UInt16(major))
      try registered.accept(.startRanging(application: "gallery", RangingRequest(constraint: constraint)))
    }
    #expect(registered.applications[0].ranging.count == 50)
  }

  @Test(
    "a region that cannot be monitored is refused",
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
    var registered = try RegisteredSite(site: Site())
    #expect(throws: refusal) { try registered.accept(change) }
    #expect(registered.applications.isEmpty)
    #expect(!refusal.description.isEmpty)
  }

  @Test("a site with too many regions, or with one twice, is refused")
  func sites() {
    let many = Application(identifier: "a", regions: (0..<21).map { Timeline.region("r\($0)") })
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 20, application: "a", identifier: "r20")) {
      _ = try RegisteredSite(site: Site(applications: [many]))
    }
    let twice = Application(identifier: "a", regions: [Timeline.region(), Timeline.region()])
    #expect(throws: RegionRefusal.duplicateIdentifier(application: "a", identifier: "door")) {
      _ = try RegisteredSite(site: Site(applications: [twice]))
    }
    #expect(throws: RegionRefusal.duplicateApplication("a")) {
      _ = try RegisteredSite(
        site: Site(applications: [Application(identifier: "a"), Application(identifier: "a")])
      )
    }
  }
}
