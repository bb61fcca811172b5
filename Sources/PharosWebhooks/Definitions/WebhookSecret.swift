import Foundation
import PharosCrypto
package import PharosReports

/// The key that deliveries to one receiver are signed with.
///
/// It is shown once, when it is made; its description hides it.
///
/// - Source: Standard Webhooks 1.0: `whsec_` and the base64 of 24 to 64 random bytes.
package struct WebhookSecret: Hashable, Sendable {
  /// What every secret begins with.
  package static let prefix = "whsec_"
  /// How many bytes a secret may have.
  package static let lengths = 24...64
  /// How many bytes a secret has that is made here: as many as the signature that it makes.
  static let ownLength = 32

  /// The bytes of the key.
  let bytes: [UInt8]

  /// Makes a secret at random.
  package init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<WebhookSecret.ownLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Reads a secret from its text; nil if it is none.
  package init?(_ text: String) {
    guard text.hasPrefix(WebhookSecret.prefix) else { return nil }
    guard let data = Data(base64Encoded: String(text.dropFirst(WebhookSecret.prefix.count))) else {
      return nil
    }
    guard WebhookSecret.lengths.contains(data.count) else { return nil }
    bytes = Array(data)
  }

  /// The secret in clear text, to be shown once to who made it.
  package var revealed: String { WebhookSecret.prefix + Data(bytes).base64EncodedString() }

  /// The signature of a message: `v1,` and the base64 of the HMAC-SHA256 over `id.timestamp.body`.
  ///
  /// - Source: Standard Webhooks 1.0, symmetric signatures.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let message = Array("\(id).\(timestamp).".utf8) + body
    return "v1," + Data(HMACSHA256(key: bytes).code(of: message.span.bytes).array).base64EncodedString()
  }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
  /// Says that there is a secret, and nothing about it.
  package var description: String { WebhookSecret.prefix + "…" }

  /// Nothing to look at.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension WebhookSecret: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) { writer.write(revealed) }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    guard let secret = WebhookSecret(try reader.text()) else { throw reader.failure(.badIdentity) }
    self = secret
  }
}
