import FuzzSupport
import FuzzWire
import PharosCaptures
import PharosModel
import PharosWire

/// Packets of all link types, and captures of them.
enum SamplePackets {
  /// Some packets for each link type.
  static func byLinkType() throws -> [(LinkType, [[UInt8]])] {
    let ip = try ipPackets()
    let air = try airPackets()
    let events = try hciEvents()
    return [
      (.raw, ip),
      (.ethernet, ip.map { [UInt8](repeating: 2, count: 12) + type(of: $0) + $0 }),
      (.ethernet, ip.map { [UInt8](repeating: 2, count: 12) + [0x81, 0, 0, 5] + type(of: $0) + $0 }),
      (.linuxSLL, ip.map { [UInt8](repeating: 0, count: 14) + type(of: $0) + $0 }),
      (.linuxSLL2, ip.map { type(of: $0) + [UInt8](repeating: 0, count: 18) + $0 }),
      (.null, ip.map { [$0[0] >> 4 == 4 ? 2 : 10, 0, 0, 0] + $0 }),
      (.loop, ip.map { [0, 0, 0, $0[0] >> 4 == 4 ? 2 : 24] + $0 }),
      (.bluetoothLE, air),
      (.bluetoothLEWithHeader, air.map { [37, 0xC4, 0x80, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x03, 0x0C] + $0 }),
      (.bluetoothLEWithHeader, air.map { [5, 0xC4, 0x80, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x83, 0x0C] + $0 }),
      (.bluetoothLEWithHeader, air.map { [5, 0xC4, 0x80, 0, 0xD6, 0xBE, 0x89, 0x8E, 0x83, 0x1C] + $0 }),
      (
        .nordicBLE,
        air.map { [0, UInt8(10 + $0.count), 0, 3, 1, 0, 2, 10, 1, 37, 60, 0, 0, 0, 0, 0, 0] + $0 }
      ),
      (
        .nordicBLE,
        air.map { [0, 6, UInt8(10 + $0.count), 1, 1, 0, 6, 10, 1, 37, 60, 0, 0, 0, 0, 0, 0] + $0 }
      ),
      (.ppi, air.map { [0, 0, 8, 0, 251, 0, 0, 0] + $0 }),
      (.bluetoothH4, events.map { [4] + $0 }),
      (.bluetoothH4WithDirection, events.map { [0, 0, 0, 1, 4] + $0 }),
      (.linuxMonitor, events.map { [0, 0, 0, 3] + $0 }),
    ]
  }

  /// A capture of packets that are a second apart.
  static func capture(
    _ type: LinkType,
    _ packets: [[UInt8]],
    as format: CaptureWriter.Format
  ) throws -> [UInt8] {
    var writer = CaptureWriter(
      format: format,
      interfaces: [CaptureWriter.Interface(linkType: type, name: format == .pcapng ? "hall" : nil)],
      comment: format == .pcapng ? "seed" : nil
    )
    for (number, packet) in packets.enumerated() {
      try writer.write(packet: packet.span.bytes, at: Timestamp(seconds: 1_700_000_000 + Int64(number)))
    }
    if format == .pcapng { try writer.write(block: 0x8050_4852, content: [1, 2, 3].span.bytes) }
    return writer.drainBytes()
  }

  /// What an IP packet is in Ethernet's numbering.
  private static func type(of packet: [UInt8]) -> [UInt8] {
    packet[0] >> 4 == 4 ? [0x08, 0x00] : [0x86, 0xDD]
  }

  /// Datagrams over IPv4 and IPv6, whole and in two fragments.
  static func ipPackets() throws -> [[UInt8]] {
    let payload = Array(#"{"observer":"hall","address":"c4be84e7ec3e","rssi":-58,"data":"020106"}"#.utf8)
    var packets: [[UInt8]] = []
    let addresses = [IPAddress(v4: 0x7F00_0001), IPAddress(v6: 0xFE80 << 48, 1)]
    for address in addresses {
      var writer = CaptureWriter(format: .pcap, interfaces: [CaptureWriter.Interface(linkType: .raw)])
      _ = writer.drainBytes()
      let end = Endpoint(address, port: 50_001)
      try writer.write(payload: payload.span.bytes, from: end, to: end, at: Timestamp(seconds: 1))
      packets.append(Array(writer.drainBytes().dropFirst(16)))
    }
    var (first, second) = (Array(packets[0][..<52]), Array(packets[0][..<20] + packets[0][52...]))
    (first[2], first[3], first[6], first[7]) = (0, 52, 0x20, 0)
    (second[2], second[3], second[6], second[7]) = (0, UInt8(second.count), 0, 4)
    let head = Array(packets[1][..<40])
    var six = head
    six[6] = 44
    let body = packets[1][40...]
    let front = six + [17, 0, 0, 1, 0, 0, 0, 9] + body.prefix(32)
    let back = six + [17, 0, 0, 32, 0, 0, 0, 9] + body.dropFirst(32)
    let fragments = [front, back].map { packet in
      var packet = packet
      packet[4] = 0
      packet[5] = UInt8(packet.count - 40)
      return packet
    }
    return packets + [first, second] + fragments
  }

  /// Advertising PDUs with their access address and checksum: legacy, directed, and extended ones that chain.
  static func airPackets() throws -> [[UInt8]] {
    let address: [UInt8] = [0x3E, 0xEC, 0xE7, 0x84, 0xBE, 0xC4]
    let data = try AdvertsTarget.sampleFrames()[0].legacyPayload
    let pdus: [[UInt8]] = [
      [0x42] + [UInt8(6 + data.count)] + address + data,
      [0x01, 12] + address + address,
      [0x47, 18, 17, 0x19] + address + [0x11, 0x70, 0x05, 0x64, 0x20] + [UInt8](repeating: 0, count: 5),
      [0x07, 11, 6, 0x18, 0x11, 0x70, 0x05, 0x64, 0x20] + data.prefix(4),
      [0x07, 8, 3, 0x08, 0x11, 0x70] + data.prefix(4),
    ]
    return pdus.map { pdu in
      let sum = LinkLayerSum.of(pdu)
      return [0xD6, 0xBE, 0x89, 0x8E] + pdu
        + [
          UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8),
          UInt8(truncatingIfNeeded: sum >> 16),
        ]
    }
  }

  /// LE Meta events with advertising reports, legacy and extended in parts.
  static func hciEvents() throws -> [[UInt8]] {
    let address: [UInt8] = [0x3E, 0xEC, 0xE7, 0x84, 0xBE, 0xC4]
    let data = try AdvertsTarget.sampleFrames()[0].legacyPayload
    let legacy = [0x02, 1, 0, 1] + address + [UInt8(data.count)] + data + [0xC4]
    let extended = { (status: UInt8) -> [UInt8] in
      let fixed: [UInt8] = [status << 5, 0, 1] + address + [1, 2, 7, 0x7F, 0xC4, 0, 0, 0]
      return [0x0D, 1] + fixed + [UInt8](repeating: 0, count: 6) + [UInt8(data.count)] + data
    }
    return [legacy, extended(1), extended(0)].map { [0x3E, UInt8($0.count)] + $0 }
  }
}

/// The checksum of advertising PDUs, worked out bit by bit.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 3.1.1.
private enum LinkLayerSum {
  static func of(_ bytes: [UInt8]) -> UInt32 {
    var register: UInt32 = 0xAA_AAAA
    for byte in bytes {
      for bit in 0..<8 {
        let isOne = (UInt32(byte) >> UInt32(bit) ^ register) & 1 == 1
        register = isOne ? register >> 1 ^ 0xDA_6000 : register >> 1
      }
    }
    return register
  }
}
