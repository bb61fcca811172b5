import PharosDelivery
import PharosModel
import PharosSite

extension Endpoints {
  var applicationRoutes: [Route] {
    [
      Route(.get, "/v1/applications", access: .anyToken, conditional: true) { request in
        listApplications(request)
      },
      Route(.get, "/v1/applications/{app}", access: .application, conditional: true) { request in
        let application = try application(request)
        return .json { json in write(application, to: &json) }
      },
      Route(.put, "/v1/applications/{app}", access: .operation, body: .json) { request in
        try await putApplication(request)
      },
      Route(.delete, "/v1/applications/{app}", access: .operation) { request in
        let name = request.parameter("app")
        try await backend.registrar.delete(application: name)
        try backend.authorisations.forget(application: name)
        try backend.notifications.deleteAll(of: name)
        return .noContent
      },
    ]
  }

  private func listApplications(_ request: APIRequest) -> APIAnswer {
    .json { json in
      json.openObject()
      json.openArray("applications")
      for application in backend.registrar.applications
      where request.principal.mayUse(application: application.identifier) {
        write(application, to: &json)
      }
      json.closeArray()
      json.closeObject()
    }
  }

  private func putApplication(_ request: APIRequest) async throws -> APIAnswer {
    let name = request.parameter("app")
    // A body is optional: an application without a purpose and with the usual limit needs no words.
    let document = try ApplicationDocument(
      json: request.body.isEmpty ? Array("{}".utf8) : request.body,
      identifier: name
    )
    let isNew = try await backend.registrar.put(application: name, document)
    if let purpose = document.purpose {
      try backend.authorisations.setPurpose(purpose, application: name)
    }
    let application = try application(request)
    var answer = APIAnswer.json(status: isNew ? 201 : 200) { json in write(application, to: &json) }
    if isNew {
      answer.setHeader("Location", "/v1/applications/\(PercentCoding.encode(segment: name))")
    }
    return answer
  }

  private func write(_ application: RegisteredApplication, to json: inout JSONText) {
    json.openObject()
    json.member("id", application.identifier)
    json.member("source", application.source.rawValue)
    json.member("regions", application.regions.count)
    if application.rotated > 0 { json.member("rotated", application.rotated) }
    json.member("ranging", application.ranging.count)
    json.member("regionLimit", application.regionLimit)
    json.member("purpose", ifPresent: purpose(of: application))
    json.closeObject()
  }
}

extension Endpoints {
  var regionRoutes: [Route] {
    [
      Route(.get, "/v1/applications/{app}/regions", access: .application, conditional: true) {
        request in
        let application = try application(request)
        let counts = try await board.counts(of: application.identifier, for: request.principal)
        return .json { json in
          json.openObject()
          json.openArray("regions")
          for region in application.regions {
            write(region, counts[region.region.identifier], to: &json)
          }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, "/v1/applications/{app}/regions/{id}", access: .application, conditional: true) {
        request in
        let region = try region(request)
        let counts = try await board.counts(of: request.parameter("app"), for: request.principal)
        return .json { json in write(region, counts[region.region.identifier], to: &json) }
      },
      Route(.put, "/v1/applications/{app}/regions/{id}", access: .application, body: .json) {
        request in
        try await putRegion(request)
      },
      Route(.delete, "/v1/applications/{app}/regions/{id}", access: .application) { request in
        let name = request.parameter("app")
        try await backend.registrar.delete(region: request.parameter("id"), application: name)
        return .noContent
      },
    ]
  }

  /// The region that a path names.
  ///
  /// - Throws: 404 where the application or the region is not there.
  func region(_ request: APIRequest) throws(Problem) -> RegisteredApplication.RegisteredRegion {
    let application = try application(request)
    let identifier = request.parameter("id")
    guard let region = application.regions.first(where: { $0.region.identifier == identifier })
    else {
      throw .notFound(
        "Application \"\(application.identifier)\" has no region \"\(identifier.shortened)\"."
      )
    }
    return region
  }

  private func putRegion(_ request: APIRequest) async throws -> APIAnswer {
    let (name, identifier) = (request.parameter("app"), request.parameter("id"))
    try Endpoints.check(application: name)
    let region = try RegionDocument.region(json: request.body, identifier: identifier)
    let isNew = try await backend.registrar.put(region: region, application: name)
    let counts = try await board.counts(of: name, for: request.principal)
    var answer = APIAnswer.json(status: isNew ? 201 : 200) { json in
      let registered = RegisteredApplication.RegisteredRegion(region: region, source: .http)
      write(registered, counts[identifier], to: &json)
    }
    if isNew {
      let path = [name, "regions", identifier].map(PercentCoding.encode).joined(separator: "/")
      answer.setHeader("Location", "/v1/applications/\(path)")
    }
    return answer
  }

  /// Refuses names that no application may have, before one is made by registering something for it.
  static func check(application name: String) throws {
    _ = try ApplicationDocument(json: Array("{}".utf8), identifier: name)
  }

  private func write(
    _ registered: RegisteredApplication.RegisteredRegion,
    _ counts: StateCounts?,
    to json: inout JSONText
  ) {
    let counts = counts ?? StateCounts()
    json.openObject()
    RegionDocument.write(registered.region, to: &json)
    json.member("source", registered.source.rawValue)
    json.openObject("states")
    json.member("inside", counts.inside)
    json.member("outside", counts.outside)
    json.member("unmonitored", counts.unmonitored)
    json.closeObject()
    json.closeObject()
  }
}

extension Endpoints {
  var rangingRoutes: [Route] {
    [
      Route(.get, "/v1/applications/{app}/ranging", access: .application, conditional: true) {
        request in
        let application = try application(request)
        return .json { json in
          json.openObject()
          json.openArray("ranging")
          for ranging in application.ranging { Endpoints.write(ranging, to: &json) }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, "/v1/applications/{app}/ranging/{name}", access: .application, conditional: true) {
        request in
        let application = try application(request)
        let name = request.parameter("name")
        guard let ranging = application.ranging.first(where: { $0.name == name }) else {
          throw Problem.notFound(
            "Application \"\(application.identifier)\" ranges nothing as \"\(name.shortened)\"."
          )
        }
        return .json { json in Endpoints.write(ranging, to: &json) }
      },
      Route(.put, "/v1/applications/{app}/ranging/{name}", access: .application, body: .json) {
        request in
        try await putRanging(request)
      },
      Route(.delete, "/v1/applications/{app}/ranging/{name}", access: .application) { request in
        let application = request.parameter("app")
        try await backend.registrar.delete(
          ranging: request.parameter("name"),
          application: application
        )
        return .noContent
      },
    ]
  }

  private func putRanging(_ request: APIRequest) async throws -> APIAnswer {
    let (application, name) = (request.parameter("app"), request.parameter("name"))
    try Endpoints.check(application: application)
    guard name.utf8.count <= 128 else {
      throw Problem.invalidBody([
        Problem.Field("name", "has \(name.utf8.count) bytes", expected: "at most 128")
      ])
    }
    let ranging = try RangingDocument.request(json: request.body)
    let isNew = try await backend.registrar.put(
      ranging: ranging,
      name: name,
      application: application
    )
    var answer = APIAnswer.json(status: isNew ? 201 : 200) { json in
      let registered = RegisteredApplication.RegisteredRanging(
        name: name,
        request: ranging,
        source: .http
      )
      Endpoints.write(registered, to: &json)
    }
    if isNew {
      let path = [application, "ranging", name].map(PercentCoding.encode).joined(separator: "/")
      answer.setHeader("Location", "/v1/applications/\(path)")
    }
    return answer
  }

  private static func write(
    _ ranging: RegisteredApplication.RegisteredRanging,
    to json: inout JSONText
  ) {
    json.openObject()
    json.member("name", ranging.name)
    json.member("source", ranging.source.rawValue)
    RangingDocument.write(ranging.request, to: &json)
    json.closeObject()
  }
}
