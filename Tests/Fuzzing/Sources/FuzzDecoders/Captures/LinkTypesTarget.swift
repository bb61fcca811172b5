import FuzzSupport
import PharosCaptures
import PharosModel

/// Packets of every link type, one behind the other, without a file around them.
///
/// - Shape: for each packet: 0 link type as an index, 1 flags, 2 length u16 big-endian, then so many bytes or what is left.
final class LinkTypesTarget: FuzzTarget {
  static let name = "link-types"
  static let maximumLength = 2_048

  static let types: [LinkType] = [
    .ethernet, .linuxSLL, .linuxSLL2, .raw, .null, .loop, .ipv4, .ipv6, .bluetoothH4,
    .bluetoothH4WithDirection, .ppi,
    .bluetoothLE, .bluetoothLEWithHeader, .linuxMonitor, .nordicBLE, .btsnoopHCI, .btsnoopH4, .btsnoopMonitor,
    .btsnoopSimulator, LinkType(pcap: 9),
  ]

  func run(_ input: RawSpan) {
    var finder = PacketFinder()
    var start = 0
    var number = 1
    let bytes = input.array
    while start + 4 <= bytes.count {
      let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
      let end = min(bytes.count, start + 4 + length)
      let flags = bytes[start + 1]
      finder.receive(
        Packet(
          number: number,
          time: flags & 0x80 == 0 ? Timestamp(seconds: Int64(number) * Int64(flags & 7)) : nil,
          linkType: Self.types[Int(bytes[start]) % Self.types.count],
          flags: UInt32(flags & 0x0F),
          originalLength: length + Int(flags & 0x40),
          bytes: bytes[start + 4..<end]
        )
      )
      start = end
      number += 1
    }
  }

  static var words: [[UInt8]] {
    [
      [0x08, 0x00, 0x45], [0x86, 0xDD, 0x60], [0x81, 0x00], [0x88, 0xA8], [0xD6, 0xBE, 0x89, 0x8E],
      [0x04, 0x3E],
      [0x02, 0x01], [0x0D, 0x01], [0x2C, 0x00], [0x3C, 0x00], [0x11, 0x00], [0x40, 0x11],
      [0xC3, 0x51, 0xC3, 0x51],
      [0x20, 0x00], [0x00, 0x01],
    ]
  }

  static func seeds() throws -> [[UInt8]] {
    try SamplePackets.byLinkType().compactMap { type, packets in
      guard let index = types.firstIndex(of: type) else { return nil }
      var seed: [UInt8] = []
      for packet in packets {
        seed += [UInt8(index), 1, UInt8(packet.count >> 8), UInt8(truncatingIfNeeded: packet.count)] + packet
      }
      return seed
    }
  }
}
