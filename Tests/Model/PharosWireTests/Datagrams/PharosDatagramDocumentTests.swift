import Foundation
import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// Documentation that is run, so that it cannot drift from the code.
@Suite("The pages on formats")
struct PharosDatagramDocumentTests {
  @Test("the example of the Pharos datagram decodes to what the page says, and is what the encoder writes")
  func example() throws {
    let block = try #require(try fences("PharosDatagram", "hex").first)
    // Each line is the bytes, two spaces or more, and what they are.
    let datagram = bytes(
      block.split(separator: "\n").map { $0.prefix(upTo: $0.firstRange(of: "  ")?.lowerBound ?? $0.endIndex) }
        .joined()
    )
    let iBeacon = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5"
    #expect(
      decoded(datagram)
        == .success([
          "ac:23:3f:a0:00:01 head 7 42 3600000000000 received",
          "ac:23:3f:a0:00:01 advert c4:be:84:e7:ec:3e/random -59 nonConnectable ch38 [\(iBeacon)] age 120000000",
          "roof heartbeat 250 0.5 0 age 0",
        ])
    )
    #expect(try Hex.text(encodeExample(iBeacon)) == Hex.text(datagram))
  }

  @Test("the examples of JSON fields decode")
  func json() throws {
    let blocks = try fences("JSONFields", "json")
    #expect(blocks.count == 2)
    #expect(try decoded(blocks[0]).get().count == 1)
    #expect(try decoded(blocks[1]).get().count == 11)
  }

  @Test("the page on JSON fields lists every name that is understood", arguments: JSONField.allCases)
  func everyName(field: JSONField) throws {
    let listed = Set(try quoted().map { $0.lowercased() })
    let short = JSONField.shortNames.filter { $0.field == field }.flatMap(\.names)
    let missing = (field.names + short).map { "\($0)" }.filter { !listed.contains($0) }
    #expect(missing == [])
  }

  @Test("the names that stand for one thing are all understood")
  func synonyms() throws {
    let quoted = try quoted()
    for name in ["adverts", "rangedBeacons", "beacons"] {
      #expect(decoded(#"{"observer":"a","\#(name)":[]}"#) == .success([]))
    }
    for name in [
      "observer", "observerId", "gateway", "gatewayId", "gatewayMac", "gw", "gwMac", "scanner", "receiverId",
      "room",
    ] {
      #expect(quoted.contains(name))
      #expect(decoded(#"{"\#(name)":"a","heartbeat":true}"#) == .success(["a heartbeat - - 0 received"]))
    }
    for name in ["address", "mac", "addr", "macAddress", "bdAddr", "id"] {
      #expect(quoted.contains(name))
      let line = "a advert 00:00:00:00:00:01/unknown -60 unknown [] received"
      #expect(decoded(#"{"gw":"a","\#(name)":"000000000001","rssi":-60}"#) == .success([line]))
    }
    for name in ["data", "payload", "rawData", "adv", "advData"] {
      #expect(quoted.contains(name))
      let line = "a advert 00:00:00:00:00:01/unknown -60 unknown [020106] received"
      #expect(decoded(#"{"gw":"a","mac":"000000000001","rssi":-60,"\#(name)":"020106"}"#) == .success([line]))
    }
  }

  /// What stands in backticks on the page on JSON fields.
  private func quoted() throws -> [String] {
    try article("JSONFields").components(separatedBy: "`").enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  private func encodeExample(_ iBeacon: String) throws -> [UInt8] {
    var batch = ReportBatch()
    let advert = Advert(
      address: DeviceAddress(bits: 0xC4BE_84E7_EC3E, kind: .random),
      rssi: RSSI(dBm: -59),
      pdu: .nonConnectable,
      channel: 38,
      payload: batch.append(payload: bytes(iBeacon))
    )
    let bodies: [(ObserverID, ReportTiming, ReportBody)] = [
      (.eui48(0xAC23_3FA0_0001), .age(.milliseconds(120)), .advert(advert)),
      (.name("roof"), .age(.zero), .heartbeat(Heartbeat(advertsHeard: 250, scanDuty: 0.5))),
    ]
    var encoder = PharosDatagramEncoder(observer: bodies[0].0, bootID: 7, sequence: 42)
    for (observer, timing, body) in bodies {
      let index = batch.index(of: observer)
      let report = Report(observer: index, received: receiveTime, timing: timing, body: body)
      let appended = encoder.append(report, from: batch)
      #expect(appended)
    }
    return encoder.finish(uptime: .milliseconds(3_600_000))
  }

  private func article(_ name: String) throws -> String {
    let path = "Sources/Model/PharosWire/PharosWire.docc/\(name).md"
    return try String(contentsOf: SharedData.repository.appending(path: path), encoding: .utf8)
  }

  /// The contents of the code blocks of a language.
  private func fences(_ name: String, _ language: String) throws -> [String] {
    try article(name).components(separatedBy: "```\(language)\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
  }
}
