/// How the changes of a site follow from two declarations, and what changes make of a site.
///
/// Every change is accepted or refused here, before any engine sees it: the limit of regions holds once, and engines can
/// trust what they are given. A refused change leaves the site as it was.
extension Site {
  /// Returns the changes that lead from this site to another.
  ///
  /// Declarations that both sites share stay untouched, and so do the regions and ranging that applications have added
  /// at run time, of which neither site knows. Removals come first, so that an application's limit is not exceeded on
  /// the way. The name of the stream stays as well.
  ///
  /// - Parameter next: the site that takes this one's place.
  /// - Returns: the changes, in the order in which they must be carried out; none if both declare the same.
  public func changes(to next: Site) -> [RegionChange] {
    var changes: [RegionChange] = settings == next.settings ? [] : [.declare(next.settings)]
    let (before, after) = (applicationsByName, next.applicationsByName)
    for old in applications {
      let new = after[old.identifier] ?? Application(identifier: old.identifier)
      if new != old { changes += old.changes(to: new) }
    }
    for new in next.applications where before[new.identifier] == nil {
      changes += Application(identifier: new.identifier).changes(to: new)
    }
    return changes
  }

  private var applicationsByName: [String: Application] {
    Dictionary(applications.map { ($0.identifier, $0) }) { first, _ in first }
  }
}

extension Site {
  /// Checks the applications.
  ///
  /// - Throws: the first refusal that one of them meets.
  package func check() throws(RegionRefusal) {
    var names: Set<String> = []
    for application in applications {
      guard names.insert(application.identifier).inserted else {
        throw .duplicateApplication(application.identifier)
      }
      try application.check()
    }
  }

  /// Takes over a declaration in place of an earlier one, as a whole or not at all.
  ///
  /// What was changed since the earlier one was taken over stays, and counts towards the limits.
  ///
  /// - Parameters:
  ///   - next: the declaration.
  ///   - former: the earlier one.
  /// - Returns: the changes that were made, in their order.
  /// - Throws: the first refusal that one of them meets; nothing has changed then.
  package mutating func adopt(_ next: Site, inPlaceOf former: Site) throws(RegionRefusal) -> [RegionChange] {
    // Report mistakes in the declaration itself before conflicts with changes that applications made at run time.
    try next.check()
    let changes = former.changes(to: next)
    try accept(changes)
    return changes
  }

  /// Accepts changes, all of them or none.
  ///
  /// - Throws: the first refusal that one of them meets; nothing has changed then.
  package mutating func accept(_ changes: [RegionChange]) throws(RegionRefusal) {
    var trial = self
    for change in changes { try trial.accept(change) }
    self = trial
  }

  /// Accepts a change, or says why not.
  ///
  /// An application that is not known yet is made with the default limit. Replacing a region by its identifier is
  /// accepted at the limit. To stop what is not monitored changes nothing and is no error, as in Core Location.
  ///
  /// - Throws: the refusal; nothing has changed then.
  package mutating func accept(_ change: RegionChange) throws(RegionRefusal) {
    switch change {
    case .startMonitoring(let name, let region, assuming: _):
      try edit(name) { application in
        if let index = application.regions.firstIndex(where: { $0.identifier == region.identifier }) {
          application.regions[index] = region
        } else {
          application.regions.append(region)
        }
      }
    case .stopMonitoring(let name, let identifier):
      reduce(name) { $0.regions.removeAll { $0.identifier == identifier } }
    case .setRotation(let name, let nodes): try edit(name) { $0.rotation = nodes }
    case .startRanging(let name, let request):
      try edit(name) { application in
        application.ranging.removeAll { $0.constraint == request.constraint }
        application.ranging.append(request)
      }
    case .stopRanging(let name, let constraint):
      reduce(name) { $0.ranging.removeAll { $0.constraint == constraint } }
    case .setRegionLimit(let name, let limit):
      let held = application(name)?.regions.count ?? 0
      guard Application.room(limit: limit, holding: held) >= 0 else {
        throw .regionLimitTooLow(limit: limit, application: name, held: held)
      }
      try edit(name) { $0.regionLimit = limit }
      reduce(name) { _ in }
    case .requestState(let name, let identifier, subject: _):
      guard application(name)?.hasRegion(identifier) ?? false else {
        throw .unknownRegion(application: name, identifier: identifier)
      }
    case .acceptObserver(let id):
      if !observers.contains(where: { $0.id == id }) { observers.append(ObserverEntry(id: id)) }
    case .dismissObserver(let id): observers.removeAll { $0.id == id }
    case .forget, .setItinerary, .setGuidance: break
    case .declare(let settings): self = settings.with(applications)
    }
  }

  private func application(_ name: String) -> Application? {
    applications.first { $0.identifier == name }
  }

  private mutating func edit(
    _ name: String,
    _ body: (inout Application) -> Void
  ) throws(RegionRefusal) {
    let index = applications.firstIndex { $0.identifier == name }
    var application = index.map { applications[$0] } ?? Application(identifier: name)
    body(&application)
    try application.check()
    if let index { applications[index] = application } else { applications.append(application) }
  }

  /// Takes something away from an application, and the application itself if nothing is left of it.
  private mutating func reduce(_ name: String, _ body: (inout Application) -> Void) {
    guard let index = applications.firstIndex(where: { $0.identifier == name }) else { return }
    body(&applications[index])
    if applications[index] == Application(identifier: name) { applications.remove(at: index) }
  }
}

extension Application {
  fileprivate func check() throws(RegionRefusal) {
    let name = identifier
    guard !name.isEmpty else { throw .emptyApplication }
    var seen: Set<String> = []
    for region in regions + rotation.flatMap(\.allRegions) {
      guard !region.identifier.isEmpty else { throw .emptyIdentifier(application: name) }
      guard seen.insert(region.identifier).inserted else {
        throw .duplicateIdentifier(application: name, identifier: region.identifier)
      }
      if let enter = region.presence.enterRSSI, let exit = region.presence.exitRSSI, exit >= enter {
        throw .crossedLevels(application: name, identifier: region.identifier, enter: enter, exit: exit)
      }
      if let enter = region.presence.enterDistance, let exit = region.presence.exitDistance, exit <= enter {
        throw .crossedDistances(application: name, identifier: region.identifier, enter: enter, exit: exit)
      }
      if let geofence = region.geofence {
        if let problem = geofence.problem {
          throw .unusableGeofence(application: name, identifier: region.identifier, problem)
        }
        let (enter, exit) = (geofence.policy.enterProbability, geofence.policy.exitProbability)
        guard exit < enter else {
          throw .crossedProbabilities(
            application: name,
            identifier: region.identifier,
            enter: enter,
            exit: exit
          )
        }
      }
    }
    let room = Application.room(limit: regionLimit, holding: regions.count)
    guard room >= 0 else {
      throw .regionLimitExceeded(
        limit: regions.count + room,
        application: name,
        identifier: regions[regions.count + room].identifier
      )
    }
  }
}
