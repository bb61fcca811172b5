import Foundation
import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// Every capture of UDP traffic in the shared folder, compared line by line with what TShark says of it.
@Suite("Datagrams of the shared captures", .enabled(if: SharedData.isPresent))
struct GoldenDatagramTests {
  static let captures = SharedData.files(in: "captures/udp", endingIn: [".pcap", ".pcapng"])

  @Test(
    "each datagram agrees with the golden file in frame, time, addresses, ports and payload",
    arguments: captures
  )
  func agrees(capture: String) throws {
    let walk = CaptureWalk(try SharedData.bytes(capture))
    #expect(walk.errors.isEmpty)
    var assembler = DatagramAssembler()
    var json = JSONText()
    for packet in walk.packets { assembler.add(packet)?.append(to: &json) }
    let ours = try json.utf8.split(separator: UInt8(ascii: "\n")).map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }
    let golden = try SharedData.jsonLines(capture + ".golden.jsonl")
    #expect(ours.count == golden.count)
    for (line, expected) in zip(ours, golden) {
      for key in ["frame", "time", "src", "sport", "dst", "dport", "payload"] {
        #expect(
          line[key] as? NSObject == expected[key] as? NSObject,
          "\(key) of frame \(expected["frame"] ?? "")"
        )
      }
      let isSnapped = capture.hasSuffix("raddec-snaplen64.pcap")
      #expect((line["snapped"] as? Bool ?? false) == isSnapped)
    }
    #expect(assembler.counters.datagrams == golden.count)
    #expect(assembler.waiting == 0)
  }

  @Test("a datagram seen without its other fragments is given up after 30 seconds")
  func givesUp() throws {
    let packets = CaptureWalk(try SharedData.bytes("captures/udp/json-ipv4-fragments.pcap")).packets
    var assembler = DatagramAssembler()
    #expect(assembler.add(packets[0]) == nil)
    #expect(assembler.waiting == 1)
    var late = packets[3]
    late.time = packets[0].time.map { $0 + .seconds(31) }
    _ = assembler.add(late)
    #expect(assembler.counters.abandonedDatagrams == 1)
    #expect(assembler.waiting == 1)
  }
}
