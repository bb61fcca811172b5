import Foundation
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosSimulation
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Process")
struct ProcessRunnerTests {
  private let folder: TemporaryFolder
  private let capture: String
  private let site: String

  init() throws {
    folder = try TemporaryFolder()
    capture = folder.path("demo.pcapng")
    site = try folder.write(Scene.demo.siteYAML, to: "site.yaml")
    let kept = KeptConsole()
    let status = SimulateRunner.run(
      scene: "demo",
      seed: 1,
      output: capture,
      truth: nil,
      console: kept.console
    )
    #expect(status == .success)
  }

  private func process(
    _ change: (inout ProcessRunner.Options) -> Void = { _ in }
  ) -> (CommandStatus, KeptConsole) {
    var options = ProcessRunner.Options(captures: [capture], site: site)
    change(&options)
    let kept = KeptConsole()
    return (ProcessRunner(options).run(on: kept.console), kept)
  }

  @Test("events come out as CloudEvents, and subjects still inside are listed at the end")
  func events() throws {
    let (status, kept) = process()
    #expect(status == .success)
    let lines = kept.output.text.split(separator: "\n")
    let types = try lines.map { line in
      let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(event?["type"] as? String)
    }
    #expect(Set(types).isSuperset(of: ["pharos.region.enter", "pharos.region.exit", "pharos.ranging"]))
    #expect(!types.contains("pharos.region.state"))
    #expect(kept.errors.text.contains("Still inside at the end"))
    #expect(kept.errors.text.contains("basket"))
  }

  @Test("neither shards nor packing change a byte", arguments: [1, 2, 3, 7])
  func shards(count: Int) throws {
    let packed = folder.path("demo.pcapng.gz")
    let made = KeptConsole()
    #expect(
      SimulateRunner.run(scene: "demo", seed: 1, output: packed, truth: nil, console: made.console)
        == .success
    )
    let (_, plain) = process()
    let (_, other) = process {
      $0.shards = count
      $0.captures = [packed]
    }
    #expect(!plain.output.bytes.isEmpty)
    #expect(plain.output.bytes == other.output.bytes)
  }

  @Test("kinds choose the events")
  func kinds() {
    let (_, kept) = process { $0.selection = KindSelection([.regionState]) }
    let lines = kept.output.text.split(separator: "\n")
    #expect(!lines.isEmpty)
    #expect(lines.allSatisfy { $0.contains("\"type\":\"pharos.region.state\"") })
  }

  @Test("a table has at most 80 columns")
  func table() {
    let (_, kept) = process { $0.format = .table }
    let lines = kept.output.text.split(separator: "\n")
    #expect(lines.count > 10)
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(kept.output.text.contains("enter       aisle"))
  }

  @Test("the times of a table never go back")
  func tableOrder() {
    let (_, kept) = process { $0.format = .table }
    let times = kept.output.text.split(separator: "\n").dropFirst().map { $0.prefix(12) }
    #expect(times.count > 10)
    #expect(times == times.sorted())
  }

  @Test("a tail lets time run on, so that no subject stays inside")
  func tail() {
    let (_, kept) = process { $0.tail = .minutes(30) }
    #expect(kept.errors.text.contains("Still inside") == false)
    let (_, without) = process()
    #expect(kept.output.bytes.count > without.output.bytes.count)
    #expect(kept.output.text.hasPrefix(without.output.text))
  }

  @Test("of a cut capture all before the cut is processed, and one error names the offset")
  func cut() throws {
    let bytes = try folder.bytes("demo.pcapng")
    try Data(bytes.prefix(bytes.count / 2)).write(to: URL(filePath: capture))
    let (status, kept) = process()
    #expect(status == .failure)
    #expect(!kept.output.bytes.isEmpty)
    let errors = kept.errors.text.split(separator: "\n").filter { $0.contains(capture) }
    #expect(errors.count == 1)
    let tail = try #require(errors.first?.split(separator: "at byte ").last)
    let offset = try #require(Int(tail.prefix { $0.isNumber }))
    #expect((bytes.count / 2 - 2_000...bytes.count / 2).contains(offset))
  }

  @Test("a wrong site file stops it before anything is read")
  func wrongSite() throws {
    let wrong = try folder.write("regions: 5", to: "wrong.yaml")
    let (status, kept) = process { $0.site = wrong }
    #expect(status == .configuration)
    #expect(
      kept.errors.text
        == "\(wrong):1: site: regions is \"5\" (expected a list of regions: regions: [{ id: … }])\n"
    )
    #expect(kept.output.bytes.isEmpty)
  }

  @Test("without a site it says what is missing")
  func noSite() {
    let (status, kept) = process { $0.site = nil }
    #expect(status == .success)
    #expect(kept.errors.text.contains("No --site was given"))
  }
}
