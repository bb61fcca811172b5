import ArgumentParser
import PharosLab
import PharosModel
import PharosTerminal
import PharosTools

/// `pharos process`.
struct ProcessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "process",
    abstract: "Process captures offline at full speed; events go to standard output.",
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

  @Option(help: .captureObserver)
  var observer: ObserverID?

  @Option(help: ArgumentHelp(KindSelection.help, valueName: "kinds"))
  var kinds: KindSelection = .usual

  @Option(help: "How events are written.")
  var format: EventFormat = .jsonl

  @Option(help: .tail, transform: TimeSpan.option)
  var tail: TimeSpan?

  @Option(help: ArgumentHelp("Among how many shards to spread observers; changes no event.", valueName: "n"))
  var shards = 1

  func validate() throws {
    guard (1...256).contains(shards) else {
      throw ValidationError("--shards is \(shards); expected 1 to 256.")
    }
  }

  func run() throws {
    var options = ProcessRunner.Options(captures: captures, site: site)
    options.observer = observer
    options.selection = kinds
    options.format = format
    options.tail = tail
    options.shards = shards
    try ProcessRunner(options).run(on: .standard()).leave()
  }
}

/// `pharos inspect`.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Summarise a capture.",
    usage: "pharos inspect <capture> ... [--adverts | --datagrams] [options]",
    discussion: """
      pharos inspect hall.pcapng
          a summary: times, formats, observers, beacons, and what does not decode.
      pharos inspect hall.pcapng --datagrams
          one line for each UDP datagram.
      pharos inspect phone.btsnoop --adverts --format jsonl
          one JSON object for each advertising report.

      Of a damaged or cut capture everything up to the damage is shown, then where it is.
      """
  )

  @Argument(help: ArgumentHelp("The captures; - is standard input.", valueName: "capture"))
  var captures: [String]

  @Flag(help: "One line for each advertising report.")
  var adverts = false

  @Flag(help: "One line for each UDP datagram.")
  var datagrams = false

  @Option(help: "How it is written.")
  var format: EventFormat = .table

  func validate() throws {
    guard !adverts || !datagrams else {
      throw ValidationError("--adverts and --datagrams are two views; give one of them.")
    }
  }

  func run() throws {
    let view: InspectRunner.View = adverts ? .adverts : datagrams ? .datagrams : .summary
    try InspectRunner(captures: captures, view: view, format: format).run(on: .standard()).leave()
  }
}

/// `pharos explain`.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain each decision about a capture, in words and in a picture.",
    usage: "pharos explain <capture> ... --site <file> [--beacon <id>] [--svg <file>] [options]",
    discussion: """
      pharos explain hall.pcapng --site site.yaml --beacon pump
          explains every enter, exit and outage of one tag: the rule that fired, its \
      numbers, what came near and was not done, and what a fixed time-out would have said.
      pharos explain hall.pcapng --site site.yaml --observer door --beacon 20/2 --svg tag.svg
          draws one track as well: adverts, filtered level, thresholds, states.

      The captures go through the very engine that serve and process run. An observer or \
      a beacon may be given by its identity or by its name in the site file, a beacon also \
      by the end of its identity, such as 20/2 for its major and minor numbers.
      """
  )

  @Argument(help: ArgumentHelp("The captures; - is standard input.", valueName: "capture"))
  var captures: [String]

  @Option(help: ArgumentHelp("The site file; a recording brings its own.", valueName: "file"))
  var site: String?

  @Option(help: ArgumentHelp("Only decisions in which this observer took part.", valueName: "id"))
  var observer: String?

  @Option(help: ArgumentHelp("Only what is about this beacon.", valueName: "id"))
  var beacon: String?

  @Option(help: ArgumentHelp("Only what is about this region or zone.", valueName: "id"))
  var region: String?

  @Option(help: ArgumentHelp("Draw the track with most decisions, or those named.", valueName: "file"))
  var svg: String?

  @Option(help: "The output format.")
  var format: ExplainRunner.Format = .text

  @Option(help: ArgumentHelp("How many decisions to print at most.", valueName: "n"))
  var limit = ExplainRunner.Options.usualLimit

  @Option(help: .captureObserver)
  var heardBy: ObserverID?

  @Option(help: .tail, transform: TimeSpan.option)
  var tail: TimeSpan?

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("--limit is \(limit); expected 1 or more.") }
    guard svg != "-" else { throw ValidationError("--svg writes a file; - would mix it with the text.") }
  }

  func run() throws {
    var options = ExplainRunner.Options(captures: captures, site: site)
    options.heardBy = heardBy
    options.observerFilter = observer
    options.beacon = beacon
    options.region = region
    options.picture = svg
    options.format = format
    options.limit = limit
    options.tail = tail
    try ExplainRunner(options).run(on: .standard()).leave()
  }
}

/// `pharos compare`.
struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare presence rules on your own traffic: exits, returns, delays.",
    usage: "pharos compare <capture> ... [--site <file>] [options]",
    discussion: """
      pharos compare hall.pcapng --svg hall.svg
          every beacon heard, under Pharos's rule and eight others, with a picture.
      pharos compare hall.pcapng --site site.yaml --timeout 20s
          your own regions, and the time-out that you use today.

      The others are your own time-out, AltBeacon, reelyActive, room-assistant, Bermuda, \
      ESPresense, and the behaviour of phones as users report it.

      An exit that is taken back within ten minutes was most likely none. Time stops at \
      the last packet, for every rule alike. Captures are read twice, so that standard \
      input does not do.
      """
  )

  @Argument(help: ArgumentHelp("The captures, parts of one in the order given.", valueName: "capture"))
  var captures: [String]

  @Option(
    help: ArgumentHelp("The site file. (default: every beacon heard is a region)", valueName: "file")
  )
  var site: String?

  @Option(help: .captureObserver)
  var observer: ObserverID?

  @Option(
    help: ArgumentHelp(
      "The time-out of the rule that you use today. (default: \(CompareRunner.Options.defaultTimeout.written))",
      valueName: "time"
    ),
    transform: TimeSpan.option
  )
  var timeout: TimeSpan = CompareRunner.Options.defaultTimeout

  @Option(help: "How the figures are written.")
  var format: CompareRunner.Format = .table

  @Option(help: ArgumentHelp("Draw who was inside at which time, by every rule.", valueName: "file"))
  var svg: String?

  func validate() throws {
    guard timeout > .zero, timeout <= .minutes(60) else {
      throw ValidationError("--timeout is \(timeout.written); expected up to an hour.")
    }
  }

  func run() throws {
    var options = CompareRunner.Options(captures: captures, site: site)
    options.observer = observer
    options.timeout = timeout
    options.format = format
    options.picture = svg
    try CompareRunner(options).run(on: .standard()).leave()
  }
}
