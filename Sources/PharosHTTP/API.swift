package import Logging
import PharosDelivery
import PharosJournal

/// The interface without the server around it: a request in, an answer out.
package struct API: Sendable {
  /// All routes.
  let table: RouteTable
  private let gate: RequestGuard
  private let logger: Logger

  /// Puts the routes behind a guard.
  init(routes: [Route], gate: RequestGuard, logger: Logger) {
    table = RouteTable(routes: routes)
    self.gate = gate
    self.logger = logger
  }

  /// Makes the interface of a server.
  package init(backend: HTTPBackend, configuration: HTTPConfiguration, logger: Logger) {
    let board = LiveStateCache(
      told: backend.commitPublisher.told,
      rows: { [journal = backend.journal] () throws(JournalError) in try journal.publishedState() },
      authorisations: { [authorisations = backend.authorisations] in authorisations.view },
      inUse: { [live = backend.commitPublisher.live] in live.names }
    )
    let gate = RequestGuard(configuration: configuration) {
      [tokens = backend.tokens, clock = backend.clock] in
      tokens.verify($0, at: clock())
    }
    self.init(routes: Endpoints(backend: backend, board: board).routes, gate: gate, logger: logger)
  }

  /// Answers a request; never throws, since every failure is an answer.
  ///
  /// - Parameters:
  ///   - request: the request without its body.
  ///   - method: the method as it was sent, which may be one that Pharos does not know.
  ///   - body: reads the body; called only for a route that has one and a client that may use it.
  /// - Returns: the answer.
  package func answer(
    _ request: APIRequest,
    method: String,
    body: () async throws -> [UInt8]
  ) async -> APIAnswer {
    var answer: APIAnswer
    do {
      answer = try await perform(request, method: method, body: body)
    } catch {
      answer = problem(error, request).answer
    }
    for (name, value) in gate.crossOriginFields(request) { answer.setHeader(name, value) }
    for (name, value) in API.securityFields where answer.header(name) == nil {
      answer.setHeader(name, value)
    }
    return answer
  }

  private func perform(
    _ request: APIRequest,
    method: String,
    body: () async throws -> [UInt8]
  ) async throws -> APIAnswer {
    try gate.checkOrigin(request)
    guard APIRequest.Method(rawValue: method) != nil else {
      throw Problem.methodNotAllowed(
        method.shortened,
        allowed: try table.methods(path: request.path)
      )
    }
    guard request.method != .options else { return try options(request) }
    let (route, parameters) = try table.route(request.method, path: request.path)
    var request = request
    request.parameters = parameters
    if route.access != .anyone {
      request.principal = try gate.principal(of: request)
      try API.check(request.principal, may: route, parameters)
    }
    request.query = try QueryItems(target: request.target, known: route.query)
    if route.body != .none {
      try API.checkType(request, route.body)
      request.body = try await body()
    }
    let answer = try await route.handler(request)
    return route.isConditional ? answer.conditional(for: request) : answer
  }

  private func options(_ request: APIRequest) throws(Problem) -> APIAnswer {
    let methods = try table.methods(path: request.path)
    var answer = APIAnswer.noContent
    answer.setHeader("Allow", methods.joined(separator: ", "))
    for (name, value) in gate.preflightFields(request, methods: methods) {
      answer.setHeader(name, value)
    }
    return answer
  }

  /// Throws unless a principal may use a route with this path.
  private static func check(
    _ principal: Principal,
    may route: Route,
    _ parameters: [String: String]
  ) throws(Problem) {
    guard let own = principal.application else { return }
    switch route.access {
    case .anyone, .anyToken: return
    case .application:
      guard !principal.mayUse(application: parameters["app"] ?? "") else { return }
      throw .forbidden("This token is bound to application \"\(own)\" and sees no other.")
    case .operation:
      throw .forbidden(
        "Only the operator may do this; this token is bound to application \"\(own)\"."
      )
    }
  }

  private static func checkType(_ request: APIRequest, _ body: Route.Body) throws(Problem) {
    guard body == .json, let field = request[header: "content-type"] else { return }
    let type = field.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    guard type != "application/json", !type.hasSuffix("+json") else { return }
    throw Problem(
      "unsupportedType",
      "The body is of a type that is not understood",
      status: 415,
      detail:
        "The request has Content-Type \(type.shortened); send JSON with Content-Type: application/json."
    )
  }

  private func problem(_ error: any Error, _ request: APIRequest) -> Problem {
    if let problem = Problem(error) { return problem }
    logger.error(
      "a request failed with an unexpected error",
      metadata: [
        LogKey.method: "\(request.method.rawValue)",
        LogKey.path: "\(API.place(request.path))",
        LogKey.reason: "\(error)",
      ]
    )
    return .unexpected
  }

  /// The part of a path that names no subject: its first two words.
  static func place(_ path: some StringProtocol) -> String {
    let words = path.split(separator: "/")
    let place = words.prefix(2).map { "/" + String($0).shortened }.joined()
    return words.count > 2 ? place + "/…" : place
  }

  /// The header fields that tell browsers to trust the declared type, and to neither frame nor run any answer.
  ///
  /// The dashboard's files come with a policy of their own, which lets them use each other.
  private static let securityFields: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-cache"),
  ]
}

/// The keys of what the module logs.
enum LogKey {
  /// A request's method.
  static let method = "http.method"
  /// A request's path.
  static let path = "http.path"
  /// A limit's name.
  static let limit = "limit"
  /// The value of a limit.
  static let value = "value"
  /// The reason for a failure.
  static let reason = "reason"
  /// The address on which the service listens.
  static let address = "http.address"
  /// The application that a message is about.
  static let application = "application"
}
