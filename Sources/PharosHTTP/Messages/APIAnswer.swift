import PharosReports

/// What an endpoint answers: a value that the server turns into bytes on the wire.
package struct APIAnswer: Sendable {
  /// Where a streaming endpoint writes; throws once the client is gone.
  package typealias Write = @Sendable ([UInt8]) async throws -> Void

  /// What follows the head.
  package enum Body: Sendable {
    /// Nothing.
    case none
    /// Bytes whose number is known.
    case bytes([UInt8])
    /// As many bytes as come, until the closure returns.
    case stream(@Sendable (_ write: Write) async throws -> Void)
  }

  /// The status code.
  package var status: Int
  /// The header fields in their order.
  package var headers: [(name: String, value: String)]
  /// What follows them.
  package var body: Body

  /// Makes an answer.
  init(status: Int, headers: [(name: String, value: String)] = [], body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// JSON as it was written by `build`.
  static func json(
    status: Int = 200,
    _ build: (inout JSONText) throws -> Void
  ) rethrows
    -> APIAnswer
  {
    var json = JSONText()
    try build(&json)
    return bytes(json.utf8, type: "application/json", status: status)
  }

  /// Bytes of some type.
  static func bytes(_ bytes: [UInt8], type: String, status: Int = 200) -> APIAnswer {
    APIAnswer(status: status, headers: [("Content-Type", type)], body: .bytes(bytes))
  }

  /// Done, and nothing to say.
  static var noContent: APIAnswer { APIAnswer(status: 204) }

  /// Taken, and the answer comes as an event.
  static func accepted(_ what: StaticString) -> APIAnswer {
    json(status: 202) { json in
      json.openObject()
      json.member("accepted", what.description)
      json.closeObject()
    }
  }

  /// The value of a header field, or nil.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Sets a header field, replacing one of the same name.
  mutating func setHeader(_ name: String, _ value: String) {
    headers.removeAll { $0.name.lowercased() == name.lowercased() }
    headers.append((name, value))
  }
}
