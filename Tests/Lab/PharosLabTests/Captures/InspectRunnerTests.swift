import Foundation
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Inspect")
struct InspectRunnerTests {
  private let folder: TemporaryFolder
  private let capture: String

  init() throws {
    folder = try TemporaryFolder()
    capture = folder.path("demo.pcapng")
    let kept = KeptConsole()
    #expect(
      SimulateRunner.run(scene: "demo", seed: 1, output: capture, truth: nil, console: kept.console)
        == .success
    )
  }

  private func inspect(
    _ view: InspectRunner.View,
    _ format: EventFormat,
    onTerminal isTerminal: Bool = false
  ) -> (CommandStatus, KeptConsole) {
    let kept = KeptConsole()
    let style = TerminalStyle(isTerminal: isTerminal, usesColor: false, width: 80)
    let console = Console(output: kept.output, errors: kept.errors, outputStyle: style)
    let runner = InspectRunner(captures: [capture], view: view, format: format)
    return (runner.run(on: console), kept)
  }

  @Test("into a pipe, adverts and the reasons of refusals are written whole")
  func whole() throws {
    let beacon = try #require(inspect(.adverts, .table).1.output.text.firstMatch(of: /[0-9A-F-]{36}\S+/))
      .output
    #expect(!inspect(.adverts, .table, onTerminal: true).1.output.text.contains(beacon))
    try write(packets: [Array("{ \"observer\": 7".utf8)], linkType: 101, protocolNumber: 17)
    let whole = inspect(.datagrams, .table).1.output.text.split(separator: "\n")
    #expect(whole.count == 2)
    #expect(whole.allSatisfy { !$0.contains("…") })
    #expect(whole.last?.contains("refused: ") == true)
  }

  @Test(
    "on a terminal, no view is wider than 80 columns",
    arguments: [InspectRunner.View.summary, .adverts, .datagrams]
  )
  func widths(view: InspectRunner.View) {
    let (status, kept) = inspect(view, .table, onTerminal: true)
    #expect(status == .success)
    let lines = kept.output.text.split(separator: "\n")
    #expect(lines.count > 5)
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test("each line for machines is an object", arguments: [InspectRunner.View.summary, .adverts, .datagrams])
  func json(view: InspectRunner.View) throws {
    let (_, kept) = inspect(view, .jsonl)
    #expect(!kept.output.text.isEmpty)
    for line in kept.output.text.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let keys = try Set(#require(object).keys)
      switch view {
      case .summary: #expect(keys.isSuperset(of: ["packets", "adverts", "observers"]))
      case .adverts:
        #expect(keys.isSuperset(of: ["frame", "index", "time", "addr", "rssi", "data", "observer"]))
      case .datagrams:
        #expect(keys.isSuperset(of: ["frame", "time", "src", "sport", "dst", "dport", "payload"]))
      }
    }
  }

  @Test("the summary counts what the lines show")
  func summary() {
    let (_, kept) = inspect(.summary, .table)
    let adverts = inspect(.adverts, .jsonl).1.output.text.split(separator: "\n").count
    let datagrams = inspect(.datagrams, .jsonl).1.output.text.split(separator: "\n").count
    #expect(kept.output.text.contains("adverts     \(adverts) of"))
    #expect(kept.output.text.contains("datagrams   \(datagrams)\n"))
  }

  /// A capture of raw IPv4 packets with one transport header's worth of bytes, or of another link type.
  private func write(packets: [[UInt8]], linkType: UInt8, protocolNumber: UInt8) throws {
    func word(_ number: Int) -> [UInt8] { [0, 8, 16, 24].map { UInt8(number >> $0 & 0xFF) } }
    var bytes: [UInt8] =
      [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + word(0) + word(0) + word(65_535) + word(Int(linkType))
    for (second, payload) in packets.enumerated() {
      let length = payload.count + 8
      let ports: [UInt8] = [0x9C, 0x40, 0xC3, 0x51, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0]
      let total = 20 + length
      let head: [UInt8] =
        [
          0x45, 0, UInt8(total >> 8), UInt8(total & 0xFF), 0, 0, 0, 0, 64, protocolNumber, 0, 0, 10, 0, 0, 5,
          10, 0, 0, 1,
        ]
      let packet = head + ports + payload
      bytes += word(1_760_000_000 + second) + word(0) + word(packet.count) + word(packet.count) + packet
    }
    try Data(bytes).write(to: URL(filePath: capture))
  }

  @Test("skipped packets are named, and the exit code tells if no other was found")
  func passedOver() throws {
    let site = folder.path("site.yaml")
    try Data("regions: [{ id: any, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, subject: beacon }]".utf8)
      .write(to: URL(filePath: site))
    for (linkType, number, words) in [(UInt8(101), UInt8(6), "TCP"), (249, 17, "link type 249 (USBPCAP)")] {
      try write(packets: Array(repeating: [1, 2, 3], count: 10), linkType: linkType, protocolNumber: number)
      let (status, kept) = inspect(.summary, .table)
      #expect(status == .failure)
      #expect(kept.errors.text.contains("10 packets passed over: \(words)"))
      #expect(kept.output.text.contains("passed over"))
      let processed = KeptConsole()
      #expect(ProcessRunner(.init(captures: [capture], site: site)).run(on: processed.console) == .failure)
      #expect(processed.errors.text.contains("10 packets passed over: \(words)"))
    }
  }

  @Test("identified beacons are counted, and skipped elements by their reason")
  func rangedBeacons() throws {
    let good = """
      {"type":"iBeacon","mac":"C300000A0B0C","ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","ibeaconMajor":1,\
      "ibeaconMinor":7,"rssi":-61,"ibeaconTxPower":-59}
      """
    let text = #"[{"type":"Gateway","mac":"AC233FC0FFEE"},\#(good),{"mac":"","rssi":-70}]"#
    try write(packets: Array(repeating: Array(text.utf8), count: 20), linkType: 101, protocolNumber: 17)
    let (status, kept) = inspect(.summary, .table)
    #expect(status == .success)
    #expect(
      kept.output.text.contains("beacons     1\n  20        E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7\n")
    )
    #expect(kept.output.text.contains("  skipped   20 elements json: bad_identity\n"))
    let lines = inspect(.adverts, .table).1.output.text.split(separator: "\n")
    #expect(lines.filter { $0.contains("1/7") && $0.contains("-61") }.count == 20)
  }

  @Test("the iBeacon layout of another company names the setting that reads it")
  func otherCompany() throws {
    let text =
      #"{"gw":"hall","mac":"C300000A0B0C","rssi":-61,"data":"1affffff0215e2c56db5dffb48d2b060d0f5a71096e000010007c5"}"#
    try write(packets: [Array(text.utf8)], linkType: 101, protocolNumber: 17)
    let (_, kept) = inspect(.summary, .table)
    #expect(kept.output.text.contains("`iBeaconCompanies: [0xffff]` reads them"))
    #expect(kept.errors.text.contains("iBeacon layout of company ffff; `iBeaconCompanies: [0xffff]`"))
    #expect(inspect(.adverts, .table).1.output.text.contains("iBeacon layout of company ffff"))
  }

  @Test("of a file that is no capture there is no summary, and one line says what it is")
  func noCapture() throws {
    try Data("hello, world".utf8).write(to: URL(filePath: capture))
    let (status, kept) = inspect(.summary, .table)
    #expect(status == .failure)
    #expect(kept.output.text.isEmpty)
    #expect(kept.errors.text.hasPrefix("\(capture): not a capture"))
  }

  @Test("text between the records of btmon is counted, and a sentence says how to start btmon")
  func foreignBytes() throws {
    let header = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xD1]
    let record: [UInt8] =
      [0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0xE3, 0, 0, 0, 0, 0, 0] + [0x0C, 0x20, 0]
    let text = Array("> HCI Event: LE Meta Event (0x3e) plen 43\n".utf8)
    try Data(header + record + text + record + text).write(to: URL(filePath: capture))
    let (status, kept) = inspect(.summary, .table)
    // Two commands to a radio hold no report.
    #expect(status == .failure)
    #expect(kept.output.text.contains("packets     2\n"))
    #expect(kept.output.text.contains("foreign     \(2 * text.count) bytes in 2 places\n"))
    #expect(kept.errors.text.contains("btmon -w /dev/fd/3"))
    #expect(inspect(.summary, .jsonl).1.output.text.contains("\"foreignBytes\":\(2 * text.count)"))
  }

  @Test("a damaged capture is shown up to the damage")
  func damaged() throws {
    let bytes = try folder.bytes("demo.pcapng")
    try Data(bytes.dropLast(3)).write(to: URL(filePath: capture))
    let (status, kept) = inspect(.datagrams, .jsonl)
    #expect(status == .failure)
    #expect(kept.output.text.split(separator: "\n").count > 100)
    #expect(kept.errors.text.contains(capture))
  }
}
