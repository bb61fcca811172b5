import PharosDocuments
import PharosModel
import PharosSite
import Testing

@Suite("A site file that is right")
struct SiteFileTests {
  private let example = """
    # site.yaml: everything has a default; unknown keys are errors
    stream: museum
    listen: { udp: ["127.0.0.1:50001", "[::1]:50002"], http: "127.0.0.1:8080" }
    ingest: { policy: open }                 # open | allowlist | signed
    applications:
      - id: gallery
        regions:
          - { id: entrance, subject: observer, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7,
              enter: { samples: 2, within: 3s, rssi: -80 }, exit: { rssi: -90, dwell: 5s, silence: adaptive } }
          - { id: anywhere, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, notifyOnExit: false }
          - { id: tags, subject: beacon, observers: ["ac:23:3f:a0:00:01"], namespace: 00112233445566778899,
              instance: 00000000002a, key: mac, enter: { distance: 2.5m }, exit: { distance: 5m, silence: 30s, stillInterval: 10s }, maximumHold: 30m }
          - { id: one, subject: beacon, mac: "c0:00:00:00:00:01", exit: { silence: never } }
        ranging:
          - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, whileInside: true }
        rotation:
          - region: { id: venue, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 }
            children:
              - region: { id: floor, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 2 }
    observers:
      - { id: "ac:23:3f:a0:00:01", name: front desk, rssiOffset: -2.5, liveness: auto, lag: 500ms }
    beacons:
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7, name: door, measuredPower: -59,
          interval: 350ms }
    zones:
      - { id: lobby, observers: ["ac:23:3f:a0:00:01"], floor: -1, adjacent: [hall] }
      - { id: hall, observers: ["ac:23:3f:a0:00:01"], beacons: [{ mac: "c0:00:00:00:00:01" }] }
    iBeaconCompanies: [0x0059, 76]
    pathLossExponent: 2.2
    """

  @Test("every key of the schema arrives where it belongs")
  func readsTheSchema() throws {
    let configuration = try SiteFile.parse(example, path: "site.yaml")
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let desk = ObserverID.eui48(0xAC23_3FA0_0001)
    let site = configuration.site
    #expect(site.stream == "museum")
    #expect(
      configuration.listen == [
        HostPort(host: "127.0.0.1", port: 50_001), HostPort(host: "::1", port: 50_002),
      ]
    )
    #expect(configuration.http == HostPort(host: "127.0.0.1", port: 8_080))
    #expect(configuration.policy == .open)
    let gallery = try #require(site.applications.first)
    var tagRules = PresencePolicy(silence: .fixed(.seconds(30)), stillInterval: .seconds(10))
    tagRules.enterDistance = Meters(2.5)
    tagRules.exitDistance = Meters(5)
    #expect(gallery.identifier == "gallery")
    #expect(gallery.regionLimit == 20)
    #expect(gallery.regions.map(\.identifier) == ["entrance", "anywhere", "tags", "one"])
    #expect(
      gallery.regions[0]
        == Region(
          identifier: "entrance",
          constraint: .proximity(uuid, major: 1, minor: 7),
          presence: PresencePolicy(
            enterSamples: 2,
            enterWithin: .seconds(3),
            enterRSSI: -80,
            exitRSSI: -90,
            exitDwell: .seconds(5)
          )
        )
    )
    #expect(gallery.regions[1].notifyOnExit == false)
    let namespace = try #require(EddystoneNamespace("00112233445566778899"))
    #expect(
      gallery.regions[2]
        == Region(
          identifier: "tags",
          constraint: .eddystone(namespace, instance: 42),
          subject: .beacon(observers: [desk]),
          keyedByAddress: true,
          presence: tagRules,
          maximumHold: .minutes(30)
        )
    )
    #expect(gallery.regions[3].subject == .beacon(observers: nil))
    #expect(gallery.regions[3].presence.silence == .never)
    #expect(
      gallery.ranging == [RangingRequest(constraint: .proximity(uuid, major: 1), whileInside: true)]
    )
    #expect(gallery.rotation.map(\.region.identifier) == ["venue"])
    #expect(gallery.rotation.first?.children.map(\.region.identifier) == ["floor"])
    #expect(
      site.observers == [
        ObserverEntry(id: desk, name: "front desk", rssiOffset: -2.5, lag: .milliseconds(500))
      ]
    )
    #expect(
      site.beacons == [
        BeaconEntry(
          constraint: .proximity(uuid, major: 1, minor: 7),
          name: "door",
          measuredPower: -59,
          interval: .milliseconds(350)
        )
      ]
    )
    #expect(site.zones.map(\.identifier) == ["lobby", "hall"])
    #expect(site.zones.map(\.floor) == [-1, nil])
    #expect(site.zones[0].adjacent == ["hall"])
    let tag = try #require(DeviceAddress("c0:00:00:00:00:01"))
    #expect(site.zones[1].beacons == [.address(tag)])
    #expect(site.iBeaconCompanies == [0x0059, 0x004C])
    #expect(site.pathLossExponent == 2.2)
  }

  @Test("a valid but odd entry is reported as a warning with its line")
  func warns() throws {
    let configuration = try SiteFile.parse(example, path: "site.yaml")
    let warnings = configuration.warnings.map { $0.text(in: "site.yaml") }
    #expect(
      warnings == [
        "site.yaml:8: warning: region \"entrance\" is about observers, and gateways are listed (\"front desk\"): "
          + "one that hangs beside a matching beacon stays inside. If the region is about tags, write subject: "
          + "beacon"
      ]
    )
  }

  @Test("an empty file is all defaults", arguments: ["", "\n", "# nothing\n", "---\n", "regions:\n"])
  func emptyIsDefaults(text: String) throws {
    let configuration = try SiteFile.parse(text, path: "site.yaml")
    #expect(configuration.listen == SiteConfiguration.defaultListen)
    #expect(configuration.site.applications.allSatisfy { $0.regions.isEmpty })
    #expect(configuration.warnings.isEmpty)
  }

  @Test("regions at the top level belong to an application called default")
  func defaultApplication() throws {
    let text = "regions:\n  - { id: a, mac: \"c0:00:00:00:00:01\" }\n"
    let site = try SiteFile.parse(text, path: "site.yaml").site
    #expect(site.applications.map(\.identifier) == ["default"])
    #expect(site.applications.first?.regions.map(\.identifier) == ["a"])
  }

  @Test("a limit other than Core Location's can be set")
  func regionLimit() throws {
    let regions = (0..<25).map { "      - { id: r\($0), mac: \"c0:00:00:00:00:01\" }" }
    let text =
      "applications:\n  - id: a\n    regionLimit: 25\n    regions:\n" + regions.joined(separator: "\n")
    let site = try SiteFile.parse(text, path: "site.yaml").site
    #expect(site.applications.first?.regions.count == 25)
    #expect(site.applications.first?.regionLimit == 25)
  }

  @Test("one entry can be shared by an alias")
  func aliases() throws {
    let text = """
      regions:
        - { id: a, mac: "c0:00:00:00:00:01", enter: &rule { samples: 3 } }
        - { id: b, mac: "c0:00:00:00:00:02", enter: *rule }
      """
    let site = try SiteFile.parse(text, path: "site.yaml").site
    #expect(site.applications.first?.regions.map(\.presence.enterSamples) == [3, 3])
  }

  @Test("a venue may have a page for visitors; nothing else makes it public")
  func visitors() throws {
    let text = """
      venues:
        - venues/museum/
        - { folder: mall, visitors: true, nearMe: "https://example.org/app" }
        - { folder: /srv/station, visitors: false }
        - { folder: zoo, visitors: yes }
      """
    let configuration = try SiteFile.parse(text, path: "sites/a/site.yaml")
    #expect(configuration.warnings.isEmpty)
    #expect(configuration.venues == ["venues/museum/", "mall", "/srv/station", "zoo"])
    #expect(
      configuration.visitors == [1: VisitorPage(nearMe: "https://example.org/app"), 3: VisitorPage()]
    )
    let resolved = configuration.resolved(against: "sites/a/site.yaml")
    #expect(resolved.venues[1] == "sites/a/mall" && resolved.visitors == configuration.visitors)
  }

  @Test("venues, and how handsets and tags are located in them")
  func positioning() throws {
    let text = """
      venues: [ venues/museum/, /srv/mall ]
      positioning:
        interval: 500ms
        lag: 2s
        particles: 400
        tags: [ { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 5 } ]
      """
    let configuration = try SiteFile.parse(text, path: "sites/a/site.yaml")
    #expect(configuration.warnings.isEmpty)
    let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    let expected = PositioningSettings(
      interval: .milliseconds(500),
      lag: .seconds(2),
      particles: 400,
      tags: [.proximity(uuid, major: 5)]
    )
    #expect(configuration.site.positioning == expected)
    #expect(configuration.site.venues == ["venues/museum/", "/srv/mall"])
    let placed = configuration.resolved(against: "sites/a/site.yaml")
    #expect(placed.site.venues == ["sites/a/venues/museum/", "/srv/mall"])
    #expect(try SiteFile.parse("", path: "site.yaml").site.positioning == PositioningSettings())
  }

  @Test("the scale of visits, and the thresholds of zones")
  func stays() throws {
    let text = """
      visits: { minimum: 45s, radius: 8, hold: 10m }
      zones:
        - { id: lobby, observers: [a], beacons: [{ mac: "c0:00:00:00:00:01" }], occupancy: { above: 20, below: 15 } }
        - { id: hall, observers: [b], occupancy: [ { above: 5 }, { above: 50, below: 40 } ] }
      """
    let configuration = try SiteFile.parse(text, path: "site.yaml")
    #expect(configuration.warnings.isEmpty)
    #expect(
      configuration.site.visits == VisitSettings(minimum: .seconds(45), radius: 8, hold: .minutes(10))
    )
    let thresholds = configuration.site.zones.map { $0.occupancy.map { [$0.above, $0.below] } }
    #expect(thresholds == [[[20, 15]], [[5, 5], [50, 40]]])
    #expect(try SiteFile.parse("", path: "site.yaml").site.visits == nil)
  }

  private static let taught = "learnedAt: 2026-12-01T10:00:00Z, looks: 20"
  private static let level = "{ id: o, mean: -60.5, deviation: 3, heard: 0.9 }"

  @Test("the fingerprint of a zone")
  func fingerprint() throws {
    let text = "zones: [{ id: a, observers: [o], fingerprint: { \(Self.taught), levels: [\(Self.level)] } }]"
    let zone = try #require(try SiteFile.parse(text, path: "site.yaml").site.zones.first)
    let level = ZoneFingerprint.Level(observer: .name("o"), mean: -60.5, deviation: 3, heard: 0.9)
    let learnedAt = Timestamp(seconds: 1_796_119_200)
    #expect(
      zone.fingerprint == ZoneFingerprint(levels: [level], looks: 20, learnedAt: learnedAt)
    )
  }

  /// Mistakes, and a part of the message of each.
  static let stayMistakes: [(text: String, problem: String)] = [
    ("visits: {}", "minimum"),
    ("visits: { minimum: 5s }", "minimum is"),
    ("visits: { minimum: 45s, radius: 0 }", "radius is"),
    ("zones: [{ id: a, observers: [o], occupancy: { above: 5, below: 6 } }]", "below is 6, and above is 5"),
    ("zones: [{ id: a, observers: [o], occupancy: [{ above: 5 }, { above: 5 }] }]", "occurs twice"),
    ("zones: [{ id: a, observers: [o], occupancy: [{ below: 5 }] }]", "above"),
    ("zones: [{ id: a, observers: [o], fingerprint: { looks: 5 } }]", "learnedAt"),
    (
      "zones: [{ id: a, observers: [o], fingerprint: { \(taught), levels: [{ id: o, mean: 900 }] } }]",
      "mean is"
    ),
    (
      "zones: [{ id: a, observers: [o], fingerprint: { \(taught), levels: [\(level), \(level)] } }]",
      "occurs twice"
    ),
    ("zones: [{ id: a, observers: [o], fingerprint: { \(taught), rate: 5 } }]", "rate"),
  ]

  @Test("a scale or a threshold that cannot be meant is a mistake", arguments: stayMistakes)
  func refusedStays(text: String, problem: String) throws {
    do {
      _ = try SiteFile.parse(text, path: "site.yaml")
      Issue.record("\(text) was read")
    } catch {
      #expect("\(error)".contains(problem), "\(error)")
    }
  }

  @Test("each listener may have a policy of its own, and the site has the most open one")
  func listenerPolicies() throws {
    let open = HostPort(host: "127.0.0.1", port: 50_001)
    let network = HostPort(host: "0.0.0.0", port: 50_002)
    let listen = "listen: { udp: [\"\(open)\", { address: \"\(network)\", policy: signed }] }\ndata: d\n"
    let mixed = try SiteFile.parse(listen, path: "site.yaml")
    #expect(mixed.listen == [open, network])
    #expect(mixed.policy(of: open) == .open)
    #expect(mixed.policy(of: network) == .signed)
    #expect(mixed.site.admission == .open)
    #expect(mixed.warnings.isEmpty)
    let strict = try SiteFile.parse(
      listen + "ingest: { policy: allowlist }\nobservers: [{ id: a }]",
      path: "site.yaml"
    )
    #expect(strict.policy(of: open) == .allowlist)
    #expect(strict.policy(of: network) == .signed)
    #expect(strict.site.admission == .listed)
    let all = try SiteFile.parse("data: d\ningest: { policy: signed }", path: "site.yaml")
    #expect(all.policy(of: SiteConfiguration.defaultListen[0]) == .signed)
    #expect(all.site.admission == .listed)
  }

  @Test("place, retention and trusted programs of the journal")
  func operations() throws {
    let text = """
      listen:
        http: "0.0.0.0:8443"
        allowedOrigins: ["https://floor.example.org"]
        allowedHosts: [pharos.local]
      tls: { certificate: cert.pem, key: /etc/pharos/key.pem }
      data: data
      journal: { retention: { age: 30d, size: 10GB } }
      ingest: { policy: allowlist }
      applications: [{ id: care, purpose: "to find residents who need help" }]
      observers: [{ id: phone, person: true }, { id: desk }]
      beacons: [{ mac: "c0:00:00:00:00:01", name: badge, person: true }]
      """
    let configuration = try SiteFile.parse(text, path: "sites/a/site.yaml")
    #expect(configuration.warnings.isEmpty)
    #expect(configuration.allowedOrigins == ["https://floor.example.org"])
    #expect(configuration.allowedHosts == ["pharos.local"])
    #expect(configuration.policy == .allowlist)
    #expect(configuration.site.admission == .listed)
    #expect(configuration.retention == Retention(age: .minutes(30 * 24 * 60), size: 10_000_000_000))
    #expect(configuration.access.purposes == ["care": "to find residents who need help"])
    let badge = try #require(DeviceAddress("c0:00:00:00:00:01"))
    #expect(configuration.access.personObservers == [.name("phone")])
    #expect(configuration.access.personBeacons == [.address(badge)])
    let placed = configuration.resolved(against: "sites/a/site.yaml")
    #expect(placed.data == "sites/a/data")
    #expect(placed.tls == TLSFiles(certificate: "sites/a/cert.pem", key: "/etc/pharos/key.pem"))
    #expect(configuration.resolved(against: "site.yaml").data == "data")
  }
}

@Suite("Brokers in a site file")
struct SiteBrokerTests {
  @Test("a broker to listen to has the topics of the usual gateways and the port of its scheme")
  func input() throws {
    let text = """
      listen:
        mqtt: { broker: "mqtts://broker.local", ca: certs/ca.pem, username: pharos, passwordFile: secrets/mqtt }
      """
    let input = try #require(
      try SiteFile.parse(text, path: "site.yaml").resolved(against: "/etc/pharos/site.yaml").mqttInput
    )
    #expect("\(input.broker.address)" == "mqtts://broker.local:8883")
    #expect(input.broker.authorities == "/etc/pharos/certs/ca.pem")
    #expect(input.broker.passwordFile == "/etc/pharos/secrets/mqtt")
    #expect(input.topics == MQTTInput.usualTopics)
    #expect(input.policy == nil)
  }

  @Test("a topic may say which of its levels names the observer")
  func observerLevels() throws {
    let text = """
      listen:
        mqtt: { broker: "mqtt://b", topics: ["home/#", { filter: "room_presence/+", observer: 2 }, { filter: "a/+/b" }] }
      """
    let input = try #require(try SiteFile.parse(text, path: "site.yaml").mqttInput)
    #expect(input.topics == ["home/#", MQTTTopic("room_presence/+", observer: 2), "a/+/b"])
    #expect(input.topics[1].matches("room_presence/bedroom"))
    for topic in ["room_presence", "room_presence/a/b", "other/a"] {
      #expect(!input.topics[1].matches(topic))
    }
    #expect(MQTTTopic("$share/g/home/#").matches("home/x/y") && MQTTTopic("home/#").matches("home"))
  }

  @Test("a broker to publish to has a prefix of its own and Home Assistant's")
  func output() throws {
    let text =
      #"publish: { mqtt: { broker: "mqtt://[::1]:2883", username: pharos, passwordVariable: PASSWORD } }"#
    let output = try #require(try SiteFile.parse(text, path: "site.yaml").mqttOutput)
    #expect("\(output.broker.address)" == "mqtt://[::1]:2883")
    #expect(output.broker.passwordVariable == "PASSWORD")
    #expect(output.prefix == "pharos")
    #expect(output.discovery == "homeassistant")
    #expect(output.homeAssistant == nil && output.hasTrackerStates)
    #expect(output.dashboard == nil)
  }

  @Test(
    "the dashboard that Home Assistant links to is a web address without a query",
    arguments: [
      ("http://pharos.local:8080/", true), ("https://10.0.0.2", true), ("https://home/pharos", true),
      ("pharos.local", false), ("ftp://a/", false), ("http://", false), ("http:///x", false),
      ("http://a/?b", false), ("http://a/#b", false), ("http://user@a/", false), ("http://a b/", false),
    ]
  )
  func dashboards(address: String, isGood: Bool) throws {
    let text = "publish: { mqtt: { broker: \"mqtt://b\", dashboard: \"\(address)\" } }"
    let output = try? SiteFile.parse(text, path: "site.yaml").mqttOutput
    #expect(output?.dashboard == (isGood ? address : nil))
  }

  @Test("an observer counts only if it is listed where no listener and no broker is open")
  func admission() throws {
    func admission(_ text: String) throws -> Site.Admission {
      try SiteFile.parse(text, path: "site.yaml").site.admission
    }
    let listed = "ingest: { policy: allowlist }\nobservers: [{ id: desk }]\n"
    #expect(try admission(listed) == .listed)
    #expect(try admission(listed + "listen: { mqtt: { broker: \"mqtt://h\" } }") == .listed)
    #expect(try admission(listed + "listen: { mqtt: { broker: \"mqtt://h\", policy: open } }") == .open)
  }

  @Test(
    "other addresses are none",
    arguments: [
      "", "h", "http://h", "mqtt://", "mqtt://h:x", "mqtt://h/", "mqtt://u@h", "mqtt://a:1:2", "mqtt:// h",
    ]
  )
  func addresses(text: String) { #expect(MQTTBroker.Address(text) == nil) }
}
