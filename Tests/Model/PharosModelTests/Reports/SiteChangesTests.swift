import PharosModel
import Testing

@Suite("From one site to another")
struct SiteChangesTests {
  private static let uuid = UUID128(high: 1, low: 2)

  private static func region(_ name: String, major: UInt16 = 1) -> Region {
    Region(identifier: name, constraint: .proximity(uuid, major: major))
  }

  private static func site(
    _ regions: [Region],
    ranging: [RangingRequest] = [],
    tree: [RegionNode] = []
  ) -> Site {
    Site(applications: [
      Application(identifier: "app", regions: regions, ranging: ranging, rotation: tree)
    ])
  }

  @Test("sites that are alike need no change")
  func none() {
    let site = Self.site([Self.region("a")], tree: [RegionNode(region: Self.region("t"))])
    #expect(site.changes(to: site).isEmpty)
    var other = site
    other.observers = [ObserverEntry(id: .name("x"))]
    #expect(site.changes(to: other) == [.declare(other.settings)])
  }

  @Test("removals come first, then additions and changes")
  func order() {
    let old = Self.site([Self.region("a"), Self.region("b"), Self.region("c")])
    let new = Self.site([Self.region("b", major: 2), Self.region("c"), Self.region("d")])
    #expect(
      old.changes(to: new) == [
        .stopMonitoring(application: "app", identifier: "a"),
        .startMonitoring(application: "app", Self.region("b", major: 2)),
        .startMonitoring(application: "app", Self.region("d")),
      ]
    )
  }

  @Test("declarations come before regions, and a limit between what goes and what comes")
  func settings() {
    var old = Self.site([Self.region("a")])
    old.applications[0].regionLimit = 1
    var new = Self.site([Self.region("b"), Self.region("c")])
    new.applications[0].regionLimit = 2
    new.observers = [ObserverEntry(id: .name("x"))]
    #expect(
      old.changes(to: new) == [
        .declare(Site(observers: new.observers)), .stopMonitoring(application: "app", identifier: "a"),
        .setRegionLimit(application: "app", 2), .startMonitoring(application: "app", Self.region("b")),
        .startMonitoring(application: "app", Self.region("c")),
      ]
    )
    #expect(new.changes(to: new).isEmpty)
  }

  @Test("ranging and trees follow, applications come and go")
  func rest() {
    let request = RangingRequest(constraint: .proximity(Self.uuid))
    let inside = RangingRequest(constraint: .proximity(Self.uuid), whileInside: true)
    let tree = [RegionNode(region: Self.region("t"))]
    let old = Self.site([], ranging: [request], tree: tree)
    #expect(
      old.changes(to: Self.site([], ranging: [inside])) == [
        .setRotation(application: "app", []), .startRanging(application: "app", inside),
      ]
    )
    #expect(
      old.changes(to: Site()) == [
        .stopRanging(application: "app", request.constraint), .setRotation(application: "app", []),
      ]
    )
    #expect(
      Site().changes(to: old) == [
        .setRotation(application: "app", tree), .startRanging(application: "app", request),
      ]
    )
  }
}
