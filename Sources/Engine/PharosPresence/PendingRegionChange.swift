import PharosDocuments
import PharosModel

/// A change of the regions that some observers have not caught up with.
///
/// The catalog has it already; what is left is each observer's own: rows that come or go, and tracks that other regions
/// match now.
struct PendingRegionChange: Sendable {
  /// A match set, and which of the change's questions a beacon answers: all that the new match set depends on.
  struct Case: Hashable {
    var set: Int32
    var answered: UInt64
    var standsInZone: Bool
  }

  /// The result for the tracks of a case.
  struct Transition {
    var set: Int32
    var isEmpty: Bool
    /// The new regions.
    var regions: [MatchSet.RegionClient]
    var beaconRegions: [MatchSet.RegionClient]
  }

  /// The version of the catalog that it made.
  let version: UInt32
  /// The receive time, which is also the decision time of what follows from it.
  let instant: Timestamp
  /// The regions that it took out.
  var retired: [Int32] = []
  /// The constraints of the regions and requests that it adds or takes out.
  var questions: [KeyQuestion] = []
  /// The regions that every observer is taken to be inside.
  var assumedInside: [Int32] = []
  /// Indicates whether a new region lists its observers, so that transitions depend on the observer.
  var listsObservers = false
  /// The transitions found so far.
  var transitions: [Case: Transition] = [:]
}

extension PendingRegionChange {
  /// Records a new region.
  mutating func record(_ slot: Int32, of catalog: RegionCatalog) {
    let entry = catalog.slots[Int(slot)]
    guard let constraint = entry.region.constraint else { return }
    questions.append(KeyQuestion(constraint, catalog.scopes))
    if case .beacon(observers: .some) = entry.region.subject { listsObservers = true }
    if entry.assumed == .inside, entry.region.subject == .observer { assumedInside.append(slot) }
  }
}

extension PendingRegionChange.Transition {
  init(from old: MatchSet, to new: MatchSet, _ number: Int32) {
    set = number
    isEmpty = new.isEmpty
    regions = new.regions.filter { client in !old.regions.contains { $0.slot == client.slot } }
    beaconRegions = new.beaconRegions.filter { client in
      !old.beaconRegions.contains { $0.slot == client.slot }
    }
  }
}

/// A constraint as a question about tracks: a scope, and which bits of the key it names.
struct KeyQuestion: Sendable {
  let scope: UInt32
  let mask: UInt64
  let key: UInt64

  init(_ constraint: BeaconConstraint, _ scopes: borrowing ScopeTable) {
    scope = scopes.number(of: BeaconScope(constraint))
    switch constraint {
    case .proximity(_, let major, let minor):
      mask = (major == nil ? 0 : 0xFFFF_0000) | (minor == nil ? 0 : 0xFFFF)
      key = UInt64(major ?? 0) << 16 | UInt64(minor ?? 0)
    case .eddystone(_, let instance):
      mask = instance == nil ? 0 : 0xFFFF_FFFF_FFFF
      key = instance ?? 0
    case .address(let address):
      mask = 0xFFFF_FFFF_FFFF
      key = address.bits
    }
  }
}

extension [KeyQuestion] {
  /// Bits of the questions that an identity answers; what comes behind the 64th shares its bit.
  func answered(by scope: UInt32, _ key: UInt64) -> UInt64 {
    var bits: UInt64 = 0
    for place in indices where self[place].scope == scope && (self[place].key ^ key) & self[place].mask == 0 {
      bits |= 1 << UInt64(Swift.min(place, 63))
    }
    return bits
  }
}
