import ArgumentParser
import PharosService

/// `pharos erase`.
struct EraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove every trace of a subject, and say what was removed.",
    discussion: """
      Events, states, checkpoints, deliveries, authorisations: all that the server keeps of an \
      observer or a beacon goes, and the bytes that held it are overwritten. The places of its \
      events in the sequence stay, empty, so that streams resume as ever.

      pharos erase --subject ac:23:3f:00:00:01 --data /var/lib/pharos
      pharos erase --subject ac:23:3f:00:00:01 --url http://127.0.0.1:8080

      Recordings, event files and backups are the operator's own and are not touched. What is \
      heard of the subject afterwards is kept again.
      """
  )

  @Option(help: ArgumentHelp("The observer or beacon, as events write it.", valueName: "subject"))
  var subject: String

  @OptionGroup var server: ServerOptions

  @OptionGroup var log: LogOptions

  func run() async throws {
    try await EraseRunner(server.access()).run(subject, on: .standard(), logger: log.settings().logger())
      .leave()
  }
}
