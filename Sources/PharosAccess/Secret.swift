import PharosCrypto
import PharosReports

/// The secret part of a token, and what is kept of it.
enum Secret {
  /// What every secret begins with, so that a scanner for leaked credentials knows one when it sees it.
  static let prefix = "pht_"
  /// - Units: bytes; 256 bits cannot be guessed, so a plain hash without salt and stretching is enough.
  static let length = 32
  /// - Units: bytes.
  static let digestLength = 32
  /// - Units: bytes; what a longer text holds is not looked at, so that a header cannot cost time.
  static let longest = 256

  /// A new secret from the system's generator.
  static func random() -> String {
    prefix + base64URL(randomBytes(length))
  }

  /// A new id for lists: 9 random bytes, 12 characters.
  static func randomID() -> String { base64URL(randomBytes(9)) }

  /// The SHA-256 of a secret as it is written.
  static func digest(of secret: String) -> [UInt8] {
    SHA256.hash(Array(secret.utf8))
  }

  /// A short text for a key of any length: 16 bytes of the SHA-256 of its fields, in hexadecimal.
  static func key(_ write: (inout FieldWriter) -> Void) -> String {
    var writer = FieldWriter()
    write(&writer)
    return Hex.text(SHA256.hash(writer.bytes).prefix(16))
  }

  /// Whether two digests are the same, in a time that does not depend on where they differ.
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }

  /// - Source: RFC 4648 section 5, without padding.
  static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for position in 0...group.count {
        text.append(alphabet[Int(bits >> UInt32(18 - 6 * position) & 0x3F)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
