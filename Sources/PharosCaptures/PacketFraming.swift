/// Finds the IP packet inside what a link type wraps around it.
enum PacketFraming {
  /// What was found.
  enum Finding {
    /// The IP packet, and the innermost VLAN that it was in, or 0.
    case ip(ByteView, vlan: UInt16)
    /// Another protocol.
    case unrelated
    /// Too short for the framing itself.
    case cut
    /// No framing that can hold IP.
    case unsupported
  }

  private static let ipv4: UInt16 = 0x0800
  private static let ipv6: UInt16 = 0x86DD

  /// Looks behind the framing of a link type.
  static func find(in view: ByteView, linkType: LinkType) -> Finding {
    switch linkType {
    case .ethernet: behindEtherType(view, typeAt: 12)
    case .linuxSLL: behindEtherType(view, typeAt: 14)
    case .linuxSLL2: behindEtherType(view, typeAt: 0, headerLength: 20)
    case .raw, .rawOld, .rawOpenBSD, .ipv4, .ipv6: view.count > 0 ? .ip(view, vlan: 0) : .cut
    case .null: behindFamily(view, isBigEndian: false)
    case .loop: behindFamily(view, isBigEndian: true)
    default: .unsupported
    }
  }

  /// Reads a type of Ethernet's numbering, passing over VLAN tags of four bytes that stand behind the header.
  ///
  /// In Ethernet, SLL and SLL2 alike the tags follow the header, each ending with the type of what it wraps.
  private static func behindEtherType(
    _ view: ByteView,
    typeAt: Int,
    headerLength: Int? = nil
  ) -> Finding {
    var end = headerLength ?? typeAt + 2
    guard view.count >= end else { return .cut }
    var type = view.u16(typeAt, .big)
    var vlan: UInt16 = 0
    while type == 0x8100 || type == 0x88A8 || type == 0x9100 {
      guard view.count >= end + 4 else { return .cut }
      // Priority and drop eligibility stand above the number.
      vlan = view.u16(end, .big) & 0x0FFF
      type = view.u16(end + 2, .big)
      end += 4
    }
    return type == ipv4 || type == ipv6 ? .ip(view.dropping(end), vlan: vlan) : .unrelated
  }

  /// Reads the address family in front of a loopback packet.
  ///
  /// NULL has it in the order of the host that captured, which the file does not name: both are tried. 2 is
  /// IPv4 everywhere; 24, 28 and 30 are IPv6 on NetBSD and OpenBSD, FreeBSD and Darwin, and 10 on Linux. Some
  /// drivers leave a type of Ethernet's numbering in the last two bytes instead (`null-loopback.pcap` of
  /// PcapPlusPlus has one).
  private static func behindFamily(_ view: ByteView, isBigEndian: Bool) -> Finding {
    guard view.count >= 4 else { return .cut }
    let isIP = { (family: UInt32) in
      switch family {
      case 2, 10, 24, 28, 30: true
      default: false
      }
    }
    let matches = isIP(view.u32(0, .big)) || (!isBigEndian && isIP(view.u32(0, .little)))
    let type = view.u16(2, .big)
    return matches || type == ipv4 || type == ipv6 ? .ip(view.dropping(4), vlan: 0) : .unrelated
  }
}
