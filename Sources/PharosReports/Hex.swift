/// Hexadecimal text, in lower case, two digits a byte.
public enum Hex {
  /// The value of one hexadecimal digit in ASCII, or nil if it is none.
  public static func nibble(_ ascii: UInt8) -> UInt8? {
    switch ascii {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): ascii - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): ascii - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): ascii - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The bytes that a text spells, or nil if its length is odd or a character is no hexadecimal digit.
  public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var pending: UInt8?
    for ascii in text.utf8 {
      guard let digit = nibble(ascii) else { return nil }
      if let high = pending {
        bytes.append(high << 4 | digit)
        pending = nil
      } else {
        pending = digit
      }
    }
    return pending == nil ? bytes : nil
  }

  /// The digits of some bytes.
  public static func text(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The digits of the lowest `bytes` bytes of a number, the most significant first.
  public static func text(_ number: UInt64, bytes: Int) -> String {
    text((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) })
  }

  /// Octets with colons between them, as device addresses are written.
  public static func octets(_ number: UInt64, bytes: Int) -> String {
    (0..<bytes).reversed()
      .map { text(CollectionOfOne(UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)))) }
      .joined(separator: ":")
  }

  private static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }
}
