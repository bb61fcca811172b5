package import PharosReports

extension Registrar {
  /// Ranges beacons, in place of what went by the same name.
  ///
  /// - Parameters:
  ///   - request: what is ranged.
  ///   - name: the request's name.
  ///   - application: the application, which is made if it is not there.
  /// - Returns: whether it is new.
  /// - Throws: why not; nothing has changed then.
  package func put(
    ranging request: RangingRequest,
    name: String,
    application: String
  ) async throws -> Bool {
    try await edit { register in
      let shown = register.application(application)
      if let other = shown?.ranging.first(where: { $0.name == name && $0.source == .site }) {
        throw Registrar.declared(other.name, application)
      }
      if let other = shown?.ranging.first(where: {
        $0.request.constraint == request.constraint && $0.name != name
      }) {
        throw Problem.conflict(
          "alreadyRanged",
          "Application \"\(application)\" ranges \(request.constraint) already, as \"\(other.name)\"."
        )
      }
      if shown == nil { try Registrar.makeRoom(in: register, for: application) }
      let isNew = register.made[application]?.ranging[name] == nil
      guard !isNew || (register.made[application]?.ranging.count ?? 0) < Registrar.mostRanging
      else {
        throw Problem.conflict(
          "tooManyRangingRequests",
          "Application \"\(application)\" ranges \(Registrar.mostRanging) constraints, as many as it may over HTTP."
        )
      }
      register.made[application, default: MadeApplication()].ranging[name] = request
      return isNew
    }
  }

  /// Stops ranging what was asked for over HTTP.
  ///
  /// - Parameters:
  ///   - name: the request's name.
  ///   - application: the application.
  /// - Throws: why not; nothing has changed then.
  package func delete(ranging name: String, application: String) async throws {
    try await edit { register in
      let shown = register.application(application)?.ranging.first { $0.name == name }
      if let shown, shown.source == .site { throw Registrar.declared(name, application) }
      guard register.made[application]?.ranging.removeValue(forKey: name) != nil else {
        throw Problem.notFound(
          "Application \"\(application)\" ranges nothing by the name \"\(name)\"."
        )
      }
      if register.made[application]?.isEmpty == true { register.made[application] = nil }
    }
  }

  private static func declared(_ name: String, _ application: String) -> Problem {
    .conflict(
      "declaredBySite",
      "What application \"\(application)\" ranges as \"\(name)\" is declared by the site file; change it there."
    )
  }
}
