import PharosCaptures
import PharosDocuments
import PharosModel
import Testing

/// Damaged files and what an operator reads about them.
@Suite("Refused and damaged captures")
struct CaptureErrorTests {
  private static let pcap = "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000"
  private static let good = "01000000 00000000 02000000 02000000 abcd"
  private static let section = CaptureBytes.section(big: false)
  private static let interface = CaptureBytes.interface(big: false)

  struct Case: Sendable {
    var text: String
    var packets: Int
    var says: String
  }

  static let cases = [
    Case(text: "", packets: 0, says: "the capture is empty: not one byte"),
    Case(
      text: "d4c3",
      packets: 0,
      says: "at byte 0: the file ends inside its first bytes: 2 of its bytes are missing"
    ),
    Case(
      text: "25504446 2d312e37",
      packets: 0,
      says: "not a capture: it begins with the bytes 25504446, and pcap"
    ),
    Case(
      text: "28b52ffd 04",
      packets: 0,
      says: "the capture is compressed with zstd. Unpack it on the way in: `zstd"
    ),
    Case(text: "1f8b0800", packets: 0, says: "compressed with gzip"),
    Case(text: "34cdb2a1 0200", packets: 0, says: "an old \"modified\" pcap"),
    Case(
      text: "d4c3b2a1 0300 0400" + String(repeating: "00", count: 16),
      packets: 0,
      says: "pcap version 3.4 is not known"
    ),
    Case(
      text: pcap + good + "01000000 00000000 01000400 02000000",
      packets: 1,
      says:
        "at byte 42: record 2 says 262145 bytes, and 262144 is the most there can be. Everything before was read"
    ),
    Case(
      text: pcap + good + good.prefix(29),
      packets: 1,
      says: "at byte 42: the file ends inside the header of record 2: "
    ),
    Case(
      text: pcap + good + good.dropLast(2),
      packets: 1,
      says:
        "at byte 42: the file ends inside record 2: 1 of its bytes is missing. Everything before was read: the capture was cut off"
    ),
    Case(
      text: "504b0304 1400",
      packets: 0,
      says: "a zip archive: unpack it. In the bug report of an Android phone"
    ),
    Case(
      text: Hex.text(Array("Bluetooth Status\n--- BEGIN:BTSNOOP_LOG_SUMMARY (530 bytes in) ---\nAijj".utf8)),
      packets: 0,
      says: "btsnooz"
    ),
    Case(
      text: Hex.text(Array("Bluetooth Status\n".utf8)),
      packets: 0,
      says: "not a capture: it begins with the bytes 426c7565"
    ),
    // PacketLogger's: a whole record, then one that says less than its header, and one that is cut.
    Case(
      text: "0000000d 68e77800 00000000 01 3e020d00 00000008 68e77800 00000000 01",
      packets: 1,
      says: "at byte 17: record 2 says 8 bytes"
    ),
    Case(
      text: "0d000000 0078e768 00000000 01 3e020d00 0d000000 0078",
      packets: 1,
      says: "inside the header of record 2"
    ),
    Case(
      text: "6274736e6f6f7000 00000001 000003eb",
      packets: 0,
      says: "btsnoop datalink 1003 (BCSP) is not read; 1001 (HCI), 1002 (H4) or 2001 (monitor) was expected"
    ),
    Case(
      text: "6274736e6f6f7000 00000002 000003ea",
      packets: 0,
      says: "btsnoop version 2.0 is not known; 1 was expected"
    ),
    Case(
      text: "6274736e6f6f7041 00000001 000003ea",
      packets: 0,
      says: "not a capture: it begins with the bytes 6274736e"
    ),
    Case(
      text: "6274736e6f6f7000 00000001 000003ea 00000000 00040001" + String(repeating: "00", count: 16),
      packets: 0,
      says: "at byte 16: record 1 says 262145 bytes"
    ),
    Case(text: "0a0d0d0a 1c000000 11111111", packets: 0, says: "in place of the byte-order magic 0x1a2b3c4d"),
    Case(
      text: section + "01000000 0d000000 00000000",
      packets: 0,
      says: "at byte 28: a block says a total length of 13; a multiple of 4, at least 12, was expected"
    ),
    Case(text: section + "01000000 00000000 00000000", packets: 0, says: "a total length of 0"),
    Case(
      text: section + interface.dropLast(8) + "18000000",
      packets: 0,
      says: "a block begins with total length 20 and ends with 24; the two should be equal"
    ),
    Case(
      text: section + "05000000 10000000 00000000 14000000",
      packets: 0,
      says: "begins with total length 16 and ends with 20"
    ),
    Case(
      text: section + interface + CaptureBytes.enhanced(ticks: 1, big: false) + "05000000 00000010 0000",
      packets: 1,
      says: "the file ends inside a block: "
    ),
    Case(
      text: section + "06000000 04001000 00000000",
      packets: 0,
      says: "a block says 1048580 bytes, and 1048576 is the most there can be"
    ),
  ]

  @Test("complete packets are returned and the damage is reported in one sentence", arguments: cases)
  func committed(example: Case) throws {
    let bytes = CaptureBytes.hex(example.text)
    for chunk in [Int.max, 1, 5] {
      let walk = CaptureWalk(bytes, chunk: chunk)
      #expect(walk.packets.count == example.packets)
      #expect(walk.errors.count == 1)
      let error = try #require(walk.errors.first)
      #expect(error.description.contains(example.says), "said: \(error)")
      #expect(error.description.hasSuffix(".") || error.description.hasSuffix("?"))
    }
  }

  @Test("after an error nothing further is returned or reported")
  func quiet() {
    var reader = CaptureReader()
    reader.append([0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 0xFF, count: 9))
    #expect(throws: CaptureError.self) { try reader.next() }
    reader.append([1, 2, 3, 4])
    #expect(throws: Never.self) {
      #expect(try reader.next() == nil)
      try reader.finish()
    }
  }

  @Test(
    "a malformed packet in an undamaged block is passed over, counted and numbered",
    arguments: [
      CaptureBytes.enhanced(ticks: 1, interface: 1, big: false),
      CaptureBytes.block(3, "0500000001020304", big: false), CaptureBytes.block(3, "", big: false),
      CaptureBytes.block(6, "00000000", big: false),
    ]
  )
  func malformedPackets(block: String) throws {
    let good = CaptureBytes.enhanced(ticks: 1, big: false)
    var reader = CaptureReader()
    reader.append(
      CaptureBytes.hex(CaptureErrorTests.section + CaptureErrorTests.interface + good + block + good)
    )
    #expect(try reader.nextPacket()?.number == 1)
    #expect(try reader.nextPacket()?.number == 3)
    #expect(try reader.nextPacket() == nil)
    try reader.finish()
    #expect(reader.foreign.malformedPackets == 1)
    #expect("\(reader.foreign)" == "1 malformed packet was passed over")
  }

  @Test("a skipped block of any length costs no memory and may come in pieces")
  func skipping() throws {
    var reader = CaptureReader()
    reader.append(CaptureBytes.hex(CaptureErrorTests.section + "05000000 10000004"))
    let filler = [UInt8](repeating: 7, count: 65_536)
    // 64 MiB of a statistics block, all of it but its last four bytes.
    for _ in 0..<1_023 {
      reader.append(filler)
      #expect(try reader.next() == nil)
    }
    reader.append([UInt8](repeating: 7, count: 65_536 + 16 - 12))
    reader.append(CaptureBytes.hex("10000004" + CaptureErrorTests.interface))
    #expect(try reader.next() == nil)
    try reader.finish()
    #expect(reader.interfaces.count == 1)
  }

  @Test("errors of writing say what the limit is")
  func writing() {
    #expect(
      CaptureError(.payloadTooLong(length: 65_508, limit: 65_507), at: 0).description
        == "a payload of 65508 bytes fits into no UDP datagram: 65507 is the most. Split it."
    )
    #expect(
      CaptureError(.blockTooLong(length: 9, limit: 8), at: 0).description.contains(
        "8 is the most that is read back"
      )
    )
    #expect(
      CaptureError(.tooManyInterfaces(limit: 4_096), at: 7).description.contains("more than 4096 interfaces")
    )
  }
}
