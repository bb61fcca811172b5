import PharosModel
import Yams

/// A reader of one site file's tree, with the state for the checks that span the file.
struct SiteReading {
  let problems: SiteProblems
  /// Every mention of an observer in a region about beacons or in a zone, for ``checkMentions(of:)``.
  var observerMentions: [(id: ObserverID, place: String, path: String, line: Int)] = []
  /// The first region about observers of each application, for the warning about fixed gateways.
  var observerRegions: [(place: String, path: String, line: Int)] = []
  /// The persons, and the purposes of the applications.
  var access = SiteAccess()
  /// The number of regions read so far, limited so that aliases in YAML cannot multiply them without end.
  var regionCount = 0

  /// The maximum number of regions in a file, including those of rotation trees.
  static let mostRegions = 100_000
  /// The maximum depth of a rotation tree: campus, venue, building, floor, hall, exhibit and room to spare.
  static let deepestRotation = 16

  private static let keys = [
    "stream", "listen", "tls", "data", "journal", "ingest", "applications", "regions", "ranging", "rotation",
    "observers", "beacons", "zones", "venues", "positioning", "iBeaconCompanies", "pathLossExponent",
  ]

  init(problems: SiteProblems) { self.problems = problems }

  mutating func configuration(of root: Node) -> SiteConfiguration {
    var configuration = SiteConfiguration()
    let root = withoutHTTPKeys(root)
    let known = SiteReading.keys
    guard let fields = SiteFields(root, place: "site", path: "", known: known, problems: problems) else {
      return configuration
    }
    readListen(fields, into: &configuration)
    readJournal(fields, into: &configuration)
    configuration.site = site(fields)
    readPolicy(fields, into: &configuration)
    configuration.access = access
    checkAccess(fields, configuration)
    configuration.venues = venues(fields)
    configuration.site.positioning = positioning(fields)
    return configuration
  }

  private mutating func site(_ fields: SiteFields) -> Site {
    var site = Site()
    if fields.has("stream"), let stream = fields.requiredText("stream", expected: "a name") {
      site.stream = stream
    }
    site.applications = applications(fields)
    site.observers = observers(fields)
    site.beacons = beacons(fields)
    site.zones = zones(fields)
    site.iBeaconCompanies = companies(fields)
    if let exponent = fields.number("pathLossExponent", in: 1...6) { site.pathLossExponent = exponent }
    checkMentions(of: site.observers)
    warnOfFixedGateways(site)
    return site
  }

  private func companies(_ fields: SiteFields) -> [UInt16] {
    fields.list("iBeaconCompanies", of: "company identifiers").compactMap { _, path, node in
      let text = node.scalar?.string ?? ""
      let number = text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
      if number == nil {
        problems.mistake(
          "iBeaconCompanies: \(node.sketch) is no company identifier",
          line: node.mark?.line ?? fields.line,
          field: path,
          expected: "a number from 0 to 65535, or 0x0000 to 0xffff"
        )
      }
      return number
    }
  }

  /// An observer that is mentioned and not listed is a slip of the pen, wherever a list exists at all.
  private func checkMentions(of listed: [ObserverEntry]) {
    guard !listed.isEmpty else { return }
    let known = Set(listed.map(\.id))
    let names = listed.map(\.id.description)
    for mention in observerMentions where !known.contains(mention.id) {
      let hint = Spelling.nearest(to: mention.id.description, among: names)
      problems.mistake(
        "\(mention.place): observer \"\(mention.id)\" is not listed under observers"
          + (hint.map { "; did you mean \"\($0)\"?" } ?? ""),
        line: mention.line,
        field: mention.path,
        expected: "an observer of the list, or no list at all"
      )
    }
  }

  /// A gateway that hangs on a wall is inside for ever: who lists gateways usually asks about tags.
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

extension ObserverID {
  /// Indicates whether it is identified by its hardware address.
  fileprivate var isHardware: Bool {
    switch self {
    case .eui48, .eui64: true
    case .uuid, .name: false
    }
  }
}

extension SiteReading {
  private static let listenKeys = ["udp", "http", "allowedOrigins", "allowedHosts"]

  /// Reads the addresses at which datagrams and requests arrive, and the certificate.
  func readListen(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    if let listen = fields.fields("listen", known: SiteReading.listenKeys) {
      readUDP(listen, into: &configuration)
      configuration.http = listen["http"].flatMap { node in
        address(node, "listen.http", listen.path(of: "http"), listen, example: "\"127.0.0.1:8080\"")
      }
      configuration.allowedOrigins = texts(
        listen,
        "allowedOrigins",
        expected: "an origin without a path, as in \"https://floor.example.org\"",
        SiteReading.isOrigin
      )
      configuration.allowedHosts = texts(
        listen,
        "allowedHosts",
        expected: "a host name without port, as in \"pharos.local\"",
        SiteReading.isHostName
      )
    }
    guard let tls = fields.fields("tls", known: ["certificate", "key"]) else { return }
    let certificate = tls.requiredText("certificate", expected: "the path of a PEM file")
    let key = tls.requiredText("key", expected: "the path of a PEM file")
    if let certificate, let key { configuration.tls = TLSFiles(certificate: certificate, key: key) }
    if configuration.http == nil {
      fields.warning("tls", "tls stands without listen.http: it is used only where --http gives the address")
    }
  }

  private func texts(
    _ listen: SiteFields,
    _ key: String,
    expected: String,
    _ isGood: (String) -> Bool
  ) -> [String] {
    listen.list(key, of: "texts").compactMap { entry in
      if let text = entry.node.scalar?.string, isGood(text) { return text }
      problems.mistake(
        "listen.\(key): \(entry.node.sketch) is none",
        line: entry.node.mark?.line ?? listen.line,
        field: entry.path,
        expected: expected
      )
      return nil
    }
  }

  /// Returns whether a text has the form of the `Origin` header: a scheme and a host, with an optional port and nothing
  /// after it.
  private static func isOrigin(_ text: String) -> Bool {
    for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty && !host.contains { "/?#@ \t".contains($0) }
    }
    return false
  }

  private static func isHostName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 253 && !text.contains { "/?#@: \t".contains($0) }
  }

  func address(
    _ node: Node,
    _ name: String,
    _ path: String,
    _ fields: SiteFields,
    example: String
  ) -> HostPort? {
    if let address = node.scalar.flatMap({ HostPort($0.string) }) { return address }
    problems.mistake(
      "\(name): \(node.sketch) is no address",
      line: node.mark?.line ?? fields.line,
      field: path,
      expected: "HOST:PORT, as in \(example)"
    )
    return nil
  }

  /// Reads the folder and the retention of the journal.
  func readJournal(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    configuration.data = fields.filledText("data", expected: "the path of a folder")
    guard let journal = fields.fields("journal", known: ["retention"]) else { return }
    guard let retention = journal.fields("retention", known: ["age", "size"]) else { return }
    configuration.retention.age = retention.time("age")
    configuration.retention.size = retention.parsed("size", expected: "a size, as in 500MB or 10GB") { text in
      ByteCount.read(text).flatMap { $0 > 0 ? $0 : nil }
    }
    guard configuration.data == nil else { return }
    fields.warning("journal", "journal stands without data: it is used only where --data gives the folder")
  }

  /// Returns the tree without the keys that a site file cannot set, and notes a mistake for each of them.
  func withoutHTTPKeys(_ root: Node) -> Node {
    guard let mapping = root.mapping else { return root }
    let reasons = [
      "webhooks": "webhooks carry secrets and are made over HTTP: POST /v1/webhooks",
      "tokens": "tokens are made by pharos token create",
      "notifications": "notification rules are made over HTTP: "
        + "PUT /v1/applications/{application}/notifications/{id}",
    ]
    let kept = mapping.filter { key, _ in
      guard let name = key.scalar?.string, let reason = reasons[name] else { return true }
      problems.mistake("site: \(reason)", line: key.mark?.line ?? 1, field: name, expected: "no such key")
      return false
    }
    return .mapping(Node.Mapping(kept.map { ($0.key, $0.value) }, mapping.tag, mapping.style, mapping.mark))
  }

  /// Somebody marked as a person can be asked only by an application that says what for.
  func checkAccess(_ fields: SiteFields, _ configuration: SiteConfiguration) {
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

  /// Returns the folders of the venues, which the caller opens and reads.
  func venues(_ fields: SiteFields) -> [String] {
    let entries = fields.list("venues", of: "venue folders")
    return entries.compactMap { _, path, venue -> String? in
      if let folder = venue.scalar?.string, folder.contains(where: { !$0.isWhitespace }) { return folder }
      problems.mistake(
        "venues: \(venue.sketch) is no folder",
        line: venue.mark?.line ?? fields.line(of: "venues"),
        field: path,
        expected: "the path of a venue's folder"
      )
      return nil
    }
  }
}

extension SiteReading {
  /// Reads the addresses at which datagrams arrive: `HOST:PORT` each, or a mapping with an address and a policy of its
  /// own.
  func readUDP(_ listen: SiteFields, into configuration: inout SiteConfiguration) {
    guard let udp = listen["udp"] else { return }
    let nodes = udp.sequence.map(Array.init) ?? [udp]
    configuration.listen = nodes.enumerated().compactMap { index, node in
      let path = udp.sequence == nil ? listen.path(of: "udp") : listen.path(of: "udp", index)
      let example = "\"127.0.0.1:50001\" or \"[::]:50001\""
      guard node.mapping != nil else { return address(node, "listen.udp", path, listen, example: example) }
      let fields = SiteFields(
        node,
        place: "listen.udp",
        path: path,
        known: ["address", "policy"],
        problems: problems
      )
      guard let fields else { return nil }
      guard let place = fields["address"] else {
        fields.mistake("address", "address is missing", expected: "HOST:PORT, as in \(example)")
        return nil
      }
      let address = address(place, "listen.udp", fields.path(of: "address"), fields, example: example)
      if let address, let policy = policy(fields) { configuration.listenerPolicies[address] = policy }
      return address
    }
  }

  /// Whose datagrams are taken where a listener does not say so itself.
  func readPolicy(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    if let ingest = fields.fields("ingest", known: ["policy"]) {
      configuration.policy = policy(ingest) ?? .open
      if configuration.policy == .allowlist, !fields.has("observers") {
        ingest.warning(
          "policy",
          "policy allowlist, and no observer is listed: each is quarantined until it is accepted",
          expected: "observers, or pharos observer accept for each"
        )
      }
    }
    let policies = configuration.listen.map { configuration.policy(of: $0) }
    // Where anybody may send to some listener, the others look after their lists themselves.
    configuration.site.admission = policies.contains(.open) ? .open : .listed
    warnOfKeys(fields, configuration, policies)
  }

  private func policy(_ fields: SiteFields) -> IngestPolicy? {
    guard let text = fields.text("policy") else { return nil }
    if let policy = IngestPolicy(rawValue: text) { return policy }
    let hint = Spelling.nearest(to: text, among: IngestPolicy.allCases.map(\.rawValue))
    let question = hint.map { "; did you mean \"\($0)\"?" } ?? ""
    fields.mistake("policy", "unknown policy \"\(text)\"\(question)", expected: "open, allowlist or signed")
    return nil
  }

  private func warnOfKeys(
    _ fields: SiteFields,
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
        "\(address) takes anybody's datagrams, also such as name observers that sign elsewhere",
        expected: "policy: allowlist or signed there, or an address of this machine alone"
      )
    }
  }
}

extension SiteReading {
  private static let positioningKeys = ["interval", "lag", "particles", "tags"]

  /// Reads the settings for locating handsets and tags in the venues.
  func positioning(_ fields: SiteFields) -> PositioningSettings {
    var settings = PositioningSettings()
    let known = SiteReading.positioningKeys
    guard let entry = fields.fields("positioning", known: known) else { return settings }
    if let interval = time("interval", in: PositioningSettings.intervals, of: entry) {
      settings.interval = interval
    }
    if let lag = time("lag", in: PositioningSettings.lags, of: entry) { settings.lag = lag }
    settings.particles = entry.integer("particles", in: PositioningSettings.particleCounts)
    settings.tags = entry.list("tags", of: "constraints").compactMap { index, path, node in
      let place = "\(entry.place): tag \(index + 1)"
      return SiteFields(node, place: place, path: path, known: SiteIdentity.keys, problems: problems)
        .flatMap { identity($0)?.constraint }
    }
    if !fields.has("venues") {
      fields.warning("positioning", "positioning stands without venues: nothing is located")
    }
    return settings
  }

  private func time(_ key: String, in range: ClosedRange<TimeSpan>, of entry: SiteFields) -> TimeSpan? {
    guard let time = entry.time(key, allowingZero: range.lowerBound == .zero) else { return nil }
    guard range.contains(time) else {
      entry.mistake(
        key,
        "\(key) is \(time.written)",
        expected: "\(range.lowerBound.written) to \(range.upperBound.written)"
      )
      return nil
    }
    return time
  }
}
