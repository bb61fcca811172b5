import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

/// Files spelt byte by byte: every variant that is read, and every one that is refused.
@Suite("Reading captures")
struct CaptureReaderTests {
  @Test(
    "classic pcap is read in both orders and both units",
    arguments: [
      ("a1b2c3d4", true, 123_456, 123_456_000), ("d4c3b2a1", false, 123_456, 123_456_000),
      ("a1b23c4d", true, 123_456_789, 123_456_789), ("4d3cb2a1", false, 123_456_789, 123_456_789),
    ] as [(String, Bool, UInt64, Int64)]
  )
  func pcap(magic: String, big: Bool, fraction: UInt64, nanoseconds: Int64) throws {
    let n = { (value: UInt64, bytes: Int) in CaptureBytes.number(value, bytes: bytes, big: big) }
    // The upper half of the link field is checksum information and no part of the type.
    let header = magic + n(2, 2) + n(4, 2) + n(0, 8) + n(65_535, 4) + n(0xF400_0001, 4)
    let record = n(4_000_000_000, 4) + n(fraction, 4) + n(3, 4) + n(60, 4) + "010203"
    let walk = CaptureWalk(CaptureBytes.hex(header + record + record))
    #expect(walk.errors.isEmpty)
    #expect(walk.packets.map(\.number) == [1, 2])
    let packet = try #require(walk.packets.first)
    // Seconds are unsigned: 4,000,000,000 lies in 2096.
    #expect(packet.time == Timestamp(seconds: 4_000_000_000, nanoseconds: nanoseconds))
    #expect(packet.linkType == .ethernet)
    #expect(Array(packet.bytes) == [1, 2, 3])
    #expect(packet.originalLength == 60)
    #expect(packet.isSnapped)
  }

  @Test(
    "pcapng timestamps follow the resolution and offset of their interface",
    arguments: [
      ("", 1_500_000_000_123_456, 1_500_000_000_123_456_000),
      ("0900 0100 09000000", 1_500_000_000_123_456_789, 1_500_000_000_123_456_789),
      ("0900 0100 00000000", 1_500_000_000, 1_500_000_000_000_000_000),
      ("0900 0100 0c000000", 1_500_000_000_123_456_789, 1_500_000_000_123_456),
      ("0900 0100 7f000000", .max, 0),
      ("0900 0100 8a000000", 1_500_000_000 << 10 | 512, 1_500_000_000_500_000_000),
      ("0900 0100 ff000000", .max, 0),
      ("0900 0100 80000000", 7, 7_000_000_000),
      ("0900 0100 03000000 0e00 0800 00e1f50500000000", 5, 100_000_000_005_000_000),
      ("0e00 0800 ffffffffffffffff", 2_000_000, 1_000_000_000),
      ("0900 0100 00000000", .max, .max),
    ] as [(String, UInt64, Int64)]
  )
  func resolutions(options: String, ticks: UInt64, nanoseconds: Int64) throws {
    let text =
      CaptureBytes.section(big: false) + CaptureBytes.interface(options, big: false)
      + CaptureBytes.enhanced(ticks: ticks, big: false)
    let walk = CaptureWalk(CaptureBytes.hex(text))
    #expect(walk.errors.isEmpty)
    #expect(try #require(walk.packets.first).time == Timestamp(nanoseconds: nanoseconds))
  }

  @Test("a new section may change the byte order and starts a new list of interfaces")
  func sections() {
    let parts = [false, true].map { big in
      CaptureBytes.section(big: big) + CaptureBytes.interface(linkType: big ? 101 : 1, big: big)
        + CaptureBytes.enhanced(ticks: 1_000, big: big)
    }
    let walk = CaptureWalk(CaptureBytes.hex(parts.joined()))
    #expect(walk.errors.isEmpty)
    #expect(walk.packets.map(\.section) == [1, 2])
    #expect(walk.packets.map(\.linkType) == [.ethernet, .raw])
    #expect(walk.packets.map(\.number) == [1, 2])
    #expect(walk.packets.map { Array($0.bytes) } == [[0xDE, 0xAD, 0xBE, 0xEF], [0xDE, 0xAD, 0xBE, 0xEF]])
  }

  @Test(
    "simple and old packet blocks are read, unknown blocks skipped, local ones handed over",
    arguments: [true, false]
  )
  func blocks(big: Bool) throws {
    let n = { (value: UInt64, bytes: Int) in CaptureBytes.number(value, bytes: bytes, big: big) }
    let text =
      CaptureBytes.section(big: big) + CaptureBytes.interface(snap: 2, big: big)
      + CaptureBytes.block(3, n(5, 4) + "0a0b0000", big: big)
      + CaptureBytes.block(0x0000_0B16, "0102030405060708", big: big)
      + CaptureBytes.block(
        2,
        n(0, 2) + n(9, 2) + n(0, 4) + n(7, 4) + n(1, 4) + n(1, 4) + "cc000000",
        big: big
      )
      + CaptureBytes.block(0x8000_0001, "0300000041424300", big: big)
      + CaptureBytes.block(0x8000_0001, "", big: big)
    let walk = CaptureWalk(CaptureBytes.hex(text), chunk: 3)
    #expect(walk.errors.isEmpty)
    let simple = try #require(walk.packets.first)
    #expect(simple.time == nil)
    #expect(Array(simple.bytes) == [0x0A, 0x0B])
    #expect(simple.isSnapped)
    let old = try #require(walk.packets.last)
    #expect(Array(old.bytes) == [0xCC])
    #expect(old.time == Timestamp(nanoseconds: 7_000))
    #expect(walk.blocks.map(\.type) == [0x8000_0001, 0x8000_0001])
    #expect(walk.blocks.first?.content.map { Array($0) } == [0x41, 0x42, 0x43])
    #expect(walk.blocks.last?.content == nil)
  }

  @Test(
    "each packet that Wireshark lists has a number",
    arguments: [9, 0xBAD, 0x4000_0BAD] as [UInt32]
  )
  func numbered(type: UInt32) {
    let text =
      CaptureBytes.section(big: false) + CaptureBytes.interface(big: false)
      + CaptureBytes.enhanced(ticks: 1, big: false) + CaptureBytes.block(type, "5f5f430a", big: false)
      + CaptureBytes.block(5, "0000000000000000 00000000", big: false)
      + CaptureBytes.enhanced(ticks: 2, big: false)
    let walk = CaptureWalk(CaptureBytes.hex(text))
    #expect(walk.errors.isEmpty)
    #expect(walk.packets.map(\.number) == [1, 3])
  }

  @Test(
    "btsnoop is read for the datalinks that hold HCI",
    arguments: [1_001, 1_002, 2_001, 2_002] as [UInt32]
  )
  func btsnoop(datalink: UInt32) throws {
    let header = "6274736e6f6f7000 00000001" + Hex.text(UInt64(datalink), bytes: 4)
    // 2000-01-01, as BlueZ counts it.
    let record = "00000009 00000002 00010003 00000000 00e03ab44a676000 043e"
    let walk = CaptureWalk(CaptureBytes.hex(header + record))
    #expect(walk.errors.isEmpty)
    let packet = try #require(walk.packets.first)
    #expect(packet.linkType == LinkType(btsnoop: datalink))
    #expect(packet.time?.rfc3339 == "2000-01-01T00:00:00.000000000Z")
    #expect(packet.flags == 0x0001_0003)
    #expect(packet.isSnapped)
  }

  @Test("the reader tells what a section says of itself and how far it read")
  func sectionFacts() throws {
    var reader = CaptureReader()
    var writer = CaptureWriter(
      interfaces: [.init(linkType: .raw, name: "west"), .init(linkType: .bluetoothLE)],
      comment: "one of ours",
      application: "pharos"
    )
    let bytes = writer.drainBytes()
    reader.append(bytes.span.bytes)
    #expect(try reader.next() == nil)
    try reader.finish()
    #expect(reader.format == .pcapng)
    #expect(reader.comment == "one of ours")
    #expect(reader.application == "pharos")
    #expect(reader.interfaces.map(\.name) == ["west", nil])
    #expect(reader.interfaces.map(\.linkType) == [.raw, .bluetoothLE])
    #expect(reader.offset == UInt64(bytes.count))
  }
}
