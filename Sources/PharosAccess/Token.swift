package import PharosReports

/// What is known of a token: all but its secret, of which only the SHA-256 is kept.
package struct Token: Hashable, Sendable {
  /// Whom a token stands for.
  package enum Role: Hashable, Sendable {
    /// Sees and changes everything.
    case `operator`
    /// Sees and changes what belongs to one application.
    case application(String)
  }

  /// Its name in lists: 12 characters of base64url.
  package let id: String
  /// The name that its creator gave it.
  package let name: String
  /// Whom it stands for.
  package let role: Role
  /// When it was made.
  package let createdAt: Timestamp
  /// From when on it opens nothing, or nil if it lasts until it is revoked.
  package let expiresAt: Timestamp?
  /// The SHA-256 of the secret, 32 bytes.
  let digest: [UInt8]

  /// Who asks with it.
  var principal: Principal {
    switch role {
    case .operator: .operator(name: name)
    case .application(let application): .application(id: id, name: application)
    }
  }

  /// Whether it opens nothing any more.
  package func hasExpired(at now: Timestamp) -> Bool { expiresAt.map { now >= $0 } ?? false }
}

extension Token: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(id)
    writer.write(name)
    switch role {
    case .operator: writer.write(0 as UInt8)
    case .application(let application):
      writer.write(1 as UInt8)
      writer.write(application)
    }
    createdAt.write(to: &writer)
    writer.write(expiresAt)
    for byte in digest { writer.write(byte) }
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    id = try reader.text()
    name = try reader.text()
    switch try reader.byte() {
    case 0: role = .operator
    case 1: role = .application(try reader.text())
    case let tag: throw reader.failure(.unknownTag(field: "a token's role", tag: tag))
    }
    createdAt = try Timestamp(from: &reader)
    expiresAt = try reader.optional(Timestamp.self)
    var digest: [UInt8] = []
    for _ in 0..<Secret.digestLength { digest.append(try reader.byte()) }
    self.digest = digest
  }
}

/// A token that was just made, with the secret that is shown this once and never again.
package struct NewToken: Sendable {
  /// What opens: `pht_` and 43 characters of base64url, 32 random bytes.
  package let secret: String
  /// What is kept of it.
  package let token: Token
}
