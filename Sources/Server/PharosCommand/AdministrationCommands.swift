import ArgumentParser
import PharosModel
import PharosTerminal
import PharosTools

/// `pharos token`.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Create, list and revoke tokens for the HTTP interface.",
    discussion: """
      pharos token create --operator --data /var/lib/pharos
          before the first start: may see and change everything.
      pharos token create --application gallery --url http://127.0.0.1:8080
      pharos token create --gateway hall --data /var/lib/pharos
          on a server that runs: sees and changes what belongs to gallery.

      A token's secret is printed once, alone on standard output; only its hash is kept.
      """,
    subcommands: [Create.self, List.self, Revoke.self]
  )

  /// `pharos token create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Create a token and print its secret, once.")

    @Flag(help: "It may see and change everything.")
    var `operator` = false

    @Option(
      help: ArgumentHelp("It sees and changes what belongs to this application.", valueName: "id")
    )
    var application: String?

    @Option(
      help: ArgumentHelp(
        "It posts adverts of this gateway and does nothing else; \"any\" stands for all.",
        valueName: "id"
      )
    )
    var gateway: String?

    @Option(
      help: ArgumentHelp(
        "What to call it in lists. (default: operator, the application or the gateway)",
        valueName: "name"
      )
    )
    var name: String?

    @Option(
      help: ArgumentHelp("Its lifetime, such as 90d. (default: until revoked)", valueName: "time"),
      transform: TimeSpan.option
    )
    var expires: TimeSpan?

    @OptionGroup var server: ServerOptions

    func validate() throws {
      guard [`operator`, application != nil, gateway != nil].count(where: { $0 }) == 1 else {
        throw ValidationError(
          "State the role of the token: give --operator, --application <id> or --gateway <id>."
        )
      }
      guard gateway.map({ ObserverID($0) != nil }) ?? true else {
        throw ValidationError("--gateway is no observer: a MAC, a UUID or a name of at most 64 bytes.")
      }
      guard expires.map({ $0 > .zero }) ?? true else {
        throw ValidationError("--expires is no time from now.")
      }
    }

    func run() async throws {
      let bound = gateway.map { TokenRunner.Role.gateway($0 == "any" ? nil : ObserverID($0)) }
      let role = bound ?? application.map { .application($0) } ?? .operator
      try await TokenRunner(server.access())
        .create(
          role,
          name: name ?? application ?? gateway.map { "gateway \($0)" } ?? "operator",
          lifetime: expires,
          on: .standard()
        )
        .leave()
    }
  }

  /// `pharos token list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the tokens, without their secrets.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
      try await TokenRunner(server.access()).list(on: .standard()).leave()
    }
  }

  /// `pharos token revoke`.
  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Revoke a token.")

    @Argument(help: ArgumentHelp("The token, as the list names it.", valueName: "id"))
    var id: String

    @OptionGroup var server: ServerOptions

    func run() async throws {
      try await TokenRunner(server.access()).revoke(id, on: .standard()).leave()
    }
  }
}

/// `pharos observer`.
struct ObserverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observer",
    abstract: "Accept observers, and manage the keys that they sign with.",
    subcommands: [Add.self, List.self, Revoke.self, Forget.self, Accept.self]
  )

  /// `pharos observer add`.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a key for an observer, accept the observer, and print the key, once.",
      discussion: """
        Where the site file says `ingest: { policy: signed }`, only datagrams are taken that are \
        signed with a key of the observer that sends them. Keys that it has stay good for the \
        overlap, so that the gateway can be given the new one in the meantime.

        pharos observer add ac:23:3f:a0:00:01 --url http://127.0.0.1:8080 > gateway.key
        """
    )

    @Argument(help: ArgumentHelp("The observer: a MAC, a UUID or a name.", valueName: "id"))
    var id: ObserverID

    @Option(
      help: ArgumentHelp(
        "Another observer whose records it sends, such as one of its radios; may be repeated.",
        valueName: "id"
      )
    )
    var radio: [ObserverID] = []

    @Option(
      help: ArgumentHelp("How long its older keys stay good. (default: 7d)", valueName: "time"),
      transform: TimeSpan.option
    )
    var overlap = TimeSpan.minutes(7 * 24 * 60)

    @OptionGroup var server: ServerOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
      let runner = ObserverRunner(try server.access())
      let logger = try log.settings().logger()
      try await runner.add(id, radios: radio, overlap: overlap, on: .standard(), logger: logger).leave()
    }
  }

  /// `pharos observer list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List observers with their keys: fingerprints and validity, never the keys."
    )

    @OptionGroup var server: ServerOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
      try await ObserverRunner(server.access()).list(on: .standard(), logger: log.settings().logger()).leave()
    }
  }

  /// `pharos observer revoke`.
  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revoke a key of an observer: datagrams signed with it are refused from then on.",
      discussion: """
        An observer without any key left still has to sign, and so is not heard until it has a \
        new one or is forgotten.
        """
    )

    @Argument(help: ArgumentHelp("The observer: a MAC, a UUID or a name.", valueName: "id"))
    var id: ObserverID

    @Argument(help: ArgumentHelp("The key's id, as pharos observer list shows it.", valueName: "keyid"))
    var key: KeyID

    @OptionGroup var server: ServerOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
      let runner = ObserverRunner(try server.access())
      let logger = try log.settings().logger()
      try await runner.revoke(key.value, of: id, on: .standard(), logger: logger).leave()
    }
  }

  /// `pharos observer forget`.
  struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete all keys of an observer, which then need not sign."
    )

    @Argument(help: ArgumentHelp("The observer: a MAC, a UUID or a name.", valueName: "id"))
    var id: ObserverID

    @OptionGroup var server: ServerOptions

    @OptionGroup var log: LogOptions

    func run() async throws {
      try await ObserverRunner(server.access()).forget(id, on: .standard(), logger: log.settings().logger())
        .leave()
    }
  }

  /// `pharos observer accept`.
  struct Accept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Accept the reports of an observer from now on, also after a restart.",
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

/// The id of a key, in hexadecimal.
struct KeyID: ExpressibleByArgument {
  let value: UInt32

  init?(argument: String) {
    guard (1...8).contains(argument.utf8.count), argument.allSatisfy(\.isHexDigit) else { return nil }
    guard let value = UInt32(argument, radix: 16), value != 0 else { return nil }
    self.value = value
  }
}

/// `pharos erase`.
struct EraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove all data about a subject, and report what was removed.",
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
