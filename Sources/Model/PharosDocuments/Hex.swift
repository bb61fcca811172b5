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
    digits.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The digits of the lowest `bytes` bytes of a number, the most significant first.
  public static func text(_ number: UInt64, bytes: Int) -> String {
    unsafe String(unsafeUninitializedCapacity: bytes * 2) { text in
      for index in 0..<bytes * 2 { unsafe text[index] = digit(nibble(index, of: number, bytes: bytes)) }
      return bytes * 2
    }
  }

  /// Octets with colons between them, as device addresses are written.
  public static func octets(_ number: UInt64, bytes: Int) -> String {
    unsafe String(unsafeUninitializedCapacity: bytes * 3) { text in
      for index in 0..<bytes {
        unsafe text[index * 3] = digit(nibble(index * 2, of: number, bytes: bytes))
        unsafe text[index * 3 + 1] = digit(nibble(index * 2 + 1, of: number, bytes: bytes))
        unsafe text[index * 3 + 2] = UInt8(ascii: ":")
      }
      return max(0, bytes * 3 - 1)
    }
  }

  /// The digit in ASCII of a number below 16.
  package static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  /// One of the digits of the lowest `bytes` bytes of a number, counted from the most significant one.
  package static func nibble(_ index: Int, of number: UInt64, bytes: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: number >> UInt64(4 * (bytes * 2 - 1 - index))) & 15
  }
}
