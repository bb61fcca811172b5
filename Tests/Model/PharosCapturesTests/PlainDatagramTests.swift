import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// The short way of the packet that nearly all are, against the long way that reads every one.
///
/// A VLAN tag in front sends a packet the long way, and changes nothing of what is in it.
@Suite("Plain datagrams")
struct PlainDatagramTests {
  private static let addresses = DatagramAssemblerTests.ethernet

  /// What an assembler makes of one packet.
  private static func outcome(_ frame: [UInt8], originalLength: Int) -> (UDPDatagram?, CaptureCounters) {
    var assembler = DatagramAssembler()
    let packet = Packet(
      number: 1,
      time: Timestamp(seconds: 100),
      linkType: .ethernet,
      originalLength: originalLength,
      bytes: frame[...]
    )
    var datagram = assembler.add(packet)
    // Slices of other arrays: the bytes are what counts.
    if let found = datagram { datagram?.payload = Array(found.payload)[...] }
    return (datagram, assembler.counters)
  }

  @Test("damaged in any place and cut at any length, they come out as the long way reads them")
  func bothWaysAgree() throws {
    var random = SeededGenerator(seed: 7)
    var given = 0
    for text in [DatagramAssemblerTests.v4, DatagramAssemblerTests.v6] {
      let type = text.hasPrefix("4") ? "0800" : "86dd"
      let plain = CaptureBytes.hex(Self.addresses + type)
      let tagged = CaptureBytes.hex(Self.addresses + "8100 0000" + type)
      let whole = CaptureBytes.hex(text + "00000000")
      for round in 0..<4_000 {
        var bytes = whole
        if round % 4 != 0 {
          for _ in 0..<Int.random(in: 1...3, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
        }
        if round % 3 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
        let lost = round % 5 == 0 ? Int.random(in: 0...9, using: &random) : 0
        let short = Self.outcome(plain + bytes, originalLength: plain.count + bytes.count + lost)
        let long = Self.outcome(tagged + bytes, originalLength: tagged.count + bytes.count + lost)
        try #require(short.0 == long.0, "\(Hex.text(bytes))")
        try #require(short.1 == long.1, "\(Hex.text(bytes))")
        if short.0 != nil { given += 1 }
      }
    }
    #expect(given > 2_000, "the comparison is about datagrams, not about refusals alone")
  }
}
