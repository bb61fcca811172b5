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
