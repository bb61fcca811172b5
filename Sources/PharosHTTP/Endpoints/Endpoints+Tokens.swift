import PharosAccess
import PharosReports

extension Endpoints {
  var tokenRoutes: [Route] {
    [
      Route(.get, "/v1/tokens", access: .operation) { _ in
        .json { json in
          json.openObject()
          json.openArray("tokens")
          for token in backend.tokens.list() {
            json.openObject()
            write(token, to: &json)
            json.closeObject()
          }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.post, "/v1/tokens", access: .operation, body: .json) { request in
        try createToken(request)
      },
      Route(.delete, "/v1/tokens/{id}", access: .operation) { request in
        let id = request.parameter("id")
        guard try backend.tokens.revoke(id) else {
          throw Problem.notFound("There is no token \"\(id.shortened)\".")
        }
        return .noContent
      },
    ]
  }

  private func createToken(_ request: APIRequest) throws -> APIAnswer {
    var fields = try BodyFields(request.body)
    let name = fields.string("name", length: 1...Tokens.longestName)
    fields.require("name", expected: "what to call the token in lists")
    let application = fields.string("application", length: 1...Tokens.longestName)
    let isOperator = fields.choice("role", [("operator", true), ("application", false)])
    let expiry = fields.string("expiresAt")
    let expiresAt = expiry.flatMap { Timestamp(text: $0) }
    if expiry != nil, expiresAt == nil {
      fields.wrong("expiresAt", "is no time", expected: "RFC 3339, as 2030-01-01T00:00:00Z")
    }
    let role: Token.Role
    switch (isOperator, application) {
    case (true?, nil): role = .operator
    case (true?, _?):
      role = .operator
      fields.wrong(
        "application",
        "is given for an operator's token",
        expected: "no application, or another role"
      )
    case (_, let application?): role = .application(application)
    case (_, nil):
      role = .operator
      fields.wrong(
        "application",
        "is missing",
        expected: "an application, or \"role\": \"operator\""
      )
    }
    try fields.finish()
    let made = try backend.tokens.create(
      name: name ?? "",
      role: role,
      at: backend.clock(),
      expiresAt: expiresAt
    )
    var answer = APIAnswer.json(status: 201) { json in
      json.openObject()
      write(made.token, to: &json)
      json.member("secret", made.secret)
      json.closeObject()
    }
    // The only time that the secret is shown: nothing on the way may keep it.
    answer.setHeader("Cache-Control", "no-store")
    return answer
  }

  private func write(_ token: Token, to json: inout JSONText) {
    json.member("id", token.id)
    json.member("name", token.name)
    switch token.role {
    case .operator: json.member("role", "operator")
    case .application(let application):
      json.member("role", "application")
      json.member("application", application)
    }
    json.member("createdAt", token.createdAt.rfc3339)
    json.member("expiresAt", ifPresent: token.expiresAt?.rfc3339)
    json.member("expired", token.hasExpired(at: backend.clock()))
    json.member("lastUsed", ifPresent: backend.tokens.lastUsed(token.id)?.rfc3339)
  }
}
