import ArgumentParser
import PharosService

/// `pharos serve`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Listen, decide, keep and tell until told to stop.",
    usage: "pharos serve [--site <file>] [--http <host:port>] [--data <dir>] [--demo] [options]",
    discussion: """
      pharos serve --demo
          plays a small shop to itself: enters, exits and distances within seconds, and a \
      dashboard at http://127.0.0.1:8080.
      pharos serve --site site.yaml --data pharos-data
          listens where site.yaml says, keeps states and events in a folder, and goes on \
      from there after a restart.
      pharos serve --site site.yaml --output - --record run.pharos
          writes events as JSON lines and records all inputs, so that `pharos process \
      run.pharos` gives the same events again, byte for byte.

      Flags go before the environment (PHAROS_SITE, PHAROS_UDP, PHAROS_HTTP, PHAROS_DATA, \
      PHAROS_LOG_LEVEL …) before the site file. SIGHUP reads the site file again. SIGTERM \
      and Ctrl-C drain: what was received is decided, kept and told first.
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

  @Option(
    help: ArgumentHelp(
      "Where the dashboard and the HTTP interface are served; beyond this machine a token is needed.",
      valueName: "host:port"
    )
  )
  var http: HostPort?

  @Option(
    help: ArgumentHelp(
      "The folder where states and events are kept. (default: in memory)",
      valueName: "dir"
    )
  )
  var data: String?

  @Flag(help: "Ask for a token even where only this machine can reach the HTTP interface.")
  var requireToken = false

  @Flag(help: "Play a bundled scene to the server's own socket.")
  var demo = false

  @Option(
    help: ArgumentHelp("Add events as JSON lines to a file; - is standard output.", valueName: "file")
  )
  var output: String?

  @Option(help: ArgumentHelp(KindSelection.help, valueName: "kinds"))
  var kinds: KindSelection = .usual

  @Option(help: ArgumentHelp("Record all inputs to a file, overwriting it.", valueName: "file"))
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
    let options = ServeRunner.Options(
      site: site,
      udp: udp,
      http: http,
      data: data,
      isDemo: demo,
      output: output,
      selection: kinds,
      record: record,
      loops: loops,
      requiresToken: requireToken,
      environment: ProcessEnvironment.variables()
    )
    try await ServeRunner(options, logger: log.settings().logger()).run(on: .standard()).leave()
  }
}
