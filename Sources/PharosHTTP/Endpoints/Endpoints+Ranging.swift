import PharosReports
import PharosSite

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
