import PharosDocuments
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

  /// Writes it.
  func write(to writer: inout FieldWriter) {
    writer.write(hasKeys)
    writer.write(hasAddresses)
    writer.write(policies)
    writer.write(UInt32(slots.count))
    for slot in slots { slot.write(to: &writer) }
    writer.write(UInt32(rangings.count))
    for ranging in rangings {
      writer.write(ranging.isLive)
      guard ranging.isLive else { continue }
      writer.write(ranging.application)
      ranging.request.write(to: &writer)
    }
    writer.write(UInt32(sets.count))
    for set in sets { set.write(to: &writer) }
  }

  /// Reads it.
  init(from reader: inout FieldReader) throws(FieldError) {
    hasKeys = try reader.flag()
    hasAddresses = try reader.flag()
    policies = try reader.list(PresencePolicy.self)
    guard policies.count <= Int(UInt16.max), Set(policies).count == policies.count else {
      throw reader.failure(.outOfRange(field: "the policies"))
    }
    let count = try reader.count()
    for _ in 0..<count {
      slots.append(try RegionCatalog.Slot(from: &reader, policies: policies, slots: count))
    }
    guard slots.indices.allSatisfy(isRooted) else {
      throw reader.failure(.outOfRange(field: "a node's parent"))
    }
    for _ in 0..<(try reader.count()) {
      let isLive = try reader.flag()
      let application = isLive ? try reader.text() : ""
      let request =
        isLive
        ? try RangingRequest(from: &reader)
        : RangingRequest(constraint: .proximity(UUID128(high: 0, low: 0)))
      rangings.append(
        RegionCatalog.Ranging(
          application: application,
          request: request,
          isLive: isLive,
          until: isLive ? .max : 0
        )
      )
    }
    for _ in 0..<(try reader.count()) {
      sets.append(
        try MatchSet(from: &reader, slots: count, rangings: rangings.count, policies: policies.count)
      )
    }
  }
}

extension RegionCatalog.Slot {
  fileprivate func write(to writer: inout FieldWriter) {
    writer.write(isLive)
    guard isLive else { return }
    writer.write(application)
    region.write(to: &writer)
    writer.write(policy)
    since.write(to: &writer)
    writer.write(assumed.rawValue)
    writer.write(isRotated)
    writer.write(parent ?? -1)
  }

  fileprivate init(
    from reader: inout FieldReader,
    policies: [PresencePolicy],
    slots: Int
  ) throws(FieldError) {
    guard try reader.flag() else {
      self.init(
        application: "",
        region: Region(identifier: "", constraint: .proximity(UUID128(high: 0, low: 0))),
        policy: 0,
        since: .distantPast,
        assumed: .unknown,
        isRotated: false,
        isLive: false,
        until: 0
      )
      return
    }
    let application = try reader.text()
    let region = try Region(from: &reader)
    let policy = try reader.number(UInt16.self)
    guard policy < policies.count, policies[Int(policy)] == region.presence else {
      throw reader.failure(.outOfRange(field: "a region's policy"))
    }
    let since = try Timestamp(from: &reader)
    let assumed = try reader.state()
    let isRotated = try reader.flag()
    let parent = try reader.number(Int32.self)
    guard parent >= -1, parent < slots else { throw reader.failure(.outOfRange(field: "a node's parent")) }
    self.init(
      application: application,
      region: region,
      policy: policy,
      since: since,
      assumed: assumed,
      isRotated: isRotated,
      parent: parent < 0 ? nil : parent
    )
  }
}

extension MatchSet {
  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let levels = Flags(rawValue: 1)
    static let zoned = Flags(rawValue: 2)
    static let replacing = Flags(rawValue: 4)
  }

  fileprivate func write(to writer: inout FieldWriter) {
    var flags: Flags = hasLevels ? .levels : []
    if isZoned { flags.insert(.zoned) }
    if replacesPlain { flags.insert(.replacing) }
    writer.write(flags.rawValue)
    writer.write(policies)
    for clients in [regions, beaconRegions] {
      writer.write(UInt32(clients.count))
      for client in clients {
        writer.write(client.slot)
        writer.write(UInt8(truncatingIfNeeded: client.place))
      }
    }
    writer.write(UInt32(rangings.count))
    for ranging in rangings { writer.write(ranging) }
  }

  fileprivate init(
    from reader: inout FieldReader,
    slots: Int,
    rangings: Int,
    policies: Int
  ) throws(FieldError) {
    self.init()
    let flags = Flags(rawValue: try reader.byte())
    hasLevels = flags.contains(.levels)
    isZoned = flags.contains(.zoned)
    replacesPlain = flags.contains(.replacing)
    self.policies = try reader.list(UInt16.self)
    guard self.policies.count <= MatchSet.policyLimit, self.policies.allSatisfy({ $0 < policies }) else {
      throw reader.failure(.outOfRange(field: "the policies of a match set"))
    }
    regions = try MatchSet.clients(from: &reader, slots: slots, policies: self.policies.count)
    beaconRegions = try MatchSet.clients(from: &reader, slots: slots, policies: self.policies.count)
    for _ in 0..<(try reader.count(ofAtLeast: 4)) {
      self.rangings.append(try reader.place("a ranging request", below: rangings))
    }
  }

  private static func clients(
    from reader: inout FieldReader,
    slots: Int,
    policies: Int
  ) throws(FieldError) -> [RegionClient] {
    var clients: [RegionClient] = []
    for _ in 0..<(try reader.count(ofAtLeast: 5)) {
      let slot = try reader.place("a region of a match set", below: slots)
      let place = Int32(try reader.byte())
      guard place < policies else { throw reader.failure(.outOfRange(field: "a policy of a match set")) }
      clients.append(RegionClient(slot: slot, place: place))
    }
    return clients
  }
}
