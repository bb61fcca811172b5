import ArgumentParser
import PharosService

/// `pharos token`.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make, list and revoke the tokens that open the HTTP interface.",
    discussion: """
      pharos token create --operator --data /var/lib/pharos
          before the first start: may see and change everything.
      pharos token create --application gallery --url http://127.0.0.1:8080
          on a server that runs: sees and changes what belongs to gallery.

      A token's secret is printed once, alone on standard output; only its hash is kept.
      """,
    subcommands: [Create.self, List.self, Revoke.self]
  )

  /// `pharos token create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a token and print its secret, once.")

    @Flag(help: "It may see and change everything.")
    var `operator` = false

    @Option(
      help: ArgumentHelp("It sees and changes what belongs to this application.", valueName: "id")
    )
    var application: String?

    @Option(
      help: ArgumentHelp(
        "What to call it in lists. (default: operator, or the application)",
        valueName: "name"
      )
    )
    var name: String?

    @Option(help: ArgumentHelp("How long it opens, such as 90d. (default: until revoked)", valueName: "time"))
    var expires: TimeSpan?

    @OptionGroup var server: ServerOptions

    func validate() throws {
      guard `operator` != (application != nil) else {
        throw ValidationError("Whom does it stand for? Give --operator, or --application <id>.")
      }
      guard expires.map({ $0 > .zero }) ?? true else {
        throw ValidationError("--expires is no time from now.")
      }
    }

    func run() async throws {
      let role = application.map { TokenRunner.Role.application($0) } ?? .operator
      try await TokenRunner(server.access())
        .create(role, name: name ?? application ?? "operator", lifetime: expires, on: .standard())
        .leave()
    }
  }

  /// `pharos token list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the tokens, without their secrets.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
      try await TokenRunner(server.access()).list(on: .standard()).leave()
    }
  }

  /// `pharos token revoke`.
  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Revoke a token: it opens nothing any more.")

    @Argument(help: ArgumentHelp("The token, as the list names it.", valueName: "id"))
    var id: String

    @OptionGroup var server: ServerOptions

    func run() async throws {
      try await TokenRunner(server.access()).revoke(id, on: .standard()).leave()
    }
  }
}
