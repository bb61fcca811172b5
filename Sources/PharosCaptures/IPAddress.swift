/// An IPv4 or IPv6 address, as a packet carries it.
public struct IPAddress: Hashable, Sendable {
  /// The version of the Internet Protocol.
  public enum Version: UInt8, Hashable, Sendable {
    /// 32 bits.
    case v4 = 4
    /// 128 bits.
    case v6 = 6
  }

  /// Which of the two.
  public let version: Version
  /// The first 64 bits of an IPv6 address, otherwise 0.
  public let high: UInt64
  /// The last 64 bits of an IPv6 address, or the 32 of an IPv4 address.
  public let low: UInt64

  /// Makes an IPv4 address, the first octet most significant.
  public init(v4 bits: UInt32) {
    version = .v4
    high = 0
    low = UInt64(bits)
  }

  /// Makes an IPv6 address from its two halves.
  public init(v6 high: UInt64, _ low: UInt64) {
    version = .v6
    self.high = high
    self.low = low
  }

  /// The same address as IPv6 says it: an IPv4 address becomes a mapped one.
  public var asV6: IPAddress {
    version == .v6 ? self : IPAddress(v6: 0, 0xFFFF_0000_0000 | low)
  }
}
