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
