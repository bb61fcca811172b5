import HTTPTypes
package import PharosDelivery
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
        let token = backend.tokens.list().first { $0.id == id }
        guard let token, try backend.tokens.revoke(id) else {
          throw Problem.notFound("There is no token \"\(id.shortened)\".")
        }
        backend.endStreams(of: [token])
        return .noContent
      },
    ]
  }

  private func createToken(_ request: APIRequest) throws -> APIAnswer {
    let known = ["name", "role", "application", "expiresAt"]
    let made = try BodyDocument.read(request.body, name: "token", known: known) { fields in
      let text = ValueForm<String>.text(length: 1...Tokens.longestName)
      let time = ValueForm(expected: "a time as in RFC 3339: 2030-01-01T00:00:00Z") { Timestamp(text: $0) }
      let name = fields.required("name", text, expected: "what to call the token in lists")
      let application = fields.value("application", text)
      let isOperator = fields.value("role", .word(TokenRole.allCases)) == .operator
      let expiresAt = fields.value("expiresAt", time)
      if isOperator, application != nil {
        fields.mistake(
          "application",
          "application is given for an operator's token",
          expected: "no application, or another role"
        )
      } else if !isOperator, !fields.has("application") {
        fields.mistake(
          "application",
          "application is missing",
          expected: "an application, or \"role\": \"operator\""
        )
      }
      let role = application.map(Token.Role.application) ?? .operator
      return name.map { (name: $0, role: role, expiresAt: expiresAt) }
    }
    let token = try backend.tokens.create(
      name: made.name,
      role: made.role,
      at: backend.clock(),
      expiresAt: made.expiresAt
    )
    return APIAnswer.json(status: .created) { json in
      write(token.token, to: &json)
      json.member("secret", token.secret)
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
    let states = AuthorisationState.allCases
    let form = ValueForm(expected: "one of \(states.map(\.name).joined(separator: ", "))") { text in
      states.first { $0.name == text }
    }
    let known = ["state", "person"]
    let (state, isPerson) = try BodyDocument.read(request.body, name: "authorisation", known: known) {
      let isPerson = $0.value("person", .flag)
      return ($0.has("person") ? $0.value("state", form) : $0.required("state", form), isPerson)
    }
    let event = try backend.authorisations.set(
      state,
      isPerson: isPerson,
      application: application.identifier,
      subject: subject,
      by: request.principal,
      stream: backend.registrar.site.stream,
      at: backend.clock()
    )
    if let event { backend.commitPublisher.tell([event]) }
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

extension HTTPBackend {
  /// Returns the change that ends what was given to an application that no longer exists, so that a later one of its name
  /// does not inherit it: tokens with their streams, webhooks, rules and authorisations.
  package func endingAccess(of application: String) -> PendingChange {
    let (revoked, change) = tokens.revokingAll(of: application)
    return change.and(PendingChange { [self] in endStreams(of: revoked) })
      .and(webhooks.deletingAll(of: application))
      .and(notifications.deletingAll(of: application))
      .and(authorisations.forgetting(application: application))
  }

  /// Ends the streams that were opened with tokens that are no longer valid.
  fileprivate func endStreams(of tokens: [Token]) {
    feeds.revoke(clients: Set(tokens.map(\.principal.client)))
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

/// The roles of a token as documents spell them.
private enum TokenRole: String, CaseIterable {
  case `operator`
  case application
}
