import CCrypto

/// Authenticated encryption by AES-128 in Galois/Counter Mode.
///
/// - Source: NIST SP 800-38D; the implementation is OpenSSL's libcrypto.
package enum AES128GCM {
  /// The length of a key.
  ///
  /// - Units: bytes.
  package static let keyLength = 16
  /// The length of a nonce, which must not repeat under a key.
  ///
  /// - Units: bytes.
  package static let nonceLength = 12
  /// The length of the tag behind the text.
  ///
  /// - Units: bytes.
  package static let tagLength = 16

  /// Encrypts a text.
  ///
  /// - Returns: the encrypted text, as long as the text, and the tag behind it.
  package static func seal(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    precondition(key.count == keyLength && nonce.count == nonceLength, "AES-128-GCM has 16 and 12 bytes")
    var sealed = [UInt8](repeating: 0, count: text.count)
    var tag = [UInt8](repeating: 0, count: tagLength)
    var length: Int32 = 0
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    // The usual length of nonces is that of libcrypto.
    let isSealed =
      unsafe EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1
      && EVP_EncryptUpdate(context, &sealed, &length, text, Int32(text.count)) == 1
      && EVP_EncryptFinal_ex(context, nil, &length) == 1
      && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
    precondition(isSealed, "libcrypto refused to encrypt \(text.count) bytes")
    return sealed + tag
  }
}

extension HMACSHA256 {
  /// Derives a key from a secret.
  ///
  /// - Parameters:
  ///   - secret: the secret.
  ///   - salt: the salt.
  ///   - info: the purpose of the key.
  ///   - length: the length of the key, 1 to 32 bytes.
  /// - Returns: the key.
  /// - Source: RFC 5869, with one block of output.
  package static func derivedKey(from secret: [UInt8], salt: [UInt8], info: [UInt8], length: Int) -> [UInt8] {
    let extracted = unsafe HMACSHA256(key: salt).code(of: secret.span.bytes).array
    let block = info + [1]
    return unsafe Array(HMACSHA256(key: extracted).code(of: block.span.bytes).array.prefix(length))
  }
}
