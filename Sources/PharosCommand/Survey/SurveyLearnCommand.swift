import ArgumentParser
import PharosService

/// `pharos survey learn`.
struct SurveyLearnCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "learn",
    abstract: "Make a venue's radio map from walks with waypoints.",
    discussion: """
      pharos survey learn survey/ -o venue/
          writes venue/radio-map.pharos, and a picture of each floor with what was covered \
      into venue/coverage/.

      Walks are placed by their own steps between waypoints. Emitters that move are left out. \
      A trace belongs to the building that is called as its SiteName, or as a folder above it.
      """
  )

  @Argument(help: ArgumentHelp("Traces, or folders of them.", valueName: "trace"))
  var traces: [String]

  @Option(name: .shortAndLong, help: ArgumentHelp("The venue's folder.", valueName: "venue/"))
  var output: String

  func run() throws {
    try SurveyLearnRunner(traces: traces, venue: output).run(on: .standard()).leave()
  }
}
