/// The headers that sniffers put in front of what they heard.
extension AdvertExtractor {
  /// LE_LL_WITH_PHDR.
  ///
  /// - Shape: 0 RF channel, 1 signal i8, 2 noise i8, 3 access-address errors, 4 reference access address u32,
  ///   8 flags u16 little-endian: 0x0001 dewhitened, 0x0002 signal valid, 0x0380 PDU type, 0x0400 CRC
  ///   checked, 0x0800 CRC right, 0x3000 kind of an auxiliary PDU, 0xC000 PHY; 10 the packet.
  mutating func withHeader(_ view: ByteView, of packet: Packet, _ body: (AdvertisingReport) -> Void) {
    guard view.count >= 10 else { return count(cut: packet) }
    let flags = view.u16(8, .little)
    let type = flags >> 7 & 7
    guard type <= 1 else { return tally.unrelated += 1 }
    var air = AirPacket(view.dropping(10))
    air.hasRSSI = true
    air.level = flags & 0x0002 != 0 ? Int8(bitPattern: view[1]) : nil
    air.channel = AirPacket.channelIndex(physical: view[0])
    // Ubertooth does not say "checked": only where a tool does is its word taken. Nor do all tools say
    // "dewhitened"; of bytes that are still whitened the checksum is wrong.
    if flags & 0x0401 == 0x0401 { air.verdict = flags & 0x0800 != 0 ? .passed : .failed }
    air.phy = AdvertisingReport.PHY(rawValue: UInt8(flags >> 14) + 1)
    if type == 1 { air.role = AirPacket.Role(auxiliaryBits: flags >> 12) }
    linkLayer(air, of: packet, body)
  }

  /// Nordic's sniffer, versions 1 to 3; version 0, which begins with `beef`, is counted as unsupported.
  ///
  /// - Shape: version 1: 0 board, 1 header length, 2 payload length, 3 version; versions 2 and 3: 1 payload
  ///   length u16; then 4 counter u16, 6 packet type, 7 inner length, 8 flags, 9 channel index, 10 RSSI
  ///   without its sign, 11 event counter u16, 13 time u32, and the packet at 7 + inner length.
  mutating func nordic(_ view: ByteView, of packet: Packet, _ body: (AdvertisingReport) -> Void) {
    guard view.count >= 7 else { return count(cut: packet) }
    let version = view.u16(0, .big) == 0xBEEF ? 0 : view[3]
    // Types: 6 a packet (in version 3: of a connection), 2 in version 3 an advertising packet.
    let wanted: UInt8
    switch version {
    case 1, 2: wanted = 6
    case 3: wanted = 2
    default: return tally.unsupportedLinkType += 1
    }
    guard view[6] == wanted else { return tally.unrelated += 1 }
    guard view.count >= 11 else { return count(cut: packet) }
    let inner = Int(view[7])
    guard inner >= 4, view.count >= 7 + inner else { return count(cut: packet) }
    let flags = view[8]
    var air = AirPacket(view.dropping(7 + inner))
    air.hasRSSI = true
    air.level = Int8(clamping: -Int(view[10]))
    air.channel = view[9] < 40 ? view[9] : nil
    air.verdict = flags & 1 != 0 ? .passed : .failed
    air.phy = .oneMegabit
    if version == 3 {
      air.phy = AdvertisingReport.PHY(rawValue: (flags >> 4 & 7) + 1)
      if let channel = air.channel {
        air.role = channel < 37 ? AirPacket.Role(auxiliaryBits: UInt16(flags >> 1)) : .primary
      }
    }
    linkLayer(air, of: packet, body)
  }

  /// Per-packet information; in Ubertooth's captures around the link layer.
  ///
  /// - Shape: 0 version, 1 flags, 2 header length u16, 4 link type u32, all little-endian; the packet behind
  ///   the header.
  mutating func perPacketInformation(
    _ view: ByteView,
    of packet: Packet,
    _ body: (AdvertisingReport) -> Void
  ) {
    guard view.count >= 8 else { return count(cut: packet) }
    let inner = view.u32(4, .little)
    // 147 is the first of the numbers free for own use; with it Ubertooth means the LE link layer.
    guard inner == 147 || inner == 251 else { return tally.unsupportedLinkType += 1 }
    let length = Int(view.u16(2, .little))
    guard length >= 8, view.count >= length else { return count(cut: packet) }
    linkLayer(AirPacket(view.dropping(length)), of: packet, body)
  }
}
