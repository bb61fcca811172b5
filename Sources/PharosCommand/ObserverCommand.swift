import ArgumentParser
import PharosService

/// `pharos observer`.
struct ObserverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observer",
    abstract: "Let observers out of quarantine.",
    subcommands: [Accept.self]
  )

  /// `pharos observer accept`.
  struct Accept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take what an observer reports from now on, and after every restart.",
      discussion: """
        Where the site file says `ingest: { policy: allowlist }`, what observers that are \
        neither listed nor accepted report changes nothing. An event and the dashboard name \
        each of them.

        pharos observer accept ac:23:3f:a0:00:01 --url http://127.0.0.1:8080
        """
    )

    @Argument(help: ArgumentHelp("The observer: a MAC, a UUID or a name.", valueName: "id"))
    var id: ObserverID

    @OptionGroup var server: ServerOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
      try await ObserverRunner(server.access()).accept(id, on: .standard(), logger: log.settings().logger())
        .leave()
    }
  }
}
