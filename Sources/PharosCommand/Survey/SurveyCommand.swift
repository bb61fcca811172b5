import ArgumentParser
import PharosService

/// `pharos survey`.
struct SurveyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "survey",
    abstract: "Learn where things are heard from walks, locate by it, and score the fixes.",
    discussion: """
      From traces with waypoints to a table of errors, in three commands:

      pharos survey learn survey/ -o venue/
      pharos survey locate --venue venue/ test/ -o fixes.csv
      pharos survey score fixes.csv test/ --coverage survey/

      Traces are text as the Indoor Location Competition 2.0 has them, plain or packed \
      with gzip; a folder stands for all traces in it.
      """,
    subcommands: [
      SurveyInitCommand.self, SurveyLearnCommand.self, SurveyLocateCommand.self, SurveyScoreCommand.self,
      SurveyImportCommand.self,
    ]
  )
}
