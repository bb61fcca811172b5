import PharosReports
import Yams

/// Reads one site file's tree: what has been seen so far, for the checks that span the file.
struct SiteReading {
  let problems: SiteProblems
  /// Every mention of an observer in a region about beacons or in a zone, for ``checkMentions(of:)``.
  var observerMentions: [(id: ObserverID, place: String, path: String, line: Int)] = []
  /// The first region about observers of each application, for the warning about fixed gateways.
  var observerRegions: [(place: String, path: String, line: Int)] = []
  /// Who is a person, and what for each application wants to know.
  var access = SiteAccess()
  /// How many regions have been read, so that aliases in YAML cannot multiply them without end.
  var regionCount = 0

  /// The most regions, rotation trees included, that a file may hold.
  static let mostRegions = 100_000
  /// The deepest rotation tree: campus, venue, building, floor, hall, exhibit and room to spare.
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
  /// Whether it is known by the number of its hardware.
  fileprivate var isHardware: Bool {
    switch self {
    case .eui48, .eui64: true
    case .uuid, .name: false
    }
  }
}
