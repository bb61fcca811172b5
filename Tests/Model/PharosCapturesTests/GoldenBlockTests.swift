import Foundation
import PharosCaptures
import PharosModel
import PharosTestSupport
import Testing

/// The block-level reader tests of others: both byte orders, interfaces, sections, every kind of block.
@Suite("Blocks of the shared pcapng tests", .enabled(if: SharedData.isPresent))
struct GoldenBlockTests {
  static let captures = SharedData.files(in: "captures/pcapng", endingIn: [".pcapng"])

  @Test("each packet agrees with the golden file in number, time, interface and lengths", arguments: captures)
  func agrees(capture: String) throws {
    let walk = CaptureWalk(try SharedData.bytes(capture))
    #expect(walk.errors.isEmpty)
    // Lines without an interface are custom blocks: TShark lists them as frames, and so they take a number
    // here.
    let golden = try SharedData.jsonLines(capture + ".golden.jsonl").filter {
      $0["interface"] as? String != ""
    }
    #expect(walk.packets.count == golden.count)
    for (packet, expected) in zip(walk.packets, golden) {
      #expect(String(packet.number) == expected["frame"] as? String)
      #expect(packet.time?.epochText ?? "" == expected["time"] as? String)
      #expect(String(packet.interface) == expected["interface"] as? String)
      #expect(String(packet.bytes.count) == expected["caplen"] as? String)
      #expect(String(packet.originalLength) == expected["len"] as? String)
      #expect(String(packet.section) == expected["section"] as? String)
      // Wireshark numbers encapsulations its own way: 1 is Ethernet, 15 is NULL.
      if expected["wtap_encap"] as? String == "1" { #expect(packet.linkType == .ethernet) }
      if expected["wtap_encap"] as? String == "15" { #expect(packet.linkType == .null) }
    }
  }
}

/// How a capture is cut into chunks, and where it is cut off.
@Suite("Shared captures in pieces", .enabled(if: SharedData.isPresent))
struct ChunkTests {
  static let small = [
    "captures/ble/bertrandmartel-multi-report.btsnoop", "captures/derived/h4phdr-201.pcapng",
    "captures/ble/crackle-le-sc.pcapng", "captures/ble/crackle-known-ltk-ppi.pcap",
    "captures/udp/json-ipv4-fragments.pcap", "captures/udp/sll-babel.pcap",
    "captures/udp/many-interfaces.pcapng",
    "captures/pcapng/be-advanced-test102.pcapng", "captures/pcapng/le-basic-test018.pcapng",
    "captures/derived/vectors-eddystone-altbeacon-1002.btsnoop",
  ]

  @Test("the size of chunks changes nothing", arguments: small)
  func chunks(capture: String) throws {
    let bytes = try SharedData.bytes(capture)
    let whole = CaptureWalk(bytes)
    #expect(!whole.items.isEmpty)
    for chunk in [1, 7, 4_096] {
      let walk = CaptureWalk(bytes, chunk: chunk)
      #expect(walk.items == whole.items)
      #expect(walk.errors == whole.errors)
    }
  }

  static let tiny = [
    "captures/ble/bertrandmartel-multi-report.btsnoop", "captures/derived/h4phdr-201.pcapng",
    "captures/udp/sll-babel.pcap", "captures/pcapng/be-advanced-test102.pcapng",
    "captures/pcapng/le-basic-test018.pcapng", "captures/udp/null-loopback.pcap",
  ]

  @Test(
    "a capture cut off anywhere gives all whole packets and one error, or none at a boundary",
    arguments: tiny
  )
  func prefixes(capture: String) throws {
    let bytes = try SharedData.bytes(capture)
    let whole = CaptureWalk(bytes).items
    var boundaries = 0
    var given: [CaptureItem] = []
    var reader = CaptureReader()
    for length in 0...bytes.count {
      // A reader is a value: a copy of it learns that the file ends here, and the original reads on.
      var copy = reader
      do throws(CaptureError) {
        try copy.finish()
        boundaries += 1
      } catch {
        #expect(error.offset <= UInt64(length))
        if length > 0 { #expect(error.description.contains("the file ends inside")) }
      }
      guard length < bytes.count else { break }
      reader.append([bytes[length]])
      while let item = try reader.next() { given.append(item) }
      if given.count > boundaries { #expect(given.count <= boundaries + 1) }
    }
    #expect(given == whole)
    // The header and each record or block end at a boundary, the last of them being the whole file.
    #expect(boundaries > whole.count)
  }

  @Test(
    "bytes changed at random never trap, and what is given stays within bounds",
    arguments: Seeds.drawn(0..<6)
  )
  func mutations(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for capture in ChunkTests.small {
      let original = try SharedData.bytes(capture)
      for _ in 0..<8 {
        var bytes = Array(original.prefix(20_000))
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          let index = Int.random(in: 0..<bytes.count, using: &random)
          bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        let walk = CaptureWalk(bytes, chunk: Int.random(in: 1...9_000, using: &random))
        #expect(walk.errors.count <= 1)
        #expect(walk.packets.reduce(0) { $0 + $1.bytes.count } <= bytes.count)
        var extractor = AdvertExtractor(keepsDamaged: Bool.random(using: &random))
        var assembler = DatagramAssembler()
        for packet in walk.packets {
          extractor.forEachReport(in: packet) { report in
            #expect(report.data.count <= 1_650)
          }
          #expect((assembler.add(packet)?.payload.count ?? 0) <= 65_535)
        }
      }
    }
  }
}
