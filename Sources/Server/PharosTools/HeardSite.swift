import PharosDocuments
package import PharosIngest
package import PharosModel
import PharosSite
import PharosTerminal

/// A site made of what was heard: its observers and beacons, a zone for each gateway, and a region for each sort of beacon.
package struct HeardSite: Sendable {
  /// The site.
  package let site: Site
  /// What was found, in words, a line for each sort.
  package let findings: [String]

  /// The most beacons that are listed: who hears more picks his own.
  private static let maximumBeacons = 50
  /// The most names in a line of the findings.
  private static let maximumNames = 4

  /// Makes a site.
  ///
  /// - Parameter heard: all that was heard.
  package init(_ heard: Heard) {
    let gateways = heard.observers.map(\.id).filter { !$0.isHandset }
    var beacons: [BeaconID: HeardBeacon] = [:]
    var gatewayHeard: Set<BeaconConstraint> = []
    var heardBy: [ObserverID: Set<BeaconID>] = [:]
    for entry in heard.beacons {
      for identity in entry.identities {
        heardBy[entry.observer, default: []].insert(identity)
        if beacons[identity]?.name == nil { beacons[identity] = entry }
        if !entry.observer.isHandset { gatewayHeard.insert(identity.sort) }
      }
    }
    let sorts = Dictionary(grouping: beacons.keys, by: \.sort)
      .sorted { ($1.value.count, $0.key.description) < ($0.value.count, $1.key.description) }
    let regions = sorts.prefix(Application.defaultRegionLimit).map { sort, _ in
      let isTag = gatewayHeard.contains(sort)
      let word = isTag ? "tags" : "places"
      let identifier = sorts.count == 1 ? word : "\(word)-\(sort.shortName)"
      return Region(
        identifier: identifier,
        constraint: sort,
        subject: isTag ? .beacon(observers: nil) : .observer
      )
    }
    let zones = gateways.enumerated().map {
      Zone(identifier: "room-\($0.offset + 1)", observers: [$0.element])
    }
    let entries = beacons.keys.sorted().prefix(HeardSite.maximumBeacons).map { identity in
      BeaconEntry(constraint: identity.constraint, name: beacons[identity]?.name.flatMap(HeardSite.clean))
    }
    site = Site(
      applications: regions.isEmpty ? [] : [Application(identifier: "default", regions: regions)],
      observers: heard.observers.map { ObserverEntry(id: $0.id) },
      beacons: Array(entries),
      zones: zones
    )
    let others = Set(heard.beacons.filter(\.identities.isEmpty).map { "\($0.address?.description ?? "")" })
      .count
    findings = HeardSite.findings(
      site,
      heardBy: heardBy,
      beacons: beacons.count,
      sorts: sorts.count,
      others: others
    )
  }

  /// The site in YAML, with a remark where there is none.
  ///
  /// - Throws: `CommandFailure` if no site file can declare it.
  package var yaml: String {
    get throws(CommandFailure) {
      guard !site.observers.isEmpty else { return "# Nothing was heard when this file was written.\n" }
      var configuration = SiteConfiguration()
      configuration.site = site
      do throws(DocumentError) {
        return
          "# What was heard when this file was written. A region about beacons is about tags that gateways hear; one about\n"
          + "# observers is about handsets that hear beacons. Give the zones and the observers the names of your rooms.\n"
          + (try SiteFile.text(of: configuration))
      } catch {
        throw CommandFailure("what was heard cannot be declared: \(error)")
      }
    }
  }

  private static func findings(
    _ site: Site,
    heardBy: [ObserverID: Set<BeaconID>],
    beacons: Int,
    sorts: Int,
    others: Int
  ) -> [String] {
    guard !site.observers.isEmpty else {
      return [
        "Nothing was heard. Does the gateway send to this machine's address and port? pharos listen shows all that arrives."
      ]
    }
    let regions = site.applications.flatMap(\.regions)
    let observers = site.observers.map { "\($0.id) (\(Wording.count(heardBy[$0.id]?.count ?? 0, "beacon")))" }
    let listed = beacons > site.beacons.count ? ", of which \(site.beacons.count) are listed" : ""
    let made = regions.map {
      $0.subject == .observer ? "\($0.identifier) (handsets)" : "\($0.identifier) (tags)"
    }
    let zones = site.zones.map { "\($0.identifier) (\($0.observers[0]))" }
    return [
      "Observers: \(names(observers)).",
      "Beacons: \(beacons) (UUIDs and namespaces: \(sorts))\(listed); \(Wording.count(others, "other device")) left out.",
      "Regions: \(names(made)).",
      "Zones: \(names(zones)), one for each gateway.",
    ]
    .map(PlainText.clean)
  }

  private static func names(_ names: [String]) -> String {
    guard !names.isEmpty else { return "none" }
    let rest = names.count - maximumNames
    return names.prefix(maximumNames).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// A name from the radio, or nil if nothing of it can be shown.
  private static func clean(_ name: String) -> String? {
    let text = PlainText.clean(name)
    return text.contains { !$0.isWhitespace } ? text : nil
  }
}

extension ObserverID {
  /// Indicates whether it is a handset: those have UUIDs, gateways have addresses and names.
  fileprivate var isHandset: Bool {
    if case .uuid = self { true } else { false }
  }
}

extension BeaconID {
  /// All beacons with the UUID or the namespace of this one; a device known by its address is a sort of its own.
  fileprivate var sort: BeaconConstraint {
    if let uuid { return .proximity(uuid) }
    if let namespace { return .eddystone(namespace) }
    return constraint
  }

  /// This beacon alone.
  fileprivate var constraint: BeaconConstraint {
    if let uuid { return .proximity(uuid, major: major, minor: minor) }
    if let namespace { return .eddystone(namespace, instance: instance) }
    return .address(address ?? DeviceAddress(bits: 0, kind: .unknown))
  }
}

extension BeaconConstraint {
  /// The first digits, which tell a site's few UUIDs apart.
  fileprivate var shortName: String {
    switch self {
    case .proximity(let uuid, _, _): String("\(uuid)".prefix(8)).lowercased()
    case .eddystone(let namespace, _): String("\(namespace)".prefix(8)).lowercased()
    case .address(let address): "\(address)".filter { $0 != ":" }
    }
  }
}
