import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// Datagrams behind every framing, and fragments in every order.
@Suite("Datagrams in packets")
struct DatagramAssemblerTests {
  /// From 10.0.0.1:4660 to 10.0.0.2:50001, payload `abcd`.
  static let v4 = "4500 001e 0001 0000 40 11 0000 0a000001 0a000002" + udp
  static let udp = "1234 c351 000a 0000 abcd"
  static let v6Addresses = "fd070000000000000000000000000011 fd070000000000000000000000000001"
  static let v6 = "60000000 000a 11 40" + v6Addresses + udp
  static let ethernet = "020000000001 020000000002"

  @Test(
    "the framing is passed over, VLAN tags and padding included",
    arguments: [
      (.ethernet, ethernet + "0800" + v4 + "0000000000000000"), (.ethernet, ethernet + "86dd" + v6),
      (.ethernet, ethernet + "8100 0064 0800" + v4), (.ethernet, ethernet + "88a8 00c8 8100 001e 86dd" + v6),
      (.linuxSLL, "0004 0001 0006 0200000000010000 0800" + v4),
      (.linuxSLL, "0000 0001 0006 0200000000010000 8100 0064 0800" + v4),
      (.linuxSLL2, "0800 0000 00000003 0001 04 06 0200000000010000" + v4),
      (.linuxSLL2, "8100 0000 00000003 0001 04 06 0200000000010000 0064 86dd" + v6),
      (.raw, v4), (.raw, v6), (.rawOld, v4), (.rawOpenBSD, v6), (.ipv4, v4), (.ipv6, v6),
      (.null, "02000000" + v4), (.null, "00000002" + v4), (.null, "1e000000" + v6), (.null, "0000001c" + v6),
      (.null, "0f000800" + v4), (.loop, "00000018" + v6),
    ] as [(LinkType, String)]
  )
  func framings(linkType: LinkType, text: String) throws {
    var assembler = DatagramAssembler()
    let found = assembler.add(CaptureBytes.packet(linkType, text, number: 3))
    let datagram = try #require(found, "\(assembler.counters)")
    #expect(datagram.frame == 3)
    #expect(Array(datagram.payload) == [0xAB, 0xCD])
    #expect(!datagram.isSnapped)
    #expect(datagram.source.port == 4_660)
    #expect(datagram.destination.port == 50_001)
    let isV4 = datagram.source.address.version == .v4
    #expect(datagram.source.address.description == (isV4 ? "10.0.0.1" : "fd07::11"))
    #expect(datagram.destination.address.description == (isV4 ? "10.0.0.2" : "fd07::1"))
  }

  @Test(
    "a packet without a datagram is counted under its reason",
    arguments: [
      (.ethernet, ethernet + "0806 0001", "unrelated"), (.ethernet, ethernet + "0030 ffff", "unrelated"),
      (.ethernet, "0200", "malformed"), (.ethernet, ethernet + "8100 00", "malformed"),
      (.loop, "02000000" + v4, "unrelated"), (.null, "07000000" + v4, "unrelated"),
      (.raw, "", "malformed"), (.raw, "55" + v4, "malformed"), (.raw, "4500 001e", "malformed"),
      (.raw, "4300" + v4.dropFirst(4), "malformed"), (.raw, "4500 0010" + v4.dropFirst(9), "malformed"),
      (.raw, "4500 001e 0001 0000 40 06 0000 0a000001 0a000002" + udp, "unrelated"),
      (.raw, "4500 001e 0001 0000 40 11 0000 0a000001 0a000002 1234 c351 0007 0000 abcd", "malformed"),
      (.raw, "4500 001e 0001 0000 40 11 0000 0a000001 0a000002 1234 c351 000b 0000 abcd", "malformed"),
      (.raw, "60000000 0008 3b 40" + v6Addresses + "1234567890abcdef", "unrelated"),
      (.raw, "60000000 0002 00 40" + v6Addresses + "1101", "malformed"),
      (.bluetoothLE, v4, "unsupported"),
    ] as [(LinkType, String, String)]
  )
  func passedOver(linkType: LinkType, text: String, heading: String) {
    var assembler = DatagramAssembler()
    let found = assembler.add(CaptureBytes.packet(linkType, text))
    #expect(found == nil)
    let counters = assembler.counters
    #expect(counters.unrelated == (heading == "unrelated" ? 1 : 0))
    #expect(counters.malformed == (heading == "malformed" ? 1 : 0))
    #expect(counters.unsupportedLinkType == (heading == "unsupported" ? 1 : 0))
    #expect(assembler.counters.packets == 1)
  }

  @Test("extension headers in front of UDP are walked")
  func extensionHeaders() throws {
    // Hop-by-hop of 8 bytes, destination options of 16, authentication of 12, an atomic fragment, then UDP.
    let chain =
      "3c00 010400000000" + "3301 010c000000000000000000000000" + "2c01 0000 0000000000000000"
      + "1100 0000 00000007"
    let length = CaptureBytes.number(UInt64(CaptureBytes.hex(chain).count + 10), bytes: 2, big: true)
    let text =
      "60000000 \(length) 00 40" + DatagramAssemblerTests.v6Addresses + chain + DatagramAssemblerTests.udp
    var assembler = DatagramAssembler()
    let found = assembler.add(CaptureBytes.packet(.raw, text))
    #expect(try #require(found, "\(assembler.counters)").payload.count == 2)
  }

  @Test("a total length of 0, as segmentation offload leaves it, means all that was captured")
  func offload() {
    var assembler = DatagramAssembler()
    let text = "4500 0000" + DatagramAssemblerTests.v4.dropFirst(9)
    #expect(assembler.add(CaptureBytes.packet(.raw, text))?.payload.count == 2)
  }

  @Test("a datagram whose end was not captured is given and marked")
  func snapped() throws {
    let bytes = CaptureBytes.hex(DatagramAssemblerTests.v4)
    for length in 0..<bytes.count {
      var assembler = DatagramAssembler()
      let packet = CaptureBytes.packet(.raw, Hex.text(bytes[..<length]), originalLength: bytes.count)
      let found = assembler.add(packet)
      #expect((found != nil) == (length >= 28))
      #expect(assembler.counters.snapped == 1)
      guard let found else { continue }
      #expect(found.isSnapped)
      #expect(found.originalLength == 2)
      #expect(found.payload.count == length - 28)
    }
  }

  @Test(
    "a datagram that says it is longer than what is there was cut, whatever the record says",
    arguments: [v4, v6]
  )
  func silentlyCut(text: String) throws {
    let bytes = CaptureBytes.hex(text)
    for length in (bytes.count - 10)..<bytes.count {
      var assembler = DatagramAssembler()
      let found = assembler.add(CaptureBytes.packet(.raw, Hex.text(bytes[..<length])))
      #expect((found != nil) == (length >= bytes.count - 2))
      #expect(assembler.counters.snapped == 1)
      #expect(assembler.counters.malformed == 0)
      guard let found else { continue }
      #expect(found.isSnapped)
      #expect(found.originalLength == 2)
      #expect(found.payload.count == length + 2 - bytes.count)
    }
  }

  @Test("a datagram routed from one VLAN to another is shown in both, its fragments kept apart")
  func routedFragments() {
    let payload = [UInt8](repeating: 1, count: 1_600)
    let pieces = DatagramAssemblerTests.fragments(of: payload, isV4: true, size: 800)
    var assembler = DatagramAssembler()
    var found: [UDPDatagram] = []
    for piece in pieces {
      // The priority above the number of the VLAN is none of its number.
      for tag in ["8100 600a 0800", "88a8 0003 8100 0014 0800"] {
        let text = DatagramAssemblerTests.ethernet + tag + piece
        if let datagram = assembler.add(CaptureBytes.packet(.ethernet, text)) { found.append(datagram) }
      }
    }
    #expect(found.map { Array($0.payload) } == [payload, payload])
    #expect(assembler.waiting == 0)
  }

  @Test("fragments come together in any order, twice or once", arguments: 0..<24)
  func order(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let payload = (0..<3_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let isV4 = seed % 2 == 0
    var pieces = DatagramAssemblerTests.fragments(of: payload, isV4: isV4, size: 800)
    // A bridge shows a fragment twice; the last of them completes, so that one is shown once.
    pieces += [pieces[0], pieces[1]]
    pieces.shuffle(using: &random)
    var assembler = DatagramAssembler()
    var found: [UDPDatagram] = []
    for (index, piece) in pieces.enumerated() {
      if let datagram = assembler.add(CaptureBytes.packet(.raw, piece, number: index + 1)) {
        found.append(datagram)
      }
    }
    #expect(found.count == 1)
    let datagram = try #require(found.first)
    #expect(Array(datagram.payload) == payload)
    #expect(assembler.counters.overlaps == 0)
    // The number of the packet is that of the fragment that completed it.
    #expect(datagram.frame >= 4)
  }

  @Test(
    "fragments that contradict each other are refused with their whole datagram",
    arguments: [true, false]
  )
  func overlaps(isV4: Bool) {
    let payload = [UInt8](repeating: 1, count: 2_000)
    let pieces = DatagramAssemblerTests.fragments(of: payload, isV4: isV4, size: 800)
    let shifted = DatagramAssemblerTests.fragments(of: payload, isV4: isV4, size: 808)
    let other = DatagramAssemblerTests.fragments(
      of: [UInt8](repeating: 2, count: 2_000),
      isV4: isV4,
      size: 800
    )
    for second in [shifted[1], other[0], other[2]] {
      var assembler = DatagramAssembler()
      for piece in [pieces[0], pieces[2], second] {
        let found = assembler.add(CaptureBytes.packet(.raw, piece))
        #expect(found == nil)
      }
      #expect(assembler.counters.overlaps == 1)
      #expect(assembler.waiting == 0)
    }
  }

  @Test("fragments are held within bounds, whatever a capture sends")
  func bounds() {
    var assembler = DatagramAssembler()
    let piece = DatagramAssemblerTests.fragments(
      of: [UInt8](repeating: 1, count: 1_600),
      isV4: false,
      size: 800
    )[0]
    for id in 0..<1_500 {
      var bytes = CaptureBytes.hex(piece)
      bytes[46] = UInt8(id >> 8)
      bytes[47] = UInt8(id & 255)
      let found = assembler.add(CaptureBytes.packet(.raw, Hex.text(bytes)))
      #expect(found == nil)
      #expect(assembler.waiting <= 1_024)
    }
    #expect(assembler.waiting == 1_024)
    #expect(assembler.counters.abandonedDatagrams == 476)
  }

  /// The IP packets that a datagram from :4660 to :50001 is cut into.
  private static func fragments(of payload: [UInt8], isV4: Bool, size: Int) -> [String] {
    let length = CaptureBytes.number(UInt64(payload.count + 8), bytes: 2, big: true)
    let whole = CaptureBytes.hex("1234 c351 \(length) 0000") + payload
    return stride(from: 0, to: whole.count, by: size).map { start in
      let piece = whole[start..<min(start + size, whole.count)]
      let more = start + size < whole.count
      let number = { (value: Int) in CaptureBytes.number(UInt64(value), bytes: 2, big: true) }
      return isV4
        ? "4500 \(number(20 + piece.count)) 0007 \(number(start / 8 | (more ? 0x2000 : 0))) 4011 0000"
          + "0a000001 0a000002" + Hex.text(piece)
        : "60000000 \(number(8 + piece.count)) 2c 40" + v6Addresses + "1100 \(number(start | (more ? 1 : 0)))"
          + "00000007" + Hex.text(piece)
    }
  }
}
