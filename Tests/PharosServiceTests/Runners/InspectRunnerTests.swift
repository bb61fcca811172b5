import Foundation
import PharosService
import PharosTools
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

  private func inspect(_ view: InspectRunner.View, _ format: EventFormat) -> (CommandStatus, KeptConsole) {
    let kept = KeptConsole()
    let runner = InspectRunner(captures: [capture], view: view, format: format)
    return (runner.run(on: kept.console), kept)
  }

  @Test("no view is wider than 80 columns", arguments: [InspectRunner.View.summary, .adverts, .datagrams])
  func widths(view: InspectRunner.View) {
    let (status, kept) = inspect(view, .table)
    #expect(status == .success)
    let lines = kept.output.text.split(separator: "\n")
    #expect(lines.count > 5)
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test("each line for machines is an object", arguments: [InspectRunner.View.summary, .adverts, .datagrams])
  func json(view: InspectRunner.View) throws {
    let (_, kept) = inspect(view, .jsonl)
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
    #expect(status == .success)
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
