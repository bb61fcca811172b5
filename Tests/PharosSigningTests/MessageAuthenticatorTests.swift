import Crypto
import PharosReports
import PharosTestSupport
import Testing

@testable import PharosSigning

@Suite("The code of a message")
struct MessageAuthenticatorTests {
  /// The test vectors of RFC 4231, section 4, for SHA-256: key, data and code; the fifth is cut to 128 bits there as our tags
  /// are.
  static let vectors: [(key: [UInt8], data: [UInt8], code: String)] = [
    (
      Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(1...25), Array(repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      Array(repeating: 0x0C, count: 20), Array("Test With Truncation".utf8),
      "a3b6167473100ee06e0c796c2955552b"
    ),
    (
      Array(repeating: 0xAA, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      Array(repeating: 0xAA, count: 131),
      Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.").utf8
      ),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ]

  @Test("is that of RFC 4231", arguments: vectors.indices)
  func vector(index: Int) {
    let vector = Self.vectors[index]
    let authenticator = MessageAuthenticator(secret: vector.key)
    // Twice, since the prepared hashers are used again for every message.
    for _ in 0..<2 {
      let code = Hex.text(Array(authenticator.code(of: vector.data.span.bytes)))
      #expect(code.prefix(vector.code.count) == vector.code)
    }
  }

  @Test("is the library's for any secret and message", arguments: 0..<20)
  func library(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<50 {
      let secret = generator.bytes(Int.random(in: 0...150, using: &generator))
      let message = generator.bytes(Int.random(in: 0...1_500, using: &generator))
      let expected = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret))
      let authenticator = MessageAuthenticator(secret: secret)
      let code = Array(authenticator.code(of: message.span.bytes))
      #expect(code == Array(expected))
      let tag = Array(Array(expected).prefix(16))
      let isValid = authenticator.isValid(tag: tag.span.bytes, of: message.span.bytes)
      let short = Array(tag.dropLast())
      let isShortValid = authenticator.isValid(tag: short.span.bytes, of: message.span.bytes)
      #expect(isValid && !isShortValid)
    }
  }

  @Test("of a tag every bit counts")
  func everyBit() {
    let message = Array("a message".utf8)
    let authenticator = MessageAuthenticator(secret: Array(0..<32))
    let tag = Array(Array(authenticator.code(of: message.span.bytes)).prefix(16))
    for bit in 0..<128 {
      var wrong = tag
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      let isValid = authenticator.isValid(tag: wrong.span.bytes, of: message.span.bytes)
      #expect(!isValid)
    }
  }
}

extension SeededGenerator {
  /// Some bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
