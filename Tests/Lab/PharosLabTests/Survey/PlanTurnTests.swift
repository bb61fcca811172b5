import PharosConsoleSupport
import PharosLab
import PharosSite
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Plans that are not turned to north")
struct PlanTurnTests {
  /// The output of `survey learn`, and the warnings about the venue, for a house whose plan is turned by an angle.
  private static func said(turned: Double) throws -> (learn: String, warnings: String) {
    let folder = try TemporaryFolder()
    let venue = folder.path("venue")
    try SurveyFixtures.writeFloors(in: folder)
    for seed in 0..<6 {
      let walk = SurveyFixtures.walk(seed: UInt64(seed), turned: turned)
      try SurveyFixtures.write(walk.utf8, to: "survey/house/F1/walk-\(seed).txt", in: folder)
    }
    let (learning, reading) = (KeptConsole(), KeptConsole())
    try #require(
      SurveyInitRunner(floors: folder.path("floors"), output: venue).run(on: learning.console) == .success
    )
    let traces = [folder.path("survey")]
    try #require(SurveyLearnRunner(traces: traces, venue: venue).run(on: learning.console) == .success)
    _ = try LoadedVenues([venue], console: reading.console)
    return (learning.output.text, reading.errors.text)
  }

  @Test("learn and the warnings about the venue name the floor and the angle")
  func turned() throws {
    let said = try Self.said(turned: 0.7)
    for text in [said.learn, said.warnings] {
      // 0.7 rad are 40.1°; the compass of the tracker may add two.
      let angles = (38...42).map {
        "/0: on the plan 6 walks went \($0)° clockwise of their compass headings."
      }
      #expect(angles.contains { text.contains($0) }, "\(text)")
    }
  }

  @Test("a plan that is turned to north is not mentioned")
  func straight() throws {
    let said = try Self.said(turned: 0)
    #expect(!said.learn.contains("compass"))
    #expect(!said.warnings.contains("compass"))
  }
}
