import PharosCrypto
import PharosReports
import PharosWire

/// The tags of signed datagrams under one secret: the first 16 bytes of HMAC-SHA256.
package struct MessageAuthenticator: Sendable {
  private let hmac: HMACSHA256

  /// Prepares for a secret of any length.
  package init(secret: [UInt8]) { hmac = HMACSHA256(key: secret) }

  /// The first 16 bytes of the code, as two numbers.
  package func tag(of message: RawSpan) -> (UInt64, UInt64) {
    let code = hmac.code(of: message)
    let bytes = unsafe code.span.bytes
    return unsafe (
      bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
    )
  }

  /// Whether a tag is that of a message, in a time that does not depend on where they differ.
  package func isValid(tag: RawSpan, of message: RawSpan) -> Bool {
    guard tag.byteCount == PharosDatagramLayout.tagLength else { return false }
    let expected = self.tag(of: message)
    // Both halves are always compared, and no branch depends on either.
    let first = unsafe tag.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self) ^ expected.0
    let second = unsafe tag.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ expected.1
    return first | second == 0
  }

  /// Four bytes that tell keys apart and tell nothing of the secret: the code of a text that no datagram is.
  static func fingerprint(of key: ObserverKey) -> [UInt8] {
    var text = Array("pharos key fingerprint ".utf8)
    text += Array(key.idText.utf8)
    return unsafe Array(HMACSHA256(key: key.secret).code(of: text.span.bytes).array.prefix(4))
  }
}
