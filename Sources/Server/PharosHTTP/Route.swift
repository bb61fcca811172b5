package import HTTPTypes
import PharosDocuments
import PharosModel

/// One operation of the interface: a method on a path, its description, its access, and its handler.
package struct Route: Sendable {
  /// The clients that may use a route.
  package enum Access: Sendable {
    /// Every client: the dashboard's files, the documentation, the health of the server.
    case anyone
    /// Every holder of a token; the endpoint restricts an application to its own data.
    case anyToken
    /// The operator, and the application that the path names.
    case application
    /// The operator, and gateways: what they send. A gateway may prove itself in the address and in the body as well.
    case posting
    /// The operator alone.
    case operation
  }

  /// The function that carries out an operation.
  typealias Handler = @Sendable (APIRequest) async throws -> APIAnswer

  /// The method.
  package let method: HTTPRequest.Method
  /// The path as Hummingbird's router takes it: `{name}` for its variable parts, `**` for all that is left.
  package let path: String
  /// What it is, takes and answers.
  package let operation: Operation
  /// The clients that may use it.
  package let access: Access
  /// The parameters that its query may have.
  package let query: [String]
  /// The code of OSRM for a query that cannot be read; nil for a route that clients of OSRM do not ask.
  let queryErrorCode: String?
  /// The content of its body.
  package var body: Operation.Body { operation.body }
  /// Indicates whether the answer gets an entity tag.
  package let isConditional: Bool
  /// Indicates whether it may take seconds, and so never takes the last place of ``RequestScheduler``.
  let isLong: Bool
  /// Indicates whether it is answered at once, without a turn: for checks of the server's health alone.
  package let isImmediate: Bool
  /// Indicates whether a ticket in the query opens it, as a live stream.
  var acceptsTickets: Bool { query.contains(RequestGuard.ticketParameter) }
  /// The function that carries it out.
  let handler: Handler

  /// Makes a route.
  init(
    _ method: HTTPRequest.Method,
    _ path: String,
    _ operation: Operation,
    access: Access,
    queryErrorCode: String? = nil,
    conditional: Bool = false,
    long: Bool = false,
    immediate: Bool = false,
    handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.operation = operation
    self.access = access
    query = operation.parameters.filter { $0.place == .query }.map(\.name)
    self.queryErrorCode = queryErrorCode
    self.isConditional = conditional
    self.isLong = long
    self.isImmediate = immediate
    self.handler = handler
  }
}

/// The operations about one kind of thing.
///
/// A handler takes a request whose path, query names, principal and body type have been checked, and returns an answer or
/// throws a ``Problem``.
protocol Resource: Sendable {
  /// The operations; `/openapi.json` describes each of them.
  var routes: [Route] { get }
}
