import Foundation
import HTTPTypes
import Hummingbird
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosSecurity

/// A guard that authenticates requests, and refuses those that a web page elsewhere makes a local browser send.
///
/// While no token is required, every client that can open a connection is the operator. Any page can make a browser on
/// this machine open one: by a form or a script of the page (cross-site request forgery), or by a host name that first
/// resolves to the page's server and then to this one (DNS rebinding). The guard detects the first by `Origin` and
/// `Sec-Fetch-Site`, the second by `Host`. Where tokens are required neither attack works, since a browser does not add
/// a token on its own.
///
/// - Source: Fetch Metadata (W3C), 2.4; RFC 6454, 7.
struct RequestGuard: RouterMiddleware {
  private let configuration: HTTPConfiguration
  private let verify: @Sendable (String) -> Principal?
  private let redeem: @Sendable (String) -> Principal?

  /// The parameter of a query that holds a ticket.
  static let ticketParameter = "ticket"
  /// The parameter of a query, and the part of a path, that hold a gateway's token.
  static let tokenParameter = "token"

  /// Makes a guard that asks `verify` whom a token belongs to, and `redeem` whom a ticket does, which is then used up.
  init(
    configuration: HTTPConfiguration,
    verify: @escaping @Sendable (String) -> Principal?,
    redeem: @escaping @Sendable (String) -> Principal?
  ) {
    self.configuration = configuration
    self.verify = verify
    self.redeem = redeem
  }

  /// Passes requests on, except those that a page elsewhere made a browser send and those whose path cannot be read.
  func handle(
    _ request: Request,
    context: APIRequest,
    next: @concurrent (Request, APIRequest) async throws -> Response
  ) async throws -> Response {
    guard context.head.headerFields[named: "Host"] == nil else {
      throw Problem.badRequest("The field Host comes twice; HTTP/1.1 allows one (RFC 9112, 3.2).")
    }
    try checkOrigin(context)
    _ = try context.routedPath()
    return try await next(request, context)
  }

  private func checkOrigin(_ request: APIRequest) throws(Problem) {
    guard !configuration.tokensRequired else { return }
    guard let field = request.host, let host = HostName.host(of: field) else {
      throw .badRequest("The field Host is missing or no host; HTTP/1.1 demands one.")
    }
    guard isOurs(host) else {
      throw .forbidden(
        "The request is for \"\(host.shortened)\", which is not this machine's name. Ask for localhost or the address "
          + "it listens at, or list the name among the allowed hosts."
      )
    }
    guard ![.get, .head, .options].contains(request.method) else { return }
    if let origin = request[.origin], !isSame(origin, as: field), !isAllowed(origin) {
      throw .forbidden(
        "A page of \(origin.shortened) may not change anything here. List it among the allowed origins if it should."
      )
    }
    guard let site = request.head.headerFields[named: "Sec-Fetch-Site"], request[.origin] == nil else {
      return
    }
    guard site == "same-origin" || site == "none" else {
      throw .forbidden("A page elsewhere may not change anything here.")
    }
  }

  /// Returns the client; a token or a ticket that is sent counts even if none is required.
  ///
  /// A token is a bearer's, or the password of a user of any name: for clients of maps and routes that take an address with a
  /// password and no header, and for gateways that have fields for a user and a password alone. Browsers keep such passwords
  /// and send them for every page that asks, so that they read, and change nothing. Gateways send it in other ways too, as their
  /// makers foresee: as a key of an interface, or, if it is a gateway's token, in the address.
  ///
  /// - Returns: the client; nil if the body of what gateways send has yet to prove it.
  func principal(of request: APIRequest, by route: Route) throws(Problem) -> Principal? {
    if let (secret, isInAddress) = try credentials(of: request, by: route) {
      guard let principal = verify(secret) else {
        throw .unauthorized(
          "The token is not known, was revoked, or has expired. Make a new one: pharos token create."
        )
      }
      guard !isInAddress || principal.isGateway else {
        throw .unauthorized(
          "An address stands in logs, so that only a gateway's token may be in it: pharos token create --gateway ID."
        )
      }
      return principal
    }
    if route.acceptsTickets, request.accepts("text/event-stream"),
      let ticket = QueryReading.value(of: RequestGuard.ticketParameter, in: request.head.path ?? "/")
    {
      if let principal = redeem(ticket) { return principal }
      throw .unauthorized(
        "The ticket is not known, was used, or has expired. Ask for a new one: POST /v1/tickets with a token."
      )
    }
    guard configuration.tokensRequired else { return .local }
    guard route.access == .posting else { throw RequestGuard.tokenMissing }
    return nil
  }

  /// Returns the client that the body of a post lets in: by its member `secret`, as Cisco Meraki's posts have it.
  func principal(inBody body: [UInt8]) throws(Problem) -> Principal {
    guard let value = try? JSONValue(parsing: body), case .object(let members) = value,
      case .string(let secret)? = members.first(where: { $0.name == "secret" })?.value
    else { throw RequestGuard.tokenMissing }
    if let stated = configuration.postSecret, RequestGuard.areEqual(stated, secret) {
      return .gateway(id: "listen.meraki", observer: nil)
    }
    guard let principal = verify(secret), principal.isGateway else {
      throw .unauthorized(
        "The secret in the body is neither that of listen.meraki nor the token of a gateway."
      )
    }
    return principal
  }

  /// Returns whether two texts are equal, in a time that does not depend on where they differ.
  private static func areEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (SHA256.hash(Array(left.utf8)), SHA256.hash(Array(right.utf8)))
    return zip(left, right).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }

  private static let tokenMissing = Problem.unauthorized(
    "Send a token: Authorization: Bearer pht_… (pharos token create makes one)."
  )

  /// The token that a request carries, and whether it stands in the address; nil if it carries none.
  private func credentials(
    of request: APIRequest,
    by route: Route
  ) throws(Problem) -> (secret: String, isInAddress: Bool)? {
    if let field = request[.authorization] {
      // No gateway is a page.
      let isOfPage = request[.origin] != nil || request.head.headerFields[named: "Sec-Fetch-Site"] != nil
      let acceptsPassword = [.get, .head].contains(request.method) || route.access == .posting && !isOfPage
      guard let secret = RequestGuard.secret(in: field, acceptsPassword: acceptsPassword) else {
        throw .unauthorized(
          "Only bearer tokens are understood: Authorization: Bearer pht_…. GET, and POST of adverts, take a token as the "
            + "password of Basic too."
        )
      }
      return (secret, false)
    }
    if let key = request.head.headerFields[named: "X-API-Key"] { return (key.filter { $0 != " " }, false) }
    guard route.access == .posting else { return nil }
    let part = request.parameters.get(RequestGuard.tokenParameter).flatMap { PercentCoding.decode($0) }
    let secret = part ?? QueryReading.value(of: RequestGuard.tokenParameter, in: request.head.path ?? "/")
    return secret.map { ($0, true) }
  }

  /// The token in a field `Authorization`; nil where none can be found.
  private static func secret(in field: String, acceptsPassword: Bool) -> String? {
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    switch parts[0].lowercased() {
    case "bearer", "token", "apikey": return String(parts[1].filter { $0 != " " })
    case "basic" where acceptsPassword: return password(in: parts[1])
    default: return nil
    }
  }

  /// The password of credentials, or the user of one without; nil where they cannot be decoded.
  ///
  /// - Source: RFC 7617, 2.
  private static func password(in credentials: Substring) -> String? {
    guard let bytes = Data(base64Encoded: String(credentials.filter { $0 != " " })),
      let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
    else { return nil }
    let password = text[text.index(after: colon)...]
    return String(password.isEmpty ? text[..<colon] : password)
  }

  /// The fields that let a page of an allowed origin read the answer; none while CORS is off.
  func crossOriginFields(_ request: APIRequest) -> HTTPFields {
    guard !configuration.allowedOrigins().isEmpty else { return [:] }
    guard let origin = request[.origin], isAllowed(origin) else { return [.vary: "Origin"] }
    return [
      .vary: "Origin", .accessControlAllowOrigin: origin,
      .accessControlExposeHeaders: "Content-Range, ETag, Location, Retry-After",
    ]
  }

  /// Returns the fields that say which methods a path has, also to a browser that asks whether it may send a request.
  func preflightFields(_ request: APIRequest, methods: [String]) -> HTTPFields {
    let methods = methods.joined(separator: ", ")
    guard let origin = request[.origin], isAllowed(origin) else { return [.allow: methods] }
    return [
      .allow: methods,
      .accessControlAllowMethods: methods,
      .accessControlAllowHeaders:
        "Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range",
      .accessControlMaxAge: "600",
    ]
  }

  private func isOurs(_ host: String) -> Bool {
    HostPort.isLoopback(host: host) || host == configuration.address.host.lowercased()
      || configuration.allowedHosts.contains { $0.lowercased() == host }
  }

  private func isAllowed(_ origin: String) -> Bool {
    configuration.allowedOrigins().contains { $0.lowercased() == origin.lowercased() }
  }

  /// Returns whether an origin is that of this server.
  private func isSame(_ origin: String, as host: String) -> Bool {
    origin.lowercased() == "\(configuration.scheme)://\(host.lowercased())"
  }
}

/// Names and addresses of hosts, as far as it matters which of them mean this very machine.
package enum HostName {
  /// The host of a field `Host`, without its port and brackets; nil where it is none.
  package static func host(of field: String) -> String? {
    var host = field[...]
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || isPort(rest) else { return nil }
      host = host[host.index(after: host.startIndex)..<end]
    } else if let colon = host.firstIndex(of: ":") {
      guard isPort(host[colon...]) else { return nil }
      host = host[..<colon]
    }
    return host.isEmpty ? nil : host.lowercased()
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && text.dropFirst().allSatisfy { ("0"..."9").contains($0) }
  }
}
