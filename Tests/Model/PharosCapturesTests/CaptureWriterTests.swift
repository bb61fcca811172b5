import PharosCaptures
import PharosModel
import PharosTestSupport
import Testing

/// What is written is read back.
@Suite("Writing captures")
struct CaptureWriterTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test(
    "datagrams come back with their addresses, time and payload",
    arguments: [CaptureWriter.Format.pcapng, .pcap],
    [1, 2] as [UInt64]
  )
  func roundTrip(format: CaptureWriter.Format, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var writer = CaptureWriter(format: format)
    var bytes: [UInt8] = []
    var expected: [UDPDatagram] = []
    for number in 1...60 {
      let isV4 = Bool.random(using: &random)
      let one =
        isV4
        ? IPAddress(v4: .random(in: 1 ... .max, using: &random)) : IPAddress(v6: random.next(), random.next())
      let other = isV4 ? try address("10.0.0.1") : try address("fd07::1")
      let payload = (0..<Int.random(in: 0...1_500, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let datagram = UDPDatagram(
        frame: number,
        time: Timestamp(nanoseconds: .random(in: 0...4_000_000_000_000_000_000, using: &random)),
        source: Endpoint(one, port: .random(in: 0...65_535, using: &random)),
        destination: Endpoint(other, port: 50_001),
        payload: payload[...]
      )
      expected.append(datagram)
      try writer.write(
        payload: payload.span.bytes,
        from: datagram.source,
        to: datagram.destination,
        at: try #require(datagram.time)
      )
      if number % 7 == 0 { writer.drain { span in span.withUnsafeBytes { bytes.append(contentsOf: $0) } } }
    }
    bytes += writer.drainBytes()
    #expect(writer.pendingCount == 0)
    let walk = CaptureWalk(bytes, chunk: 1_000)
    #expect(walk.errors.isEmpty)
    var assembler = DatagramAssembler()
    #expect(walk.packets.compactMap { assembler.add($0) } == expected)
  }

  @Test("checksums are right, so that other tools accept the packets")
  func checksums() throws {
    // Checked by hand from RFC 1071: every 16-bit word of header and pseudo header adds up to ffff.
    var writer = CaptureWriter()
    _ = writer.drainBytes()
    let payload: [UInt8] = [1, 2, 3]
    for (one, other) in [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")] {
      try writer.write(
        payload: payload.span.bytes,
        from: Endpoint(address(one), port: 4_660),
        to: Endpoint(address(other), port: 50_001),
        at: Timestamp(seconds: 1)
      )
      let block = writer.drainBytes()
      let captured = Int(block[20])
      let packet = Array(block[28..<(28 + captured)])
      let header = packet[0] >> 4 == 4 ? 20 : 40
      if header == 20 { #expect(sum(packet[..<20]) == 0xFFFF) }
      let addresses = packet[(header == 20 ? 12 : 8)..<header]
      let length = packet.count - header
      #expect(sum(addresses + [0, 17, 0, UInt8(length)] + packet[header...]) == 0xFFFF)
    }
  }

  private func sum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var sum: UInt32 = 0
    for (index, byte) in bytes.enumerated() { sum += index % 2 == 0 ? UInt32(byte) << 8 : UInt32(byte) }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    return sum
  }

  @Test("local blocks keep their place between packets and their exact content")
  func localBlocks() throws {
    var writer = CaptureWriter(comment: "a recording")
    let contents: [[UInt8]] = [[], [1], [1, 2, 3, 4], Array("{\"tick\":1}".utf8)]
    for content in contents {
      try writer.write(block: 0x8000_5048, content: content.span.bytes)
      try writer.write(packet: [0x45, 0x00].span.bytes, at: Timestamp(seconds: 3), originalLength: 9)
    }
    let walk = CaptureWalk(writer.drainBytes())
    #expect(walk.errors.isEmpty)
    #expect(walk.blocks.map { $0.content.map { Array($0) } } == contents)
    #expect(walk.packets.map(\.originalLength) == [9, 9, 9, 9])
    for (index, item) in walk.items.enumerated() {
      if case .block = item { #expect(index % 2 == 0) } else { #expect(index % 2 == 1) }
    }
  }

  @Test("several interfaces are kept apart, whatever their framing")
  func interfaces() throws {
    var writer = CaptureWriter(interfaces: [.init(name: "a"), .init(linkType: .bluetoothLE, name: "b")])
    try writer.write(
      packet: [1].span.bytes,
      at: Timestamp(nanoseconds: 1_234_567_890_123_456_789),
      interface: 1
    )
    try writer.write(packet: [2].span.bytes, at: Timestamp(nanoseconds: -5), interface: 0)
    let packets = CaptureWalk(writer.drainBytes()).packets
    #expect(packets.map(\.interface) == [1, 0])
    #expect(packets.map(\.linkType) == [.bluetoothLE, .raw])
    // Times before 1970 have no place in the format.
    #expect(packets.map(\.time?.nanoseconds) == [1_234_567_890_123_456_789, 0])
  }

  @Test("a mixed pair of addresses is written as IPv6 with the mapped one")
  func mixed() throws {
    var writer = CaptureWriter()
    try writer.write(
      payload: [9].span.bytes,
      from: Endpoint(address("10.0.0.9"), port: 1),
      to: Endpoint(address("fd07::1"), port: 2),
      at: Timestamp(seconds: 1)
    )
    var assembler = DatagramAssembler()
    let packet = try #require(CaptureWalk(writer.drainBytes()).packets.first)
    let found = assembler.add(packet)
    let datagram = try #require(found)
    #expect(datagram.source.description == "[::ffff:10.0.0.9]:1")
    #expect(datagram.destination.description == "[fd07::1]:2")
  }

  @Test("the longest payload is written and one byte more refused, with nothing left behind")
  func maximum() throws {
    var writer = CaptureWriter()
    _ = writer.drainBytes()
    let ends = Endpoint(try address("10.0.0.1"), port: 1)
    let payload = [UInt8](repeating: 1, count: 65_508)
    #expect(throws: CaptureError(.payloadTooLong(length: 65_508, limit: 65_507), at: 0)) {
      try writer.write(payload: payload.span.bytes, from: ends, to: ends, at: Timestamp(seconds: 1))
    }
    #expect(writer.pendingCount == 0)
    try writer.write(
      payload: payload.span.bytes.extracting(first: 65_507),
      from: ends,
      to: ends,
      at: Timestamp(seconds: 1)
    )
    #expect(writer.pendingCount == 32 + 65_536)
  }
}
