import CCrypto

/// The AES-128 block cipher with one key, for single blocks.
///
/// - Source: FIPS 197; the implementation is OpenSSL's libcrypto.
package struct AES128: Sendable {
  /// Sixteen bytes as two numbers, the most significant byte first.
  package typealias Block = (high: UInt64, low: UInt64)

  private var schedule = AES_KEY()

  /// Expands a key.
  package init(key: Block) {
    let status = unsafe withUnsafeBytes(of: (key.high.bigEndian, key.low.bigEndian)) { bytes in
      unsafe AES_set_encrypt_key(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, 128, &schedule)
    }
    precondition(status == 0, "libcrypto refused a 128-bit AES key with status \(status)")
  }

  /// Encrypts one block.
  package func encrypt(_ block: Block) -> Block {
    var bytes = (block.high.bigEndian, block.low.bigEndian)
    unsafe withUnsafeMutableBytes(of: &bytes) { bytes in
      let address = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
      unsafe withUnsafePointer(to: schedule) { unsafe AES_encrypt(address, address, $0) }
    }
    return (high: UInt64(bigEndian: bytes.0), low: UInt64(bigEndian: bytes.1))
  }
}
