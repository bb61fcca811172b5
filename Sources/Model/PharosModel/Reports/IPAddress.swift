/// An IPv4 or IPv6 address, as a packet carries it.
public struct IPAddress: Hashable, Sendable {
  /// The version of the Internet Protocol.
  public enum Version: UInt8, Hashable, Sendable {
    /// 32 bits.
    case v4 = 4
    /// 128 bits.
    case v6 = 6
  }

  /// The version of the address.
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

  /// The same address in IPv6: an IPv4 address becomes a mapped one.
  public var asV6: IPAddress {
    version == .v6 ? self : IPAddress(v6: 0, 0xFFFF_0000_0000 | low)
  }
}

/// An address and a UDP port.
public struct Endpoint: Hashable, Sendable {
  /// The address.
  public let address: IPAddress
  /// The port.
  public let port: UInt16

  /// Makes an endpoint.
  public init(_ address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  /// `10.0.0.1:50001` or `[fd07::1]:50001`.
  public var description: String {
    address.version == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
  }
}

extension IPAddress: CustomStringConvertible {
  /// Dotted decimal, or IPv6 text with the longest run of zeros left out.
  ///
  /// - Source: RFC 5952; an embedded IPv4 address is written as `inet_ntop` does it.
  public var description: String {
    guard version == .v6 else { return IPAddress.dotted(UInt32(truncatingIfNeeded: low)) }
    if high == 0, low >> 32 == 0xFFFF {
      return "::ffff:" + IPAddress.dotted(UInt32(truncatingIfNeeded: low))
    }
    if high == 0, low >> 32 == 0, low >> 16 != 0 {
      return "::" + IPAddress.dotted(UInt32(truncatingIfNeeded: low))
    }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - index % 4 * 16))
    }
    let texts = groups.map { String($0, radix: 16) }
    guard let gap = IPAddress.firstRunOfZeros(groups) else { return texts.joined(separator: ":") }
    return texts[..<gap.lowerBound].joined(separator: ":") + "::"
      + texts[gap.upperBound...].joined(separator: ":")
  }

  private static func dotted(_ bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
  }

  /// The first of the longest runs of at least two zero groups.
  private static func firstRunOfZeros(_ groups: [UInt16]) -> Range<Int>? {
    var maximum = 0..<1
    var start = 0
    for (index, group) in groups.enumerated() {
      if group != 0 { start = index + 1 }
      if index + 1 - start > maximum.count { maximum = start..<(index + 1) }
    }
    return maximum.count > 1 ? maximum : nil
  }
}

extension IPAddress {
  /// Reads an address from text, IPv4 in dotted decimal or IPv6 with or without `::`.
  ///
  /// The last 32 bits of IPv6 may be dotted decimal too. Zones (`%eth0`) are not read.
  public init?(_ text: some StringProtocol) {
    guard let colon = text.lastIndex(of: ":") else {
      guard let bits = IPAddress.bits(ofDotted: text) else { return nil }
      self.init(v4: bits)
      return
    }
    var plain = String(text)
    if text[colon...].contains(".") {
      guard let bits = IPAddress.bits(ofDotted: text[colon...].dropFirst()) else { return nil }
      plain = text[...colon] + String(bits >> 16, radix: 16) + ":" + String(bits & 0xFFFF, radix: 16)
    }
    guard let groups = IPAddress.groups(of: plain) else { return nil }
    let words = groups.map { UInt64($0) }
    self.init(
      v6: words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
      words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7]
    )
  }

  /// The bits of four numbers with dots between them.
  private static func bits(ofDotted text: some StringProtocol) -> UInt32? {
    let octets = text.split(separator: ".", omittingEmptySubsequences: false)
    guard octets.count == 4 else { return nil }
    var bits: UInt32 = 0
    for octet in octets {
      guard octet.utf8.count <= 3, octet.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      guard let value = UInt8(octet) else { return nil }
      bits = bits << 8 | UInt32(value)
    }
    return bits
  }

  /// The eight groups that IPv6 text stands for.
  private static func groups(of text: String) -> [UInt16]? {
    var sides: [[UInt16]] = [[]]
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts.count <= 9 else { return nil }
    for (index, part) in parts.enumerated() {
      if part.isEmpty {
        // An empty part is the gap itself; at either end of the text the gap shows as two of them.
        let isEnd = index == 0 || index == parts.count - 1
        let isBeside = index == 0 ? parts[1].isEmpty : parts[index - 1].isEmpty
        if isEnd {
          guard isBeside else { return nil }
          if index > 0, sides.count == 1 { sides.append([]) }
        } else {
          if sides.count == 2 { return nil }
          sides.append([])
        }
        continue
      }
      guard part.utf8.count <= 4, let group = UInt16(part, radix: 16), part.first != "+" else { return nil }
      sides[sides.count - 1].append(group)
    }
    let count = sides.reduce(0) { $0 + $1.count }
    if sides.count == 1 { return count == 8 ? sides[0] : nil }
    guard count < 8 else { return nil }
    return sides[0] + [UInt16](repeating: 0, count: 8 - count) + sides[1]
  }
}
