import CCrypto

/// A private key of the elliptic curve P-256, for signatures and for agreements on a secret.
///
/// - Source: SEC 1, RFC 5915 and RFC 5480 (encodings), FIPS 186-5 (ECDSA); the implementation is OpenSSL's libcrypto.
package struct P256Key: Hashable, Sendable {
  /// The length of the private number and of a coordinate.
  ///
  /// - Units: bytes.
  package static let numberLength = 32
  /// The length of an uncompressed point: 4, and two coordinates.
  ///
  /// - Units: bytes.
  package static let pointLength = 65

  /// The private number, the most significant byte first.
  package let number: [UInt8]
  /// The public point, uncompressed.
  package let point: [UInt8]

  /// Generates a random key.
  package init() {
    var generator = SystemRandomNumberGenerator()
    func random() -> [UInt8] {
      (0..<P256Key.numberLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
    // One number in four thousand million is beyond the order.
    while true {
      guard let key = P256Key(number: random()) else { continue }
      self = key
      return
    }
  }

  /// Makes a key of its private number; returns nil if the number is no key of the curve.
  package init?(number: [UInt8]) {
    guard number.count == P256Key.numberLength, number.contains(where: { $0 != 0 }),
      number.lexicographicallyPrecedes(P256Key.order),
      let point = unsafe P256Key.withPrivate(number, P256Key.point)
    else { return nil }
    self.number = number
    self.point = point
  }

  /// Returns the secret that this key and the key of a point have in common; returns nil if the point is not on the curve.
  ///
  /// - Source: SEC 1, 3.3.1: the first coordinate of the product.
  package func sharedSecret(with point: [UInt8]) -> [UInt8]? {
    guard point.count == P256Key.pointLength, point.first == 4 else { return nil }
    return unsafe P256Key.withPrivate(number) { own in
      unsafe P256Key.withPublic(point) { other in unsafe P256Key.derive(own, other) }
    }
  }

  /// Returns the signature of a message with SHA-256: two numbers of 32 bytes each.
  ///
  /// - Source: RFC 7518, 3.4 (the form).
  package func signature(of message: [UInt8]) -> [UInt8] {
    let signature = unsafe P256Key.withPrivate(number) { key in unsafe P256Key.sign(message, key) }
    guard let signature, let numbers = P256Key.numbers(ofSignature: signature) else {
      preconditionFailure("libcrypto refused to sign \(message.count) bytes with a key of P-256")
    }
    return numbers
  }
}

extension P256Key: CustomStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the private number.
  package var description: String { "a key of P-256" }
  /// A mirror without children, so that the private number is not dumped.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension P256Key {
  /// The order of the curve's base point.
  ///
  /// - Source: SEC 2, 2.4.2.
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]
  /// The name of the curve in DER.
  private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
  /// The name of public keys of elliptic curves in DER.
  private static let ellipticCurves: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

  /// Calls a closure with a private key of libcrypto; returns nil if libcrypto refuses the number.
  private static func withPrivate<Result>(
    _ number: [UInt8],
    _ body: (OpaquePointer) -> Result?
  ) -> Result? {
    // RFC 5915: version 1, the number, the curve.
    let head: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    let document = head + number + [0xA0, 0x0A] + curve
    return unsafe document.withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      guard let key = unsafe d2i_AutoPrivateKey(nil, &next, buffer.count) else { return nil }
      defer { unsafe EVP_PKEY_free(key) }
      return unsafe body(key)
    }
  }

  /// Calls a closure with a public key of libcrypto; returns nil if the point is not on the curve.
  private static func withPublic<Result>(_ point: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
    // RFC 5480: the algorithm with its curve, and the point as a bit string.
    let head: [UInt8] = [0x30, 0x59, 0x30, 0x13] + ellipticCurves + curve + [0x03, 0x42, 0x00]
    return unsafe (head + point).withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      guard let key = unsafe d2i_PUBKEY(nil, &next, buffer.count) else { return nil }
      defer { unsafe EVP_PKEY_free(key) }
      return unsafe body(key)
    }
  }

  /// Returns the public point of a key.
  private static func point(of key: OpaquePointer) -> [UInt8]? {
    var document: UnsafeMutablePointer<UInt8>?
    let length = unsafe Int(i2d_PUBKEY(key, &document))
    guard length >= pointLength, let start = unsafe document else { return nil }
    defer { unsafe CRYPTO_free(start, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: start, count: length).suffix(pointLength))
  }

  private static func derive(_ own: OpaquePointer, _ other: OpaquePointer) -> [UInt8]? {
    guard let context = unsafe EVP_PKEY_CTX_new(own, nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, other) == 1
    else { return nil }
    var secret = [UInt8](repeating: 0, count: numberLength)
    var length = secret.count
    guard unsafe EVP_PKEY_derive(context, &secret, &length) == 1, length == numberLength else { return nil }
    return secret
  }

  private static func sign(_ message: [UInt8], _ key: OpaquePointer) -> [UInt8]? {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
    // Two numbers of at most 33 bytes, each with two before it, and two before both.
    var signature = [UInt8](repeating: 0, count: 72)
    var length = signature.count
    guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { return nil }
    return Array(signature.prefix(length))
  }

  /// Returns the two numbers of a signature in DER, 32 bytes each; returns nil if it is none.
  private static func numbers(ofSignature der: [UInt8]) -> [UInt8]? {
    var rest = der.dropFirst(2)
    var numbers: [UInt8] = []
    for _ in 0..<2 {
      guard rest.count >= 2, rest.removeFirst() == 0x02 else { return nil }
      let length = Int(rest.removeFirst())
      guard rest.count >= length else { return nil }
      let digits = rest.prefix(length).drop { $0 == 0 }
      guard digits.count <= numberLength else { return nil }
      numbers += Array(repeating: 0, count: numberLength - digits.count) + digits
      rest = rest.dropFirst(length)
    }
    return numbers
  }
}
