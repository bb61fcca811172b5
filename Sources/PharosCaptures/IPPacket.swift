/// What an IP packet says that matters on the way to its UDP datagram.
struct IPPacket {
  /// What an attempt to read one gives.
  enum Reading {
    case packet(IPPacket)
    /// Something else than UDP.
    case unrelated
    /// Lengths that contradict each other.
    case malformed
    /// Cut by the capture before the headers ended.
    case snapped
  }

  /// Where a fragment belongs.
  struct Fragment {
    var id: UInt32
    /// - Units: bytes.
    var offset: Int
    var hasMore: Bool
  }

  var source: IPAddress
  var destination: IPAddress
  /// What the payload is: an IP protocol number or the number of an IPv6 extension header.
  var next: UInt8
  var fragment: Fragment?
  /// What was captured of the payload.
  var payload: ByteView
  /// How long the payload was on the wire.
  var payloadLength: Int

  /// Reads an IP header of whichever version its first four bits say.
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
    guard view[9] == UDPHeader.protocolNumber else { return .unrelated }
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
    case .unrelated: return .unrelated
    case .cut: return packet.payload.count < packet.payloadLength ? .snapped : .malformed
    }
  }
}

extension IPPacket {
  /// How a walk over extension headers ended.
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
