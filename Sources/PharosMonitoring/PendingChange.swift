import PharosReports

/// A change of the regions that some observers have not caught up with.
///
/// The catalog has it already; what is left is each observer's own: rows that come or go, and tracks that somebody else
/// asks about now.
struct PendingChange: Sendable {
  /// A match set, and which of the change's constraints a beacon fulfils: all that the new match set depends on.
  struct Case: Hashable {
    var set: Int32
    var fulfilled: UInt64
    var standsInZone: Bool
  }

  /// What becomes of the tracks of a case.
  struct Transition {
    var set: Int32
    var isEmpty: Bool
    /// Whether other policies decide than before.
    var hasOtherPolicies: Bool
    /// The askers that are new.
    var regions: [MatchSet.Asker]
    var beaconRegions: [MatchSet.Asker]
  }

  /// The version of the catalog that it made.
  let version: UInt32
  /// When it was received: when what follows from it is decided.
  let instant: Timestamp
  /// The regions that it took out.
  var retired: [Int32] = []
  /// What it asks about, or asks about no more.
  var constraints: [BeaconConstraint] = []
  /// The regions that every observer is taken to be inside.
  var assumedInside: [Int32] = []
  /// Whether a new region lists its observers, so that transitions depend on the observer.
  var listsObservers = false
  /// What became of tracks so far.
  var transitions: [Case: Transition] = [:]
}

extension PendingChange {
  /// Takes note of a new region.
  mutating func note(_ slot: Int32, of catalog: RegionCatalog) {
    let entry = catalog.slots[Int(slot)]
    constraints.append(entry.region.constraint)
    if case .beacon(observers: .some) = entry.region.subject { listsObservers = true }
    if entry.assumed == .inside, entry.region.subject == .observer { assumedInside.append(slot) }
  }
}

extension PendingChange.Transition {
  init(from old: MatchSet, to new: MatchSet, _ number: Int32) {
    set = number
    isEmpty = new.isEmpty
    hasOtherPolicies = old.policies != new.policies || old.hasLevels != new.hasLevels
    regions = new.regions.filter { asker in !old.regions.contains { $0.slot == asker.slot } }
    beaconRegions = new.beaconRegions.filter { asker in
      !old.beaconRegions.contains { $0.slot == asker.slot }
    }
  }
}

extension Region {
  /// Whether another region decides alike, so that replacing one by the other restarts nothing.
  func isSame(as other: Region) -> Bool {
    constraint == other.constraint && subject == other.subject && keyedByAddress == other.keyedByAddress
      && presence == other.presence
  }
}

extension [BeaconConstraint] {
  /// Bits of the constraints that a beacon fulfils; what comes behind the 64th shares its bit.
  func fulfilled(by beacon: BeaconID) -> UInt64 {
    var bits: UInt64 = 0
    for place in indices where self[place].matches(beacon) {
      bits |= 1 << UInt64(Swift.min(place, 63))
    }
    return bits
  }
}
