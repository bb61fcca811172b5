package import PharosDocuments
import PharosModel

/// The catalog as a state holds it: regions, ranging requests, policies and match sets, with the numbers that tracks
/// and rows refer to.
///
/// A retired entry keeps its number and nothing else, as numbers are never used twice.
struct CatalogState: Sendable {
  /// The regions.
  var slots: [RegionCatalog.Slot] = []
  /// The ranging requests.
  var rangings: [RegionCatalog.Ranging] = []
  /// The policies.
  var policies: [PresencePolicy] = []
  /// The match sets.
  var sets: [MatchSet] = []
  /// Indicates whether any region, ranging request or entry has, or had, `key: mac`.
  var hasKeys = false
  /// Indicates whether any constraint names, or named, an address.
  var hasAddresses = false

  /// Takes the state of a catalog.
  init(_ catalog: RegionCatalog) {
    slots = catalog.slots
    rangings = catalog.rangings
    policies = catalog.policies
    sets = catalog.sets
    hasKeys = catalog.hasKeys
    hasAddresses = catalog.hasAddresses
  }

  /// Returns true if a catalog numbers regions, requests and policies alike, as those of the shards of one server do.
  func agrees(with catalog: RegionCatalog) -> Bool {
    slots.count == catalog.slots.count && rangings.count == catalog.rangings.count
      && policies == catalog.policies
      && zip(slots, catalog.slots).allSatisfy { left, right in
        left.isLive == right.isLive
          && (!left.isLive || left.application == right.application && left.region == right.region)
      }
  }

  /// Returns true if the chain of nodes above a region ends.
  private func isRooted(_ place: Int) -> Bool {
    var above = slots[place].parent
    for _ in 0..<FieldReader.deepestTree {
      guard let node = above else { return true }
      above = slots[Int(node)].parent
    }
    return above == nil
  }

  private func isValid(_ slot: RegionCatalog.Slot) -> Bool {
    guard slot.isLive else { return true }
    return policies.indices.contains(Int(slot.policy)) && policies[Int(slot.policy)] == slot.region.presence
      && slots.indices.contains(Int(slot.parent ?? 0))
  }

  private func isValid(_ set: MatchSet) -> Bool {
    set.policies.count <= MatchSet.policyLimit && set.policies.allSatisfy { $0 < policies.count }
      && (set.regions + set.beaconRegions).allSatisfy {
        slots.indices.contains(Int($0.slot)) && set.policies.indices.contains(Int($0.place))
      }
      && set.rangings.allSatisfy { rangings.indices.contains(Int($0)) }
  }
}

extension CatalogState: FieldParts {
  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&hasKeys)
    try coder.code(&hasAddresses)
    try coder.code(&policies)
    try coder.code(list: &slots, into: .retired) { (slot, coder) throws(Coder.Failure) in
      try coder.code(parts: &slot)
    }
    try coder.code(list: &rangings, into: .retired) { (ranging, coder) throws(Coder.Failure) in
      try coder.code(parts: &ranging)
    }
    try coder.code(list: &sets, into: MatchSet()) { (set, coder) throws(Coder.Failure) in
      try coder.code(parts: &set)
    }
    try coder.check(
      policies.count <= Int(UInt16.max) && Set(policies).count == policies.count,
      "the policies"
    )
    try coder.check(slots.allSatisfy(isValid), "a region's policy or parent")
    try coder.check(slots.indices.allSatisfy(isRooted), "a node's parent")
    try coder.check(sets.allSatisfy(isValid), "a match set")
  }
}

extension RegionCatalog.Slot: FieldParts {
  fileprivate static var retired: Self {
    Self(
      application: "",
      region: Region(identifier: "", constraint: .proximity(UUID128(high: 0, low: 0))),
      policy: 0,
      since: .distantPast,
      assumed: .unknown,
      isRotated: false,
      isLive: false,
      until: 0
    )
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isLive)
    guard isLive else { return }
    until = .max
    try coder.code(&application)
    try coder.code(&region)
    try coder.code(&policy)
    try coder.code(&since)
    try coder.code(&assumed)
    try coder.code(&isRotated)
    try coder.code(&parent)
  }
}

extension RegionCatalog.Ranging: FieldParts {
  fileprivate static var retired: Self {
    let request = RangingRequest(constraint: .proximity(UUID128(high: 0, low: 0)))
    return Self(application: "", request: request, isLive: false, until: 0)
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isLive)
    guard isLive else { return }
    until = .max
    try coder.code(&application)
    try coder.code(&request)
  }
}

extension MatchSet: FieldParts {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&hasLevels)
    try coder.code(&isZoned)
    try coder.code(&replacesPlain)
    try coder.code(&policies)
    try coder.code(clients: &regions)
    try coder.code(clients: &beaconRegions)
    try coder.code(&rangings)
  }
}

extension FieldCoder {
  fileprivate mutating func code(clients: inout [MatchSet.RegionClient]) throws(Failure) {
    let none = MatchSet.RegionClient(slot: 0, place: 0)
    try code(list: &clients, ofAtLeast: 8, into: none) { (client, coder) throws(Failure) in
      try coder.code(&client.slot)
      try coder.code(&client.place)
    }
  }
}
