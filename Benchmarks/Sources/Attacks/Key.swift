import PharosSecurity
import ServedProcess

/// A key as `pharos observer add` prints it: `pharos-key-<id>-<secret>`.
struct Key: Sendable {
  /// How long a tag is: the first half of an HMAC-SHA256.
  static let tagLength = 16

  var id: UInt32
  var secret: [UInt8]

  /// Finds the key in what the command has printed.
  init(in text: String) throws {
    guard let found = text.firstMatch(of: /pharos-key-([0-9a-f]{8})-([0-9a-f]{64})/),
      let id = UInt32(found.1, radix: 16)
    else { throw ServedProcessError("`pharos observer add` prints no key; it says:\n\(text)") }
    let digits = Array(found.2.utf8).map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    self.id = id
    secret = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Creates a key that the server does not know.
  init(id: UInt32, secret: [UInt8]) {
    self.id = id
    self.secret = secret
  }

  /// Writes the tag over the last bytes of a datagram that has room for it.
  func sign(_ datagram: inout [UInt8]) {
    let message = Array(datagram.dropLast(Key.tagLength))
    let tag = HMACSHA256(key: secret).code(of: message.span.bytes).array
    datagram.replaceSubrange(message.count..., with: tag.prefix(Key.tagLength))
  }
}
