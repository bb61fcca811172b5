/// A Bluetooth device address: 48 bits and whether they are public or random.
public struct DeviceAddress: Hashable, Comparable, Sendable {
  /// What the advertiser said its address is.
  public enum Kind: UInt8, Hashable, Sendable {
    /// Registered with the IEEE.
    case `public`
    /// Made by the device: static, or private and changing.
    case random
    /// The format that brought it does not tell.
    case unknown
  }

  /// The 48 bits, as printed: the first octet most significant.
  public let bits: UInt64
  /// Public, random, or not told.
  public let kind: Kind

  /// Makes an address from the low 48 bits of a number.
  public init(bits: UInt64, kind: Kind) {
    self.bits = bits & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  /// Reads twelve hexadecimal digits, with `:` or `-` between octets or with nothing.
  public init?(_ text: some StringProtocol, kind: Kind = .unknown) {
    guard let bits = OctetText.parse(text, octets: 6) else { return nil }
    self.init(bits: bits, kind: kind)
  }

  /// Whether the address is a private one that changes every few minutes, and therefore never a key.
  ///
  /// Random addresses carry their sort in the two highest bits: 11 static, 01 resolvable, 00 not resolvable.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 1.3.2.
  @inlinable public var isPrivate: Bool { kind == .random && bits >> 46 != 0b11 }

  /// Orders addresses by their bits.
  public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool {
    (left.bits, left.kind.rawValue) < (right.bits, right.kind.rawValue)
  }
}

extension DeviceAddress: CustomStringConvertible {
  /// Six octets in lower case with colons, as in `ac:23:3f:a0:00:01`.
  public var description: String { Hex.octets(bits, bytes: 6) }
}

/// Octets as people write them: with colons, with dashes, or run together.
enum OctetText {
  /// The number that exactly `octets` octets spell, or nil.
  static func parse(_ text: some StringProtocol, octets: Int) -> UInt64? {
    let bytes = Array(text.utf8)
    var value: UInt64 = 0
    if bytes.count == octets * 2 {
      for byte in bytes {
        guard let nibble = Hex.nibble(byte) else { return nil }
        value = value << 4 | UInt64(nibble)
      }
      return value
    }
    guard bytes.count == octets * 3 - 1, let separator = bytes.dropFirst(2).first else { return nil }
    guard separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-") else { return nil }
    for (index, byte) in bytes.enumerated() {
      if index % 3 == 2 {
        guard byte == separator else { return nil }
      } else {
        guard let nibble = Hex.nibble(byte) else { return nil }
        value = value << 4 | UInt64(nibble)
      }
    }
    return value
  }
}
