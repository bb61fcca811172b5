import Foundation
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("The captures of the repository")
struct CaptureFolderTests {
  /// The folders that hold a capture.
  static let scenes: [String] = {
    let root = SharedData.repository.appending(path: "Captures")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    return names.filter { capture(in: $0) != nil }.sorted()
  }()

  static func folder(_ scene: String) -> URL { SharedData.repository.appending(path: "Captures/\(scene)") }

  static func capture(in scene: String) -> String? {
    ["capture.pcapng", "capture.pcapng.gz"].map { folder(scene).appending(path: $0).path }
      .first { FileManager.default.fileExists(atPath: $0) }
  }

  @Test("a museum visit, a gateway outage, a noisy doorway and a busy hall are there")
  func complete() {
    #expect(
      Set(CaptureFolderTests.scenes).isSuperset(of: [
        "busy-hall", "gateway-outage", "museum-visit", "noisy-doorway",
      ])
    )
  }

  @Test("each gives the events beside it, byte for byte, and has a page", arguments: scenes)
  func expected(scene: String) throws {
    let folder = CaptureFolderTests.folder(scene)
    let capture = try #require(CaptureFolderTests.capture(in: scene))
    let kept = KeptConsole()
    let site = folder.appending(path: "site.yaml").path
    var options = ProcessRunner.Options(captures: [capture], site: site)
    options.shards = 2
    #expect(ProcessRunner(options).run(on: kept.console) == .success)
    let expected = Array(try Data(contentsOf: folder.appending(path: "expected.jsonl")))
    #expect(!expected.isEmpty)
    if kept.output.bytes != expected {
      let lines = expected.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let found = kept.output.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let number = zip(lines, found).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      let line = number ?? min(lines.count, found.count)
      let was = line < lines.count ? String(decoding: lines[line], as: UTF8.self) : "the end"
      let now = line < found.count ? String(decoding: found[line], as: UTF8.self) : "the end"
      Issue.record("\(scene)/expected.jsonl:\(line + 1): expected\n\(was)\nfound\n\(now)")
    }
    #expect(FileManager.default.fileExists(atPath: folder.appending(path: "README.md").path))
  }
}
