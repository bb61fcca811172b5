import PharosModel

/// The answer of an endpoint: a value that the server turns into bytes on the wire.
package struct APIAnswer: Sendable {
  /// The function by which a streaming endpoint writes; throws once the client is gone.
  package typealias Write = @Sendable ([UInt8]) async throws -> Void

  /// The content that follows the head.
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
  /// The content that follows them.
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

  /// An answer without content.
  static var noContent: APIAnswer { APIAnswer(status: 204) }

  /// Returns an answer for a request that was accepted, whose result comes as an event.
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

/// Entity tags: they tell a client whether its copy is still current.
///
/// - Source: RFC 9110, 8.8.3 and 13.1.2.
package enum EntityTag {
  /// The weak tag of some bytes.
  ///
  /// FNV-1a in 64 bits and the length: it need not withstand anybody, only differ when the bytes do.
  static func tag(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "W/\"\(String(hash, radix: 36))-\(String(bytes.count, radix: 36))\""
  }

  /// Returns whether a field `If-None-Match` names a tag, compared weakly as for GET.
  package static func matches(_ field: String, _ tag: String) -> Bool {
    field.split(separator: ",").contains { part in
      let candidate = trimmed(part)
      return candidate == "*" || opaque(candidate) == opaque(tag[...])
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }

  private static func opaque(_ tag: Substring) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
  }
}

extension APIAnswer {
  /// Adds the tag of the body; returns 304 without the body if the client has that very body.
  func conditional(for request: APIRequest) -> APIAnswer {
    guard status == 200, case .bytes(let bytes) = body else { return self }
    let tag = header("ETag") ?? EntityTag.tag(of: bytes)
    var answer = self
    answer.setHeader("ETag", tag)
    guard let known = request[header: "if-none-match"], EntityTag.matches(known, tag) else {
      return answer
    }
    answer.status = 304
    answer.headers.removeAll { $0.name == "Content-Type" }
    answer.body = .none
    return answer
  }
}
