import PharosCaptures
import PharosIngest
import PharosModel
import PharosSite
import PharosTools
import PharosWire
import Testing

@Suite("A site of what was heard")
struct HeardSiteTests {
  private let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private let handset = ObserverID.uuid(UUID128(high: 1, low: 2))
  private let gateway = ObserverID.eui48(0xAC23_3FA0_0001)

  private func observer(_ id: ObserverID) -> HeardObserver {
    HeardObserver(
      id: id,
      source: Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001),
      format: .raddec,
      firstHeard: Timestamp(seconds: 990),
      lastHeard: Timestamp(seconds: 999),
      reportsPerSecond: nil
    )
  }

  private func beacon(_ identities: [BeaconID], by observer: ObserverID, name: String? = nil) -> HeardBeacon {
    HeardBeacon(
      observer: observer,
      address: DeviceAddress(bits: 7, kind: .random),
      identities: identities,
      name: name,
      rssi: RSSI(dBm: -61),
      firstHeard: Timestamp(seconds: 1),
      lastHeard: Timestamp(seconds: 900),
      advertsPerSecond: nil
    )
  }

  @Test("regions, zones, observers and beacons are active, and read without a mistake")
  func site() throws {
    var heard = Heard()
    heard.observers = [observer(gateway), observer(.name("kitchen")), observer(handset)]
    let namespace = EddystoneNamespace(high: 0x0011_2233_4455_6677, low: 0x8899)
    heard.beacons = (0..<70).map {
      beacon([.proximity(uuid, major: 1, minor: UInt16($0))], by: gateway, name: "a\u{1B}[31mb")
    }
    heard.beacons.append(beacon([.eddystone(namespace, instance: 5)], by: handset))
    heard.beacons.append(beacon([], by: gateway))
    let found = HeardSite(heard)
    let text = StarterSite.file(udp: [HostPort(host: "0.0.0.0", port: 5)], site: try found.yaml)
    let read = try SiteFile.parse(text, path: "site.yaml")
    #expect(read.site == found.site)
    let regions = try #require(read.site.applications.first).regions
    #expect(regions.map(\.identifier) == ["tags-e2c56db5", "places-00112233"])
    #expect(regions.map(\.subject) == [.beacon(observers: nil), .observer])
    #expect(read.site.zones.map(\.observers) == [[gateway], [.name("kitchen")]])
    #expect(read.site.observers.count == 3)
    #expect(read.site.beacons.count == 50)
    #expect(!text.contains("\u{1B}"))
    #expect(
      found.findings == [
        "Observers: ac:23:3f:a0:00:01 (70 beacons), kitchen (0 beacons), 00000000-0000-0001-0000-000000000002 (1 beacon).",
        "Beacons: 71 (UUIDs and namespaces: 2), of which 50 are listed; 1 other device left out.",
        "Regions: tags-e2c56db5 (tags), places-00112233 (handsets).",
        "Zones: room-1 (ac:23:3f:a0:00:01), room-2 (kitchen), one for each gateway.",
      ]
    )
  }

  @Test("where nothing was heard, nothing is active and the examples stand as comments")
  func nothing() throws {
    let found = HeardSite(Heard())
    let text = StarterSite.file(udp: [HostPort(host: "0.0.0.0", port: 5)], site: try found.yaml)
    #expect(try SiteFile.parse(text, path: "site.yaml").site == Site())
    #expect(found.findings.count == 1)
  }
}
