import PharosDashboard
import PharosReports

extension Endpoints {
  var pageRoutes: [Route] {
    [
      Route(.get, "/", access: .anyone, conditional: true) { _ in try Endpoints.asset("/") },
      Route(.get, "/assets/{file...}", access: .anyone, conditional: true) { request in
        try Endpoints.asset("/assets/\(request.parameter("file"))")
      },
      Route(.get, "/openapi.json", access: .anyone, conditional: true) { _ in
        .bytes(OpenAPI.document, type: "application/json")
      },
      Route(.get, "/healthz", access: .anyone) { _ in
        .json { json in
          json.openObject()
          json.member("status", "ok")
          json.closeObject()
        }
      },
      Route(.get, "/readyz", access: .anyone) { _ in await readiness() },
      Route(.get, "/metrics", access: .operation) { _ in
        .bytes(
          Array(await backend.metrics().utf8),
          type: "text/plain; version=0.0.4; charset=utf-8"
        )
      },
    ]
  }

  private static func asset(_ path: String) throws(Problem) -> APIAnswer {
    guard let asset = Dashboard.asset(path) else {
      throw .notFound("The dashboard has no file \(path.shortened).")
    }
    var answer = APIAnswer.bytes(asset.bytes, type: asset.contentType)
    for (name, value) in Dashboard.headers { answer.setHeader(name, value) }
    answer.setHeader("ETag", asset.entityTag)
    return answer
  }

  private func readiness() async -> APIAnswer {
    let readiness = await backend.readiness()
    return .json(status: readiness.isReady ? 200 : 503) { json in
      json.openObject()
      json.member("status", readiness.isReady ? "ready" : "notReady")
      json.openArray("checks")
      for check in readiness.checks {
        json.openObject()
        json.member("name", check.name)
        json.member("ok", check.problem == nil)
        json.member("problem", ifPresent: check.problem)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
  }
}
