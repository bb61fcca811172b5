import PharosDocuments
package import PharosModel

/// The regions of all applications as stage two needs them: those about beacons in full, and the constraints of the
/// others, because a zone without a list of its own places every beacon that some region asks about.
package struct BeaconRegions: Sendable {
  /// The key of a region.
  package struct Key: Hashable, Sendable {
    package var application: String
    package var identifier: String

    /// Makes a value of its parts.
    package init(application: String, identifier: String) {
      self.application = application
      self.identifier = identifier
    }

    /// Makes the key of a region that records name.
    package init(_ key: RegionKey) { self.init(application: key.application, identifier: key.region) }
  }

  /// One region and the time from which it is monitored.
  package struct Entry: Sendable {
    package var key: Key
    package var region: Region
    /// The state that a row starts from.
    package var assuming: RegionState
    /// The time at which monitoring began, or the distant past for a region that the site declares.
    package var since: Timestamp
    /// Indicates whether it belongs to a rotation tree.
    var isRotated: Bool

    /// Makes a value of its parts.
    package init(
      key: Key,
      region: Region,
      assuming: RegionState,
      since: Timestamp,
      isRotated: Bool
    ) {
      self.key = key
      self.region = region
      self.assuming = assuming
      self.since = since
      self.isRotated = isRotated
    }

    /// Returns whether an observer counts for this region about beacons.
    package func counts(_ observer: ObserverID) -> Bool {
      guard case .beacon(let observers) = region.subject else { return false }
      return observers?.contains(observer) ?? true
    }

    /// An event about a subject of this region.
    package func event(
      _ kind: EventKind,
      _ subject: SubjectID,
      at time: Timestamp,
      _ decidedAt: Timestamp,
      _ counter: UInt64,
      _ transition: RegionTransition,
      in stream: String
    ) -> Event {
      Event(
        stream: stream,
        kind: kind,
        time: time,
        decidedAt: decidedAt,
        stage: 2,
        subject: subject,
        application: key.application,
        region: key.identifier,
        counter: counter,
        ordinal: counter,
        detail: .region(transition)
      )
    }
  }

  /// The entries by place; a place that is free is nil.
  package var entries: [Entry?] = []
  /// A counter that increases with every change of the regions.
  package private(set) var epoch: UInt32 = 0
  package var places: [Key: Int] = [:]
  private var free: [Int] = []

  /// Creates the regions that the site declares.
  package init(site: Site) {
    for application in site.applications {
      for region in application.regions {
        let key = Key(application: application.identifier, identifier: region.identifier)
        _ = set(Entry(key: key, region: region, assuming: .unknown, since: .distantPast, isRotated: false))
      }
      for region in application.rotation.flatMap(\.allRegions) {
        let key = Key(application: application.identifier, identifier: region.identifier)
        _ = set(Entry(key: key, region: region, assuming: .unknown, since: .distantPast, isRotated: true))
      }
    }
  }

  /// The place of a region, if it is monitored.
  package func place(of key: Key) -> Int? { places[key] }

  /// Returns whether some region asks about a beacon.
  package func asks(about beacon: BeaconID) -> Bool {
    entries.contains { $0?.region.constraint?.matches(beacon) ?? false }
  }

  /// Adds or replaces a region.
  ///
  /// Returns the place whose rows are no longer valid, if there is one.
  ///
  /// A region with the same constraint, observers and policy keeps its rows: only its flags are new.
  package mutating func set(_ entry: Entry) -> Int? {
    epoch &+= 1
    guard let place = places[entry.key], let old = entries[place] else {
      let place = free.popLast() ?? entries.count
      if place == entries.count { entries.append(entry) } else { entries[place] = entry }
      places[entry.key] = place
      return nil
    }
    guard old.region.asksTheSame(as: entry.region) else {
      entries[place] = entry
      return place
    }
    entries[place]?.region = entry.region
    entries[place]?.isRotated = entry.isRotated
    return nil
  }

  /// Removes a region.
  ///
  /// Returns the place whose rows are no longer valid, if there is one.
  package mutating func remove(_ key: Key) -> Int? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    epoch &+= 1
    entries[place] = nil
    free.append(place)
    return place
  }

  /// Replaces the application's rotation tree.
  ///
  /// Returns the places whose rows are no longer valid.
  package mutating func setRotation(_ tree: [RegionNode], of application: String, at time: Timestamp) -> [Int]
  {
    let regions = tree.flatMap(\.allRegions)
    let kept = Set(regions.map(\.identifier))
    var invalid: [Int] = []
    for entry in entries {
      guard let entry, entry.isRotated, entry.key.application == application else { continue }
      if !kept.contains(entry.key.identifier), let place = remove(entry.key) { invalid.append(place) }
    }
    for region in regions {
      let key = Key(application: application, identifier: region.identifier)
      let entry = Entry(key: key, region: region, assuming: .unknown, since: time, isRotated: true)
      if let place = set(entry) { invalid.append(place) }
    }
    return invalid
  }
}

extension BeaconRegions {
  /// Restores the monitoring start and the assumed state of each region whose definition is the same as in the state.
  ///
  /// - Parameters:
  ///   - known: The regions of the state, by their places in it.
  ///   - instant: The monitoring start of all other regions.
  /// - Returns: The present place of each region of the state, or nil where no region has the same key and definition
  ///   now.
  package mutating func restore(_ known: [Entry?], at instant: Timestamp) -> [Int?] {
    let places = known.map { old -> Int? in
      guard let old, let place = place(of: old.key), let entry = entries[place] else { return nil }
      guard entry.region.asksTheSame(as: old.region) else { return nil }
      entries[place]?.since = old.since
      entries[place]?.assuming = old.assuming
      return place
    }
    let kept = Set(places.compactMap { $0 })
    for place in entries.indices where !kept.contains(place) { entries[place]?.since = instant }
    return places
  }
}

extension BeaconRegions.Entry: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() {
    self.init(
      key: BeaconRegions.Key(application: "", identifier: ""),
      region: Region(identifier: "", constraint: .unread),
      assuming: .unknown,
      since: .distantPast,
      isRotated: false
    )
  }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&key.application)
    try coder.code(&region)
    key.identifier = region.identifier
    try coder.code(&assuming)
    try coder.code(&since)
    try coder.code(&isRotated)
  }
}
