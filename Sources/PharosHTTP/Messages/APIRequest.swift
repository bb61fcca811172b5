package import NIOCore
import PharosDelivery

/// One HTTP request as the endpoints see it: a value, free of the server that read it.
package struct APIRequest: Sendable {
  /// The methods that Pharos answers.
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case options = "OPTIONS"

    /// Indicates whether a request with it changes nothing.
    var isSafe: Bool { self == .get || self == .head || self == .options }
  }

  /// The method.
  var method: Method
  /// The path and the query as they were sent.
  var target: String
  /// The header fields by lower-case name; of one that comes twice, the values joined by a comma.
  var headers: [String: String]
  /// The body, within the limit.
  var body: [UInt8]
  /// The address of the client, if it is known.
  var peer: SocketAddress?
  /// The client.
  var principal: Principal = .local
  /// The parts of the path that the route names, decoded.
  var parameters: [String: String] = [:]
  /// The query, decoded.
  package var query = QueryItems()

  /// Makes a request.
  package init(
    method: Method,
    target: String,
    headers: [String: String] = [:],
    body: [UInt8] = [],
    peer: SocketAddress? = nil
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.peer = peer
  }

  /// The path without the query.
  var path: Substring { target.prefix { $0 != "?" } }

  /// A header field, or nil.
  subscript(header name: String) -> String? { headers[name] }

  /// A part of the path that the route names; a route that does not name it is a programmer's error.
  func parameter(_ name: String) -> String {
    guard let value = parameters[name] else { preconditionFailure("the route names no {\(name)}") }
    return value
  }

  /// Returns whether the client prefers a type of content to JSON.
  func accepts(_ contentType: String) -> Bool {
    (headers["accept"] ?? "").split(separator: ",").contains { part in
      let type = part.prefix { $0 != ";" }.filter { $0 != " " }
      return type.lowercased() == contentType
    }
  }
}
