import ArgumentParser
import PharosService

/// `pharos compare`.
struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compare rules of presence on your own traffic: exits, returns, delays.",
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

  @Option(
    help: ArgumentHelp(
      "Who heard what a Bluetooth capture holds. (default: the file's name)",
      valueName: "id"
    )
  )
  var observer: ObserverID?

  @Option(help: ArgumentHelp("The time-out of the rule that you use today.", valueName: "time"))
  var timeout: TimeSpan = CompareRunner.Options.defaultTimeout

  @Option(help: "How the figures are written.")
  var format: CompareRunner.Format = .table

  @Option(help: ArgumentHelp("Draw who was inside when, by every rule.", valueName: "file"))
  var svg: String?

  func validate() throws {
    guard timeout > .zero, timeout <= .minutes(60) else {
      throw ValidationError("--timeout is \(timeout.written); expected up to an hour.")
    }
  }

  func run() throws {
    let options = CompareRunner.Options(
      captures: captures,
      site: site,
      observer: observer,
      timeout: timeout,
      format: format,
      picture: svg
    )
    try CompareRunner(options).run(on: .standard()).leave()
  }
}
