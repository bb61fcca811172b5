import PharosModel
import PharosSecurity
import PharosSite
import PharosTestSupport

/// Configurations drawn at random, within what a site file allows.
enum DrawnSite {
  /// Texts that YAML, or a careless writer of it, takes for something else.
  private static let texts = [
    "lobby", "the hall", "yes", "null", "~", "1e3", "0x1F", "12:30:45", "- a", "a: b", "#1", "{x}",
    "é \"q\" \\",
    "日本", "\"\u{301}", "\u{D4E}'", "\u{1F600}", "a\u{200D}b", " space ", "*a", "&a", "!x", "%x",
  ]
  /// Purposes, which may have several lines.
  private static let purposes = texts + ["tab\there", "line\nbreak", "line\r\n\u{301}break\n"]

  static func configuration(using random: inout SeededGenerator) -> SiteConfiguration {
    var configuration = SiteConfiguration()
    let observers = observers(using: &random)
    configuration.site = Site(
      stream: maybe("shop/1", using: &random) ?? "pharos",
      applications: applications(using: &random),
      observers: observers,
      beacons: beacons(using: &random),
      zones: zones(of: observers, using: &random),
      iBeaconCompanies: maybe([0x0059, 0xFFFF], using: &random) ?? [],
      pathLossExponent: maybe(Double.random(in: 1...6, using: &random), using: &random) ?? 2,
      positioning: PositioningSettings(
        interval: maybe(.milliseconds(250), using: &random) ?? PositioningSettings.defaultInterval,
        particles: maybe(Int.random(in: 50...2_000, using: &random), using: &random),
        tags: maybe([DrawnRegion.constraint(using: &random)], using: &random) ?? []
      ),
      venues: maybe(["venues/a b/", "/abs/\"x\""], using: &random) ?? [],
      visits: maybe(
        VisitSettings(
          minimum: .seconds(45),
          radius: maybe(12.5, using: &random) ?? VisitSettings.defaultRadius
        ),
        using: &random
      )
    )
    let addresses = [
      HostPort(host: "0.0.0.0", port: 50_001), HostPort(host: "::", port: 5), HostPort(host: "h", port: 1),
    ]
    configuration.listen = maybe(addresses, using: &random) ?? SiteConfiguration.defaultListen
    configuration.policy = IngestPolicy.allCases.randomElement(using: &random) ?? .open
    for address in configuration.listen {
      configuration.listenerPolicies[address] = maybe(.signed, using: &random)
    }
    configuration.mqttInput = maybe(mqttInput(using: &random), using: &random)
    if configuration.policy == .signed, configuration.mqttInput?.policy == nil {
      configuration.mqttInput?.policy = .allowlist
    }
    configuration.mqttOutput = maybe(mqttOutput(using: &random), using: &random)
    configuration.mail = maybe(
      MailRelay(HostPort(host: "mail.example.org", port: 25), sender: "pharos@example.org"),
      using: &random
    )
    let policies =
      configuration.listen.map { configuration.policy(of: $0) }
      + (configuration.mqttInput.map { [$0.policy ?? configuration.policy] } ?? [])
    configuration.site.admission = policies.contains(.open) ? .open : .listed
    configuration.http = maybe(HostPort(host: "::1", port: 8_080), using: &random)
    configuration.allowedOrigins = maybe(["https://floor.example.org"], using: &random) ?? []
    configuration.meraki = maybe(meraki(using: &random), using: &random)
    configuration.allowedHosts = maybe(["pharos.local"], using: &random) ?? []
    configuration.tls = maybe(TLSFiles(certificate: "a b.pem", key: "/k"), using: &random)
    configuration.data = maybe("pharos data", using: &random)
    if !configuration.venues.isEmpty, Bool.random(using: &random) {
      configuration.visitors[1] = VisitorPage(nearMe: maybe("https://example.org/?a=1", using: &random))
    }
    configuration.retention.age = maybe(.minutes(7), using: &random)
    configuration.retention.size = maybe(Int64.random(in: 1...(1 << 50), using: &random), using: &random)
    for application in configuration.site.applications {
      configuration.access.purposes[application.identifier] = maybe(
        text(of: purposes, using: &random),
        using: &random
      )
    }
    for application in configuration.site.applications {
      configuration.access.accuracies[application.identifier] = maybe(
        AccuracyPolicy(
          AccuracyAuthorisation.allCases.randomElement(using: &random) ?? .full,
          purposes: maybe(["way": text(of: purposes, using: &random)], using: &random) ?? [:]
        ),
        using: &random
      )
    }
    configuration.access.personObservers = Set(
      observers.map(\.id).filter { _ in Bool.random(using: &random) }
    )
    configuration.access.personBeacons = Set(
      configuration.site.beacons.map(\.constraint).filter { _ in Bool.random(using: &random) }
    )
    return configuration
  }

  private static func meraki(using random: inout SeededGenerator) -> MerakiPosts {
    var posts = MerakiPosts()
    posts.validator = "0f1e"
    if Bool.random(using: &random) {
      posts.secretFile = maybe("secrets/meraki", using: &random)
    } else {
      posts.secretVariable = maybe("MERAKI_SECRET", using: &random)
    }
    return posts
  }

  private static func mqttInput(using random: inout SeededGenerator) -> MQTTInput {
    var input = MQTTInput(broker: broker(using: &random))
    input.topics =
      maybe(["+/x", "a/#", "$share/g/b", "é"], using: &random)
      ?? maybe(["a/+", MQTTTopic("rooms/+", observer: 2)], using: &random) ?? MQTTInput.usualTopics
    input.policy = maybe(Bool.random(using: &random) ? .open : .allowlist, using: &random)
    return input
  }

  private static func mqttOutput(using random: inout SeededGenerator) -> MQTTOutput {
    var output = MQTTOutput(broker: broker(using: &random))
    output.prefix = maybe("site/1", using: &random) ?? "pharos"
    output.discovery = maybe(MQTTOutput.noDiscovery, using: &random) ?? "homeassistant"
    output.homeAssistant = maybe(HomeAssistantVersion(year: 2026, month: 10), using: &random)
    output.dashboard = maybe("https://home.local/pharos/", using: &random)
    return output
  }

  private static func broker(using random: inout SeededGenerator) -> MQTTBroker {
    let places = [HostPort(host: "::1", port: 1_883), HostPort(host: "broker.local", port: 1)]
    let usesTLS = Bool.random(using: &random)
    var broker = MQTTBroker(.init(places[Int.random(in: 0...1, using: &random)], usesTLS: usesTLS))
    if usesTLS { broker.authorities = maybe("a b.pem", using: &random) }
    broker.username = maybe("yes", using: &random)
    if broker.username != nil {
      if Bool.random(using: &random) {
        broker.passwordFile = maybe("secrets/mqtt", using: &random)
      } else {
        broker.passwordVariable = maybe("MQTT_PASSWORD", using: &random)
      }
    }
    broker.clientID = maybe("7", using: &random)
    return broker
  }

  private static func text(of texts: [String] = texts, using random: inout SeededGenerator) -> String {
    var text = texts.randomElement(using: &random) ?? "a"
    // A purpose that is blank is none; every other text is one.
    if !text.contains(where: { !$0.isWhitespace }) { text += "x" }
    return text
  }

  private static func maybe<Value>(_ value: Value, using random: inout SeededGenerator) -> Value? {
    Bool.random(using: &random) ? value : nil
  }

  private static func observers(using random: inout SeededGenerator) -> [ObserverEntry] {
    // The names are those that drawn regions mention.
    let ids = ["desk-0", "desk-1", "desk-2", "ac:23:3f:a0:00:01", "1122334455667788", "yes", "7"].compactMap {
      ObserverID($0)
    }
    return ids.map { id in
      ObserverEntry(
        id: id,
        name: maybe(text(using: &random), using: &random),
        rssiOffset: maybe(Double.random(in: ObserverEntry.rssiOffsets, using: &random), using: &random) ?? 0,
        liveness: ObserverEntry.Liveness.allCases.randomElement(using: &random) ?? .auto,
        lag: maybe(.milliseconds(500), using: &random)
      )
    }
  }

  private static func applications(using random: inout SeededGenerator) -> [Application] {
    Set((0..<3).map { _ in text(using: &random) }).sorted().map { identifier in
      var regions: [Region] = []
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let region = DrawnRegion.region(using: &random)
        if !regions.contains(where: { $0.identifier == region.identifier }) { regions.append(region) }
      }
      var rotated = DrawnRegion.region(using: &random)
      rotated.identifier = "rotated"
      var child = DrawnRegion.region(using: &random)
      child.identifier = "child"
      let drawn = DrawnRegion.region(using: &random)
      let request = RangingRequest(
        constraint: drawn.constraint ?? DrawnRegion.constraint(using: &random),
        keyedByAddress: drawn.keyedByAddress,
        whileInside: Bool.random(using: &random)
      )
      return Application(
        identifier: identifier,
        regions: regions,
        ranging: maybe([request], using: &random) ?? [],
        rotation: maybe([RegionNode(region: rotated, children: [RegionNode(region: child)])], using: &random)
          ?? [],
        regionLimit: maybe(Int.random(in: 5...50, using: &random), using: &random)
          ?? Application.defaultRegionLimit
      )
    }
  }

  private static func beacons(using random: inout SeededGenerator) -> [BeaconEntry] {
    var entries: [BeaconEntry] = []
    for index in 0..<Int.random(in: 0...5, using: &random) {
      let drawn = DrawnRegion.region(using: &random)
      var entry = BeaconEntry(
        constraint: drawn.constraint ?? DrawnRegion.constraint(using: &random),
        keyedByAddress: drawn.keyedByAddress
      )
      entry.name = maybe(text(using: &random), using: &random)
      entry.measuredPower = maybe(Double.random(in: MeasuredPower.range, using: &random), using: &random)
      entry.interval = maybe(.milliseconds(350), using: &random)
      entry.caption = DrawnRegion.caption(using: &random)
      if case .address = entry.constraint {
        entry.identityKey = IdentityKey(octets: (0..<16).map { UInt8($0 + 16 * index) })
      }
      entries.append(entry)
    }
    return entries
  }

  private static func zones(of observers: [ObserverEntry], using random: inout SeededGenerator) -> [Zone] {
    let names = Array(Set((0..<4).map { _ in text(using: &random) })).sorted()
    return names.map { name in
      var zone = Zone(
        identifier: name,
        name: maybe(text(using: &random), using: &random),
        observers: Array(
          observers.map(\.id).shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        ),
        floor: maybe(Int.random(in: -20...200, using: &random), using: &random),
        adjacent: names.filter { $0 != name && Bool.random(using: &random) },
        beacons: maybe([DrawnRegion.constraint(using: &random)], using: &random) ?? [],
        occupancy: maybe(
          [OccupancyThreshold(above: 20, below: Int.random(in: 0...20, using: &random))],
          using: &random
        )
          ?? []
      )
      zone.fingerprint = maybe(fingerprint(of: zone.observers, using: &random), using: &random)
      return zone
    }
  }

  private static func fingerprint(
    of observers: [ObserverID],
    using random: inout SeededGenerator
  ) -> ZoneFingerprint {
    ZoneFingerprint(
      levels: observers.sorted().map {
        ZoneFingerprint.Level(
          observer: $0,
          mean: .random(in: -99 ... -30, using: &random),
          deviation: .random(in: 0...12, using: &random),
          heard: .random(in: 0...1, using: &random)
        )
      },
      looks: .random(in: 0...500, using: &random),
      learnedAt: Timestamp(nanoseconds: .random(in: 0...2_000_000_000_000_000_000, using: &random))
    )
  }
}
