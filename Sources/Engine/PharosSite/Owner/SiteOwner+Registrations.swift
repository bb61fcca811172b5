package import PharosDocuments
package import PharosModel

/// The registrations over HTTP: each is tried on a copy of what there is, which refuses what the site file declares, and then
/// made as every edit is.
extension SiteOwner {
  /// The most applications that may be made over HTTP.
  ///
  /// A thousand, each of which may hold a thousand regions: far beyond any site that was heard of, and still bounded.
  static let maximumApplications = 1_000
  /// The most observers, the most beacons, and the most zones, that may be named over HTTP: a large hospital has some thousand rooms.
  static let maximumPlaces = 10_000
  /// The most ranging requests that an application may make over HTTP; Core Location has no limit, memory does.
  static let maximumRanging = 1_000

  /// Makes an application, or changes its settings.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - settings: its settings.
  ///   - other: a change of other stores that is made with it, or not at all.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(
    application name: String,
    _ settings: ApplicationSettings,
    with other: () throws -> PendingChange = { PendingChange() }
  ) async throws -> Bool {
    try await edit(with: other) { sources in
      try SiteOwner.refuseDeclared(sources, name)
      let isNew = sources.made[name] == nil
      try SiteOwner.makeRoom(in: sources, for: name)
      // First, so that a limit that is too low is refused, and no region is left out for it.
      let limit = RegionChange.setRegionLimit(application: name, settings.regionLimit)
      let others = sources.update(name) { $0.settings = settings }.filter { $0 != limit }
      return (isNew, [limit] + others)
    }
  }

  /// Removes an application that was made over HTTP, with its regions and ranging requests.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - other: a change of other stores that is made with it, or not at all.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(
    application name: String,
    with other: () throws -> PendingChange = { PendingChange() }
  ) async throws {
    try await edit(with: other) { sources in
      try SiteOwner.refuseDeclared(sources, name)
      guard sources.made[name] != nil else {
        throw RegistrationRefusal.unknown("There is no application \"\(name)\".")
      }
      return ((), sources.update(name) { $0 = MadeApplication() })
    }
  }

  /// Monitors a region, in place of one with the same identifier.
  ///
  /// - Parameters:
  ///   - region: the region.
  ///   - name: the application, which is made if it is not there.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal, such as the 21st region of an application; nothing has changed then.
  package func put(region: Region, application name: String) async throws -> Bool {
    try await edit { sources in
      try SiteOwner.refuseDeclared(region: region.identifier, of: name, in: sources)
      let isDeclared = sources.declaration(of: name) != nil
      if !isDeclared { try SiteOwner.makeRoom(in: sources, for: name) }
      let isNew = sources.made[name]?.regions[region.identifier] == nil
      if !isDeclared, sources.made[name]?.settings == nil {
        sources.made[name, default: MadeApplication()].settings = ApplicationSettings()
      }
      sources.made[name, default: MadeApplication()].regions[region.identifier] = region
      return (isNew, [.startMonitoring(application: name, region)])
    }
  }

  /// Stops monitoring a region that was registered over HTTP.
  ///
  /// - Parameters:
  ///   - identifier: the region's identifier.
  ///   - name: the application.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(region identifier: String, application name: String) async throws {
    try await edit { sources in
      try SiteOwner.refuseDeclared(region: identifier, of: name, in: sources)
      guard sources.made[name]?.regions[identifier] != nil else {
        throw RegistrationRefusal.unknown("Application \"\(name)\" has no region \"\(identifier)\".")
      }
      return ((), sources.update(name) { $0.regions[identifier] = nil })
    }
  }

  /// Accepts an observer that is in quarantine, now and after every restart; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: the error of the store or the engine; the observer is not accepted then.
  package func accept(_ observer: ObserverID) async throws {
    try await edit(whileStopped: true) { sources in
      sources.accepted.insert(observer)
      return ((), [.acceptObserver(observer)])
    }
  }

  /// Withdraws the name and the acceptance of an observer that is not declared by the site file.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(observer: ObserverID) async throws {
    guard !sources.declares(observer) else {
      throw RegistrationRefusal.declaredBySite("Observer", "\(observer)")
    }
    guard try await forget(observer) else {
      throw RegistrationRefusal.unknown("Observer \(observer) was neither named nor accepted over HTTP.")
    }
  }

  /// Withdraws the acceptance of an observer.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: `true` if it was accepted.
  /// - Throws: the error of the store or the engine; nothing has changed then.
  package func forget(_ observer: ObserverID) async throws -> Bool {
    try await edit(whileStopped: true) { sources in
      let wasAccepted = sources.accepted.remove(observer) != nil
      let wasNamed = sources.observers.removeValue(forKey: observer) != nil
      let changes = wasNamed ? [RegionChange.declare(sources.settings)] : []
      return (
        wasAccepted || wasNamed, sources.declares(observer) ? [] : changes + [.dismissObserver(observer)]
      )
    }
  }

  /// Names and configures an observer, which accepts it.
  ///
  /// - Parameter entry: the observer.
  /// - Returns: `true` if it was neither named nor configured over HTTP.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(observer entry: ObserverEntry) async throws -> Bool {
    try await edit { sources in
      guard !sources.declares(entry.id) else {
        throw RegistrationRefusal.declaredBySite("Observer", "\(entry.id)")
      }
      try SiteOwner.makeRoom(
        sources.observers.count,
        isNew: sources.observers[entry.id] == nil,
        "observers"
      )
      let isNew = sources.observers.updateValue(entry, forKey: entry.id) == nil
      return (isNew, [.declare(sources.settings)])
    }
  }

  /// Names and describes a beacon.
  ///
  /// - Parameters:
  ///   - id: the beacon.
  ///   - entry: its description.
  /// - Returns: `true` if it had no description over HTTP before.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(beacon id: BeaconID, _ entry: BeaconEntry) async throws -> Bool {
    try await edit { sources in
      guard !sources.declares(id) else { throw RegistrationRefusal.declaredBySite("Beacon", "\(id)") }
      try SiteOwner.makeRoom(sources.beacons.count, isNew: sources.beacons[id] == nil, "beacons")
      let isNew = sources.beacons.updateValue(entry, forKey: id) == nil
      return (isNew, [.declare(sources.settings)])
    }
  }

  /// Removes the description of a beacon that was made over HTTP.
  ///
  /// - Parameter id: the beacon.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(beacon id: BeaconID) async throws {
    try await edit { sources in
      guard !sources.declares(id) else { throw RegistrationRefusal.declaredBySite("Beacon", "\(id)") }
      guard sources.beacons.removeValue(forKey: id) != nil else {
        throw RegistrationRefusal.unknown("Beacon \(id) was not named over HTTP.")
      }
      return ((), [.declare(sources.settings)])
    }
  }

  /// Removes the descriptions made over HTTP of the beacons of a subject that is erased; also while there is no server.
  ///
  /// - Parameter traces: the subject.
  /// - Returns: the number of beacons.
  /// - Throws: the error of the store or the engine; nothing has changed then.
  package func forgetBeacons(_ traces: SubjectTraces) async throws -> Int {
    try await edit(whileStopped: true) { sources in
      let gone = sources.beacons.keys.filter { traces.contains($0) }
      for beacon in gone { sources.beacons[beacon] = nil }
      return (gone.count, gone.isEmpty ? [] : [.declare(sources.settings)])
    }
  }

  /// Makes zones, each in place of one with the same identifier, and removes others: all of it counts, or none.
  ///
  /// - Parameters:
  ///   - zones: the zones.
  ///   - removed: the identifiers of zones that were made over HTTP.
  /// - Returns: the identifiers of the zones that are new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func change(zones: [Zone] = [], removing removed: [String] = []) async throws -> Set<String> {
    try await edit { sources in
      for identifier in zones.map(\.identifier) + removed where sources.declares(zone: identifier) {
        throw RegistrationRefusal.declaredBySite("Zone", identifier)
      }
      for identifier in removed where sources.zones.removeValue(forKey: identifier) == nil {
        throw RegistrationRefusal.unknown("There is no zone \"\(identifier.shortened)\".")
      }
      var new: Set<String> = []
      for zone in zones {
        try SiteOwner.makeRoom(sources.zones.count, isNew: sources.zones[zone.identifier] == nil, "zones")
        if sources.zones.updateValue(zone, forKey: zone.identifier) == nil { new.insert(zone.identifier) }
      }
      for zone in zones {
        for other in zone.adjacent
        where other == zone.identifier || sources.zones[other] == nil && !sources.declares(zone: other) {
          throw RegistrationRefusal.unknownNeighbour(other)
        }
      }
      return (new, [.declare(sources.settings)])
    }
  }

  /// Registers a ranging request, in place of one with the same name.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - name: the request's name.
  ///   - application: the application, which is made if it is not there.
  /// - Returns: `true` if it is new.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func put(
    ranging request: RangingRequest,
    name: String,
    application: String
  ) async throws -> Bool {
    try await edit { sources in
      let shown = sources.application(application)
      if let other = shown?.ranging.first(where: { $0.name == name && $0.source == .site }) {
        throw RegistrationRefusal.declaredBySite("Ranging request", other.name, of: application)
      }
      if let other = shown?.ranging.first(where: {
        $0.request.constraint == request.constraint && $0.name != name
      }) {
        throw RegistrationRefusal.alreadyRanged(
          request.constraint,
          application: application,
          name: other.name
        )
      }
      if shown == nil { try SiteOwner.makeRoom(in: sources, for: application) }
      let isNew = sources.made[application]?.ranging[name] == nil
      guard !isNew || (sources.made[application]?.ranging.count ?? 0) < SiteOwner.maximumRanging
      else {
        throw RegistrationRefusal.tooManyRangingRequests(application: application)
      }
      return (isNew, sources.update(application) { $0.ranging[name] = request })
    }
  }

  /// Removes a ranging request that was made over HTTP.
  ///
  /// - Parameters:
  ///   - name: the request's name.
  ///   - application: the application.
  /// - Throws: the reason for the refusal; nothing has changed then.
  package func delete(ranging name: String, application: String) async throws {
    try await edit { sources in
      let shown = sources.application(application)?.ranging.first { $0.name == name }
      if let shown, shown.source == .site {
        throw RegistrationRefusal.declaredBySite("Ranging request", name, of: application)
      }
      guard sources.made[application]?.ranging[name] != nil else {
        throw RegistrationRefusal.unknown(
          "Application \"\(application)\" ranges nothing by the name \"\(name)\"."
        )
      }
      return ((), sources.update(application) { $0.ranging[name] = nil })
    }
  }

  private static func makeRoom(_ count: Int, isNew: Bool, _ what: String) throws {
    guard isNew, count >= maximumPlaces else { return }
    throw RegistrationRefusal.tooManyPlaces(what)
  }

  private static func refuseDeclared(_ sources: SiteSources, _ name: String) throws {
    guard sources.declaration(of: name) != nil else { return }
    throw RegistrationRefusal.declaredBySite("Application", name)
  }

  private static func refuseDeclared(
    region identifier: String,
    of application: String,
    in sources: SiteSources
  ) throws {
    guard sources.declares(region: identifier, of: application) else { return }
    throw RegistrationRefusal.declaredBySite("Region", identifier, of: application)
  }

  private static func makeRoom(in sources: SiteSources, for name: String) throws {
    guard sources.made[name] == nil, sources.made.count >= maximumApplications else { return }
    throw RegistrationRefusal.tooManyApplications
  }
}

/// The reason why a registration is refused; nothing has changed then.
package enum RegistrationRefusal: Error, Hashable, Sendable {
  /// The site file declares it and alone changes it: the kind, the name, and the application that it belongs to.
  case declaredBySite(String, String, of: String? = nil)
  /// There is no such registration; the text says which.
  case unknown(String)
  /// A zone names a neighbour that is no other zone.
  case unknownNeighbour(String)
  /// An application ranges the constraint already, by another name.
  case alreadyRanged(BeaconConstraint, application: String, name: String)
  /// The maximum number of applications was made.
  case tooManyApplications
  /// The maximum number of places of a kind was made.
  case tooManyPlaces(String)
  /// The application has the maximum number of ranging requests.
  case tooManyRangingRequests(application: String)
  /// There is no engine yet that could make the change.
  case starting
}

extension RegistrationRefusal: CustomStringConvertible {
  /// The reason in a sentence, with what to do.
  package var description: String {
    switch self {
    case .declaredBySite(let kind, let name, of: let application):
      "\(kind) \"\(name)\"\(application.map { " of application \"\($0)\"" } ?? "") is declared by the site file; change or "
        + "remove it there."
    case .unknown(let sentence): sentence
    case .unknownNeighbour(let name): "There is no other zone \"\(name.shortened)\"."
    case .alreadyRanged(let constraint, let application, let name):
      "Application \"\(application)\" ranges \(constraint) already, as \"\(name)\"."
    case .tooManyApplications:
      "\(SiteOwner.maximumApplications) applications were made over HTTP, the maximum. Remove one first."
    case .tooManyPlaces(let kind): "\(SiteOwner.maximumPlaces) \(kind) were made over HTTP, the maximum."
    case .tooManyRangingRequests(let application):
      "Application \"\(application)\" ranges \(SiteOwner.maximumRanging) constraints, the maximum over HTTP."
    case .starting: "The server is still starting; try again in a moment."
    }
  }
}
