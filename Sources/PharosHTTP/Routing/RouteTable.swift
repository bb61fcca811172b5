/// All routes, and how a request finds its own.
struct RouteTable: Sendable {
  /// The routes in the order in which they were declared; of two that describe a path, the first counts.
  let routes: [Route]

  /// The route for a request and what varies in its path.
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

  /// The methods that a path knows, for OPTIONS.
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
