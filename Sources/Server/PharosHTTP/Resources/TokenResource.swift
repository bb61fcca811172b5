import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSite

/// The tokens of clients.
struct TokenResource: Resource {
  let tokens: Tokens
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/tokens",
        Operation("listTokens", .access, "The tokens, without their secrets")
          .answering(.list("tokens", of: .token)),
        access: .operation
      ) { _ in
        .json { $0.objects("tokens", tokens.list().map { row($0) }, TokenRow.members) }
      },
      Route(
        .post,
        "/v1/tokens",
        Operation("createToken", .access, "Make a token; its secret is shown this once")
          .receiving(.tokenDocument)
          .answering(.made(.token))
          .failing(.conflict),
        access: .operation,
        handler: createToken
      ),
      Route(
        .delete,
        "/v1/tokens/{id}",
        Operation("deleteToken", .access, "Revoke a token")
          .with(.path("id", "The token."))
          .answering(.nothing()),
        access: .operation
      ) { request in
        let id = request.parameter("id")
        guard try tokens.revoke(id) else {
          throw Problem.notFound("There is no token \"\(id.shortened)\".")
        }
        return .noContent
      },
    ]
  }

  private func createToken(_ request: APIRequest) throws -> APIAnswer {
    let known = ["name", "role", "application", "gateway", "expiresAt"]
    let made = try BodyDocument.read(request.body, name: "token", known: known) { fields in
      let text = ValueForm<String>.text(length: 1...Tokens.maximumName)
      let time = ValueForm(expected: "a time as in RFC 3339: 2030-01-01T00:00:00Z") { Timestamp(text: $0) }
      let name = fields.required("name", text, expected: "what to call the token in lists")
      let role = TokenResource.role(fields, text)
      let expiresAt = fields.value("expiresAt", time)
      return name.map { (name: $0, role: role, expiresAt: expiresAt) }
    }
    let token = try tokens.create(
      name: made.name,
      role: made.role,
      at: clock(),
      expiresAt: made.expiresAt
    )
    return APIAnswer.json(TokenRow.members, of: row(token.token, secret: token.secret), status: .created)
      .unkept()
  }

  /// The role that a document states, by its word or by what it binds the token to.
  private static func role(_ fields: DocumentFields, _ text: ValueForm<String>) -> Token.Role {
    let form = ValueForm(expected: "an observer, as events name it") { ObserverID($0) }
    let application = fields.value("application", text)
    let gateway = fields.value("gateway", form)
    let stated = fields.value("role", .word(TokenRole.allCases))
    let role = stated ?? (fields.has("gateway") ? .gateway : .application)
    for (key, owner) in [("application", TokenRole.application), ("gateway", .gateway)]
    where fields.has(key) && role != owner {
      fields.mistake(
        key,
        "\(key) is given for a token of role \(role.rawValue)",
        expected: "no \(key), or another role"
      )
    }
    switch role {
    case .operator: return .operator
    case .gateway: return gateway.map(Token.Role.gateway) ?? .gateways
    case .application:
      if !fields.has("application") {
        fields.mistake(
          "application",
          "application is missing",
          expected: "an application, or \"role\": \"operator\" or \"gateway\""
        )
      }
      return application.map(Token.Role.application) ?? .operator
    }
  }

  private func row(_ token: Token, secret: String? = nil) -> TokenRow {
    TokenRow(token: token, now: clock(), lastUsed: tokens.lastUsed(token.id), secret: secret)
  }
}

/// A token in a listing, or one that was made.
private struct TokenRow {
  let token: Token
  let now: Timestamp
  let lastUsed: Timestamp?
  let secret: String?

  static let members: [DocumentField<TokenRow>] = [
    .always("id", .text) { $0.token.id },
    .always("name", .text) { $0.token.name },
    .always("role", .word(TokenRole.allCases)) { TokenRole($0.token.role) },
    .sometimes("application", .text) { $0.token.principal.application },
    .sometimes("gateway", .text, "The one observer that it may post adverts of.") {
      if case .gateway(let observer) = $0.token.role { "\(observer)" } else { nil }
    },
    .always("createdAt", .moment) { $0.token.createdAt },
    .sometimes("expiresAt", .moment) { $0.token.expiresAt },
    .always("expired", .flag) { $0.token.hasExpired(at: $0.now) },
    .sometimes("lastUsed", .moment) { $0.lastUsed },
    .sometimes("secret", .text, "Shown this once, when the token is made.") { $0.secret },
  ]
}

/// The tickets with which pages open live streams.
struct TicketResource: Resource {
  let tickets: Tickets
  let clock: @Sendable () -> Timestamp
  /// The steady time.
  let uptime: @Sendable () -> TimeSpan

  var routes: [Route] {
    [
      Route(
        .post,
        "/v1/tickets",
        Operation(
          "createTicket",
          .access,
          "Make a ticket for a live stream of a page",
          """
          `EventSource` sends no header: `GET /v1/events?ticket=…` opens one stream for the client that \
          asked for the ticket. A ticket is used once, within 30 s, and is revoked with its token. Up to 64 \
          of a client may wait to be used.
          """
        )
        .answering(.madeOnce(.ticket)),
        access: .anyToken
      ) { request in
        guard let secret = tickets.issue(to: request.principal, at: uptime()) else {
          throw Problem.tooManyRequests(
            "\(Tickets.maximumOfClient) tickets of this client wait to be used; each is valid for "
              + "\(Int(Tickets.lifetime.seconds)) s. Use them, or ask again later."
          )
        }
        let made = (secret: secret, expiresAt: clock() + Tickets.lifetime)
        return APIAnswer.json(TicketResource.made, of: made, status: .created)
          .unkept()
      }
    ]
  }
}

extension TicketResource {
  fileprivate static let made: [DocumentField<(secret: String, expiresAt: Timestamp)>] = [
    .always("ticket", .text, "`phk_` and 43 characters; shown this once.") { $0.secret },
    .always("expiresAt", .moment) { $0.expiresAt },
  ]
}

/// The authorisations of applications to locate subjects.
struct AuthorisationResource: Resource {
  let authorisations: Authorisations
  let owner: SiteOwner
  /// Publishes the event of a change, in its place among all inputs of the engine.
  let announce: @Sendable ([Event]) -> Void
  let clock: @Sendable () -> Timestamp

  var routes: [Route] {
    let path = "/v1/applications/{app}/authorisations"
    return [
      Route(
        .get,
        path,
        Operation("listAuthorisations", .access, "What an application may learn about whom")
          .with(.app)
          .answering(
            .object([
              .required("application", .text),
              .optional("purpose", .text),
              .required("authorisations", .list(.authorisation)),
            ])
          ),
        access: .application,
        conditional: true,
        handler: listAuthorisations
      ),
      Route(
        .put,
        path + "/{subject}",
        Operation(
          "putAuthorisation",
          .access,
          "Change what an application may learn about a subject, or mark a subject as a person"
        )
        .with(.app, .subject)
        .receiving(
          .closed([
            .optional("state", .authorisationState),
            .optional(
              "person",
              .flag,
              """
              Whether the subject is a person. Events about a person are published only if an application is \
              authorised for that person.
              """
            ),
          ]).holding(atLeast: 1)
        )
        .answering(.authorisation)
        .failing(.conflict),
        access: .operation,
        handler: putAuthorisation
      ),
    ]
  }

  private func listAuthorisations(_ request: APIRequest) throws -> APIAnswer {
    let application = try owner.registered(request.parameter("app"))
    let entries = authorisations.list(application: application.identifier)
    return .json { json in
      json.member("application", application.identifier)
      json.member("purpose", ifPresent: authorisations.purpose(of: application.identifier))
      let rows = entries.map { row($0.subject, $0.state, since: $0.since) }
      json.objects("authorisations", rows, AuthorisationRow.members)
    }
  }

  private func putAuthorisation(_ request: APIRequest) throws -> APIAnswer {
    let application = try owner.registered(request.parameter("app"))
    let subject = try request.subject()
    let states = AuthorisationState.allCases
    let form = ValueForm(expected: "one of \(states.map(\.name).joined(separator: ", "))") { text in
      states.first { $0.name == text }
    }
    let known = ["state", "person"]
    let (state, isPerson) = try BodyDocument.read(request.body, name: "authorisation", known: known) {
      let isPerson = $0.value("person", .flag)
      return ($0.has("person") ? $0.value("state", form) : $0.required("state", form), isPerson)
    }
    let event = try authorisations.set(
      state,
      isPerson: isPerson,
      application: application.identifier,
      subject: subject,
      by: request.principal,
      stream: owner.site.stream,
      at: clock()
    )
    if let event { announce([event]) }
    let now = authorisations.state(application: application.identifier, subject: subject)
    return .json(AuthorisationRow.members, of: row(subject, now), names: owner.names)
  }

  private func row(
    _ subject: SubjectID,
    _ state: AuthorisationState,
    since: Timestamp? = nil
  ) -> AuthorisationRow {
    let isPerson = authorisations.isPerson(subject)
    return AuthorisationRow(subject: subject, state: state, isPerson: isPerson, since: since)
  }
}

/// The authorisation of an application about a subject.
private struct AuthorisationRow {
  let subject: SubjectID
  let state: AuthorisationState
  let isPerson: Bool
  let since: Timestamp?

  static let members: [DocumentField<AuthorisationRow>] = [
    .subject { $0.subject },
    .always("state", .text(.authorisationState)) { $0.state.name },
    .always("person", .flag) { $0.isPerson },
    .sometimes("since", .moment) { $0.since },
  ]
}

/// The roles of a token as documents spell them.
private enum TokenRole: String, CaseIterable {
  case `operator`
  case application
  case gateway

  init(_ role: Token.Role) {
    self =
      switch role {
      case .operator: .operator
      case .application: .application
      case .gateway, .gateways: .gateway
      }
  }
}

extension Schema {
  static let token = Schema.object(TokenRow.members).named("Token")

  static let tokenDocument = Schema.closed([
    .required("name", .text(1...200)),
    .optional("role", .words(of: TokenRole.self)),
    .optional("application", .text(1...200)),
    .optional(
      "gateway",
      .text(1...64),
      "The observer that a gateway's token is for; without it, it may post what any gateway hears."
    ),
    .optional("expiresAt", .time),
  ]).described(
    "A token of the operator, by `role`, of an application, by `application`, or of a gateway, which may post adverts only."
  ).named(
    "TokenDocument"
  )

  static let ticket = Schema.object(TicketResource.made).named("Ticket")

  static let authorisation = Schema.object(AuthorisationRow.members).named("Authorisation")
}
