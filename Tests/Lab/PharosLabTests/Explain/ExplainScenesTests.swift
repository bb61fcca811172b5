import Foundation
import PharosConsoleSupport
import PharosLab
import PharosModel
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Explain tells what process decides")
struct ExplainScenesTests {
  private struct ExplainedChange: Hashable, Comparable {
    var time: String
    var kind: String
    var region: String
    var subject: String

    static func < (left: ExplainedChange, right: ExplainedChange) -> Bool {
      (left.time, left.kind, left.region, left.subject) < (
        right.time, right.kind, right.region, right.subject
      )
    }
  }

  private static func files(_ name: String) -> (capture: String, site: String) {
    let scene = SharedData.repository.appending(path: "Captures/\(name)")
    return (scene.appending(path: "capture.pcapng").path, scene.appending(path: "site.yaml").path)
  }

  private static func object(_ text: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// What process tells of regions and observers, apart from changes of state that an enter or an exit tells too.
  private static func processed(_ name: String) throws -> [ExplainedChange] {
    let (capture, site) = files(name)
    let kept = KeptConsole()
    var options = ProcessRunner.Options(captures: [capture], site: site)
    options.selection = KindSelection([
      .regionEnter, .regionExit, .regionUnmonitored, .observerOnline, .observerOffline, .observerRestarted,
    ])
    #expect(ProcessRunner(options).run(on: kept.console) == .success)
    return try kept.output.text.split(separator: "\n").map { line in
      let event = try object(line)
      let data = event["data"] as? [String: Any]
      let type = event["type"] as? String ?? ""
      return ExplainedChange(
        time: event["time"] as? String ?? "",
        kind: String(type.split(separator: ".").last ?? ""),
        region: data?["region"] as? String ?? "",
        subject: event["subject"] as? String ?? ""
      )
    }
    .sorted()
  }

  private static func explained(_ name: String) throws -> [ExplainedChange] {
    let (capture, site) = files(name)
    let kept = KeptConsole()
    var options = ExplainRunner.Options(captures: [capture], site: site)
    options.format = .json
    options.limit = .max
    #expect(ExplainRunner(options).run(on: kept.console) == .success)
    let decisions = try object(kept.output.text)["decisions"] as? [[String: Any]] ?? []
    var committed: [ExplainedChange] = []
    for decision in decisions {
      let kind = decision["decision"] as? String ?? ""
      let isObserver = ["online", "offline", "restarted"].contains(kind)
      let isAnnounced = decision["announced"] as? Bool ?? isObserver
      guard isAnnounced, ["enter", "exit", "unmonitored"].contains(kind) || isObserver else { continue }
      let regions = decision["regions"] as? [String] ?? []
      for region in regions.isEmpty ? [""] : regions {
        committed.append(
          ExplainedChange(
            time: decision["time"] as? String ?? "",
            kind: kind,
            region: region,
            subject: decision["subject"] as? String ?? ""
          )
        )
      }
      #expect((decision["why"] as? [String])?.isEmpty == false, "\(decision)")
    }
    return committed.sorted()
  }

  @Test(
    "each enter, exit and outage, and no other",
    arguments: ["noisy-doorway", "gateway-outage", "museum-visit", "busy-hall"]
  )
  func same(name: String) throws {
    let processed = try Self.processed(name)
    #expect(!processed.isEmpty)
    #expect(try Self.explained(name) == processed)
  }

  @Test(
    "in lines of at most a hundred columns",
    arguments: ["noisy-doorway", "gateway-outage", "museum-visit"]
  )
  func width(name: String) throws {
    let (capture, site) = Self.files(name)
    let kept = KeptConsole()
    _ = ExplainRunner(ExplainRunner.Options(captures: [capture], site: site)).run(on: kept.console)
    let lines = kept.output.text.split(separator: "\n")
    #expect(lines.count > 20)
    for line in lines { #expect(line.count <= 100, "\(line)") }
  }
}
