import PharosModel

/// Every region, ranging request, zone and directory entry, and the index of the identities that they match.
///
/// Slots are never reused, so that a track that still points to an old one sees that it is gone. Retired entries stay
/// in the index for the versions before until `forgetRetired()`, since observers catch up with a change one after the
/// other.
package struct RegionCatalog: Sendable {
  /// One region of one application.
  struct Slot: Sendable {
    var application: String
    var region: Region
    var policy: UInt16
    /// The start of monitoring; the most distant past for a region that the site declares.
    var since: Timestamp
    /// The state to start from.
    var assumed: RegionState
    /// Indicates whether it is a node of a rotation.
    var isRotated: Bool
    /// The node above it.
    var parent: Int32?
    /// Indicates whether it is still monitored.
    var isLive = true
    /// The first version of the catalog that has it.
    var from: UInt32 = 0
    /// The first version without it.
    var until = UInt32.max

    /// Returns true if a version of the catalog has it.
    func isLive(in version: UInt32) -> Bool { from <= version && version < until }
  }

  /// One ranging request of one application.
  struct Ranging: Sendable {
    var application: String
    var request: RangingRequest
    var isLive = true
    /// The first version of the catalog that has it.
    var from: UInt32 = 0
    /// The first version without it.
    var until = UInt32.max

    /// Returns true if a version of the catalog has it.
    func isLive(in version: UInt32) -> Bool { from <= version && version < until }
  }

  private(set) var slots: [Slot] = []
  private(set) var rangings: [Ranging] = []
  private(set) var policies: [PresencePolicy] = []
  private(set) var sets: [MatchSet] = []
  /// Indicates whether any region, ranging request or entry has `key: mac`.
  private(set) var hasKeys = false
  /// Indicates whether any constraint names an address.
  private(set) var hasAddresses = false
  private(set) var directory: [BeaconEntry] = []
  /// Counts the changes.
  private(set) var version: UInt32 = 0
  /// The regions to start from inside.
  private(set) var assumedInside: [Int32] = []
  /// Indicates whether there is, or was, a rotation.
  private(set) var hasRotations = false
  var regionLimits: [String: Int] = [:]

  private var policyNumbers: [PresencePolicy: UInt16] = [:]
  private var setNumbers: [MatchSet: Int32] = [:]
  private var names: [String: [String: Int32]] = [:]
  /// The entries to forget when no observer is behind.
  private var retired: (slots: [Int32], rangings: [Int32]) = ([], [])
  private var slotsByConstraint: [BeaconConstraint: [Int32]] = [:]
  private var rangingsByConstraint: [BeaconConstraint: [Int32]] = [:]
  private var entriesByConstraint: [BeaconConstraint: [Int32]] = [:]
  private var zonedConstraints: Set<BeaconConstraint> = []
  private var askedUUIDs: Set<UUID128> = []
  private var askedNamespaces: Set<EddystoneNamespace> = []
  private var askedAddresses: Set<UInt64> = []
  /// The same as numbers.
  package private(set) var scopes = ScopeTable()
  private var zonesIncludeAll = false
  private var zoneObservers: Set<ObserverID> = []
  /// The observers that hang at known places of venues.
  private let fixedObservers: Set<ObserverID>
  /// The tags that they locate; none means all that a region matches.
  private var locatedConstraints: Set<BeaconConstraint> = []

  /// Makes a catalog of what a site declares, regions and ranging left out.
  init(site: Site, fixedObservers: Set<ObserverID> = []) {
    self.fixedObservers = fixedObservers
    declare(site)
  }

  /// Takes over the directory and the zones of a site, in place of those before.
  mutating func declare(_ site: Site) {
    directory = site.beacons
    entriesByConstraint = [:]
    zoneObservers = []
    zonesIncludeAll = false
    zonedConstraints = []
    for (index, entry) in site.beacons.enumerated() {
      entriesByConstraint[entry.constraint.normal, default: []].append(Int32(index))
      hasKeys = hasKeys || entry.keyedByAddress
    }
    for zone in site.zones {
      zoneObservers.formUnion(zone.observers)
      zonesIncludeAll = zonesIncludeAll || zone.beacons.isEmpty
      for constraint in zone.beacons {
        zonedConstraints.insert(constraint.normal)
        recordSort(of: constraint, isKeyed: false)
      }
    }
    locatedConstraints = []
    guard !fixedObservers.isEmpty else { return }
    for constraint in site.positioning.tags {
      locatedConstraints.insert(constraint.normal)
      recordSort(of: constraint, isKeyed: false)
    }
  }

  /// Adds a region and gives its slot.
  mutating func add(
    _ region: Region,
    application: String,
    since: Timestamp,
    assumed: RegionState = .unknown,
    isRotated: Bool = false,
    parent: Int32? = nil
  ) -> Int32 {
    let slot = Int32(slots.count)
    slots.append(
      Slot(
        application: application,
        region: region,
        policy: number(of: region.presence),
        since: since,
        assumed: assumed,
        isRotated: isRotated,
        parent: parent,
        from: version
      )
    )
    record(slot)
    return slot
  }

  /// Lets a live region be found.
  private mutating func record(_ slot: Int32) {
    let entry = slots[Int(slot)]
    names[entry.application, default: [:]][entry.region.identifier] = slot
    hasRotations = hasRotations || entry.isRotated
    // No advert bears on a geofence: it has a name and a place in rotations, and nothing else.
    guard let constraint = entry.region.constraint else { return }
    slotsByConstraint[constraint.normal, default: []].append(slot)
    recordSort(of: constraint, isKeyed: entry.region.keyedByAddress)
    if entry.assumed == .inside, entry.region.subject == .observer { assumedInside.append(slot) }
  }

  /// Begins the next version; what is changed from now on belongs to it.
  mutating func turn() -> UInt32 {
    version &+= 1
    return version
  }

  /// Takes over the regions, ranging requests and policies of a state, with the numbers that they have there.
  mutating func restore(_ state: CatalogState) {
    slots = state.slots
    rangings = state.rangings
    policies = []
    policyNumbers = [:]
    slotsByConstraint = [:]
    rangingsByConstraint = [:]
    names = [:]
    assumedInside = []
    for policy in state.policies { _ = number(of: policy) }
    for place in slots.indices where slots[place].isLive { record(Int32(place)) }
    for place in rangings.indices where rangings[place].isLive {
      let request = rangings[place].request
      rangingsByConstraint[request.constraint.normal, default: []].append(Int32(place))
      recordSort(of: request.constraint, isKeyed: request.keyedByAddress)
    }
    hasKeys = hasKeys || state.hasKeys
    hasAddresses = hasAddresses || state.hasAddresses
  }

  /// Takes a region out.
  mutating func retire(_ slot: Int32) {
    slots[Int(slot)].isLive = false
    slots[Int(slot)].until = version
    retired.slots.append(slot)
    let entry = slots[Int(slot)]
    if names[entry.application]?[entry.region.identifier] == slot {
      names[entry.application]?[entry.region.identifier] = nil
    }
    assumedInside.removeAll { $0 == slot }
  }

  /// Forgets what was taken out: every observer knows that it is gone.
  mutating func forgetRetired() {
    for slot in retired.slots {
      guard let constraint = slots[Int(slot)].region.constraint?.normal else { continue }
      slotsByConstraint[constraint]?.removeAll { $0 == slot }
      if slotsByConstraint[constraint]?.isEmpty ?? false { slotsByConstraint[constraint] = nil }
    }
    for place in retired.rangings {
      let constraint = rangings[Int(place)].request.constraint.normal
      rangingsByConstraint[constraint]?.removeAll { $0 == place }
    }
    retired = ([], [])
  }

  /// The slot of an application's region, or nil.
  func slot(application: String, identifier: String) -> Int32? { names[application]?[identifier] }

  /// Gives a region new notify flags and a new place in its tree.
  mutating func update(_ slot: Int32, to region: Region, parent: Int32?) {
    slots[Int(slot)].region = region
    slots[Int(slot)].parent = parent
  }

  /// Adds a ranging request, or replaces that with the same constraint.
  mutating func add(_ request: RangingRequest, application: String) {
    recordSort(of: request.constraint, isKeyed: request.keyedByAddress)
    if let old = ranging(application: application, constraint: request.constraint) {
      rangings[Int(old)].request = request
      return
    }
    rangingsByConstraint[request.constraint.normal, default: []].append(Int32(rangings.count))
    rangings.append(Ranging(application: application, request: request, from: version))
  }

  /// The place of a ranging request, or nil.
  func ranging(application: String, constraint: BeaconConstraint) -> Int32? {
    rangings.lastIndex {
      $0.isLive && $0.application == application && $0.request.constraint == constraint
    }
    .map { Int32($0) }
  }

  /// Takes a ranging request out.
  mutating func retireRanging(_ place: Int32) {
    rangings[Int(place)].isLive = false
    rangings[Int(place)].until = version
    retired.rangings.append(place)
  }

  /// The most specific directory entries of a beacon, for its measured power and its interval.
  func facts(of beacon: BeaconID) -> (measuredPower: Double?, interval: TimeSpan?) {
    var facts: (measuredPower: Double?, interval: TimeSpan?) = (nil, nil)
    guard !directory.isEmpty else { return facts }
    for constraint in beacon.constraints {
      for index in entriesByConstraint[constraint] ?? [] {
        facts.measuredPower = facts.measuredPower ?? directory[Int(index)].measuredPower
        facts.interval = facts.interval ?? directory[Int(index)].interval
      }
    }
    return facts
  }

  /// Returns the number of the match set of a beacon at an observer, in one version of the catalog; `isKeyable` is true
  /// if the beacon's adverts come with an address that lasts.
  mutating func match(
    _ beacon: BeaconID,
    observer: ObserverID,
    isKeyable: Bool,
    version: UInt32
  ) -> Int32 {
    var set = MatchSet()
    let isKeyed = beacon.kind != .address && beacon.address != nil
    let keys = beacon.constraints
    let isForced =
      beacon.kind != .address && isKeyable
      && keys.contains { key in
        (entriesByConstraint[key] ?? []).contains { directory[Int($0)].keyedByAddress }
      }
    set.replacesPlain = isKeyed && isForced
    func isAsking(_ keyedByAddress: Bool) -> Bool {
      guard beacon.kind != .address else { return true }
      return isKeyed ? keyedByAddress || isForced : !keyedByAddress && !isForced
    }
    var isAsked = false
    for key in keys {
      for slot in slotsByConstraint[key] ?? []
      where slots[Int(slot)].isLive(in: version) && isAsking(slots[Int(slot)].region.keyedByAddress) {
        isAsked = true
        add(slot, to: &set, observer: observer)
      }
      for place in rangingsByConstraint[key] ?? []
      where rangings[Int(place)].isLive(in: version)
        && isAsking(rangings[Int(place)].request.keyedByAddress)
      {
        set.rangings.append(place)
      }
    }
    if zoneObservers.contains(observer) {
      set.isZoned =
        isAsked && zonesIncludeAll || isAsking(false) && keys.contains { zonedConstraints.contains($0) }
    }
    if fixedObservers.contains(observer), !set.isZoned {
      set.isZoned =
        isAsked && locatedConstraints.isEmpty
        || isAsking(false) && keys.contains { locatedConstraints.contains($0) }
    }
    set.regions.sort { $0.slot < $1.slot }
    set.beaconRegions.sort { $0.slot < $1.slot }
    set.rangings.sort()
    return number(of: set)
  }

  /// Indicates whether the regions that match a beacon, and the place of its observer, decide whether it is zoned.
  var isZonedByClients: Bool {
    guard fixedObservers.isEmpty || locatedConstraints.isEmpty else { return false }
    return zoneObservers.isEmpty || zonesIncludeAll && zonedConstraints.isEmpty
  }

  /// Returns true if an observer stands in some zone, or hangs at a known place.
  func standsInZone(_ observer: ObserverID) -> Bool {
    zoneObservers.contains(observer) || fixedObservers.contains(observer)
  }

  /// Returns true if a region about beacons lists an observer.
  func listens(_ observer: ObserverID) -> Bool {
    slots.contains { slot in
      guard slot.isLive, case .beacon(let observers?) = slot.region.subject else { return false }
      return observers.contains(observer)
    }
  }

  private func add(_ slot: Int32, to set: inout MatchSet, observer: ObserverID) {
    let entry = slots[Int(slot)]
    if case .beacon(let observers?) = entry.region.subject, !observers.contains(observer) { return }
    let known = set.policies.firstIndex(of: entry.policy)
    let place = known ?? min(set.policies.count, MatchSet.policyLimit - 1)
    if place == set.policies.count { set.policies.append(entry.policy) }
    let presence = entry.region.presence
    set.hasLevels = set.hasLevels || presence.exitRSSI != nil || presence.exitDistance != nil
    let client = MatchSet.RegionClient(slot: slot, place: Int32(place))
    if entry.region.subject == .observer {
      set.regions.append(client)
    } else {
      set.beaconRegions.append(client)
    }
  }

  private mutating func number(of policy: PresencePolicy) -> UInt16 {
    if let number = policyNumbers[policy] { return number }
    let number = UInt16(truncatingIfNeeded: policies.count)
    policies.append(policy)
    policyNumbers[policy] = number
    return number
  }

  /// The number of a match set, which may be new.
  mutating func number(of set: MatchSet) -> Int32 {
    if let number = setNumbers[set] { return number }
    let number = Int32(sets.count)
    sets.append(set)
    setNumbers[set] = number
    return number
  }

  /// The number of an identity's scope, which it is given if it has none.
  mutating func scope(of beacon: BeaconID) -> UInt32 { number(of: BeaconScope(beacon)) }

  /// The number of a scope, which it is given if it has none.
  mutating func number(of scope: BeaconScope) -> UInt32 { scopes.insert(scope) }

  private mutating func recordSort(of constraint: BeaconConstraint, isKeyed: Bool) {
    _ = scopes.insert(BeaconScope(constraint))
    switch constraint {
    case .proximity(let uuid, major: _, minor: _): askedUUIDs.insert(uuid)
    case .eddystone(let namespace, instance: _): askedNamespaces.insert(namespace)
    case .address(let address): askedAddresses.insert(address.bits)
    }
    if case .address = constraint { hasAddresses = true } else { hasKeys = hasKeys || isKeyed }
  }

  /// Returns true if any constraint may match a beacon: one lookup, which fails for nearly every unregistered beacon.
  func mayAsk(about beacon: BeaconID) -> Bool {
    switch beacon.kind {
    case .proximity: beacon.uuid.map { askedUUIDs.contains($0) } ?? false
    case .eddystone: beacon.namespace.map { askedNamespaces.contains($0) } ?? false
    case .address: beacon.address.map { askedAddresses.contains($0.bits) } ?? false
    }
  }
}

extension RegionCatalog {
  /// Adds a rotation's nodes, parents before children.
  mutating func add(
    nodes: [RegionNode],
    of application: String,
    since: Timestamp,
    parent: Int32? = nil
  ) {
    for node in nodes {
      let slot = add(
        node.region,
        application: application,
        since: since,
        isRotated: true,
        parent: parent
      )
      add(nodes: node.children, of: application, since: since, parent: slot)
    }
  }

  /// The applications that have a rotation, in the order of their first nodes.
  var rotatedApplications: [String] {
    guard hasRotations else { return [] }
    var names: [String] = []
    for slot in slots where slot.isLive && slot.isRotated && !names.contains(slot.application) {
      names.append(slot.application)
    }
    return names
  }

  /// Returns the number of nodes of an application's rotation that may be monitored at once for a subject.
  func rotationBudget(of application: String) -> Int {
    let flat = slots.count { $0.isLive && !$0.isRotated && $0.application == application }
    return max(
      0,
      Application.room(
        limit: regionLimits[application] ?? Application.defaultRegionLimit,
        holding: flat
      )
    )
  }
}

/// The regions, ranging requests and policies that match one beacon at one observer; tracks with equal matches share
/// one.
package struct MatchSet: Hashable, Sendable {
  /// A region and the place of its policy in ``policies``.
  struct RegionClient: Hashable, Sendable {
    /// The region's slot in the catalog.
    var slot: Int32
    /// The place of its policy.
    var place: Int32
  }

  /// The maximum number of distinct policies that decide about one beacon at one observer; further ones share the last.
  static let policyLimit = 64

  /// The regions about observers.
  var regions: [RegionClient] = []
  /// The regions about beacons to which this observer counts.
  var beaconRegions: [RegionClient] = []
  /// The ranging requests.
  var rangings: [Int32] = []
  /// The distinct policies, one presence each.
  package var policies: [UInt16] = []
  /// Indicates whether any of them looks at levels to leave.
  var hasLevels = false
  /// Indicates whether stage two needs summaries.
  var isZoned = false
  /// Indicates whether the directory makes the address a part of the key even for those that did not request it.
  var replacesPlain = false

  package init() {}

  /// A Boolean value that is true if no region, ranging request or zone matches the beacon.
  var isEmpty: Bool { policies.isEmpty && rangings.isEmpty && !isZoned }
  /// Indicates whether seconds must be kept.
  var needsSeconds: Bool { isZoned || !rangings.isEmpty }
}

extension RegionCatalog {
  /// The regions by application and identifier: there may be a word about each of many tags.
  var slotsByName: [String: [String: Int32]] {
    var names: [String: [String: Int32]] = [:]
    for place in slots.indices where slots[place].isLive {
      names[slots[place].application, default: [:]][slots[place].region.identifier] = Int32(place)
    }
    return names
  }
}

extension RegionCatalog {
  /// The applications as they would have to be declared, those that are declared first.
  func applications(_ declared: [Application]) -> [Application] {
    var names = declared.map(\.identifier)
    let known = Set(names)
    var others: Set<String> = []
    for name in slots.lazy.filter(\.isLive).map(\.application) where !known.contains(name) {
      if others.insert(name).inserted { names.append(name) }
    }
    for name in rangings.lazy.filter(\.isLive).map(\.application) where !known.contains(name) {
      if others.insert(name).inserted { names.append(name) }
    }
    return names.map { name in
      Application(
        identifier: name,
        regions: slots.filter { $0.isLive && !$0.isRotated && $0.application == name }.map(\.region),
        ranging: rangings.filter { $0.isLive && $0.application == name }.map(\.request),
        rotation: nodes(of: name, under: nil),
        regionLimit: regionLimits[name] ?? Application.defaultRegionLimit
      )
    }
  }

  private func nodes(of application: String, under parent: Int32?) -> [RegionNode] {
    slots.indices.compactMap { place in
      let slot = slots[place]
      guard slot.isLive, slot.isRotated, slot.parent == parent, slot.application == application else {
        return nil
      }
      return RegionNode(region: slot.region, children: nodes(of: application, under: Int32(place)))
    }
  }
}
