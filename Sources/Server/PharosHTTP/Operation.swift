import HTTPTypes
package import PharosDocuments

/// What an operation is, takes and answers, as `/openapi.json` describes it.
///
/// What follows from the route is not repeated here: the security, the tags of entities, and the failures of every such route.
package struct Operation: Sendable {
  /// The groups of operations.
  package enum Tag: String, CaseIterable, Sendable {
    case applications, regions, ranging, observers, zones, fixes, venues, events, history, webhooks,
      notifications
    case access, operation, pages
  }

  /// The content of a body.
  package enum Body: Sendable {
    /// No body; one that is sent is ignored.
    case none
    /// JSON.
    case json(Schema, isRequired: Bool)
    /// A datagram of any known format.
    case datagram
    /// A capture, which is received into a file.
    case capture
  }

  /// A parameter in the path, the query or the head.
  package struct Parameter: Sendable {
    /// The part of a request that holds a parameter.
    package enum Place: String, Sendable {
      case path, query, header
    }

    /// Its name.
    package let name: String
    /// The part of a request that holds it.
    package let place: Place
    let description: String
    let schema: Schema
    var isRequired = false
    var example: String?
  }

  /// An answer to a request that succeeds.
  package struct Answer: Sendable {
    let status: HTTPResponse.Status
    let description: String
    var content: [(type: String, schema: Schema)] = []
    var headers: [(name: String, description: String)] = []
  }

  /// A failure that several operations share.
  enum Failure: String, CaseIterable {
    case badRequest = "BadRequest"
    case unauthorized = "Unauthorized"
    case forbidden = "Forbidden"
    case notFound = "NotFound"
    case conflict = "Conflict"
    case tooLarge = "TooLarge"
    case unsupportedType = "UnsupportedType"
    case invalid = "Invalid"
    case tooManyRequests = "TooManyRequests"
    case unavailable = "Unavailable"
    case other = "Other"
  }

  let id: String
  let tag: Tag
  let summary: String
  let description: String?
  private(set) var parameters: [Parameter] = []
  private(set) var body = Body.none
  private(set) var answers: [Answer] = []
  private(set) var failures: Set<Failure> = []
  /// The member of what GET answers that holds the document that PUT takes; nil where the answer itself does.
  private(set) var statement: String?

  /// Describes an operation.
  ///
  /// - Parameters:
  ///   - id: its name in generated clients.
  ///   - tag: its group.
  ///   - summary: a line for people.
  ///   - description: more for people, if there is more.
  init(_ id: String, _ tag: Tag, _ summary: String, _ description: String? = nil) {
    self.id = id
    self.tag = tag
    self.summary = summary
    self.description = description
  }

  /// Adds parameters, those of the path in its order.
  func with(_ parameters: Parameter...) -> Operation { with(parameters) }

  /// Adds parameters, those of the path in its order.
  func with(_ parameters: [Parameter]) -> Operation {
    var operation = self
    operation.parameters += parameters
    return operation
  }

  /// Takes a document; an optional one is read as empty where it is missing.
  func receiving(_ schema: Schema, isRequired: Bool = true) -> Operation {
    receiving(.json(schema, isRequired: isRequired))
  }

  /// Takes a body.
  func receiving(_ body: Body) -> Operation {
    var operation = self
    operation.body = body
    return operation
  }

  /// Adds answers.
  func answering(_ answers: Answer...) -> Operation {
    var operation = self
    operation.answers += answers
    return operation
  }

  /// Answers 200 with a document.
  func answering(_ schema: Schema) -> Operation { answering(.done(schema)) }

  /// Answers 201 with a document and its address if it is new, 200 with the document otherwise.
  func answering(put schema: Schema) -> Operation { answering(.done(schema), .made(schema)) }

  /// Says that the member of this name of what GET answers is the document.
  func stated(under member: String) -> Operation {
    var operation = self
    operation.statement = member
    return operation
  }

  /// Adds failures that do not follow from the route.
  func failing(_ failures: Failure...) -> Operation {
    var operation = self
    operation.failures.formUnion(failures)
    return operation
  }
}

extension Operation {
  /// The types of content that stand for any bytes, and for any text: programs that know no other type read these.
  ///
  /// - Source: RFC 2046, 4.1.3 and 4.5.1.
  static let generalTypes = ["application/octet-stream", "text/plain"]

  /// The content of bytes of some types, which a client may also ask for as bytes alone.
  static func bytes(_ types: [String]) -> [(type: String, schema: Schema)] {
    let general = generalTypes[0]
    return types.map { ($0, .binary($0)) } + (types.contains(general) ? [] : [(general, .binary(general))])
  }

  /// Returns an answer under a general type that the operation states, if the client asks for that and not for its own type.
  func generalising(_ answer: APIAnswer, for request: APIRequest) -> APIAnswer {
    guard answer.status == .ok || answer.status == .partialContent,
      let own = answer.headers[.contentType]?.prefix(while: { $0 != ";" }), !request.accepts(String(own)),
      let general = Operation.generalTypes.first(where: request.accepts),
      answers.contains(where: { $0.content.contains { $0.type == general } })
    else { return answer }
    var answer = answer
    answer.headers[.contentType] = general
    return answer
  }
}

extension Operation.Tag {
  var description: String {
    switch self {
    case .applications: "Who asks."
    case .regions: "Region monitoring, as Core Location has it."
    case .ranging: "Which beacons are near, once a second."
    case .observers: "Who hears, and what."
    case .zones: "Which room a tag is in."
    case .fixes: "The positions of handsets and tags, to the metre."
    case .venues: "Buildings, floors, outlines and plans."
    case .events: "What was decided."
    case .history: "Where who was, minute by minute."
    case .webhooks: "Events sent to other servers."
    case .notifications: "Texts for people who come and go."
    case .access: "Tokens and authorisations."
    case .operation: "How the server fares."
    case .pages: "The dashboard and this description."
    }
  }
}

extension Operation.Failure {
  /// The status as a key of the answers.
  var status: String {
    switch self {
    case .badRequest: "400"
    case .unauthorized: "401"
    case .forbidden: "403"
    case .notFound: "404"
    case .conflict: "409"
    case .tooLarge: "413"
    case .unsupportedType: "415"
    case .invalid: "422"
    case .tooManyRequests: "429"
    case .unavailable: "503"
    case .other: "default"
    }
  }

  var description: String {
    switch self {
    case .badRequest: "The request cannot be understood; the problem names what is wrong."
    case .unauthorized: "A valid token is needed."
    case .forbidden: "Forbidden: the token does not allow it."
    case .notFound: "There is no such thing."
    case .conflict: "The request contradicts what is already there."
    case .tooLarge: "The body is too long."
    case .unsupportedType: "The body is of a type that is not understood."
    case .invalid: "Fields of the body are wrong; nothing was changed."
    case .tooManyRequests: "The application asks too often; try again after the time in `Retry-After`."
    case .unavailable: "The server cannot do this now; try again."
    case .other: "Any other failure."
    }
  }
}

extension Operation.Answer {
  /// A document.
  static func done(_ schema: Schema) -> Self { done("application/json", schema) }

  /// Content of some type.
  static func done(_ type: String, _ schema: Schema) -> Self { done([(type, schema)]) }

  /// Content in the form that the client asks for.
  static func done(_ content: [(type: String, schema: Schema)]) -> Self {
    Self(status: .ok, description: "Done.", content: content)
  }

  /// Bytes of one of several types.
  static func bytes(_ types: String...) -> Self { done(Operation.bytes(types)) }

  /// A document, or a table for a client that asks for one.
  static func table(_ schema: Schema) -> Self { done([("application/json", schema), ("text/csv", .text)]) }

  /// A document, or a table or points for a client that asks for them.
  static func located(_ schema: Schema, points: Schema) -> Self {
    done([("application/json", schema), ("text/csv", .text), (APIAnswer.featureType, points)])
  }

  /// The answer with a link to the next page, which a table has no room for.
  var linked: Self {
    naming("Link", "Of a table, the next page as `rel=\"next\"` (RFC 8288), if there is one.")
  }

  /// The document of what was made, with its address.
  static func made(_ schema: Schema) -> Self {
    Self(
      status: .created,
      description: "Made.",
      content: [("application/json", schema)],
      headers: [("Location", "Where it is now.")]
    )
  }

  /// The document of what was made and has no address.
  static func madeOnce(_ schema: Schema) -> Self {
    Self(status: .created, description: "Made.", content: [("application/json", schema)])
  }

  /// The document of what was accepted, whose result comes later.
  static func accepted(_ schema: Schema) -> Self {
    Self(status: .accepted, description: "Taken.", content: [("application/json", schema)])
  }

  /// Files in one of several types, of which a client may ask for a part.
  static func file(_ status: HTTPResponse.Status, _ description: String, _ types: [String]) -> Self {
    Self(
      status: status,
      description: description,
      content: Operation.bytes(types),
      headers: [("Accept-Ranges", "`bytes`.")]
    )
  }

  /// The answer with another field of its head.
  func naming(_ field: String, _ description: String) -> Self {
    var answer = self
    answer.headers.append((field, description))
    return answer
  }

  /// A refusal that this operation alone has.
  static func refused(_ status: HTTPResponse.Status, _ description: String, _ schema: Schema) -> Self {
    let isProblem = schema.components["Problem"] != nil
    let type = isProblem ? "application/problem+json" : "application/json"
    return Self(status: status, description: description, content: [(type, schema)])
  }

  /// Nothing.
  static func nothing(_ description: String = "Done.") -> Self {
    Self(status: .noContent, description: description)
  }
}

extension Operation.Parameter {
  /// A variable part of the path.
  static func path(_ name: String, _ description: String, _ schema: Schema = .name) -> Self {
    Self(name: name, place: .path, description: description, schema: schema, isRequired: true)
  }

  /// A parameter of the query.
  static func query(_ name: String, _ schema: Schema, _ description: String) -> Self {
    Self(name: name, place: .query, description: description, schema: schema)
  }

  /// A parameter of the query that may be repeated.
  static func query(_ name: String, each schema: Schema = .name, _ description: String) -> Self {
    query(name, .list(schema), description)
  }

  /// A field of the head.
  static func header(_ name: String, _ description: String) -> Self {
    Self(name: name, place: .header, description: description, schema: .text)
  }

  /// The parameter as one that must be there.
  var required: Self {
    var parameter = self
    parameter.isRequired = true
    return parameter
  }

  /// The parameter with an example of a value.
  func such(as example: String) -> Self {
    var parameter = self
    parameter.example = example
    return parameter
  }

  /// The numbers of entries that a page may have.
  static let pageSizes = 1...1_000
  /// The number of entries of a page.
  static let limit = query(
    "limit",
    .integer(pageSizes).usually(.integer(100)),
    "How many entries a page may have."
  )
  /// The place of a page in a list.
  static let cursor = query(
    "cursor",
    .pattern("^c([0-9a-f]{2})+$"),
    "The value of `next` in the page before."
  )
  /// The application of a path.
  static let app = path("app", "The application's identifier.")
  /// The subject of a path.
  static let subject = path("subject", "The observer or beacon, as events write it.")
  /// The venue of a path.
  static let venue = path("id", "The venue.")
}

extension Schema {
  /// The object of a list.
  static func list(_ name: String, of element: Schema) -> Schema {
    .object([.required(name, .list(element))])
  }

  /// The object of a page of a list.
  static func page(_ name: String, of element: Schema) -> Schema {
    .object([.required(name, .list(element)), nextPage])
  }

  /// The member of a page that leads to the next one.
  static var nextPage: Member {
    .required("next", .text.orNull, "The cursor of the next page; null behind the last one.")
  }

  /// What was accepted.
  static let accepted = Schema.object([.required("accepted", .text)]).named("Accepted")
}
