/// One operation of the interface: a method on a path, who may, what the query may say, and what is done.
package struct Route: Sendable {
  /// Who may use a route.
  package enum Access: Sendable {
    /// Anybody: the dashboard's files, the documentation, the health of the server.
    case anyone
    /// Every holder of a token; the endpoint restricts an application to its own data.
    case anyToken
    /// The operator, and the application that the path names.
    case application
    /// The operator alone.
    case operation
  }

  /// What a body may be.
  package enum Body: Sendable {
    /// There is none; one that is sent is not looked at.
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

  /// What does it.
  typealias Handler = @Sendable (APIRequest) async throws -> APIAnswer

  /// The method.
  package let method: APIRequest.Method
  /// The path, with `{name}` for what varies.
  package let template: String
  /// Its parts.
  let segments: [Segment]
  /// Who may.
  package let access: Access
  /// The parameters that its query may have.
  package let query: [String]
  /// What its body may be.
  package let body: Body
  /// Whether the answer gets an entity tag.
  package let isConditional: Bool
  /// What does it.
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

  /// What varies in a path that the template describes, or nil where it does not describe it.
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
