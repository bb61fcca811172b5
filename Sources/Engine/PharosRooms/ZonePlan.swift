package import PharosModel

/// A site's zones, numbered and indexed for the comparison.
///
/// Observers that stand in zones are interned once: the rest of the zone code identifies them by their place here.
///
/// It is a class because each look at a beacon passes it through a dozen functions.
package final class ZonePlan: Sendable {
  /// One zone.
  package struct Planned: Sendable {
    package let identifier: String
    /// The floor's place among the site's floors.
    let floor: Int
    /// The number of its observers that are compared, at most two.
    let ranks: Int
    /// The beacons it places; empty means all that some region asks about.
    let beacons: [BeaconConstraint]
  }

  /// The connection from one zone to another.
  package enum Step: UInt8, Sendable {
    /// It is the same one.
    case stay
    /// Through a door.
    case walk
    /// Within a floor, though no door is known.
    case stray
    /// To another floor, though no stairs are known.
    case climb
  }

  /// The zones in the site's order.
  package let zones: [Planned]
  /// The observers that stand in zones, in the order in which the zones name them.
  package let observers: [ObserverID]
  /// The number of a floor's observers that are compared, by floor, at most three.
  let floorRanks: [Int]
  /// The fingerprints of the zones; nil if fewer than two have one, so that there is nothing to compare.
  package let fingerprints: FingerprintTable?
  private let places: [ObserverID: Int]
  /// The zones that each observer stands in.
  private let standing: [[Int]]
  private let floors: [Int]
  private let steps: [Step]

  /// Creates the plan of a site.
  ///
  /// Names of zones that do not exist are ignored.
  package init(site: Site) {
    var (observers, places, standing) = ([ObserverID](), [ObserverID: Int](), [[Int]]())
    for (index, zone) in site.zones.enumerated() {
      for observer in zone.observers {
        let place = places[observer] ?? observers.count
        if place == observers.count {
          places[observer] = place
          observers.append(observer)
          standing.append([])
        }
        if standing[place].last != index { standing[place].append(index) }
      }
    }
    // Zones without a floor make up one of their own.
    var levels: [Int?] = []
    zones = site.zones.enumerated().map { index, zone in
      let floor = levels.firstIndex(of: zone.floor) ?? levels.count
      if floor == levels.count { levels.append(zone.floor) }
      let ranks = standing.count { $0.contains(index) }
      return Planned(identifier: zone.identifier, floor: floor, ranks: min(2, ranks), beacons: zone.beacons)
    }
    let planned = zones
    floors = standing.map { $0.first.map { planned[$0].floor } ?? 0 }
    let onFloor = floors
    floorRanks = levels.indices.map { floor in min(3, onFloor.count { $0 == floor }) }
    steps = ZonePlan.steps(of: site.zones)
    fingerprints = FingerprintTable(site.zones.map(\.fingerprint), places: places)
    (self.observers, self.places, self.standing) = (observers, places, standing)
  }

  /// Returns the place of an observer, or nil if it stands in no zone.
  package func place(of observer: ObserverID) -> Int? { places[observer] }

  /// Returns the zones that an observer stands in.
  package func zones(of observer: Int) -> [Int] { standing[observer] }

  /// Returns the floor that an observer is on; where its zones disagree, that of the first.
  func floor(of observer: Int) -> Int { floors[observer] }

  /// Returns the connection from one zone to another.
  package func step(from: Int, to: Int) -> Step { steps[from * zones.count + to] }

  /// Returns a flag for each zone that is true if the zone places a beacon.
  package func placing(_ beacon: BeaconID, isAskedAbout: Bool) -> [Bool] {
    zones.map { zone in
      zone.beacons.isEmpty ? isAskedAbout : zone.beacons.contains { $0.matches(beacon) }
    }
  }

  /// Returns the connections of all pairs of zones.
  ///
  /// A door leads both ways, no matter which of its zones names it; a zone that names none has doors to all of its
  /// floor.
  private static func steps(of zones: [Zone]) -> [Step] {
    let doors = zones.map { Set($0.adjacent) }
    var steps: [Step] = []
    steps.reserveCapacity(zones.count * zones.count)
    for (from, zone) in zones.enumerated() {
      for (to, other) in zones.enumerated() {
        let isDoor = doors[from].contains(other.identifier) || doors[to].contains(zone.identifier)
        let isOpen = doors[from].isEmpty && zone.floor == other.floor
        let isSameFloor = zone.floor == other.floor || zone.floor == nil || other.floor == nil
        steps.append(from == to ? .stay : isDoor || isOpen ? .walk : isSameFloor ? .stray : .climb)
      }
    }
    return steps
  }
}
