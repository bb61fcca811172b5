public import PharosModel

/// Every application's set of regions: accepts or refuses a change before any engine sees it.
///
/// One registry stands before all shards, so that the limit holds once and every engine can trust what it is given. A
/// refused change leaves it as it was.
package struct RegionRegistry: Sendable {
  /// The applications in the order in which they came.
  package private(set) var applications: [Application]
  private let regionLimit: Int

  /// Takes what a site declares; applications that come later hold as many regions as Core Location allows.
  ///
  /// - Throws: the first refusal that a declared application meets.
  package init(site: Site) throws(RegionRefusal) {
    applications = []
    regionLimit = Application.defaultRegionLimit
    for declared in site.applications {
      guard position(of: declared.identifier) == nil else {
        throw .duplicateApplication(declared.identifier)
      }
      try RegionRegistry.check(declared)
      applications.append(declared)
    }
  }

  /// Accepts a change, or says why not.
  ///
  /// An application that is not known yet is made with the default limit. Replacing a region by its identifier is
  /// accepted at the limit. To stop what is not monitored changes nothing and is no error, as in Core Location.
  ///
  /// - Throws: the refusal; the registry is unchanged then.
  package mutating func accept(_ change: RegionChange) throws(RegionRefusal) {
    switch change {
    case .startMonitoring(let name, let region, assuming: _):
      try edit(name) { (application) throws(RegionRefusal) in
        if let index = application.regions.firstIndex(where: { $0.identifier == region.identifier }) {
          application.regions[index] = region
        } else {
          application.regions.append(region)
        }
      }
    case .stopMonitoring(let name, let identifier):
      guard let index = position(of: name) else { return }
      applications[index].regions.removeAll { $0.identifier == identifier }
    case .setRotation(let name, let nodes):
      try edit(name) { (application) throws(RegionRefusal) in application.rotation = nodes }
    case .startRanging(let name, let request):
      try edit(name) { (application) throws(RegionRefusal) in
        application.ranging.removeAll { $0.constraint == request.constraint }
        application.ranging.append(request)
      }
    case .stopRanging(let name, let constraint):
      guard let index = position(of: name) else { return }
      applications[index].ranging.removeAll { $0.constraint == constraint }
    case .requestState(let name, let identifier, subject: _):
      guard let index = position(of: name), applications[index].hasRegion(identifier) else {
        throw .unknownRegion(application: name, identifier: identifier)
      }
    case .acceptObserver, .forget: break
    }
  }

  /// Takes the changes that lead from one declared site to another, all of them or none.
  ///
  /// Regions and requests that applications have added at run time stay, and count towards their limits.
  ///
  /// - Throws: the first refusal that one of them meets; the registry is unchanged then.
  package mutating func adopt(_ site: Site, from old: Site) throws(RegionRefusal) {
    // Report mistakes in the site itself before conflicts with changes that applications made at run time.
    _ = try RegionRegistry(site: site)
    var trial = self
    for declared in site.applications {
      if let index = trial.position(of: declared.identifier) {
        trial.applications[index].regionLimit = declared.regionLimit
      } else {
        trial.applications.append(
          Application(identifier: declared.identifier, regionLimit: declared.regionLimit)
        )
      }
    }
    for change in old.regionChanges(to: site) { try trial.accept(change) }
    self = trial
  }

  private func position(of name: String) -> Int? { applications.firstIndex { $0.identifier == name } }

  private mutating func edit(
    _ name: String,
    _ body: (inout Application) throws(RegionRefusal) -> Void
  ) throws(RegionRefusal) {
    let index = position(of: name)
    var application =
      index.map { applications[$0] } ?? Application(identifier: name, regionLimit: regionLimit)
    try body(&application)
    try RegionRegistry.check(application)
    if let index { applications[index] = application } else { applications.append(application) }
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
    }
    // A recording may hold any number; less than none is none.
    let limit = max(0, application.regionLimit)
    guard application.regions.count <= limit else {
      throw .regionLimitExceeded(
        limit: limit,
        application: name,
        identifier: application.regions[limit].identifier
      )
    }
  }
}

extension Application {
  fileprivate func hasRegion(_ identifier: String) -> Bool {
    regions.contains { $0.identifier == identifier }
      || rotation.contains { $0.allRegions.contains { $0.identifier == identifier } }
  }
}

extension RegionNode {
  /// The regions of the node and of all below it, parents before children.
  var allRegions: [Region] { [region] + children.flatMap(\.allRegions) }
}

/// The reason why a change of an application's regions is refused; nothing has changed then.
public enum RegionRefusal: Error, Hashable, Sendable {
  /// The application holds as many regions as it may.
  case regionLimitExceeded(limit: Int, application: String, identifier: String)
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
    case .unknownRegion(let application, let identifier):
      "application \"\(application)\" has no region \"\(identifier)\"; start monitoring it before asking for its state"
    }
  }
}
