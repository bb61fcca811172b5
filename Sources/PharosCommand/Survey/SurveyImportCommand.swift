import ArgumentParser
import PharosService

/// `pharos survey import`.
struct SurveyImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Turn traces into a capture of the datagrams that their phones would have sent.",
    discussion: """
      pharos survey import test/ -o phones.pcapng
      pharos replay phones.pcapng --to 127.0.0.1:50001
          sends them to a server; each trace is an observer, in the order of its file.
      """
  )

  @Argument(help: ArgumentHelp("Traces, or folders of them.", valueName: "trace"))
  var traces: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The capture to write, pcapng; packed if it ends in .gz.", valueName: "capture")
  )
  var output: String

  func run() throws {
    try SurveyImportRunner(traces: traces).run(output: output, console: .standard()).leave()
  }
}
