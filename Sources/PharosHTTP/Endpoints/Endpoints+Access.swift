import HTTPTypes
import PharosDelivery
import PharosModel

extension Endpoints {
  var tokenRoutes: [Route] {
    [
      Route(.get, "/v1/tokens", access: .operation) { _ in
        .json { $0.objects("tokens", backend.tokens.list()) { write($1, to: &$0) } }
      },
      Route(.post, "/v1/tokens", access: .operation, body: .json, handler: createToken),
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
    let role: Token.Role =
      isOperator == true ? .operator : application.map(Token.Role.application) ?? .operator
    if isOperator == true, application != nil {
      fields.wrong(
        "application",
        "is given for an operator's token",
        expected: "no application, or another role"
      )
    } else if isOperator != true, application == nil {
      fields.wrong("application", "is missing", expected: "an application, or \"role\": \"operator\"")
    }
    try fields.finish()
    let made = try backend.tokens.create(
      name: name ?? "",
      role: role,
      at: backend.clock(),
      expiresAt: expiresAt
    )
    return APIAnswer.json(status: .created) { json in
      write(made.token, to: &json)
      json.member("secret", made.secret)
    }
    .unkept()
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

extension Endpoints {
  var authorisationRoutes: [Route] {
    let path = "/v1/applications/{app}/authorisations"
    return [
      Route(.get, path, access: .application, conditional: true, handler: listAuthorisations),
      Route(.put, path + "/{subject}", access: .operation, body: .json, handler: putAuthorisation),
    ]
  }

  private func listAuthorisations(_ request: APIRequest) throws -> APIAnswer {
    let application = try application(request)
    let entries = backend.authorisations.list(application: application.identifier)
    return .json { json in
      json.member("application", application.identifier)
      json.member("purpose", ifPresent: purpose(of: application))
      json.objects("authorisations", entries) { json, entry in
        write(entry.subject, entry.state, to: &json)
        json.member("since", entry.since.rfc3339)
      }
    }
  }

  private func putAuthorisation(_ request: APIRequest) throws -> APIAnswer {
    let application = try application(request)
    let subject = try subject(request)
    var fields = try BodyFields(request.body)
    let state = fields.choice("state", AuthorisationState.allCases.map { ($0.name, $0) })
    let isPerson = fields.bool("person")
    if isPerson == nil {
      let states = AuthorisationState.allCases.map(\.name).joined(separator: ", ")
      fields.require("state", expected: "one of \(states)")
    }
    try fields.finish()
    if let isPerson { try backend.authorisations.mark(subject, isPerson: isPerson) }
    if let state {
      let event = try backend.authorisations.set(
        state,
        application: application.identifier,
        subject: subject,
        by: request.principal,
        stream: backend.registrar.site.stream,
        at: backend.clock()
      )
      if let event { backend.commitPublisher.tell([event]) }
    }
    let now = backend.authorisations.state(application: application.identifier, subject: subject)
    return .json { write(subject, now, to: &$0) }
  }

  /// Returns the subject that a path names.
  ///
  /// - Throws: 404 if the text is none.
  private func subject(_ request: APIRequest) throws(Problem) -> SubjectID {
    let text = request.parameter("subject")
    guard let subject = SubjectID(text) else {
      throw .notFound("\"\(text.shortened)\" is neither an observer nor a beacon.")
    }
    return subject
  }

  /// Returns the purpose for which an application wants to know locations, as it has stated it.
  func purpose(of application: RegisteredApplication) -> String? {
    backend.authorisations.purpose(of: application.identifier)
  }

  private func write(_ subject: SubjectID, _ state: AuthorisationState, to json: inout JSONText) {
    json.member("subject", subject.description)
    json.member("subjectKind", subject.kindName)
    json.member("state", state.name)
    json.member("person", backend.authorisations.isPerson(subject))
  }
}

extension SubjectID {
  /// The kind of the subject, as events spell it.
  var kindName: String {
    switch self {
    case .none: "none"
    case .observer: "observer"
    case .beacon: "beacon"
    }
  }
}
