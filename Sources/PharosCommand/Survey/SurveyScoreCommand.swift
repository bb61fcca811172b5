import ArgumentParser
import PharosService

/// `pharos survey score`.
struct SurveyScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Tell how far fixes are from the waypoints of traces, and draw them.",
    discussion: """
      pharos survey score fixes.csv test/ --coverage survey/ --by-floor
          at each waypoint the latest fix that is no later, whatever its age.
      pharos survey score fixes.csv test/ --venue venue/ --tracks tracks/
          draws each walk, and each floor with all errors, as SVG over the floor plan.
      """
  )

  @Argument(help: ArgumentHelp("The table of fixes.", valueName: "fixes.csv"))
  var fixes: String

  @Argument(help: ArgumentHelp("Traces with the truth, or folders of them.", valueName: "trace"))
  var traces: [String]

  @Option(
    help: ArgumentHelp(
      "Traces of the survey: waypoints that it walked past (within 1.5 m) are scored separately.",
      valueName: "survey/"
    )
  )
  var coverage: [String] = []

  @Flag(help: "Tell sites and floors apart.")
  var byFloor = false

  @Option(help: ArgumentHelp("The venue's folder, for pictures.", valueName: "venue/"))
  var venue: String?

  @Option(help: ArgumentHelp("The folder to draw into.", valueName: "dir"))
  var tracks: String?

  @Option(help: "How the figures are written.")
  var format: SurveyScoreRunner.Format = .table

  func run() throws {
    let options = SurveyScoreRunner.Options(
      fixes: fixes,
      traces: traces,
      coverage: coverage,
      venue: venue,
      tracks: tracks,
      byFloor: byFloor,
      format: format
    )
    try SurveyScoreRunner(options).run(on: .standard()).leave()
  }
}
