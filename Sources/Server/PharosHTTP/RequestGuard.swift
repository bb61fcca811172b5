import Foundation
import HTTPTypes
import Hummingbird
import PharosDelivery
import PharosModel

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
  /// A token is a bearer's, or the password of a user of any name. The latter is for clients of maps and routes that take
  /// an address with a password and no header. Browsers keep such passwords and send them for every page that asks, so that
  /// they read and change nothing.
  func principal(of request: APIRequest, usesTickets: Bool) throws(Problem) -> Principal {
    guard let field = request[.authorization] else {
      if usesTickets, request.accepts("text/event-stream"),
        let ticket = QueryReading.value(of: RequestGuard.ticketParameter, in: request.head.path ?? "/")
      {
        if let principal = redeem(ticket) { return principal }
        throw .unauthorized(
          "The ticket is not known, was used, or has expired. Ask for a new one: POST /v1/tickets with a token."
        )
      }
      guard configuration.tokensRequired else { return .local }
      throw .unauthorized(
        "Send a token: Authorization: Bearer pht_… (pharos token create makes one)."
      )
    }
    let parts = field.split(separator: " ", maxSplits: 1)
    let secret: String?
    switch parts.first?.lowercased() {
    case "bearer" where parts.count == 2: secret = String(parts[1].filter { $0 != " " })
    case "basic" where parts.count == 2 && [.get, .head].contains(request.method):
      secret = RequestGuard.password(in: parts[1])
    default: secret = nil
    }
    guard let secret else {
      throw .unauthorized(
        "Only bearer tokens are understood: Authorization: Bearer pht_…. GET takes a token as the password of Basic too."
      )
    }
    guard let principal = verify(secret) else {
      throw .unauthorized(
        "The token is not known, was revoked, or has expired. Make a new one: pharos token create."
      )
    }
    return principal
  }

  /// The password of credentials; nil where they cannot be decoded.
  ///
  /// - Source: RFC 7617, 2.
  private static func password(in credentials: Substring) -> String? {
    guard let bytes = Data(base64Encoded: String(credentials.filter { $0 != " " })),
      let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
    else { return nil }
    return String(text[text.index(after: colon)...])
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
