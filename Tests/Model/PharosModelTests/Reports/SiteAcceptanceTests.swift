import PharosModel
import Testing

/// What changes make of a site, and which are refused.
@Suite("Changes of a site")
struct SiteAcceptanceTests {
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  static func region(
    _ identifier: String = "door",
    major: UInt16? = nil,
    enter: Double? = nil,
    exit: Double? = nil
  ) -> Region {
    Region(
      identifier: identifier,
      constraint: .proximity(uuid, major: major),
      presence: PresencePolicy(enterRSSI: enter, exitRSSI: exit)
    )
  }

  static func full() throws -> Site {
    var site = Site()
    for number in 1...20 {
      try site.accept(.startMonitoring(application: "gallery", Self.region("r\(number)")))
    }
    return site
  }

  @Test("the 21st region is refused, the message names limit and application, and nothing changes")
  func limit() throws {
    var site = try Self.full()
    let before = site.applications
    let refusal = RegionRefusal.regionLimitExceeded(limit: 20, application: "gallery", identifier: "r21")
    #expect(throws: refusal) {
      try site.accept(.startMonitoring(application: "gallery", Self.region("r21")))
    }
    #expect(site.applications == before)
    #expect(refusal.description.contains("20") && refusal.description.contains("gallery"))
    try site.accept(.startMonitoring(application: "shop", Self.region("r21")))
  }

  @Test("a limit below none, as a damaged recording may have it, holds none", arguments: [-1, Int.min, 0])
  func negativeLimit(limit: Int) throws {
    let region = Region(identifier: "r", constraint: .proximity(UUID128(high: 1, low: 2)))
    let full = Site(applications: [Application(identifier: "a", regions: [region], regionLimit: limit)])
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 0, application: "a", identifier: "r")) {
      try full.check()
    }
    try Site(applications: [Application(identifier: "a", regionLimit: limit)]).check()
  }

  @Test("replacing an identifier at the limit is accepted, and stopping one makes room")
  func replacing() throws {
    var site = try Self.full()
    try site.accept(.startMonitoring(application: "gallery", Self.region("r7", major: 3)))
    #expect(site.applications[0].regions.count == 20)
    try site.accept(.stopMonitoring(application: "gallery", identifier: "r1"))
    try site.accept(.startMonitoring(application: "gallery", Self.region("r21")))
    #expect(site.applications[0].regions.last?.identifier == "r21")
  }

  @Test("a limit below what is held is refused, with the number that is held, and nothing changes")
  func lowLimit() throws {
    var site = try Self.full()
    let before = site
    let refusal = RegionRefusal.regionLimitTooLow(limit: 19, application: "gallery", held: 20)
    #expect(throws: refusal) { try site.accept(.setRegionLimit(application: "gallery", 19)) }
    #expect(refusal.description.contains("19") && refusal.description.contains("20"))
    #expect(site == before)
    try site.accept(.setRegionLimit(application: "gallery", 21))
    try site.accept(.startMonitoring(application: "gallery", Self.region("r21")))
  }

  @Test("of several changes all are accepted or none")
  func several() throws {
    var site = try Self.full()
    let before = site
    let changes: [RegionChange] = [
      .stopMonitoring(application: "gallery", identifier: "r1"),
      .startMonitoring(application: "gallery", Self.region("new")),
      .startMonitoring(application: "gallery", Self.region("r1")),
    ]
    #expect(throws: RegionRefusal.self) { try site.accept(changes) }
    #expect(site == before)
    try site.accept(Array(changes.prefix(2)))
    #expect(site.applications[0].regions.map(\.identifier).suffix(2) == ["r20", "new"])
  }

  @Test("of an application of which nothing is left nothing is kept")
  func leftOver() throws {
    var site = Site()
    try site.accept(.startMonitoring(application: "shop", Self.region()))
    try site.accept(.setRegionLimit(application: "shop", 5))
    try site.accept(.stopMonitoring(application: "shop", identifier: "door"))
    #expect(site.applications == [Application(identifier: "shop", regionLimit: 5)])
    try site.accept(.setRegionLimit(application: "shop", Application.defaultRegionLimit))
    #expect(site.applications.isEmpty)
  }

  @Test("observers are accepted and dismissed, and declarations leave applications alone")
  func settings() throws {
    var site = try Self.full()
    let gate = ObserverID.name("gate")
    try site.accept([.acceptObserver(gate), .acceptObserver(gate)])
    #expect(site.observers.map(\.id) == [gate])
    try site.accept(.dismissObserver(gate))
    #expect(site.observers.isEmpty)
    try site.accept(.declare(Site(pathLossExponent: 3)))
    #expect(site.pathLossExponent == 3)
    #expect(site.applications[0].regions.count == 20)
  }

  @Test("ranging requests have no limit")
  func ranging() throws {
    var site = try Self.full()
    for major in 0..<50 {
      let constraint = BeaconConstraint.proximity(Self.uuid, major: UInt16(major))
      try site.accept(.startRanging(application: "gallery", RangingRequest(constraint: constraint)))
    }
    #expect(site.applications[0].ranging.count == 50)
  }

  @Test(
    "a region that cannot be monitored is refused",
    arguments: [
      (
        RegionChange.startMonitoring(application: "", SiteAcceptanceTests.region()),
        RegionRefusal.emptyApplication
      ),
      (
        .startMonitoring(application: "a", SiteAcceptanceTests.region("")), .emptyIdentifier(application: "a")
      ),
      (
        .startMonitoring(application: "a", SiteAcceptanceTests.region("x", enter: -80, exit: -70)),
        .crossedLevels(application: "a", identifier: "x", enter: -80, exit: -70)
      ),
      (
        .requestState(application: "a", identifier: "x", subject: .none),
        .unknownRegion(application: "a", identifier: "x")
      ),
      (
        .setRotation(
          application: "a",
          [
            RegionNode(region: SiteAcceptanceTests.region("x")),
            RegionNode(region: SiteAcceptanceTests.region("x")),
          ]
        ),
        .duplicateIdentifier(application: "a", identifier: "x")
      ),
    ]
  )
  func refused(change: RegionChange, refusal: RegionRefusal) throws {
    var site = Site()
    #expect(throws: refusal) { try site.accept(change) }
    #expect(site.applications.isEmpty)
    #expect(!refusal.description.isEmpty)
  }

  @Test("a site with too many regions, or with one twice, is refused")
  func sites() {
    let many = Application(identifier: "a", regions: (0..<21).map { Self.region("r\($0)") })
    #expect(throws: RegionRefusal.regionLimitExceeded(limit: 20, application: "a", identifier: "r20")) {
      try Site(applications: [many]).check()
    }
    let twice = Application(identifier: "a", regions: [Self.region(), Self.region()])
    #expect(throws: RegionRefusal.duplicateIdentifier(application: "a", identifier: "door")) {
      try Site(applications: [twice]).check()
    }
    #expect(throws: RegionRefusal.duplicateApplication("a")) {
      try Site(applications: [Application(identifier: "a"), Application(identifier: "a")]).check()
    }
  }
}
