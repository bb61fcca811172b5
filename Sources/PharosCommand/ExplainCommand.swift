import ArgumentParser
import PharosService

/// `pharos explain`.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tell why each decision about a capture was made, in words and in a picture.",
    usage: "pharos explain <capture> ... --site <file> [--beacon <id>] [--svg <file>] [options]",
    discussion: """
      pharos explain hall.pcapng --site site.yaml --beacon pump
          tells of every enter, exit and outage of one tag: the rule that fired, its \
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

  @Option(help: ArgumentHelp("Only what this observer has a say in.", valueName: "id"))
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

  @Option(
    help: ArgumentHelp(
      "Who heard what a Bluetooth capture holds. (default: the file's name)",
      valueName: "id"
    )
  )
  var heardBy: ObserverID?

  @Option(help: ArgumentHelp("Let time run on behind the last packet, such as 60s.", valueName: "time"))
  var tail: TimeSpan?

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("--limit is \(limit); expected 1 or more.") }
    guard svg != "-" else { throw ValidationError("--svg writes a file; - would mix it with the text.") }
  }

  func run() throws {
    let options = ExplainRunner.Options(
      captures: captures,
      site: site,
      heardBy: heardBy,
      observerFilter: observer,
      beacon: beacon,
      region: region,
      picture: svg,
      format: format,
      limit: limit,
      tail: tail
    )
    try ExplainRunner(options).run(on: .standard()).leave()
  }
}
