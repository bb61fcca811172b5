import ArgumentParser
import PharosService

/// `pharos check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell every mistake of a site file or a venue's folder at once, with line numbers.",
    discussion: """
      pharos check site.yaml
          prints `site.yaml:14: message (expected …)` for each mistake and ends with 78 \
      if there is one; the venues that the site names are checked with it.
      pharos check venues/museum/
          the same for a venue's folder, and what it holds: floors with their sizes, how well \
      plans fit their anchors, what cannot be walked to, what hangs outside of its floor.
      """
  )

  @Argument(help: ArgumentHelp("The site file, or a venue's folder.", valueName: "site.yaml|venue/"))
  var site: String

  func run() throws {
    try CheckRunner.run(path: site, console: .standard()).leave()
  }
}
