import HTTPTypes
import PharosDocuments
import Synchronization

/// The description of the interface, made of the routes: OpenAPI 3.1.
///
/// - Source: OpenAPI Specification 3.1.0.
package enum OpenAPI {
  /// Returns the description of some routes as JSON.
  package static func document(of routes: [Route]) -> [UInt8] {
    var components: [String: JSONValue] = Schema.problem.components
    var paths: [JSONValue.Member] = []
    for route in routes {
      components.merge(route.schemas.flatMap { $0.components }) { first, _ in first }
      let operation = JSONValue.Member(name: route.method.rawValue.lowercased(), value: route.description)
      let path = route.path.replacing("**", with: "{file}")
      if let place = paths.firstIndex(where: { $0.name == path }),
        case .object(let others) = paths[place].value
      {
        paths[place].value = .object(others + [operation])
      } else {
        paths.append(JSONValue.Member(name: path, value: .object([operation])))
      }
    }
    let schemas = components.sorted { $0.key < $1.key }.map {
      JSONValue.Member(name: $0.key, value: $0.value)
    }
    var json = JSONText()
    json.element(
      .members([
        ("openapi", .string("3.1.0")),
        ("info", info),
        (
          "servers",
          .array([
            .members([
              ("url", .string("/")), ("description", .string("The server that gave this description.")),
            ])
          ])
        ),
        ("security", .array([.members([("token", .array([]))]), .object([])])),
        ("tags", .array(Operation.Tag.allCases.map(description))),
        ("paths", .object(paths)),
        (
          "components",
          .members([
            ("securitySchemes", .members([("token", token)])),
            ("responses", .members(Operation.Failure.allCases.map { ($0.rawValue, response(to: $0)) })),
            ("schemas", .object(schemas)),
          ])
        ),
      ])
    )
    return json.utf8
  }

  private static let info = JSONValue.members([
    ("title", .string("Pharos")),
    ("version", .string("1")),
    ("summary", .string("Core Location's beacon and indoor stack as an open server.")),
    (
      "description",
      .string(
        """
        Times are RFC 3339 in UTC; lengths of time in answers are seconds, in documents texts with a unit. Levels are dBm, \
        distances metres. Lists come in pages: `next` is the cursor of the next one. Every failure is a problem (RFC 9457) \
        that names the fields that are wrong.
        """
      )
    ),
    (
      "license",
      .members([("name", .string("Apache License 2.0")), ("identifier", .string("Apache-2.0"))])
    ),
  ])

  private static let token = JSONValue.members([
    ("type", .string("http")),
    ("scheme", .string("bearer")),
    (
      "description",
      .string(
        """
        A token made by `pharos token create` or POST /v1/tokens. Not needed while the server listens to its own machine \
        alone and asks for none.
        """
      )
    ),
  ])

  private static func description(of tag: Operation.Tag) -> JSONValue {
    .members([("name", .string(tag.rawValue)), ("description", .string(tag.description))])
  }

  private static func response(to failure: Operation.Failure) -> JSONValue {
    OpenAPI.response(failure.description, [("application/problem+json", .problem)])
  }

  fileprivate static func response(
    _ description: String,
    _ content: [(type: String, schema: Schema)],
    headers: [(name: String, description: String)] = []
  ) -> JSONValue {
    var members: [(String, JSONValue)] = [("description", .string(description))]
    if !headers.isEmpty {
      let fields = headers.map {
        ($0.name, JSONValue.members([("description", .string($0.description)), text]))
      }
      members.append(("headers", .members(fields)))
    }
    if !content.isEmpty { members.append(("content", OpenAPI.content(content))) }
    return .members(members)
  }

  fileprivate static func content(_ content: [(type: String, schema: Schema)]) -> JSONValue {
    .members(content.map { ($0.type, .members([("schema", $0.schema.json)])) })
  }

  private static let text = ("schema", Schema.text.json)
}

/// The description of some routes, made when it is asked for first.
struct DescriptionResource: Resource {
  /// The bytes of the description.
  private final class Document: Sendable {
    private let bytes = Mutex<[UInt8]?>(nil)

    func bytes(_ make: () -> [UInt8]) -> [UInt8] {
      bytes.withLock { known in
        let bytes = known ?? make()
        known = bytes
        return bytes
      }
    }
  }

  /// The resources that it describes besides itself.
  let others: [any Resource]
  private let document = Document()

  init(of others: [any Resource]) { self.others = others }

  var routes: [Route] {
    [
      Route(
        .get,
        "/openapi.json",
        Operation("getDescription", .pages, "This description").answering(.anyObject),
        access: .anyone,
        conditional: true
      ) { _ in
        .bytes(
          document.bytes { OpenAPI.document(of: others.flatMap(\.routes) + self.routes) },
          type: "application/json"
        )
      }
    ]
  }
}

extension Route {
  /// The schemas that its description uses.
  fileprivate var schemas: [Schema] {
    var schemas = operation.parameters.map(\.schema) + operation.answers.flatMap { $0.content.map(\.schema) }
    if case .json(let schema, _) = operation.body { schemas.append(schema) }
    return schemas
  }

  /// The description of the operation.
  fileprivate var description: JSONValue {
    var members: [(String, JSONValue)] = [
      ("operationId", .string(operation.id)), ("summary", .string(operation.summary)),
      ("tags", .array([.string(operation.tag.rawValue)])),
    ]
    if let text = operation.description { members.append(("description", .string(text))) }
    if access == .anyone { members.append(("security", .array([]))) }
    var parameters = operation.parameters
    if isConditional { parameters.append(.header("If-None-Match", "Entity tags that the client has.")) }
    if !parameters.isEmpty { members.append(("parameters", .array(parameters.map(\.json)))) }
    if let body = operation.body.json { members.append(("requestBody", body)) }
    var responses = operation.answers.map { ("\($0.status.code)", response($0)) }
    if isConditional {
      let text = "Nothing has changed since the tag was given."
      responses.append(("304", .members([("description", .string(text))])))
    }
    responses += failures.sorted { $0.status < $1.status }.map { failure in
      (failure.status, .members([("$ref", .string("#/components/responses/\(failure.rawValue)"))]))
    }
    members.append(("responses", .members(responses)))
    return .members(members)
  }

  private func response(_ answer: Operation.Answer) -> JSONValue {
    var headers = answer.headers
    if isConditional, answer.status == .ok || answer.status == .partialContent {
      headers.insert(("ETag", "Send it back in If-None-Match; 304 says that nothing has changed."), at: 0)
    }
    return OpenAPI.response(answer.description, answer.content, headers: headers)
  }

  /// The failures that follow from the route, and those that its operation adds.
  private var failures: Set<Operation.Failure> {
    var failures = operation.failures.union([.badRequest, .other])
    if access != .anyone { failures.formUnion([.unauthorized, .forbidden]) }
    if path.contains("{") || path.hasSuffix("**") { failures.insert(.notFound) }
    if method != .get { failures.insert(.unavailable) }
    switch operation.body {
    case .none: break
    case .json: failures.formUnion([.tooLarge, .unsupportedType, .invalid])
    case .datagram: failures.formUnion([.tooLarge, .unsupportedType])
    case .capture: failures.formUnion([.tooLarge, .invalid])
    }
    let described = Set(operation.answers.map { "\($0.status.code)" })
    return failures.filter { !described.contains($0.status) }
  }
}

extension Operation.Parameter {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = [("name", .string(name)), ("in", .string(place.rawValue))]
    if isRequired { members.append(("required", .bool(true))) }
    members.append(("description", .string(description)))
    members.append(("schema", schema.json))
    if place == .query, schema.isList {
      members += [("style", .string("form")), ("explode", .bool(true))]
    }
    if let example { members.append(("example", .string(example))) }
    return .members(members)
  }
}

extension Operation.Body {
  fileprivate var json: JSONValue? {
    let content: [(type: String, schema: Schema)]
    var isRequired = true
    switch self {
    case .none: return nil
    case .json(let schema, let isNeeded): (content, isRequired) = ([("application/json", schema)], isNeeded)
    case .datagram: content = Operation.bytes([]) + [("application/json", .any)]
    case .capture: content = Operation.bytes([])
    }
    return .members([("required", .bool(isRequired)), ("content", OpenAPI.content(content))])
  }
}

extension JSONValue {
  /// An object of members in their order.
  fileprivate static func members(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members.map { Member(name: $0.0, value: $0.1) })
  }
}
