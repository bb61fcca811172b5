import PharosModel
import PharosWire

/// A signer of Pharos datagrams with one key, for gateways.
///
/// Build the datagram with the key's id, then sign it:
///
/// ```swift
/// var encoder = PharosDatagramEncoder(observer: observer, bootID: boot, signingKeyID: key.id)
/// // … append reports …
/// var datagram = encoder.finish(uptime: uptime)
/// DatagramSigner(key: key).sign(&datagram)
/// ```
public struct DatagramSigner: Sendable {
  /// The id that the datagrams must carry.
  public let keyID: UInt32

  private let authenticator: MessageAuthenticator

  /// Prepares for a key; keep the signer, because the preparation is half of the work for a small datagram.
  public init(key: ObserverKey) {
    keyID = key.id
    authenticator = MessageAuthenticator(secret: key.secret)
  }

  /// Writes the tag over the last 16 bytes.
  ///
  /// - Parameter datagram: a whole datagram that ends with room for the tag, as `PharosDatagramEncoder` makes it when
  ///   it is given a key's id. A datagram shorter than a tag is left unchanged.
  public func sign(_ datagram: inout [UInt8]) {
    let start = datagram.count - PharosDatagramLayout.tagLength
    guard start >= 0 else { return }
    let tag = unsafe authenticator.tag(of: datagram.span.bytes.extracting(0..<start))
    for index in 0..<8 {
      datagram[start + index] = DatagramSigner.byte(index, of: tag.0)
      datagram[start + 8 + index] = DatagramSigner.byte(index, of: tag.1)
    }
  }

  /// Returns a byte of a number in memory order, in which the bytes of the code were loaded.
  private static func byte(_ index: Int, of number: UInt64) -> UInt8 {
    UInt8(truncatingIfNeeded: number.littleEndian >> UInt64(index * 8))
  }
}

/// The tags of signed datagrams under one secret: the first 16 bytes of HMAC-SHA256.
package struct MessageAuthenticator: Sendable {
  private let hmac: HMACSHA256

  /// Prepares for a secret of any length.
  package init(secret: [UInt8]) { hmac = HMACSHA256(key: secret) }

  /// Returns the first 16 bytes of the code, as two numbers.
  package func tag(of message: RawSpan) -> (UInt64, UInt64) {
    let code = hmac.code(of: message)
    let bytes = unsafe code.span.bytes
    return unsafe (
      bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
    )
  }

  /// Returns whether a tag is that of a message, in a time that does not depend on where they differ.
  package func isValid(tag: RawSpan, of message: RawSpan) -> Bool {
    guard tag.byteCount == PharosDatagramLayout.tagLength else { return false }
    let expected = self.tag(of: message)
    // Both halves are always compared, and no branch depends on either.
    let first = unsafe tag.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self) ^ expected.0
    let second = unsafe tag.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ expected.1
    return first | second == 0
  }

  /// Returns four bytes that distinguish keys and reveal nothing of the secret: the code of a text that no datagram is.
  static func fingerprint(of key: ObserverKey) -> [UInt8] {
    var text = Array("pharos key fingerprint ".utf8)
    text += Array(key.idText.utf8)
    return unsafe Array(HMACSHA256(key: key.secret).code(of: text.span.bytes).array.prefix(4))
  }
}
