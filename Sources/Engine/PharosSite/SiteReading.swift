import PharosDocuments
import PharosModel

/// A reader of one site file's tree, with the state for the checks that span the file.
struct SiteReading {
  let problems: DocumentProblems
  /// Reads the files that the site names; nil if it may name none.
  var files: ((String) throws -> [UInt8])?
  /// Every mention of an observer in a region about beacons or in a zone, for ``checkMentions(of:)``.
  var observerMentions: [(id: ObserverID, place: String, path: String, line: Int)] = []
  /// The first region about observers of each application, for the warning about fixed gateways.
  var observerRegions: [(place: String, path: String, line: Int)] = []
  /// The observers by a spelling that all spellings of one share.
  var spellings: [String: ObserverID] = [:]
  /// The persons, and the purposes of the applications.
  var access = SiteAccess()
  /// The number of regions read so far, limited so that aliases in YAML cannot multiply them without end.
  var regionCount = 0

  /// The maximum number of regions in a file, including those of rotation trees.
  static let maximumRegions = 100_000
  /// The maximum depth of a rotation tree: campus, venue, building, floor, hall, exhibit and room to spare.
  static let deepestRotation = 16

  private static let keys = [
    "stream", "listen", "publish", "tls", "data", "journal", "ingest", "applications", "regions", "ranging",
    "rotation",
    "observers", "beacons", "zones", "venues", "positioning", "visits", "iBeaconCompanies",
    "pathLossExponent",
  ]

  init(problems: DocumentProblems, files: ((String) throws -> [UInt8])? = nil) {
    self.problems = problems
    self.files = files
    problems.sections = SiteReading.sections
  }

  /// The sections of a site file with their keys, by which mistakes say where a key belongs that is written elsewhere.
  static let sections: [DocumentSection] = [
    DocumentSection(root: keys),
    DocumentSection("listen", listenKeys),
    DocumentSection("udp", name: "listen.udp", in: ["listen"], isList: true, listenerKeys),
    DocumentSection(
      "meraki",
      name: "listen.meraki",
      in: ["listen"],
      DocumentField.keys(MerakiPosts.properties)
    ),
    DocumentSection("mqtt", name: "listen.mqtt", in: ["listen"], mqttInputKeys),
    DocumentSection("topics", name: "listen.mqtt.topics", in: ["listen.mqtt"], isList: true, topicKeys),
    DocumentSection("publish", publishKeys),
    DocumentSection("mqtt", name: "publish.mqtt", in: ["publish"], mqttOutputKeys),
    DocumentSection("mail", name: "publish.mail", in: ["publish"], DocumentField.keys(MailRelay.properties)),
    DocumentSection("tls", tlsKeys),
    DocumentSection("ingest", ingestKeys),
    DocumentSection("journal", journalKeys),
    DocumentSection(
      "retention",
      name: "journal.retention",
      in: ["journal"],
      DocumentField.keys(Retention.properties)
    ),
    DocumentSection("applications", isList: true, applicationKeys),
    DocumentSection("regions", in: regionParents, isList: true, regionKeys),
    DocumentSection("regions", name: "regions with an area", in: regionParents, isList: true, geofenceKeys),
    DocumentSection("enter", in: ["regions"], DocumentField.keys(PresencePolicy.enter)),
    DocumentSection("exit", in: ["regions"], DocumentField.keys(PresencePolicy.exit)),
    DocumentSection(
      "enter",
      name: "enter of an area",
      in: ["regions with an area"],
      DocumentField.keys(GeofenceDocument.enter)
    ),
    DocumentSection(
      "exit",
      name: "exit of an area",
      in: ["regions with an area"],
      DocumentField.keys(GeofenceDocument.exit)
    ),
    DocumentSection("altitude", in: ["regions with an area"], DocumentField.keys(GeofenceDocument.altitude)),
    DocumentSection("ranging", in: [DocumentSection.top, "applications"], isList: true, rangingKeys),
    DocumentSection("rotation", in: [DocumentSection.top, "applications"], isList: true, rotationKeys),
    DocumentSection("observers", isList: true, observerKeys),
    DocumentSection("beacons", isList: true, beaconKeys),
    DocumentSection("zones", isList: true, zoneKeys),
    DocumentSection(
      "beacons",
      name: "beacons of a zone",
      in: ["zones"],
      isList: true,
      DocumentFields.identityKeys
    ),
    DocumentSection("occupancy", name: "occupancy of a zone", in: ["zones"], thresholdKeys),
    DocumentSection("fingerprint", name: "fingerprint of a zone", in: ["zones"], FingerprintDocument.keys),
    DocumentSection("positioning", positioningKeys),
    DocumentSection(
      "tags",
      name: "positioning.tags",
      in: ["positioning"],
      isList: true,
      DocumentFields.identityKeys
    ),
    DocumentSection("visits", visitKeys),
  ]

  private static let regionParents = [DocumentSection.top, "applications"]

  mutating func configuration(of root: DocumentNode) -> SiteConfiguration {
    var configuration = SiteConfiguration()
    let root = withoutHTTPKeys(root)
    guard let fields = DocumentFields(root, place: "site", known: SiteReading.keys, problems: problems) else {
      return configuration
    }
    readListen(fields, into: &configuration)
    if let publish = fields.fields("publish", known: SiteReading.publishKeys) {
      configuration.mqttOutput = mqttOutput(publish)
      configuration.mail = MailRelay.read(publish)
    }
    readJournal(fields, into: &configuration)
    configuration.site = site(fields)
    readPolicy(fields, into: &configuration)
    configuration.access = access
    checkAccess(fields, configuration)
    let venues = VenueEntries.read(fields)
    (configuration.venues, configuration.visitors) = (venues.folders, venues.visitors)
    configuration.site.positioning = positioning(fields)
    configuration.site.visits = visits(fields)
    for key in configuration.paths.map(\.key) + ["listen.http"] {
      configuration.lines[key] = root.line(ofKey: key)
    }
    for (index, line) in venues.lines.enumerated() { configuration.lines["venues[\(index)]"] = line }
    return configuration
  }

  private mutating func site(_ fields: DocumentFields) -> Site {
    var site = Site()
    if fields.has("stream"), let stream = fields.requiredText("stream", expected: "a name") {
      site.stream = stream
    }
    site.applications = applications(fields)
    site.observers = observers(fields)
    site.beacons = beacons(fields)
    site.zones = zones(fields)
    site.iBeaconCompanies = fields.values("iBeaconCompanies", of: "company identifiers", .company)
    if let exponent = fields.value("pathLossExponent", .number(in: 1...6)) {
      site.pathLossExponent = exponent
    }
    checkMentions(of: site.observers)
    warnOfFixedGateways(site)
    warnOfEmptyZones(site, fields)
    return site
  }

  /// A zone without beacons of its own places those that some region, ranging or the site's other zones ask about.
  private func warnOfEmptyZones(_ site: Site, _ fields: DocumentFields) {
    let isAsked = site.applications.contains {
      !$0.regions.isEmpty || !$0.ranging.isEmpty || !$0.rotation.isEmpty
    }
    guard !problems.hasMistakes, !isAsked, !site.zones.isEmpty, site.zones.allSatisfy(\.beacons.isEmpty),
      !fields.has("positioning")
    else { return }
    fields.warning(
      "zones",
      "no zone and no region says which beacons are placed, so nothing is ever found in a room",
      expected: "beacons: [{ uuid: … }] in each zone, or regions: [{ id: tags, subject: beacon, uuid: … }]"
    )
  }

  /// If observers are listed, an unlisted one is reported as a mistake.
  private mutating func checkMentions(of listed: [ObserverEntry]) {
    guard !listed.isEmpty else {
      for mention in observerMentions {
        warnOfLikeObserver(mention.id, mention.place, mention.path, mention.line)
      }
      return
    }
    let known = Set(listed.map(\.id))
    let names = listed.map(\.id.description)
    for mention in observerMentions where !known.contains(mention.id) {
      problems.mistake(
        "\(mention.place): observer \"\(mention.id)\" is not listed under observers"
          + Spelling.hint(for: mention.id.description, among: names),
        line: mention.line,
        field: mention.path,
        expected: "an observer of the list, or no list at all"
      )
    }
  }

  /// A gateway on a wall is inside forever: a region that lists gateways is usually about tags.
  ///
  /// Gateways are known by a MAC, by standing in a zone, or by hearing for a region about beacons; handsets have
  /// UUIDs and names.
  private func warnOfFixedGateways(_ site: Site) {
    let mentioned = Set(observerMentions.map(\.id))
    let listed = site.observers.filter { $0.id.isHardware || mentioned.contains($0.id) }
    let gateways =
      listed.map { $0.name ?? $0.id.description }
      + mentioned.subtracting(site.observers.map(\.id)).sorted().map(\.description)
    guard let first = gateways.first else { return }
    let others = gateways.count - 1
    let suffix = others > 0 ? " and \(others) more" : ""
    for region in observerRegions {
      problems.warning(
        "\(region.place) is about observers, and gateways are listed (\"\(first)\"\(suffix)): one that hangs "
          + "beside a matching beacon stays inside. If the region is about tags, write subject: beacon",
        line: region.line,
        field: region.path
      )
    }
  }
}

extension SiteReading {
  private static let publishKeys = ["mqtt", "mail"]
  private static let listenKeys = ["udp", "mqtt", "http", "meraki", "allowedOrigins", "allowedHosts"]
  private static let tlsKeys = ["certificate", "key"]
  private static let journalKeys = ["retention"]

  /// Reads the addresses at which datagrams and requests arrive, and the certificate.
  func readListen(_ fields: DocumentFields, into configuration: inout SiteConfiguration) {
    if let listen = fields.fields("listen", known: SiteReading.listenKeys) {
      readUDP(listen, into: &configuration)
      configuration.mqttInput = mqttInput(listen)
      configuration.http = listen.value("http", .hostPort(example: "\"127.0.0.1:8080\""))
      configuration.meraki = MerakiPosts.read(listen)
      configuration.allowedOrigins = listen.values("allowedOrigins", of: "texts", .origin)
      configuration.allowedHosts = listen.values("allowedHosts", of: "texts", .hostName)
    }
    guard let tls = fields.fields("tls", known: SiteReading.tlsKeys) else { return }
    let certificate = tls.requiredText("certificate", expected: "the path of a PEM file")
    let key = tls.requiredText("key", expected: "the path of a PEM file")
    if let certificate, let key { configuration.tls = TLSFiles(certificate: certificate, key: key) }
    if configuration.http == nil {
      fields.warning("tls", "tls is set without listen.http: it is used only where --http gives the address")
    }
  }

  /// Reads the folder and the retention of the journal.
  func readJournal(_ fields: DocumentFields, into configuration: inout SiteConfiguration) {
    configuration.data = fields.filledText("data", expected: "the path of a folder")
    guard let journal = fields.fields("journal", known: SiteReading.journalKeys) else { return }
    guard let retention = journal.fields("retention", known: DocumentField.keys(Retention.properties)) else {
      return
    }
    DocumentField.read(Retention.properties, of: retention, into: &configuration.retention)
    guard configuration.data == nil else { return }
    fields.warning("journal", "journal is set without data: it is used only where --data gives the folder")
  }

  /// Returns the tree without the keys that a site file cannot set, and notes a mistake for each of them.
  func withoutHTTPKeys(_ root: DocumentNode) -> DocumentNode {
    guard let members = root.members else { return root }
    let reasons = [
      "webhooks": "webhooks carry secrets and are made over HTTP: POST /v1/webhooks",
      "tokens": "tokens are made by pharos token create",
      "notifications": "notification rules are made over HTTP: "
        + "PUT /v1/applications/{application}/notifications/{id}",
    ]
    let kept = members.filter { key, _ in
      guard let name = key.scalar, let reason = reasons[name] else { return true }
      problems.mistake("site: \(reason)", line: key.line, field: name, expected: "no such key")
      return false
    }
    return DocumentNode(.mapping { kept }, line: root.line)
  }

  /// Checks that only applications with a stated purpose may receive events about persons, and that regions and ranging are
  /// asked for at full accuracy.
  func checkAccess(_ fields: DocumentFields, _ configuration: SiteConfiguration) {
    for application in configuration.site.applications {
      guard let policy = configuration.access.accuracies[application.identifier], policy.accuracy.isReduced,
        policy.purposes.isEmpty, !application.regions.isEmpty || !application.ranging.isEmpty
      else { continue }
      fields.warning(
        "applications",
        "application \"\(application.identifier)\" has the accuracy \(policy.accuracy.rawValue), so its regions and "
          + "its ranging give it nothing",
        expected: "the accuracy full, or temporaryPurposes for which it may ask for it"
      )
    }
    guard configuration.access.hasPersons else { return }
    for application in configuration.site.applications
    where configuration.access.purposes[application.identifier] == nil {
      fields.warning(
        "applications",
        "application \"\(application.identifier)\" has no purpose, so it cannot be authorised to learn "
          + "about persons",
        expected: "a purpose: \(SiteReading.purposeExpected)"
      )
    }
  }
}

extension SiteReading {
  private static let listenerKeys = ["address", "policy"]
  private static let ingestKeys = ["policy"]

  /// Reads the addresses at which datagrams arrive: `HOST:PORT` each, or a mapping with an address and a policy of its
  /// own.
  func readUDP(_ listen: DocumentFields, into configuration: inout SiteConfiguration) {
    guard let udp = listen["udp"] else { return }
    let form = ValueForm.hostPort(example: "\"127.0.0.1:50001\" or \"[::]:50001\"")
    let nodes =
      udp.elements == nil
      ? [(index: 0, path: listen.path(of: "udp"), node: udp)] : listen.list("udp", of: "addresses")
    configuration.listen = nodes.compactMap { _, path, node in
      guard node.members != nil else { return listen.element(node, of: "udp", path: path, form) }
      let known = SiteReading.listenerKeys
      let fields = DocumentFields(node, place: "listen.udp", path: path, known: known, problems: problems)
      guard let fields, let address = fields.required("address", form) else { return nil }
      if let policy = policy(fields) { configuration.listenerPolicies[address] = policy }
      return address
    }
  }

  /// Whose datagrams are taken where a listener does not say so itself.
  func readPolicy(_ fields: DocumentFields, into configuration: inout SiteConfiguration) {
    if let ingest = fields.fields("ingest", known: SiteReading.ingestKeys) {
      configuration.policy = policy(ingest) ?? .open
      if configuration.policy == .allowlist, !fields.has("observers") {
        ingest.warning(
          "policy",
          "policy allowlist, and no observer is listed: each is quarantined until it is accepted",
          expected: "observers, or pharos observer accept for each"
        )
      }
    }
    checkPolicy(configuration.mqttInput, configuration, fields)
    let policies = configuration.listen.map { configuration.policy(of: $0) }
    // Where any sender may use some listener, the others check their lists themselves.
    let everyPolicy = policies + (configuration.mqttInput.map { [$0.policy ?? configuration.policy] } ?? [])
    configuration.site.admission = everyPolicy.contains(.open) ? .open : .listed
    warnOfKeys(fields, configuration, policies)
  }

  private func policy(_ fields: DocumentFields) -> IngestPolicy? {
    fields.value("policy", .word(IngestPolicy.allCases))
  }

  private func warnOfKeys(
    _ fields: DocumentFields,
    _ configuration: SiteConfiguration,
    _ policies: [IngestPolicy]
  ) {
    guard policies.contains(.signed) else { return }
    let key = configuration.policy == .signed && configuration.listenerPolicies.isEmpty ? "ingest" : "listen"
    if configuration.data == nil {
      fields.warning(
        key,
        "signatures are asked for, and there is no data folder to keep keys in: every gateway is refused unless --data "
          + "gives one",
        expected: "data, and pharos observer add for each gateway"
      )
    }
    for (address, policy) in zip(configuration.listen, policies) where policy == .open && !address.isLoopback
    {
      fields.warning(
        "listen",
        "\(address) accepts datagrams from any sender, even under the names of observers that sign elsewhere",
        expected: "policy: allowlist or signed there, or an address of this machine alone"
      )
    }
  }
}

extension SiteReading {
  private static let positioningKeys = DocumentField.keys(PositioningSettings.properties) + ["tags"]
  private static let visitKeys = ["minimum"] + DocumentField.keys(VisitSettings.properties)

  /// Reads the settings for locating handsets and tags in the venues.
  func positioning(_ fields: DocumentFields) -> PositioningSettings {
    var settings = PositioningSettings()
    guard let entry = fields.fields("positioning", known: SiteReading.positioningKeys) else {
      return settings
    }
    DocumentField.read(PositioningSettings.properties, of: entry, into: &settings)
    settings.tags = entry.constraints("tags", "tag")
    if !fields.has("venues") {
      fields.warning("positioning", "positioning is set without venues: nothing is located")
    }
    return settings
  }
}

extension SiteReading {
  /// Reads the scale of visits; without the key no visits are decided.
  func visits(_ fields: DocumentFields) -> VisitSettings? {
    guard let entry = fields.fields("visits", known: SiteReading.visitKeys) else { return nil }
    if !fields.has("venues"), !fields.has("zones") {
      fields.warning("visits", "visits is set without venues and zones: no stay can be seen")
    }
    let minimum = entry.required("minimum", .time(in: VisitSettings.minimums))
    var settings = VisitSettings(minimum: minimum ?? VisitSettings.minimums.lowerBound)
    DocumentField.read(VisitSettings.properties, of: entry, into: &settings)
    return minimum == nil ? nil : settings
  }
}

extension VisitSettings {
  static let properties: [DocumentField<VisitSettings>] = [
    DocumentField("radius", \.radius, .number(in: radii, unit: "m")),
    DocumentField("hold", \.hold, .time(in: holds)),
  ]
}

extension PositioningSettings {
  static let properties: [DocumentField<PositioningSettings>] = [
    DocumentField("interval", \.interval, .time(in: intervals)),
    DocumentField("lag", \.lag, .time(in: lags)),
    DocumentField("particles", \.particles, .integer(in: particleCounts)),
    DocumentField("simulated", \.isSimulated, .flag),
  ]
}

extension Retention {
  static let properties: [DocumentField<Retention>] = [
    DocumentField("age", \.age, .time),
    DocumentField("size", \.size, .byteCount),
  ]
}

extension ValueForm where Value == Int64 {
  fileprivate static var byteCount: Self {
    ValueForm(
      expected: "a size, as in 500MB or 10GB",
      text: { "\($0)B" },
      parse: { ByteCount.read($0).flatMap { $0 > 0 ? $0 : nil } }
    )
  }
}

extension ValueForm where Value == UInt16 {
  /// The identifier of a company of the Bluetooth SIG.
  fileprivate static var company: Self {
    ValueForm(expected: "a company identifier: a number from 0 to 65535, or 0x0000 to 0xffff") { text in
      text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
    }
  }
}

extension ValueForm where Value == HostPort {
  fileprivate static func hostPort(example: String) -> Self {
    ValueForm(expected: "HOST:PORT, as in \(example)") { HostPort($0) }
  }
}

extension ValueForm where Value == String {
  static var folder: Self {
    ValueForm(expected: "the path of a venue's folder") { text in
      text.contains { !$0.isWhitespace } ? text : nil
    }
  }

  /// The form of the `Origin` header: a scheme and a host, with an optional port and nothing after it.
  fileprivate static var origin: Self {
    ValueForm(expected: "an origin without a path, as in \"https://floor.example.org\"") { text in
      guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return nil }
      let host = text.dropFirst(scheme.count)
      return host.isEmpty || PlainText.has(anyOf: "/?#@ \t", in: host) ? nil : text
    }
  }

  fileprivate static var hostName: Self {
    ValueForm(expected: "a host name without port, as in \"pharos.local\"") { text in
      let isName = !text.isEmpty && text.utf8.count <= 253 && !PlainText.has(anyOf: "/?#@: \t", in: text)
      return isName ? text : nil
    }
  }
}
