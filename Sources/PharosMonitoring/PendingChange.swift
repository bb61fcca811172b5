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

  /// Bits of all sorts of identity that it concerns.
  var scopes: UInt64 { constraints.reduce(0) { $0 | IdentityScope($1).bit } }
}

/// The part of an identity that every constraint about it names: a UUID, a namespace or an address.
struct IdentityScope: Hashable {
  private let high: UInt64
  private let low: UInt64

  init(_ beacon: BeaconID) {
    let words = beacon.words
    switch beacon.kind {
    case .proximity: (high, low) = (words.high, words.low)
    case .eddystone: (high, low) = (words.high, words.low & 0xFFFF_0000_0000_0000 | 1)
    case .address: (high, low) = (words.address & 0xFFFF_FFFF_FFFF, 2)
    }
  }

  init(_ constraint: BeaconConstraint) {
    switch constraint {
    case .proximity(let uuid, major: _, minor: _): (high, low) = (uuid.high, uuid.low)
    case .eddystone(let namespace, instance: _):
      (high, low) = (namespace.high, UInt64(namespace.low) << 48 | 1)
    case .address(let address): (high, low) = (address.bits & 0xFFFF_FFFF_FFFF, 2)
    }
  }

  /// One of 64 bits; several scopes may share one.
  var bit: UInt64 {
    let mixed = (high ^ low &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
    return 1 << (mixed >> 58)
  }
}
