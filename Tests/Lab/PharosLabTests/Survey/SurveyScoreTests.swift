import Foundation
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Score of fixes")
struct SurveyScoreTests {
  /// A trace with waypoints at given times and places.
  private static func trace(
    _ waypoints: [(Int, Double, Double)],
    floor: String = "F1",
    site: String = "mall"
  ) -> String {
    "#\tstartTime:0\n#\tSiteID:5d\tSiteName:\(site)\tFloorId:5e\tFloorName:\(floor)\n"
      + waypoints.map { "\($0.0)\tTYPE_WAYPOINT\t\($0.1)\t\($0.2)\n" }.joined() + "#\tendTime:9\n"
  }

  private static func id(_ number: Int) -> String { String(format: "%024x", number) }

  private func score(
    _ fixes: String,
    traces: [String: String],
    survey: [String: String] = [:],
    byFloor: Bool = false,
    format: SurveyScoreRunner.Format = .json
  ) throws -> (status: CommandStatus, output: String, errors: String) {
    let folder = try TemporaryFolder()
    for (name, text) in traces { try SurveyFixtures.write(text.utf8, to: "test/\(name).txt", in: folder) }
    for (name, text) in survey { try SurveyFixtures.write(text.utf8, to: "survey/\(name).txt", in: folder) }
    let kept = KeptConsole()
    var options = SurveyScoreRunner.Options(
      fixes: try folder.write(fixes, to: "fixes.csv"),
      traces: [folder.path("test")]
    )
    options.coverage = survey.isEmpty ? [] : [folder.path("survey")]
    options.byFloor = byFloor
    options.format = format
    let status = SurveyScoreRunner(options).run(on: kept.console)
    return (status, kept.output.text, kept.errors.text)
  }

  private static func groups(_ output: String) throws -> [String: [String: Double]] {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    let groups = try #require(object?["groups"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: groups.map { group in
        (group["name"] as? String ?? "", group.compactMapValues { ($0 as? NSNumber)?.doubleValue })
      }
    )
  }

  @Test("at each waypoint counts the latest fix that is no later, whatever its age")
  func latest() throws {
    let fixes = """
      trace_id,time_ms,x_m,y_m,floor,accuracy_m
      \(Self.id(1)),1000,3,4,F1,5
      \(Self.id(1)),1000,0,1,F1,0.9
      \(Self.id(1)),5001,50,50,F1,1
      \(Self.id(1)),9000,6,8,F2,4
      \(Self.id(9)),1,0,0,F1,1

      """
    let trace = Self.trace([(999, 0, 0), (1_000, 0, 0), (5_000, 3, 5), (9_500, 0, 0)])
    let outcome = try score(fixes, traces: [Self.id(1): trace])
    let all = try #require(try Self.groups(outcome.output)["all"])
    #expect(outcome.status == .success)
    #expect(all["waypoints"] == 4 && all["scored"] == 3 && all["missedFirst"] == 1)
    #expect(all["missed"] == 0.25)
    // 1 m from the later of two fixes of one time, 5 m from an old one, 10 m on the wrong floor.
    #expect(all["mean"] == 5.333333 && all["median"] == 5 && all["p75"] == 7.5 && all["p90"] == 9)
    #expect(all["floor"] == 0.666667)
    #expect(all["withinAccuracy"] == 0 && all["withinTwiceAccuracy"] == 0.333333)
    #expect(all["accuracy"] == 0.9)
    #expect(outcome.errors.contains("fixes of 1 trace that are not among those scored"))
  }

  @Test(
    "a waypoint is covered within a metre and a half of a straight line that the survey walked on that floor"
  )
  func coverage() throws {
    let fixes = "trace_id,time_ms,x_m,y_m,floor\n\(Self.id(1)),0,0,0,F1\n"
    let trace = Self.trace([(1, 5, 1.5), (2, 5, 1.51), (3, -1.5, 0), (4, 20, 20), (5, 30, 1.2)])
    let survey = [
      Self.id(2): Self.trace([(1, 0, 0), (2, 10, 0)]), Self.id(3): Self.trace([(1, 20, 20)], floor: "F2"),
      Self.id(4): Self.trace([(1, 30, 0)]), Self.id(5): Self.trace([(1, 5, 2)], site: "other"),
    ]
    let groups = try Self.groups(try score(fixes, traces: [Self.id(1): trace], survey: survey).output)
    #expect(groups["covered"]?["waypoints"] == 3)
    #expect(groups["not covered"]?["waypoints"] == 2)
  }

  @Test("sites and floors are listed separately on request, and missing figures are left blank")
  func table() throws {
    let fixes = "trace_id,time_ms,x_m,y_m,floor\n\(Self.id(1)),0,3,4,1\n"
    let traces = [
      Self.id(1): Self.trace([(1, 0, 0)]), Self.id(2): Self.trace([(1, 0, 0)], floor: "B1", site: "zoo"),
    ]
    let outcome = try score(fixes, traces: traces, byFloor: true, format: .table)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "WAYPOINTS               N MISSED   MEAN MEDIAN   P75   P90  FLOOR  IN R IN 2R")
    #expect(lines[1] == "all                     2   50.0   5.00   5.00  5.00  5.00   0.00")
    #expect(lines[2] == "mall                    1    0.0   5.00   5.00  5.00  5.00   0.00")
    #expect(lines[3] == "  mall F1               1    0.0   5.00   5.00  5.00  5.00   0.00")
    #expect(lines[4] == "zoo                     1  100.0")
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test("a missing input is reported with advice")
  func mistakes() throws {
    let kept = KeptConsole()
    let folder = try TemporaryFolder()
    func run(_ fixes: String, _ traces: [String], tracks: String? = nil) -> CommandStatus {
      var options = SurveyScoreRunner.Options(fixes: fixes, traces: traces)
      options.tracks = tracks
      return SurveyScoreRunner(options).run(on: kept.console)
    }
    #expect(run("nowhere.csv", [folder.path("")], tracks: "t") == .usage)
    #expect(run("nowhere.csv", [folder.path("")]) == .failure)
    let fixes = try folder.write("trace_id,time_ms,x_m,y_m,floor\n", to: "fixes.csv")
    #expect(run(fixes, [folder.path("")]) == .usage)
    let headless = try folder.write("1\tTYPE_WAYPOINT\t1\t2\n", to: "walk.txt")
    #expect(run(fixes, [headless]) == .failure)
    #expect(
      kept.errors.text.contains("tracks are drawn over floor plans: name the venue's folder with --venue")
    )
    #expect(kept.errors.text.contains("holds no trace (expected files that end in .txt or .txt.gz)"))
    #expect(kept.errors.text.contains("walk.txt: the header has no FloorName"))
  }

  /// The program that the data set is scored with, where it lies beside the repository and Python is there to run it.
  private static let reference: String? = {
    guard let folder = SharedData.folder else { return nil }
    let path = folder.deletingLastPathComponent().appending(path: "tools/score_fixes.py").path
    return FileManager.default.fileExists(atPath: path)
      && FileManager.default.fileExists(atPath: "/usr/bin/python3")
      ? path : nil
  }()

  @Test(
    "the figures are those of the program that scores the data set",
    .enabled(if: reference != nil),
    arguments: 0..<4
  )
  func agrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    var fixes = "trace_id,time_ms,x_m,y_m,floor,accuracy_m\n"
    for part in ["test", "survey"] {
      for number in 0..<12 {
        let id = Self.id(number + (part == "test" ? 0 : 100))
        let floor = ["F1", "B1", "F2"].randomElement(using: &random) ?? ""
        let waypoints = (0..<Int.random(in: 1...12, using: &random)).map { index in
          (
            index * 5_000, Double.random(in: 0...60, using: &random),
            Double.random(in: 0...40, using: &random)
          )
        }
        let text = Self.trace(
          waypoints,
          floor: floor,
          site: ["mall", "zoo"].randomElement(using: &random) ?? ""
        )
        try SurveyFixtures.write(text.utf8, to: "\(part)/\(floor)/\(id).txt", in: folder)
        for _ in 0..<Int.random(in: 0...40, using: &random) where part == "test" {
          let time = Int.random(in: 0...60, using: &random) * 1_000
          let (x, y) = (Double.random(in: 0...60, using: &random), Double.random(in: 0...40, using: &random))
          fixes +=
            "\(id),\(time),\(x),\(y),\(["F1", "1F", "-1", "L2"].randomElement(using: &random) ?? ""),3\n"
        }
      }
    }
    let table = try folder.write(fixes, to: "fixes.csv")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [
      try #require(Self.reference), table, folder.path("test"), "--coverage", folder.path("survey"), "--json",
      folder.path("reference.json"),
    ]
    process.standardOutput = Pipe()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let read = try JSONSerialization.jsonObject(with: Data(try folder.bytes("reference.json")))
    let reference = try #require(read as? [String: [String: Any]])

    let kept = KeptConsole()
    var options = SurveyScoreRunner.Options(fixes: table, traces: [folder.path("test")])
    options.coverage = [folder.path("survey")]
    options.format = .json
    #expect(SurveyScoreRunner(options).run(on: kept.console) == .success)
    let ours = try Self.groups(kept.output.text)
    let names = [
      ("waypoints", "waypoints"), ("scored", "scored"), ("missed_first", "missedFirst"),
      ("miss_rate", "missed"),
      ("mean", "mean"), ("median", "median"), ("p75", "p75"), ("p90", "p90"), ("floor_acc", "floor"),
    ]
    for (theirs, group) in [("all", "all"), ("covered", "covered"), ("uncovered", "not covered")] {
      guard let figures = reference[theirs], (figures["waypoints"] as? Int ?? 0) > 0 else { continue }
      for (their, name) in names {
        let expected = (figures[their] as? NSNumber)?.doubleValue ?? .nan
        let found = ours[group]?[name] ?? .nan
        let isSame = abs(expected - found) < 1e-6 || expected.isNaN && found.isNaN
        #expect(isSame, "\(group) \(name): \(expected) there, \(found) here")
      }
    }
  }
}
