extension Site {
  /// The changes of regions and ranging that lead from what this site declares to what another one does.
  ///
  /// What both declare alike is left alone, and so is what applications have added at run time, of which neither site
  /// knows. First goes what is no longer declared, so that the limit of an application is not exceeded on the way.
  ///
  /// - Parameter next: the site that takes this one's place.
  /// - Returns: the changes, in the order in which they are to be carried out; none if both declare the same.
  public func regionChanges(to next: Site) -> [RegionChange] {
    var changes: [RegionChange] = []
    for old in applications {
      let new = next.application(old.identifier) ?? Application(identifier: old.identifier)
      if new != old { changes += old.changes(to: new) }
    }
    for new in next.applications where application(new.identifier) == nil {
      changes += Application(identifier: new.identifier).changes(to: new)
    }
    return changes
  }

  /// The application with an identifier.
  private func application(_ identifier: String) -> Application? {
    applications.first { $0.identifier == identifier }
  }
}

extension Application {
  /// The changes that lead from what is declared here to what another application of the same name declares.
  fileprivate func changes(to next: Application) -> [RegionChange] {
    var changes: [RegionChange] = []
    for region in regions where !next.regions.contains(where: { $0.identifier == region.identifier }) {
      changes.append(.stopMonitoring(application: identifier, identifier: region.identifier))
    }
    for request in ranging where !next.ranging.contains(where: { $0.constraint == request.constraint }) {
      changes.append(.stopRanging(application: identifier, request.constraint))
    }
    if next.rotation != rotation {
      changes.append(.setRotation(application: identifier, next.rotation))
    }
    for region in next.regions where !regions.contains(region) {
      changes.append(.startMonitoring(application: identifier, region))
    }
    for request in next.ranging where !ranging.contains(request) {
      changes.append(.startRanging(application: identifier, request))
    }
    return changes
  }
}
