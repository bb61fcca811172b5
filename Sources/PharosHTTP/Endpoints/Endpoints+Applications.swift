import PharosAccess
import PharosReports
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
