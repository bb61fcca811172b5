import ArgumentParser
import PharosService

/// `pharos survey init`.
struct SurveyInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make a venue's folder from the floors of a survey.",
    discussion: """
      pharos survey init floors/ -o venue/ --traces survey/
          floors/SITE/FLOOR/ with floor_image.png, floor_info.json and geojson_map.json; a \
      site becomes a building, called as the headers of its traces call it.
      """
  )

  @Argument(help: ArgumentHelp("The folder of sites.", valueName: "floors"))
  var floors: String

  @Option(name: .shortAndLong, help: ArgumentHelp("The venue's folder to make.", valueName: "venue/"))
  var output: String

  @Option(
    help: ArgumentHelp("Traces in folders of the same names, whose headers name sites.", valueName: "traces")
  )
  var traces: [String] = []

  func run() throws {
    let runner = SurveyInitRunner(floors: floors, output: output, traces: traces)
    try runner.run(on: .standard()).leave()
  }
}
