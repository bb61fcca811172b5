package import HTTPTypes
import PharosDocuments
import PharosModel

/// The answer of an endpoint: a value that the interface turns into Hummingbird's response.
package struct APIAnswer: Sendable {
  /// The function by which a streaming endpoint writes; throws once the client is gone.
  package typealias Write = @Sendable ([UInt8]) async throws -> Void

  /// The content that follows the head.
  package enum Body: Sendable {
    /// Bytes whose number is known.
    case bytes([UInt8])
    /// As many bytes as come, until the closure returns.
    case stream(@Sendable (_ write: Write) async throws -> Void)
    /// A part of a file, which is read as the client takes it.
    case file(path: String, part: Range<Int>)
  }

  /// The status.
  package var status = HTTPResponse.Status.ok
  /// The header fields.
  package var headers: HTTPFields = [:]
  /// The content that follows them.
  package var body = Body.bytes([])

  /// A JSON object, whose members `build` writes, with names beside identities if some are given.
  static func json(
    status: HTTPResponse.Status = .ok,
    names: SiteNames? = nil,
    _ build: (inout JSONText) throws -> Void
  ) rethrows -> APIAnswer {
    var json = JSONText()
    json.names = names
    json.openObject()
    try build(&json)
    json.closeObject()
    return bytes(json.utf8, type: "application/json", status: status)
  }

  /// A JSON object with declared members, with names beside identities if some are given.
  static func json<Owner>(
    _ declared: [DocumentField<Owner>],
    of owner: Owner,
    status: HTTPResponse.Status = .ok,
    names: SiteNames? = nil
  ) -> APIAnswer {
    json(status: status, names: names) { DocumentField.write(declared, of: owner, to: &$0) }
  }

  /// The document of something that was put: 201 with its path if it is new, and 200 otherwise.
  static func put(
    isNew: Bool,
    at path: String...,
    build: (inout JSONText) throws -> Void
  ) rethrows -> APIAnswer {
    var answer = try json(status: isNew ? .created : .ok, build)
    if isNew { answer.headers[.location] = "/v1/" + path.map(PercentCoding.encode).joined(separator: "/") }
    return answer
  }

  /// The media type of GeoJSON.
  static let featureType = "application/geo+json"

  /// A collection of features as GeoJSON has it, with names beside identities if some are given.
  ///
  /// - Parameters:
  ///   - names: the names.
  ///   - features: writes the features.
  ///   - others: writes the members that stand beside them.
  /// - Returns: the answer.
  static func features(
    names: SiteNames? = nil,
    _ features: (inout JSONText) -> Void,
    beside others: (inout JSONText) -> Void = { _ in }
  ) -> APIAnswer {
    var answer = json(names: names) { json in
      json.member("type", "FeatureCollection")
      json.openArray("features")
      features(&json)
      json.closeArray()
      others(&json)
    }
    answer.headers[.contentType] = featureType
    return answer
  }

  /// Bytes of some type.
  static func bytes(_ bytes: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> APIAnswer {
    APIAnswer(status: status, headers: [.contentType: type], body: .bytes(bytes))
  }

  /// An answer without content.
  static var noContent: APIAnswer { APIAnswer(status: .noContent) }

  /// Returns an answer for a request that was accepted, whose result comes as an event.
  static func accepted(_ what: String) -> APIAnswer {
    json(status: .accepted) { $0.member("accepted", what) }
  }

  /// Returns the answer for the only time that a secret is shown: nothing on the way may keep it.
  consuming func unkept() -> APIAnswer {
    headers[.cacheControl] = "no-store"
    return self
  }

  /// Adds the tag of the body; returns 304 without the body if the client has that very body.
  func conditional(for request: APIRequest) -> APIAnswer {
    guard status == .ok || status == .partialContent else { return self }
    let tag: String
    switch (headers[.eTag], body) {
    case (let known?, _): tag = known
    case (nil, .bytes(let bytes)): tag = EntityTag.tag(of: bytes)
    case (nil, _): return self
    }
    var answer = self
    answer.headers[.eTag] = tag
    guard let known = request[.ifNoneMatch], EntityTag.matches(known, tag) else { return answer }
    answer.status = .notModified
    for name in [.contentType, .contentLength, .contentRange] as [HTTPField.Name] {
      answer.headers[name] = nil
    }
    answer.body = .bytes([])
    return answer
  }
}

extension HTTPFields {
  /// A field by a name that has no constant, or nil.
  subscript(named name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let name = HTTPField.Name(name) { self[name] = newValue } }
  }
}

extension JSONText {
  /// Writes the cursor of the next page; null behind the last one.
  mutating func next(_ cursor: String?) {
    if let cursor { member("next", cursor) } else { null("next") }
  }

  /// Writes the sequence number at which the next page begins; null behind the last one.
  mutating func next(_ sequence: Int64?) {
    if let sequence { member("next", sequence) } else { null("next") }
  }
}

/// Entity tags: they tell a client whether its copy is still current.
///
/// - Source: RFC 9110, 8.8.3 and 13.1.2.
package enum EntityTag {
  /// The weak tag of some bytes.
  ///
  /// FNV-1a in 64 bits and the length: it need not resist attacks, only differ when the bytes do.
  static func tag(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "W/\"\(String(hash, radix: 36))-\(String(bytes.count, radix: 36))\""
  }

  /// Returns whether a field `If-None-Match` names a tag, compared weakly as for GET.
  package static func matches(_ field: String, _ tag: String) -> Bool {
    field.split(separator: ",").contains { part in
      // A tag holds no space.
      let candidate = part.filter { $0 != " " && $0 != "\t" }
      return candidate == "*" || opaque(candidate) == opaque(tag)
    }
  }

  private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
