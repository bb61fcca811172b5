/// One operation of the interface: a method on a path, its access, its query parameters, its body, and its handler.
package struct Route: Sendable {
  /// The clients that may use a route.
  package enum Access: Sendable {
    /// Every client: the dashboard's files, the documentation, the health of the server.
    case anyone
    /// Every holder of a token; the endpoint restricts an application to its own data.
    case anyToken
    /// The operator, and the application that the path names.
    case application
    /// The operator alone.
    case operation
  }

  /// The content of a body.
  package enum Body: Sendable {
    /// No body; one that is sent is ignored.
    case none
    /// JSON.
    case json
    /// A datagram of any known format.
    case datagram
  }

  /// A part of a path.
  enum Segment: Hashable, Sendable {
    /// As it stands.
    case literal(String)
    /// Any one part that is not empty.
    case parameter(String)
    /// All that is left.
    case rest(String)
  }

  /// The function that carries out an operation.
  typealias Handler = @Sendable (APIRequest) async throws -> APIAnswer

  /// The method.
  package let method: APIRequest.Method
  /// The path, with `{name}` for its variable parts.
  package let template: String
  /// Its parts.
  let segments: [Segment]
  /// The clients that may use it.
  package let access: Access
  /// The parameters that its query may have.
  package let query: [String]
  /// The content of its body.
  package let body: Body
  /// Indicates whether the answer gets an entity tag.
  package let isConditional: Bool
  /// The function that carries it out.
  let handler: Handler

  /// Makes a route; `{name...}` at the end of the template stands for all that is left of the path.
  init(
    _ method: APIRequest.Method,
    _ template: String,
    access: Access,
    query: [String] = [],
    body: Body = .none,
    conditional: Bool = false,
    handler: @escaping Handler
  ) {
    self.method = method
    self.template = template
    self.access = access
    self.query = query
    self.body = body
    self.isConditional = conditional
    self.handler = handler
    segments = template.split(separator: "/").map { part in
      guard part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(String(part)) }
      let name = part.dropFirst().dropLast()
      return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
    }
  }

  /// Returns the variable parts of a path that the template describes, or nil if it does not describe it.
  func match(_ parts: [String]) -> [String: String]? {
    var parameters: [String: String] = [:]
    for (index, segment) in segments.enumerated() {
      if case .rest(let name) = segment {
        guard index < parts.count else { return nil }
        parameters[name] = parts[index...].joined(separator: "/")
        return parameters
      }
      guard index < parts.count else { return nil }
      switch segment {
      case .literal(let text): guard parts[index] == text else { return nil }
      case .parameter(let name): parameters[name] = parts[index]
      case .rest: break
      }
    }
    return parts.count == segments.count ? parameters : nil
  }
}

/// All routes, and the search for the route of a request.
struct RouteTable: Sendable {
  /// The routes in the order in which they were declared; of two that describe a path, the first counts.
  let routes: [Route]

  /// Returns the route for a request and the variable parts of its path.
  ///
  /// HEAD finds what GET does; the server leaves out the body.
  ///
  /// - Throws: 404 for an unknown path; 405 with `Allow` for a known one.
  func route(
    _ method: APIRequest.Method,
    path: Substring
  ) throws(Problem) -> (
    Route, [String: String]
  ) {
    let parts = try RouteTable.parts(of: path)
    var others: [APIRequest.Method] = []
    for route in routes {
      guard let parameters = route.match(parts) else { continue }
      if route.method == method || (method == .head && route.method == .get) {
        return (route, parameters)
      }
      if !others.contains(route.method) { others.append(route.method) }
    }
    guard !others.isEmpty else {
      throw .notFound("There is nothing at \(path). /openapi.json lists what there is.")
    }
    throw .methodNotAllowed(method.rawValue, allowed: RouteTable.allowed(others))
  }

  /// Returns the methods of a path, for OPTIONS.
  func methods(path: Substring) throws(Problem) -> [String] {
    let parts = try RouteTable.parts(of: path)
    let methods = routes.filter { $0.match(parts) != nil }.map(\.method)
    guard !methods.isEmpty else {
      throw .notFound("There is nothing at \(path). /openapi.json lists what there is.")
    }
    return RouteTable.allowed(methods)
  }

  private static func allowed(_ methods: [APIRequest.Method]) -> [String] {
    var allowed = Set(methods)
    if allowed.contains(.get) { allowed.insert(.head) }
    return APIRequest.Method.allCases.filter(allowed.contains).map(\.rawValue)
  }

  private static func parts(of path: Substring) throws(Problem) -> [String] {
    guard path.first == "/" else { throw .badRequest("The path must begin with a slash.") }
    var parts: [String] = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = PercentCoding.decode(part) else {
        throw .badRequest(
          "The path holds a percent sign without two hexadecimal digits, or no UTF-8."
        )
      }
      parts.append(decoded)
    }
    // "/" alone is the root, and has no parts; an empty part anywhere else names nothing.
    if parts == [""] { return [] }
    guard parts.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(0) }) else {
      throw .notFound("A part of the path \(path) is empty or holds a zero byte.")
    }
    return parts
  }
}

/// Percent-encoding as URLs have it.
///
/// - Source: RFC 3986, 2.1; WHATWG URL, application/x-www-form-urlencoded, for `+`.
package enum PercentCoding {
  /// The decoded text, or nil where a `%` is not followed by two hexadecimal digits or the bytes are no UTF-8.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var iterator = text.utf8.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(nibble), let low = iterator.next().flatMap(nibble)
        else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A path segment: all but unreserved characters encoded.
  package static func encode(segment text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(Character(UnicodeScalar(byte)))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return encoded
  }

  private static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
