import ArgumentParser
import PharosService

/// `pharos serve`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Listen, decide, and write events until told to stop.",
    usage: "pharos serve [--site <file>] [--demo] [--output <file>] [options]",
    discussion: """
      pharos serve --demo
          plays a small shop to itself: enters, exits and distances within seconds.
      pharos serve --site site.yaml --output -
          listens where site.yaml says and writes events as JSON lines.
      pharos serve --site site.yaml --udp 0.0.0.0:50001 --output events.jsonl --record run.pharos
          hears the network, adds events to a file, and records all inputs, so that \
      `pharos process run.pharos` gives the same events again, byte for byte.

      Once a minute one line on standard error says how things are. SIGTERM and Ctrl-C \
      drain: what was received is decided and written first.
      """
  )

  @Option(help: ArgumentHelp("The site file; see `pharos init`.", valueName: "file"))
  var site: String?

  @Option(
    help: ArgumentHelp(
      "Where to listen instead of where the site says; may be repeated.",
      valueName: "host:port"
    )
  )
  var udp: [HostPort] = []

  @Flag(help: "Play a bundled scene to the server's own socket.")
  var demo = false

  @Option(
    help: ArgumentHelp("Add events as JSON lines to a file; - is standard output.", valueName: "file")
  )
  var output: String?

  @Option(help: ArgumentHelp(KindSelection.help, valueName: "kinds"))
  var kinds: KindSelection = .usual

  @Option(help: ArgumentHelp("Record all inputs to a file, made anew.", valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp("On how many loops to read and decide. (default: one a core, up to 4)", valueName: "n")
  )
  var loops: Int?

  @OptionGroup var log: LogOptions

  func validate() throws {
    guard loops.map({ (1...16).contains($0) }) ?? true else {
      throw ValidationError("--loops is \(loops ?? 0); expected 1 to 16.")
    }
  }

  func run() async throws {
    var options = ServeRunner.Options(
      site: site,
      udp: udp,
      isDemo: demo,
      output: output,
      selection: kinds,
      record: record
    )
    options.loops = loops
    try await ServeRunner(options, logger: log.logLevel.logger()).run(on: .standard()).leave()
  }
}
