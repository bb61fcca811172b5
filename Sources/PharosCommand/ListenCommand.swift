import ArgumentParser
import PharosService

/// `pharos listen`.
struct ListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Show all that is heard, configured or not: the first minute with a new gateway.",
    usage: "pharos listen [--udp <host:port> ...] [options]",
    discussion: """
      pharos listen --udp 0.0.0.0:50001
          shows every observer and every transmitter that it hears, with level and rate.
      pharos listen --udp 0.0.0.0:50001 | head -3
          prints one JSON line for each as it is heard first.

      What does not decode is named with its sender and the reason.
      """
  )

  @Option(
    help: ArgumentHelp("Where to listen; may be repeated. (default: 127.0.0.1:50001)", valueName: "host:port")
  )
  var udp: [HostPort] = []

  @Option(help: ArgumentHelp("A site file, for the names in it.", valueName: "file"))
  var site: String?

  @Option(name: [.customLong("for")], help: ArgumentHelp("End after a time, such as 30s.", valueName: "time"))
  var duration: TimeSpan?

  @OptionGroup var log: LogOptions

  func run() async throws {
    let runner = ListenRunner(site: site, udp: udp, duration: duration)
    try await runner.run(on: .standard(), logger: try log.settings().logger()).leave()
  }
}
