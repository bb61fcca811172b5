import Foundation
import PharosConsoleSupport
import PharosLab
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("A venue from a survey's floors")
struct SurveyInitTests {
  @Test("sites become buildings, folders become floors, and headers give names")
  func made() throws {
    let folder = try TemporaryFolder()
    try SurveyFixtures.writeFloors(in: folder)
    try SurveyFixtures.write(SurveyFixtures.walk(seed: 1).utf8, to: "survey/house/F1/walk.txt", in: folder)
    let kept = KeptConsole()
    let runner = SurveyInitRunner(
      floors: folder.path("floors"),
      output: folder.path("venue"),
      traces: [folder.path("survey")]
    )
    #expect(runner.run(on: kept.console) == .success, "\(kept.errors.text)")
    let yaml = String(decoding: try folder.bytes("venue/venue.yaml"), as: UTF8.self)
    #expect(yaml.contains("id: \"venue\"\n"))
    #expect(
      yaml.contains(
        """
          - id: "house"
            name: "The house"
            floors:
              - { level: -1, name: "B1", surveyFolder: "floors/house/B1" }
              - { level: 0, name: "F1", surveyFolder: "floors/house/F1" }
        """
      )
    )
    #expect(kept.output.text.contains("house/0 \"F1\": 40\u{A0}m × 20\u{A0}m"))
    #expect(
      try folder.bytes("venue/floors/house/F1/floor_image.png")
        == folder.bytes("floors/house/F1/floor_image.png")
    )
    // A second one leaves the first as it is.
    #expect(runner.run(on: kept.console) == .failure)
    #expect(kept.errors.text.contains("venue.yaml exists already"))
  }

  @Test("every folder of a site is read, or named with the reason")
  func names() throws {
    let folder = try TemporaryFolder()
    try SurveyFixtures.writeFloors(["G", "L1", "L2", "LG1", "P1", "attic", "M"], in: folder)
    try SurveyFixtures.write("{}".utf8, to: "floors/house/L3/floor_info.json", in: folder)
    let kept = KeptConsole()
    let runner = SurveyInitRunner(floors: folder.path("floors"), output: folder.path("venue"))
    #expect(runner.run(on: kept.console) == .success, "\(kept.errors.text)")
    let yaml = String(decoding: try folder.bytes("venue/venue.yaml"), as: UTF8.self)
    for (level, name) in [(-1, "LG1"), (0, "G"), (1, "L1"), (2, "L2")] {
      #expect(yaml.contains("- { level: \(level), name: \"\(name)\""), "\(yaml)")
    }
    let said = kept.output.text + kept.errors.text
    for name in ["P1", "attic", "M", "L3"] {
      #expect(said.contains("floors/house/\(name): warning: left out: "), "\(said)")
    }
    #expect(said.contains("L3: warning: left out: it has no geojson_map.json"))
  }

  @Test("for a folder without floors the error states what was expected")
  func empty() throws {
    let folder = try TemporaryFolder()
    let kept = KeptConsole()
    let runner = SurveyInitRunner(floors: folder.path("floors"), output: folder.path("venue"))
    #expect(runner.run(on: kept.console) == .configuration)
    #expect(kept.errors.text.contains("holds no floor (expected SITE/FLOOR/ with floor_info.json"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("venue")))
  }
}
