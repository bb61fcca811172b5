import ArgumentParser
import PharosModel
import PharosTerminal
import PharosTools

/// `pharos init`.
struct InitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a commented site file to start from.",
    usage: "pharos init [<dir>] [--listen <time>] [options]",
    discussion: """
      pharos init
          writes site.yaml here; an existing one is not changed.
      pharos init hall --listen 30s --udp 0.0.0.0:50001
          listens for half a minute first, and makes observers, beacons, zones and regions of \
      what it heard.
      """
  )

  @Argument(help: ArgumentHelp("The folder to write site.yaml into.", valueName: "dir"))
  var folder = "."

  @Option(
    help: ArgumentHelp("Listen for this time first, such as 30s.", valueName: "time"),
    transform: TimeSpan.option
  )
  var listen: TimeSpan?

  @Option(help: .udp)
  var udp: [HostPort] = []

  @OptionGroup var log: LogOptions

  func run() async throws {
    let runner = InitRunner(folder: folder, listening: listen, udp: udp)
    let settings = try log.settings()
    try await runner.run(on: settings.console(), logger: settings.logger()).leave()
  }
}

/// `pharos check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Report every mistake in a site file or a venue's folder, with line numbers.",
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

/// `pharos site`.
struct SiteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "site",
    abstract: "Write the present site, with what was made on the dashboard, as a site file.",
    subcommands: [Export.self]
  )

  /// `pharos site export`.
  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a site file that gives the same site when it is read.",
      discussion: """
        pharos site export --url http://127.0.0.1:8080 > site.yaml
            asks a server that runs; identity keys of tags are left out.
        pharos site export --site site.yaml --data pharos-data > next.yaml
            a server that is stopped: its site file, and what was registered over HTTP.
        """
    )

    @OptionGroup var server: ServerOptions
    @OptionGroup var log: LogOptions

    func run() async throws {
      let runner = SiteExportRunner(site: server.site, try server.access())
      let settings = try log.settings()
      try await runner.run(on: settings.console(), logger: settings.logger()).leave()
    }
  }
}
