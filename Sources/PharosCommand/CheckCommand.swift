import ArgumentParser
import PharosService

/// `pharos check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell every mistake of a site file at once, with line numbers.",
    discussion: """
      pharos check site.yaml
          prints `site.yaml:14: message (expected …)` for each mistake and ends with 78 \
      if there is one.
      """
  )

  @Argument(help: ArgumentHelp("The site file.", valueName: "site.yaml"))
  var site: String

  func run() throws {
    try CheckRunner.run(path: site, console: .standard()).leave()
  }
}
