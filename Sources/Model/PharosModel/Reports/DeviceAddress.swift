public import PharosDocuments

/// A Bluetooth device address: 48 bits and whether they are public or random.
public struct DeviceAddress: Hashable, Comparable, Sendable {
  /// The kind of address that the advertiser stated.
  public enum Kind: UInt8, Hashable, Sendable {
    /// Registered with the IEEE.
    case `public`
    /// Made by the device: static, or private and changing.
    case random
    /// The format of the report does not state it.
    case unknown
  }

  /// The 48 bits, as printed: the first octet most significant.
  public let bits: UInt64
  /// Public, random, or unknown.
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

  /// Indicates whether the address is a private one that changes every few minutes, and therefore never a key.
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

/// The key with which a device makes the addresses that it changes every few minutes: its identity resolving key.
///
/// Any holder of the key can follow the device forever, so nothing of it but the ``fingerprint`` is ever shown,
/// logged, returned or written: descriptions and mirrors leave it out, and a recording names the fingerprint alone.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part H, 2.4.2.1.
public struct IdentityKey: Hashable, Sendable {
  /// A 32-bit identifier that is made with the key: it distinguishes keys and reveals nothing about them.
  public let fingerprint: UInt32
  /// The 128 bits, the first octet most significant; nil for a key of which only the fingerprint is known.
  package let words: Words?

  /// The 128 bits of a key.
  package struct Words: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
      self.high = high
      self.low = low
    }
  }

  /// A key with a fingerprint that was made with it.
  package init(words: Words, fingerprint: UInt32) {
    self.words = words
    self.fingerprint = fingerprint
  }

  /// A key that is somewhere else.
  public init(withheld fingerprint: UInt32) {
    words = nil
    self.fingerprint = fingerprint
  }

  /// Indicates whether the key itself is missing, as in a site that was read from a recording.
  public var isWithheld: Bool { words == nil }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The fingerprint.
  public var description: String { "key \(Hex.text(UInt64(fingerprint), bytes: 4))" }
  /// The fingerprint.
  public var debugDescription: String { description }
  /// Nothing: what dumps a value must not dump a key.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DeviceAddress.Kind: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "an address's kind" }
}

extension DeviceAddress: FieldRecord {
  /// Hands each field to a coder.
  @inlinable
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let kind = try coder.field(value().kind)
    return DeviceAddress(bits: try coder.field(value().bits), kind: kind)
  }
}
