import Foundation
import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// Every capture of Bluetooth traffic that others made, compared line by line with what TShark says of it.
@Suite("Adverts of the shared captures", .enabled(if: SharedData.isPresent))
struct GoldenAdvertTests {
  static let captures =
    SharedData.files(in: "captures/ble", endingIn: [".pcap", ".pcapng", ".btsnoop"])
    + SharedData.files(in: "captures/derived", endingIn: [".pcap", ".pcapng", ".btsnoop"])

  @Test("each line agrees with the golden file, but for the exceptions with a reason", arguments: captures)
  func agrees(capture: String) throws {
    let walk = CaptureWalk(try SharedData.bytes(capture))
    #expect(walk.errors.isEmpty)
    var extractor = AdvertExtractor()
    let ours = try lines(of: walk.packets, &extractor)
    let golden = try SharedData.jsonLines(capture + ".golden.jsonl")
    let damaged = golden.filter { $0.keys.contains("crc_ok") && $0["crc_ok"] as? Bool != true }
    let whole = golden.filter { !$0.keys.contains("crc_ok") || $0["crc_ok"] as? Bool == true }

    var differences: [String] = []
    var found = Dictionary(grouping: ours) { key(of: $0) }.mapValues { $0[0] }
    #expect(found.count == ours.count)
    for expected in whole {
      guard let line = found.removeValue(forKey: key(of: expected)) else {
        differences.append("missing \(key(of: expected))")
        continue
      }
      differences += GoldenAdvertTests.differences(between: expected, and: line).map {
        "\($0) \(key(of: expected))"
      }
    }
    differences += found.keys.map { "further \($0)" }
    let name = String(capture.split(separator: "/").last ?? "")
    let reasons = GoldenAdvertTests.exceptions[name] ?? [:]
    #expect(Set(differences) == Set(reasons.keys))
    // Each damaged packet is counted, under whichever heading.
    #expect(extractor.counters.badCRC + extractor.counters.cutShort >= damaged.count)
    #expect(extractor.counters.reports == ours.count)
  }

  /// What TShark says otherwise, and why.
  ///
  /// The key is what differs and where (frame#index), the value is the reason.
  static let exceptions: [String: [String: String]] = [
    "bertrandmartel-multi-report.btsnoop": oneByteManufacturerData,
    "h4phdr-201.pcapng": oneByteManufacturerData,
    "vectors-ble_monitor-1002.btsnoop": [
      "eddystone 109#0": "frame type 21 is not one of Eddystone's",
      "eddystone 110#0": "frame type 21 is not one of Eddystone's",
      "rssi 144#0": stopped,
    ],
    "vectors-eddystone-altbeacon-1002.btsnoop": [
      "rssi 1#0": stopped, "rssi 2#0": stopped, "rssi 3#0": stopped, "rssi 6#0": stopped, "rssi 7#0": stopped,
      "rssi 8#0": stopped, "rssi 21#0": stopped, "rssi 24#0": stopped, "rssi 31#0": stopped,
      "eddystone 8#0": "an encrypted TLM whose length leaves no room for salt and integrity check is none",
      "eddystone 30#0": "a URL frame without transmit power and scheme is none",
      "altbeacon 14#0": "the manufacturer byte may be missing; peers take it as 0",
    ],
  ]

  private static let stopped =
    "TShark stopped at a damaged AD structure and did not reach the level behind it"

  /// TShark stops at manufacturer data without a company id and loses what follows: the level, and the
  /// event's second report.
  private static let oneByteManufacturerData = [
    "rssi 21#0": stopped, "rssi 34#0": stopped, "rssi 36#0": stopped,
    "further 21#1": "the event holds two reports, as it says",
    "further 34#1": "the event holds two reports, as it says",
    "further 36#1": "the event holds two reports, as it says",
  ]

  private func lines(
    of packets: [Packet],
    _ extractor: inout AdvertExtractor
  ) throws -> [[String: Any]] {
    var json = JSONText()
    for packet in packets {
      extractor.forEachReport(in: packet) { AdvertLine($0).append(to: &json) }
    }
    return try json.utf8.split(separator: UInt8(ascii: "\n")).map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }
  }

  private func key(of line: [String: Any]) -> String {
    "\(line["frame"] ?? "")#\(line["index"] ?? 0)"
  }

  private static func differences(between golden: [String: Any], and ours: [String: Any]) -> [String] {
    let keys = ["time", "addr", "addr_type", "pdu", "rssi", "data", "ibeacon", "altbeacon"]
    var names = keys.filter { key in
      // TShark gives extended reports of HCI no PDU name; and where it leaves a key out, so must we.
      if key == "pdu", golden[key] == nil { return false }
      return (golden[key] as? NSObject) != (ours[key] as? NSObject)
    }
    let expected = golden["eddystone"] as? [String: Any] ?? [:]
    let eddystone = ours["eddystone"] as? [String: Any] ?? [:]
    // Ours says more than the golden file: what it does say must be the same.
    if expected.isEmpty != eddystone.isEmpty
      || !expected.allSatisfy({ $0.value as? NSObject == eddystone[$0.key] as? NSObject })
    {
      names.append("eddystone")
    }
    return names
  }
}
