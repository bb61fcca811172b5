import Crypto
import PharosReports
import PharosWire

/// HMAC-SHA256 under one secret, with the part that depends on the secret alone done once.
///
/// HMAC hashes the secret, padded to a block, before the message and again before the inner hash. Both hashers are kept as
/// they are behind those blocks, so that a datagram costs its own blocks and one more.
///
/// - Source: RFC 2104; RFC 6234.
struct MessageAuthenticator: Sendable {
  /// - Units: bytes; the block of SHA-256.
  private static let blockLength = 64
  private static let innerPad: UInt8 = 0x36
  private static let outerPad: UInt8 = 0x5C

  private let inner: SHA256
  private let outer: SHA256

  /// Prepares for a secret of any length.
  init(secret: [UInt8]) {
    var block = secret.count > MessageAuthenticator.blockLength ? Array(SHA256.hash(data: secret)) : secret
    block += Array(repeating: 0, count: MessageAuthenticator.blockLength - block.count)
    inner = MessageAuthenticator.hasher(behind: block.map { $0 ^ MessageAuthenticator.innerPad })
    outer = MessageAuthenticator.hasher(behind: block.map { $0 ^ MessageAuthenticator.outerPad })
  }

  /// The whole code of a message.
  func code(of message: RawSpan) -> SHA256Digest {
    var hasher = inner
    unsafe message.withUnsafeBytes { unsafe hasher.update(bufferPointer: $0) }
    let digest = hasher.finalize()
    hasher = outer
    unsafe digest.withUnsafeBytes { unsafe hasher.update(bufferPointer: $0) }
    return hasher.finalize()
  }

  /// The first 16 bytes of the code, as two numbers.
  func tag(of message: RawSpan) -> (UInt64, UInt64) {
    let code = code(of: message)
    return unsafe code.withUnsafeBytes { bytes in
      unsafe (
        bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }

  /// Whether a tag is that of a message, in a time that does not depend on where they differ.
  func isValid(tag: RawSpan, of message: RawSpan) -> Bool {
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
    let code = unsafe MessageAuthenticator(secret: key.secret).code(of: text.span.bytes)
    return Array(code.prefix(4))
  }

  private static func hasher(behind block: [UInt8]) -> SHA256 {
    var hasher = SHA256()
    hasher.update(data: block)
    return hasher
  }
}
