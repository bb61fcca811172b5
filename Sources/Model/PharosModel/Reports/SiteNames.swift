package import PharosDocuments

/// The names that a site gives to observers, beacons and zones.
///
/// A text that has one of these as its `names` states the name of each identity beside it: that of the subject of an object
/// as `name`, that of any other under its own key with `Name` appended.
package final class SiteNames: NameDirectory {
  private let observers: [ObserverID: String]
  private let beacons: [BeaconConstraint: String]
  private let zones: [String: String]
  private let rooms: [ObserverID: String]

  /// Reads a site's directory.
  package init(_ site: Site) {
    observers = Dictionary(site.observers.compactMap { entry in entry.name.map { (entry.id, $0) } }) {
      first,
      _ in first
    }
    beacons = Dictionary(
      site.beacons.compactMap { entry in entry.name.map { (entry.constraint.normal, $0) } }
    ) { first, _ in first }
    zones = Dictionary(site.zones.map { ($0.identifier, $0.name ?? $0.identifier) }) { first, _ in first }
    var stands: [ObserverID: [String]] = [:]
    for zone in site.zones {
      for observer in zone.observers { stands[observer, default: []].append(zone.name ?? zone.identifier) }
    }
    rooms = stands.compactMapValues { $0.count == 1 ? $0[0] : nil }
  }

  /// The name that the directory gives to a subject, by the most specific entry; nil if there is none.
  package func given(to subject: SubjectID) -> String? {
    switch subject {
    case .none: return nil
    case .observer(let observer): return observers[observer]
    case .beacon(let beacon):
      guard !beacons.isEmpty else { return nil }
      return beacon.namingConstraints.lazy.compactMap { self.beacons[$0] }.first
    }
  }

  /// A subject's name, or its identity, that of a beacon cut short in the middle; empty for no subject.
  package func name(of subject: SubjectID) -> String {
    if let given = given(to: subject) { return given }
    guard case .beacon(let beacon) = subject else { return subject.description }
    guard let uuid = beacon.uuid?.description else { return beacon.description }
    let address = beacon.address.map { "@\($0)" } ?? ""
    return "\(uuid.prefix(4))…\(beacon.description.dropFirst(uuid.count).prefix { $0 != "@" })\(address)"
  }

  /// The name of a zone; its identifier where it has none or is gone.
  package func room(ofZone identifier: String) -> String { zones[identifier] ?? identifier }

  /// The name of the zone that an observer stands in; nil if it stands in none or in several.
  package func room(of observer: ObserverID) -> String? { rooms[observer] }
}

extension JSONText {
  /// The directory whose names stand beside identities.
  package var siteNames: SiteNames? { names as? SiteNames }

  /// Writes an identity and, where the directory names it, its name.
  package mutating func identity(_ key: StaticString, _ subject: SubjectID) {
    member(key, subject.description)
    guard let name = siteNames?.given(to: subject) else { return }
    switch "\(key)" {
    case "subject", "beacon", "id": member("name", name)
    default: member(key, suffix: "Name", name)
    }
  }

  /// Writes an identity, or nothing for nil.
  package mutating func identity(_ key: StaticString, _ observer: ObserverID?) {
    if let observer { identity(key, .observer(observer)) }
  }

  /// Writes a zone and, where it has one, its name.
  package mutating func zone(_ key: StaticString, _ zone: String) {
    member(key, zone)
    guard let name = siteNames?.room(ofZone: zone), name != zone else { return }
    member(key, suffix: "Name", name)
  }
}
