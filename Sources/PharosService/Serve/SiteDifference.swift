import PharosReports
import PharosSite

/// What an edited site file changes, in words for the log.
enum SiteDifference {
  /// How many names are listed of each sort; what is beyond is counted.
  private static let mostNames = 5

  /// What is different and takes effect at once, one phrase for each sort.
  static func lines(from old: SiteConfiguration, to new: SiteConfiguration) -> [String] {
    var lines: [String] = []
    func compare<Key: Hashable, Value: Equatable>(
      _ what: String,
      _ old: [(Key, Value)],
      _ new: [(Key, Value)],
      name: (Key) -> String
    ) {
      let before = Dictionary(old, uniquingKeysWith: { first, _ in first })
      let after = Dictionary(new, uniquingKeysWith: { first, _ in first })
      let added = new.map(\.0).filter { before[$0] == nil }
      let removed = old.map(\.0).filter { after[$0] == nil }
      let changed = new.filter { pair in before[pair.0].map { $0 != pair.1 } ?? false }.map(\.0)
      for (keys, verb) in [(added, "added"), (changed, "changed"), (removed, "removed")] where !keys.isEmpty {
        lines.append("\(what) \(verb): \(listed(keys.map(name)))")
      }
    }
    compare("applications", applications(old), applications(new)) { $0 }
    compare("regions", regions(old.site), regions(new.site)) { $0 }
    compare("ranging", ranging(old.site), ranging(new.site)) { $0 }
    compare("observers", old.site.observers.map { ($0.id, $0) }, new.site.observers.map { ($0.id, $0) }) {
      $0.description
    }
    compare(
      "beacons",
      old.site.beacons.map { ($0.constraint, $0) },
      new.site.beacons.map { ($0.constraint, $0) }
    ) { $0.description }
    compare("zones", old.site.zones.map { ($0.identifier, $0) }, new.site.zones.map { ($0.identifier, $0) }) {
      $0
    }
    for (what, isChanged) in [
      ("ingest.policy", old.policy != new.policy),
      ("iBeaconCompanies", old.site.iBeaconCompanies != new.site.iBeaconCompanies),
      ("pathLossExponent", old.site.pathLossExponent != new.site.pathLossExponent),
      ("positioning", old.site.positioning != new.site.positioning),
      ("who is a person, or a purpose", old.access != new.access),
    ] where isChanged {
      lines.append("\(what) changed")
    }
    return lines
  }

  /// What is different and needs a new start.
  static func needingRestart(from old: SiteConfiguration, to new: SiteConfiguration) -> [String] {
    [
      ("stream", old.site.stream != new.site.stream), ("listen.udp", old.listen != new.listen),
      ("who must sign", mustSign(old) != mustSign(new)),
      ("listen.http", old.http != new.http),
      ("listen.allowedOrigins", old.allowedOrigins != new.allowedOrigins),
      ("listen.allowedHosts", old.allowedHosts != new.allowedHosts), ("tls", old.tls != new.tls),
      ("data", old.data != new.data), ("venues", old.venues != new.venues),
      ("journal.retention", old.retention != new.retention),
    ]
    .compactMap { $1 ? $0 : nil }
  }

  /// Which listeners look at signatures.
  private static func mustSign(_ configuration: SiteConfiguration) -> [HostPort: Bool] {
    let policies = configuration.listen.map { ($0, configuration.policy(of: $0) == .signed) }
    return Dictionary(policies, uniquingKeysWith: { $0 || $1 })
  }

  /// The applications by themselves: their regions and ranging are compared one by one.
  private static func applications(_ configuration: SiteConfiguration) -> [(String, Application)] {
    configuration.site.applications.map { application in
      var bare = application
      bare.regions = []
      bare.ranging = []
      return (application.identifier, bare)
    }
  }

  private static func regions(_ site: Site) -> [(String, Region)] {
    site.applications.flatMap { application in
      application.regions.map { ("\(application.identifier)/\($0.identifier)", $0) }
    }
  }

  private static func ranging(_ site: Site) -> [(String, RangingRequest)] {
    site.applications.flatMap { application in
      application.ranging.map { ("\(application.identifier)/\($0.constraint)", $0) }
    }
  }

  private static func listed(_ names: [String]) -> String {
    let shown = names.prefix(mostNames).joined(separator: ", ")
    return names.count > mostNames ? "\(shown) and \(names.count - mostNames) more" : shown
  }
}
