import ArgumentParser
import PharosService

/// `pharos process`.
struct ProcessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "process",
    abstract: "Decide about captures offline, as fast as it goes; events on standard output.",
    usage: "pharos process <capture> ... [--site <file>] [options]",
    discussion: """
      pharos process hall.pcapng --site site.yaml
          writes the events of a capture of gateway traffic as JSON lines.
      pharos process phone.btsnoop --site site.yaml --observer phone-7 --format table
          takes the adverts that a phone logged as heard by the observer phone-7.
      pharos process run.pharos
          decides again what `serve --record` decided, byte for byte; no site is needed.

      Reads pcap, pcapng and btsnoop, gzip too; - is standard input. Several captures \
      are parts of one, in the order given. Time stops at the last packet unless --tail \
      lets it run on. The command ends by saying who is still inside.
      """
  )

  @Argument(help: ArgumentHelp("The captures.", valueName: "capture"))
  var captures: [String]

  @Option(help: ArgumentHelp("The site file; a recording brings its own.", valueName: "file"))
  var site: String?

  @Option(
    help: ArgumentHelp(
      "Who heard what a Bluetooth capture holds. (default: the file's name)",
      valueName: "id"
    )
  )
  var observer: ObserverID?

  @Option(help: ArgumentHelp(KindSelection.help, valueName: "kinds"))
  var kinds: KindSelection = .usual

  @Option(help: "How events are written.")
  var format: EventFormat = .jsonl

  @Option(help: ArgumentHelp("Let time run on behind the last packet, such as 60s.", valueName: "time"))
  var tail: TimeSpan?

  @Option(help: ArgumentHelp("Among how many shards to spread observers; changes no event.", valueName: "n"))
  var shards = 1

  func validate() throws {
    guard (1...256).contains(shards) else {
      throw ValidationError("--shards is \(shards); expected 1 to 256.")
    }
  }

  func run() throws {
    let options = ProcessRunner.Options(
      captures: captures,
      site: site,
      observer: observer,
      selection: kinds,
      format: format,
      tail: tail,
      shards: shards
    )
    try ProcessRunner(options).run(on: .standard()).leave()
  }
}
