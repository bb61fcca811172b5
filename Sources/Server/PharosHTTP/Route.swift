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
        guard let high = iterator.next().flatMap(Hex.nibble), let low = iterator.next().flatMap(Hex.nibble)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A path segment: all but unreserved characters encoded.
  package static func encode(segment text: String) -> String {
    text.utf8.map { byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain =
        character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
      return isPlain ? String(character) : "%" + Hex.text(CollectionOfOne(byte)).uppercased()
    }
    .joined()
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
