public import PharosModel

/// The site: what its file declares, what was registered beside it, and the site that follows from both and counts.
///
/// A value, so that a change can be tried before it is committed. It accepts or refuses every change before any engine
/// sees it: the limit of regions holds once, and engines can trust what they are given. A refused change leaves it as it
/// was.
package struct RegisteredSite: Sendable {
  /// The declarations and registrations.
  package private(set) var sources: SiteSources
  /// The site that counts; its applications are in the order in which they came.
  ///
  /// Programs that embed a server change it without registering anything.
  package private(set) var site: Site

  /// The applications with their regions as they are now.
  package var applications: [Application] { site.applications }

  /// Merges declarations and registrations, unchecked.
  package init(_ sources: SiteSources) {
    self.sources = sources
    site = sources.site
  }

  /// Takes what a site declares; applications that come later hold as many regions as Core Location allows.
  ///
  /// - Throws: the first refusal that a declared application meets.
  package init(site: Site) throws(RegionRefusal) {
    self.init(SiteSources(declared: site))
    try check()
  }

  /// Checks the applications.
  ///
  /// - Throws: the first refusal that one of them meets.
  package func check() throws(RegionRefusal) { try RegisteredSite.check(site.applications) }

  /// Makes an edit, as a whole or not at all.
  ///
  /// - Returns: the changes that lead to the new site, in their order.
  /// - Throws: the first refusal that one of them meets; nothing has changed then.
  package mutating func carryOut(_ edit: SiteEdit) throws(RegionRefusal) -> [RegionChange] {
    switch edit {
    case .file(let declared): return try adopt(declared)
    case .changes(let changes, let sources):
      try accept(changes)
      if let sources { self.sources = sources }
      return changes
    }
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
      if !site.observers.contains(where: { $0.id == id }) { site.observers.append(ObserverEntry(id: id)) }
    case .dismissObserver(let id): site.observers.removeAll { $0.id == id }
    case .forget, .setItinerary, .setGuidance: break
    case .declare(let settings):
      sources.declared = settings.with(sources.declared.applications)
      site = settings.with(site.applications)
    }
  }

  /// Accepts an edited site file, as a whole or not at all.
  ///
  /// What was registered, and what programs changed at run time, stays and counts towards the limits.
  ///
  /// - Parameter declared: the declarations of the edited file.
  /// - Returns: the changes that lead to the new site, in their order.
  /// - Throws: the first refusal that one of them meets; nothing has changed then.
  package mutating func adopt(_ declared: Site) throws(RegionRefusal) -> [RegionChange] {
    var next = sources
    next.declared = declared
    let merged = next.site
    // Report mistakes in the site itself before conflicts with changes that applications made at run time.
    try RegisteredSite.check(merged.applications)
    let changes = sources.site.changes(to: merged)
    try accept(changes)
    sources = next
    return changes
  }

  private func application(_ name: String) -> Application? {
    site.applications.first { $0.identifier == name }
  }

  private mutating func edit(
    _ name: String,
    _ body: (inout Application) -> Void
  ) throws(RegionRefusal) {
    let index = site.applications.firstIndex { $0.identifier == name }
    var application = index.map { site.applications[$0] } ?? Application(identifier: name)
    body(&application)
    try RegisteredSite.check(application)
    if let index { site.applications[index] = application } else { site.applications.append(application) }
  }

  /// Takes something away from an application, and the application itself if nothing is left of it.
  private mutating func reduce(_ name: String, _ body: (inout Application) -> Void) {
    guard let index = site.applications.firstIndex(where: { $0.identifier == name }) else { return }
    body(&site.applications[index])
    if site.applications[index] == Application(identifier: name) { site.applications.remove(at: index) }
  }

  private static func check(_ applications: [Application]) throws(RegionRefusal) {
    var names: Set<String> = []
    for application in applications {
      guard names.insert(application.identifier).inserted else {
        throw .duplicateApplication(application.identifier)
      }
      try check(application)
    }
  }

  private static func check(_ application: Application) throws(RegionRefusal) {
    let name = application.identifier
    guard !name.isEmpty else { throw .emptyApplication }
    var seen: Set<String> = []
    for region in application.regions + application.rotation.flatMap(\.allRegions) {
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
    let room = Application.room(limit: application.regionLimit, holding: application.regions.count)
    guard room >= 0 else {
      throw .regionLimitExceeded(
        limit: application.regions.count + room,
        application: name,
        identifier: application.regions[application.regions.count + room].identifier
      )
    }
  }
}

/// An edit of the site.
package enum SiteEdit: Sendable {
  /// Changes, all of them or none; with the declarations and registrations from which they follow, or nil where a program
  /// asks for them that registers nothing.
  case changes([RegionChange], sources: SiteSources? = nil)
  /// An edited site file.
  case file(Site)

  /// The changes that are known beforehand.
  package var changes: [RegionChange] {
    if case .changes(let changes, sources: _) = self { changes } else { [] }
  }

  /// Indicates whether the site may be another one afterwards.
  package var changesSite: Bool {
    if case .changes(let changes, sources: _) = self { changes.contains(where: \.changesSite) } else { true }
  }
}

/// The reason why a change of an application's regions is refused; nothing has changed then.
public enum RegionRefusal: Error, Hashable, Sendable {
  /// The application holds as many regions as it may.
  case regionLimitExceeded(limit: Int, application: String, identifier: String)
  /// A limit is asked for that is below the number of regions that the application holds.
  case regionLimitTooLow(limit: Int, application: String, held: Int)
  /// An application has no identifier.
  case emptyApplication
  /// A region has no identifier.
  case emptyIdentifier(application: String)
  /// Two regions of a declared set share an identifier, or a region and a node of the rotation do.
  case duplicateIdentifier(application: String, identifier: String)
  /// Two declared applications share an identifier.
  case duplicateApplication(String)
  /// The level to leave at is not below the level to enter at.
  case crossedLevels(application: String, identifier: String, enter: Double, exit: Double)
  /// The distance to leave at is not beyond the distance to enter at.
  case crossedDistances(application: String, identifier: String, enter: Meters, exit: Meters)
  /// The outline of a geofence encloses no area.
  case unusableGeofence(application: String, identifier: String, Geofence.Problem)
  /// The probability to leave at is not below the probability to enter at.
  case crossedProbabilities(application: String, identifier: String, enter: Double, exit: Double)
  /// The state of a region was asked for that the application does not have.
  case unknownRegion(application: String, identifier: String)
}

extension RegionRefusal: CustomStringConvertible {
  /// A description of what was refused, why, and what to do.
  public var description: String {
    switch self {
    case .regionLimitExceeded(let limit, let application, let identifier):
      "regionLimitExceeded: application \"\(application)\" may hold \(limit) regions and holds \(limit); region "
        + "\"\(identifier)\" was refused. Stop monitoring another one, use a wider constraint or a rotation, or "
        + "raise regionLimit."
    case .regionLimitTooLow(let limit, let application, let held):
      "application \"\(application)\" holds \(held) regions, more than the limit of \(limit) that is asked for; stop "
        + "monitoring some first"
    case .emptyApplication:
      "an application needs an identifier of at least one character"
    case .emptyIdentifier(let application):
      "a region of application \"\(application)\" has no identifier; give it one of at least one character"
    case .duplicateIdentifier(let application, let identifier):
      "application \"\(application)\" declares region \"\(identifier)\" twice; rename or remove one of them"
    case .duplicateApplication(let application):
      "application \"\(application)\" is declared twice; merge the two or rename one"
    case .crossedLevels(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit level (\(exit) dBm) must be below the "
        + "enter level (\(enter) dBm)"
    case .crossedDistances(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit distance (\(exit.value) m) must be beyond "
        + "the enter distance (\(enter.value) m)"
    case .unusableGeofence(let application, let identifier, let problem):
      "region \"\(identifier)\" of application \"\(application)\": \(problem)"
    case .crossedProbabilities(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit probability (\(exit)) must be below the "
        + "enter probability (\(enter))"
    case .unknownRegion(let application, let identifier):
      "application \"\(application)\" has no region \"\(identifier)\"; start monitoring it before asking for its state"
    }
  }
}
