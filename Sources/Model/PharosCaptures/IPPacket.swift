import PharosModel

/// The fields of an IP packet that are needed to find its UDP datagram.
struct IPPacket {
  /// The result of reading an IP packet.
  enum Reading {
    case packet(IPPacket)
    /// A protocol other than UDP, by its number.
    case unrelated(UInt8)
    /// Lengths that contradict each other.
    case malformed
    /// Cut by the capture before the headers ended.
    case snapped
  }

  /// The position of a fragment in its datagram.
  struct Fragment {
    var id: UInt32
    /// - Units: bytes.
    var offset: Int
    var hasMore: Bool
  }

  var source: IPAddress
  var destination: IPAddress
  /// The type of the payload: an IP protocol number or the number of an IPv6 extension header.
  var next: UInt8
  var fragment: Fragment?
  /// The captured part of the payload.
  var payload: ByteView
  /// The length of the payload on the wire.
  var payloadLength: Int

  /// Reads an IP header of the version in its first four bits.
  static func read(_ view: ByteView, isSnapped: Bool) -> Reading {
    guard view.count > 0 else { return isSnapped ? .snapped : .malformed }
    switch view[0] >> 4 {
    case 4: return readV4(view, isSnapped: isSnapped)
    case 6: return readV6(view, isSnapped: isSnapped)
    default: return .malformed
    }
  }

  private static func readV4(_ view: ByteView, isSnapped: Bool) -> Reading {
    guard view.count >= 20 else { return isSnapped ? .snapped : .malformed }
    let header = Int(view[0] & 15) * 4
    var total = Int(view.u16(2, .big))
    // Segmentation offload leaves the length 0 on the sending host: what was captured is all there is to go
    // by.
    if total == 0 { total = view.count }
    guard header >= 20, total >= header else { return .malformed }
    // A packet longer than what was captured was cut, whether or not the file says so.
    guard view[9] == UDPHeader.protocolNumber else { return .unrelated(view[9]) }
    guard view.count >= header else { return .snapped }
    let bits = view.u16(6, .big)
    let offset = Int(bits & 0x1FFF) * 8
    let hasMore = bits & 0x2000 != 0
    let isFragment = offset > 0 || hasMore
    return .packet(
      IPPacket(
        source: IPAddress(v4: view.u32(12, .big)),
        destination: IPAddress(v4: view.u32(16, .big)),
        next: view[9],
        fragment: isFragment
          ? Fragment(id: UInt32(view.u16(4, .big)), offset: offset, hasMore: hasMore) : nil,
        payload: ByteView(view.slice(header, min(total, view.count) - header)),
        payloadLength: total - header
      )
    )
  }

  private static func readV6(_ view: ByteView, isSnapped: Bool) -> Reading {
    guard view.count >= 40 else { return isSnapped ? .snapped : .malformed }
    var length = Int(view.u16(4, .big))
    if length == 0 { length = view.count - 40 }
    var packet = IPPacket(
      source: IPAddress(v6: view.u64(8, .big), view.u64(16, .big)),
      destination: IPAddress(v6: view.u64(24, .big), view.u64(32, .big)),
      next: view[6],
      fragment: nil,
      payload: ByteView(view.slice(40, min(length, view.count - 40))),
      payloadLength: length
    )
    switch packet.passExtensionHeaders() {
    case .passed: return .packet(packet)
    case .unrelated: return .unrelated(packet.next)
    case .cut: return packet.payload.count < packet.payloadLength ? .snapped : .malformed
    }
  }
}

extension IPPacket {
  /// The result of a walk over extension headers.
  enum Walk {
    /// At a UDP header, or at the payload of a fragment.
    case passed
    /// At another protocol.
    case unrelated
    /// Past the end.
    case cut
  }

  /// Passes over IPv6 extension headers up to the UDP header or through a fragment header.
  ///
  /// - Shape: hop-by-hop (0), routing (43), destination (60) and mobility (135): 0 next, 1 length in units of
  ///   8 bytes beyond the first. Authentication (51): units of 4 beyond the first two. Fragment (44): 0 next,
  ///   2 offset in the top 13 bits and "more" in the lowest, 4 id u32.
  mutating func passExtensionHeaders() -> Walk {
    // Every header is at least 8 bytes long, so the walk ends.
    while true {
      let length: Int
      switch next {
      case UDPHeader.protocolNumber: return .passed
      case 0, 43, 60, 135:
        guard payload.count >= 2 else { return .cut }
        length = (Int(payload[1]) + 1) * 8
      case 51:
        guard payload.count >= 2 else { return .cut }
        length = (Int(payload[1]) + 2) * 4
      case 44:
        guard payload.count >= 8 else { return .cut }
        let bits = payload.u16(2, .big)
        let piece = Fragment(
          id: payload.u32(4, .big),
          offset: Int(bits & 0xFFF8),
          hasMore: bits & 1 != 0
        )
        next = payload[0]
        drop(8)
        // A fragment header around a whole datagram ("atomic") changes nothing.
        guard piece.offset > 0 || piece.hasMore else { continue }
        fragment = piece
        return IPPacket.mayHoldUDP(next) ? .passed : .unrelated
      default: return .unrelated
      }
      guard payload.count >= length else { return .cut }
      next = payload[0]
      drop(length)
    }
  }

  private mutating func drop(_ length: Int) {
    payload = payload.dropping(length)
    payloadLength -= length
  }

  private static func mayHoldUDP(_ next: UInt8) -> Bool {
    switch next {
    case UDPHeader.protocolNumber, 0, 43, 51, 60, 135: true
    default: false
    }
  }
}

/// The header of a UDP datagram.
///
/// - Shape: 0 source port u16, 2 destination port u16, 4 length u16 with the header, 6 checksum u16, never
///   verified: captures made on the sending host have none.
enum UDPHeader {
  static let protocolNumber: UInt8 = 17
  static let length = 8
}

/// Finds the IP packet inside the framing of a link type.
enum PacketFraming {
  /// The result of a search for an IP packet.
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
