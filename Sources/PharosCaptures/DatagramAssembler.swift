import PharosReports

/// Finds the UDP datagrams in packets, putting fragmented ones together.
///
/// Ethernet with VLAN tags, Linux cooked capture, raw IP and loopback framings; IPv4 and IPv6. Checksums are
/// never verified: captures made on the sending host have wrong ones. A capture filtered by port holds only
/// the first fragment of each datagram; record with `udp port N or (ip[6:2] & 0x3fff != 0) or ip6[6] = 44`
/// instead.
package struct DatagramAssembler: Sendable {
  private var fragments = FragmentStore()
  private var latest = Timestamp(nanoseconds: 0)
  private var tally = CaptureCounters()

  /// Makes an assembler that has seen nothing.
  package init() {}

  /// What was found and what was passed over.
  package var counters: CaptureCounters {
    var counters = tally
    counters.abandonedDatagrams = fragments.abandoned
    return counters
  }

  /// How many datagrams wait for fragments.
  package var waiting: Int { fragments.count }

  /// Takes the next packet and gives the datagram that it brings or completes.
  package mutating func add(_ packet: Packet) -> UDPDatagram? {
    tally.packets += 1
    if let time = packet.time { latest = time }
    if let datagram = UDPDatagram(plain: packet) {
      tally.datagrams += 1
      return datagram
    }
    return addUnusual(packet)
  }

  /// Takes a packet that is anything but one whole datagram behind plain headers.
  private mutating func addUnusual(_ packet: Packet) -> UDPDatagram? {
    switch PacketFraming.find(in: ByteView(packet.bytes), linkType: packet.linkType) {
    case .unsupported: tally.unsupportedLinkType += 1
    case .unrelated: tally.unrelated += 1
    case .cut: count(cut: packet)
    case .ip(let view, let vlan):
      switch IPPacket.read(view, isSnapped: packet.isSnapped) {
      case .unrelated: tally.unrelated += 1
      case .malformed: tally.malformed += 1
      case .snapped: tally.snapped += 1
      case .packet(let found): return datagram(in: found, vlan: vlan, of: packet)
      }
    }
    return nil
  }

  private mutating func count(cut packet: Packet) {
    if packet.isSnapped { tally.snapped += 1 } else { tally.malformed += 1 }
  }

  private mutating func datagram(
    in found: IPPacket,
    vlan: UInt16,
    of packet: Packet
  ) -> UDPDatagram? {
    guard let fragment = found.fragment else { return unwrap(found, of: packet) }
    tally.fragments += 1
    guard found.payload.count == found.payloadLength else {
      tally.snapped += 1
      return nil
    }
    switch fragments.add(found, fragment, vlan: vlan, at: packet.time ?? latest) {
    case .waiting: return nil
    case .malformed:
      tally.malformed += 1
      return nil
    case .overlap:
      tally.overlaps += 1
      return nil
    case .whole(let bytes, let next):
      var whole = found
      whole.fragment = nil
      whole.next = next
      whole.payload = ByteView(bytes[...])
      whole.payloadLength = bytes.count
      // Destination options and the like may stand between the fragment header and UDP's.
      guard case .passed = whole.passExtensionHeaders(), whole.fragment == nil else {
        tally.unrelated += 1
        return nil
      }
      return unwrap(whole, of: packet)
    }
  }

  /// Reads the UDP header in front of a payload.
  private mutating func unwrap(_ found: IPPacket, of packet: Packet) -> UDPDatagram? {
    let view = found.payload
    guard view.count >= UDPHeader.length else {
      if view.count < found.payloadLength { tally.snapped += 1 } else { tally.malformed += 1 }
      return nil
    }
    var length = Int(view.u16(4, .big))
    // Length 0 is what segmentation offload leaves on the sending host.
    if length == 0 { length = found.payloadLength }
    guard length >= UDPHeader.length, length <= found.payloadLength else {
      tally.malformed += 1
      return nil
    }
    tally.datagrams += 1
    let present = min(length, view.count) - UDPHeader.length
    if present < length - UDPHeader.length { tally.snapped += 1 }
    return UDPDatagram(
      frame: packet.number,
      time: packet.time,
      source: Endpoint(found.source, port: view.u16(0, .big)),
      destination: Endpoint(found.destination, port: view.u16(2, .big)),
      payload: view.slice(UDPHeader.length, present),
      originalLength: length - UDPHeader.length
    )
  }
}
