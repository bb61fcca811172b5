package import PharosReports
package import PharosSite

extension Registrar {
  /// The most applications that may be made over HTTP.
  ///
  /// A thousand, each of which may hold a thousand regions: far beyond any site that was heard of, and still bounded.
  static let mostApplications = 1_000
  /// The most ranging requests that an application may make over HTTP; Core Location has no limit, memory does.
  static let mostRanging = 1_000

  /// Makes an application, or changes what it says of itself.
  ///
  /// - Parameters:
  ///   - name: its identifier.
  ///   - document: what it says of itself.
  /// - Returns: whether it is new.
  /// - Throws: why not; nothing has changed then.
  package func put(application name: String, _ document: ApplicationDocument) async throws -> Bool {
    try await edit { register in
      try Registrar.refuseDeclared(register, name)
      let isNew = register.made[name] == nil
      try Registrar.makeRoom(in: register, for: name)
      let held = register.made[name]?.regions.count ?? 0
      guard held <= document.regionLimit else {
        throw Problem.conflict(
          Problem.regionLimitExceeded,
          "Application \"\(name)\" holds \(held) regions, more than the limit of \(document.regionLimit) that is asked "
            + "for. Remove regions first."
        )
      }
      register.made[name, default: MadeApplication()].document = document
      return isNew
    }
  }

  /// Removes an application that was made over HTTP, with its regions and what it ranges.
  ///
  /// - Parameter name: its identifier.
  /// - Throws: why not; nothing has changed then.
  package func delete(application name: String) async throws {
    try await edit { register in
      try Registrar.refuseDeclared(register, name)
      guard register.made[name] != nil else {
        throw Problem.notFound("There is no application \"\(name)\".")
      }
      register.made[name] = nil
    }
  }

  /// Monitors a region, in place of one with the same identifier.
  ///
  /// - Parameters:
  ///   - region: the region.
  ///   - name: the application, which is made if it is not there.
  /// - Returns: whether it is new.
  /// - Throws: why not, as for the 21st region of an application; nothing has changed then.
  package func put(region: Region, application name: String) async throws -> Bool {
    do {
      return try await keep(region, application: name)
    } catch let problem as Problem where problem.name == Problem.regionLimitExceeded {
      try await refuse(region, application: name)
      throw problem
    }
  }

  private func keep(_ region: Region, application name: String) async throws -> Bool {
    try await edit { register in
      let declared = register.declared.applications.first { $0.identifier == name }
      if let declared, Register.declares(declared, region: region.identifier) {
        throw Problem.conflict(
          "declaredBySite",
          "Region \"\(region.identifier)\" of application \"\(name)\" is declared by the site file; change it there."
        )
      }
      if declared == nil { try Registrar.makeRoom(in: register, for: name) }
      let isNew = register.made[name]?.regions[region.identifier] == nil
      let limit = register.application(name)?.regionLimit ?? Application.defaultRegionLimit
      let held = (declared?.regions.count ?? 0) + (register.made[name]?.regions.count ?? 0)
      guard !isNew || held < limit else {
        throw Problem.regionLimit(limit, application: name, region: region.identifier)
      }
      if declared == nil, register.made[name]?.document == nil {
        register.made[name, default: MadeApplication()].document = ApplicationDocument()
      }
      register.made[name, default: MadeApplication()].regions[region.identifier] = region
      return isNew
    }
  }

  /// Stops monitoring a region that was registered over HTTP.
  ///
  /// - Parameters:
  ///   - identifier: the region's identifier.
  ///   - name: the application.
  /// - Throws: why not; nothing has changed then.
  package func delete(region identifier: String, application name: String) async throws {
    try await edit { register in
      let declared = register.declared.applications.first { $0.identifier == name }
      if let declared, Register.declares(declared, region: identifier) {
        throw Problem.conflict(
          "declaredBySite",
          "Region \"\(identifier)\" of application \"\(name)\" is declared by the site file; remove it there."
        )
      }
      guard register.made[name]?.regions.removeValue(forKey: identifier) != nil else {
        throw Problem.notFound("Application \"\(name)\" has no region \"\(identifier)\".")
      }
      if register.made[name]?.isEmpty == true { register.made[name] = nil }
    }
  }

  /// Accepts an observer that is in quarantine, now and after every restart; also while there is no server.
  ///
  /// - Parameter observer: the observer.
  /// - Throws: why not; nothing has changed then.
  package func accept(_ observer: ObserverID) async throws {
    try await edit(whileStopped: true) { register in _ = register.accepted.insert(observer) }
  }

  /// Forgets that an observer was let in.
  ///
  /// - Parameter observer: the observer.
  /// - Returns: whether it was.
  /// - Throws: why not; nothing has changed then.
  package func forget(_ observer: ObserverID) async throws -> Bool {
    try await edit(whileStopped: true) { register in register.accepted.remove(observer) != nil }
  }

  static func refuseDeclared(_ register: Register, _ name: String) throws {
    guard register.declared.applications.contains(where: { $0.identifier == name }) else { return }
    throw Problem.conflict(
      "declaredBySite",
      "Application \"\(name)\" is declared by the site file; change or remove it there."
    )
  }

  static func makeRoom(in register: Register, for name: String) throws {
    guard register.made[name] == nil, register.made.count >= mostApplications else { return }
    throw Problem.conflict(
      "tooManyApplications",
      "\(mostApplications) applications were made over HTTP, as many as may be. Remove one first."
    )
  }
}

extension Problem {
  /// The name of the problem that the limit of regions is.
  static let regionLimitExceeded = "regionLimitExceeded"

  /// The application holds as many regions as it may.
  static func regionLimit(_ limit: Int, application: String, region: String) -> Problem {
    .conflict(
      regionLimitExceeded,
      "Application \"\(application)\" may hold \(limit) regions and holds \(limit); region \"\(region)\" was refused. "
        + "Remove another one, use a wider constraint, or raise regionLimit."
    )
  }
}
