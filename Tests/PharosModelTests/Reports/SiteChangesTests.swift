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
    #expect(site.regionChanges(to: site).isEmpty)
    var other = site
    other.observers = [ObserverEntry(id: .name("x"))]
    #expect(site.regionChanges(to: other).isEmpty)
  }

  @Test("what goes comes first, then what is new or different")
  func order() {
    let old = Self.site([Self.region("a"), Self.region("b"), Self.region("c")])
    let new = Self.site([Self.region("b", major: 2), Self.region("c"), Self.region("d")])
    #expect(
      old.regionChanges(to: new) == [
        .stopMonitoring(application: "app", identifier: "a"),
        .startMonitoring(application: "app", Self.region("b", major: 2)),
        .startMonitoring(application: "app", Self.region("d")),
      ]
    )
  }

  @Test("ranging and trees follow, applications come and go")
  func rest() {
    let request = RangingRequest(constraint: .proximity(Self.uuid))
    let inside = RangingRequest(constraint: .proximity(Self.uuid), whileInside: true)
    let tree = [RegionNode(region: Self.region("t"))]
    let old = Self.site([], ranging: [request], tree: tree)
    #expect(
      old.regionChanges(to: Self.site([], ranging: [inside])) == [
        .setRotation(application: "app", []), .startRanging(application: "app", inside),
      ]
    )
    #expect(
      old.regionChanges(to: Site()) == [
        .stopRanging(application: "app", request.constraint), .setRotation(application: "app", []),
      ]
    )
    #expect(
      Site().regionChanges(to: old) == [
        .setRotation(application: "app", tree), .startRanging(application: "app", request),
      ]
    )
  }
}
