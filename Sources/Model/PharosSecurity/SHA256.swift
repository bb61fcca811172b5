import CCrypto

/// An incremental SHA-256 hash; a copy continues independently of the original.
///
/// - Source: FIPS 180-4; the implementation is OpenSSL's libcrypto.
package struct SHA256: Sendable {
  /// The 32 bytes of a hash.
  package typealias Digest = InlineArray<32, UInt8>

  /// The block length.
  ///
  /// - Units: bytes.
  package static let blockLength = 64

  private var state = SHA256_CTX()

  /// Starts with no bytes.
  package init() { unsafe SHA256_Init(&state) }

  /// Appends bytes.
  package mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in
      _ = unsafe SHA256_Update(&state, buffer.baseAddress, buffer.count)
    }
  }

  /// Returns the hash of all bytes so far.
  package consuming func finalize() -> Digest {
    Digest { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, count in
        unsafe SHA256_Final(buffer.baseAddress, &state)
        count = 32
      }
    }
  }

  /// Returns the hash of some bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    unsafe hash.update(bytes.span.bytes)
    return hash.finalize().array
  }
}

extension InlineArray where Element == UInt8 {
  /// The bytes as an array.
  package var array: [UInt8] { indices.map { self[$0] } }
}

/// HMAC-SHA256 with one key.
///
/// The hash states after the padded key are computed once, so that a message costs its own blocks and one more.
///
/// - Source: RFC 2104; RFC 4231 for the test vectors.
package struct HMACSHA256: Sendable {
  private static let innerPad: UInt8 = 0x36
  private static let outerPad: UInt8 = 0x5C

  private let inner: SHA256
  private let outer: SHA256

  /// Prepares a key of any length.
  package init(key: [UInt8]) {
    var block = key.count > SHA256.blockLength ? SHA256.hash(key) : key
    block += Array(repeating: 0, count: SHA256.blockLength - block.count)
    inner = HMACSHA256.state(after: block.map { $0 ^ HMACSHA256.innerPad })
    outer = HMACSHA256.state(after: block.map { $0 ^ HMACSHA256.outerPad })
  }

  /// Returns the authentication code of a message.
  package func code(of message: RawSpan) -> SHA256.Digest {
    var hash = inner
    hash.update(message)
    let digest = hash.finalize()
    hash = outer
    unsafe hash.update(digest.span.bytes)
    return hash.finalize()
  }

  private static func state(after block: [UInt8]) -> SHA256 {
    var hash = SHA256()
    unsafe hash.update(block.span.bytes)
    return hash
  }
}
