package import PharosDocuments

/// The names that a site gives to observers, beacons and zones: the present ones, or those of an instant.
///
/// A text that has one of these as its `names` states the name of each identity beside it: that of the subject of an object
/// as `name`, that of any other under its own key with `Name` appended. What belongs to an instant, such as an event, states the
/// names that counted then.
package final class SiteNames: NameDirectory {
  /// The present names.
  private let present: [NamedIdentity: String]
  /// The former names.
  package let history: NameHistory
  /// The instant whose names are given; nil for the present.
  private let instant: Timestamp?
  /// Indicates whether some beacon has or had a name.
  private let namesBeacons: Bool

  /// Reads a site's directory.
  ///
  /// - Parameters:
  ///   - site: the site.
  ///   - history: the former names; none by default, so that the present names count for all time.
  package convenience init(_ site: Site, history: NameHistory = NameHistory()) {
    self.init(present: SiteNames.present(in: site), history)
  }

  private convenience init(present: [NamedIdentity: String], _ history: NameHistory) {
    func isBeacon(_ identity: NamedIdentity) -> Bool { if case .beacon = identity { true } else { false } }
    let namesBeacons = present.keys.contains(where: isBeacon) || history.names.keys.contains(where: isBeacon)
    self.init(present: present, history, at: nil, namesBeacons: namesBeacons)
  }

  private init(
    present: [NamedIdentity: String],
    _ history: NameHistory,
    at instant: Timestamp?,
    namesBeacons: Bool
  ) {
    (self.present, self.history) = (present, history)
    (self.instant, self.namesBeacons) = (instant, namesBeacons)
  }

  private static func present(in site: Site) -> [NamedIdentity: String] {
    var present: [NamedIdentity: String] = [:]
    /// Of several entries for one identity the first counts.
    func name(_ identity: NamedIdentity, _ name: String?) {
      if let name, present[identity] == nil { present[identity] = name }
    }
    for entry in site.observers { name(.observer(entry.id), entry.name) }
    for entry in site.beacons { name(.beacon(entry.constraint.normal), entry.name) }
    var stands: [ObserverID: [String]] = [:]
    for zone in site.zones {
      name(.zone(zone.identifier), zone.name)
      for observer in zone.observers { stands[observer, default: []].append(zone.identifier) }
    }
    for (observer, zones) in stands where zones.count == 1 { name(.place(observer), zones[0]) }
    return present
  }

  /// The name of an identity, in one look-up, and in a binary search if there are former names at the instant.
  private func name(of identity: NamedIdentity) -> String? {
    if let instant, let former = history.name(of: identity, at: instant) { return former.name }
    return present[identity]
  }

  /// The names that counted at an instant; these, where none has changed since.
  package func asOf(_ instant: Timestamp) -> SiteNames {
    guard history.covers(instant) else { return self }
    return SiteNames(present: present, history, at: instant, namesBeacons: namesBeacons)
  }

  /// The name that the directory gives to a subject, by the most specific entry; nil if there is none.
  package func given(to subject: SubjectID) -> String? {
    switch subject {
    case .none: return nil
    case .observer(let observer): return name(of: .observer(observer))
    case .beacon(let beacon):
      guard namesBeacons else { return nil }
      return beacon.namingConstraints.lazy.compactMap { self.name(of: .beacon($0)) }.first
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
  package func room(ofZone identifier: String) -> String { name(of: .zone(identifier)) ?? identifier }

  /// The name of the zone that an observer stands in; nil if it stands in none or in several.
  package func room(of observer: ObserverID) -> String? {
    name(of: .place(observer)).map(room(ofZone:))
  }
}

/// How the names change and are kept.
extension SiteNames {
  /// Returns the names of an edited site.
  ///
  /// - Parameters:
  ///   - site: the site from now on.
  ///   - instant: the instant of the edit, until which the names that differ counted; nil if former names are not recorded.
  /// - Returns: the names, with those that the edit ends as former ones.
  package func edited(to site: Site, at instant: Timestamp?) -> SiteNames {
    var history = history
    let next = SiteNames.present(in: site)
    if let instant { history.record(from: present, to: next, at: instant) }
    return SiteNames(present: next, history)
  }

  /// Returns the same names with another history.
  package func changingHistory(_ change: (inout NameHistory) -> Void) -> SiteNames {
    var history = history
    change(&history)
    return SiteNames(present: present, history)
  }

  /// Returns the names that records hold, until the site is edited.
  package static func restored(from records: some Collection<NameRecord>) -> SiteNames {
    var present: [NamedIdentity: String] = [:]
    for record in records { present[record.identity] = record.present }
    return SiteNames(present: present, NameHistory(records))
  }

  /// The present and the former names of each identity that has some, as a store keeps them.
  package var records: [NamedIdentity: NameRecord] {
    var records: [NamedIdentity: NameRecord] = [:]
    for identity in Set(present.keys).union(history.names.keys) {
      records[identity] = NameRecord(
        identity: identity,
        present: present[identity],
        former: history.names[identity] ?? []
      )
    }
    return records
  }
}

extension JSONText {
  /// The directory whose names stand beside identities.
  package var siteNames: SiteNames? { names as? SiteNames }

  /// Writes what belongs to an instant, with the names that counted then.
  package mutating func withNames(asOf instant: Timestamp, _ write: (inout JSONText) -> Void) {
    let directory = names
    if let siteNames { names = siteNames.asOf(instant) }
    write(&self)
    names = directory
  }

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
