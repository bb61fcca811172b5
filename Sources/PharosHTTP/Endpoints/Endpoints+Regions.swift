import PharosReports
import PharosSite

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
