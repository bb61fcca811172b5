import PharosModel
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("The tag of a datagram")
struct MessageAuthenticatorTests {
  @Test("a tag is the first 16 bytes of HMAC-SHA256 and no fewer")
  func tag() {
    let message = Array("Hi There".utf8)
    let authenticator = MessageAuthenticator(secret: Array(repeating: 0x0B, count: 20))
    // RFC 4231, test case 1.
    let tag: [UInt8] = [
      0xB0, 0x34, 0x4C, 0x61, 0xD8, 0xDB, 0x38, 0x53, 0x5C, 0xA8, 0xAF, 0xCE, 0xAF, 0x0B, 0xF1, 0x2B,
    ]
    let short = Array(tag.dropLast())
    let isValid = authenticator.isValid(tag: tag.span.bytes, of: message.span.bytes)
    let isShortValid = authenticator.isValid(tag: short.span.bytes, of: message.span.bytes)
    #expect(isValid && !isShortValid)
  }

  @Test("of a tag every bit counts")
  func everyBit() {
    let message = Array("a message".utf8)
    let authenticator = MessageAuthenticator(secret: Array(0..<32))
    let (first, second) = authenticator.tag(of: message.span.bytes)
    let tag = withUnsafeBytes(of: (first, second)) { Array($0) }
    for bit in 0..<128 {
      var wrong = tag
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      let isValid = authenticator.isValid(tag: wrong.span.bytes, of: message.span.bytes)
      #expect(!isValid)
    }
  }
}
