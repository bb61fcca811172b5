import PharosReports

/// A site's zones, indexed for the comparison.
struct ZonePlan: Sendable {
  /// One zone.
  struct Planned: Sendable {
    let identifier: String
    /// The zones that one can walk to from it; nil means any.
    let adjacent: Set<Int>?
    /// The beacons it places; empty means all that some region asks about.
    let beacons: [BeaconConstraint]
  }

  /// The zones in the site's order.
  let zones: [Planned]
  private let standing: [ObserverID: [Int]]

  /// Indexes the zones of a site; names of zones that are not there are left out.
  init(site: Site) {
    var places: [String: Int] = [:]
    var standing: [ObserverID: [Int]] = [:]
    for (index, zone) in site.zones.enumerated() {
      places[zone.identifier] = places[zone.identifier] ?? index
      for observer in zone.observers where standing[observer]?.last != index {
        standing[observer, default: []].append(index)
      }
    }
    zones = site.zones.map { zone in
      Planned(
        identifier: zone.identifier,
        adjacent: zone.adjacent.isEmpty ? nil : Set(zone.adjacent.compactMap { places[$0] }),
        beacons: zone.beacons
      )
    }
    self.standing = standing
  }

  /// The zones that an observer stands in.
  func zones(of observer: ObserverID) -> [Int] { standing[observer] ?? [] }

  /// Whether one can walk from one zone straight to another.
  func isAdjacent(_ from: Int, _ to: Int) -> Bool { zones[from].adjacent?.contains(to) ?? true }

  /// The zones that place a beacon.
  func placing(_ beacon: BeaconID, isAskedAbout: Bool) -> [Bool] {
    zones.map { zone in
      zone.beacons.isEmpty ? isAskedAbout : zone.beacons.contains { $0.matches(beacon) }
    }
  }
}
