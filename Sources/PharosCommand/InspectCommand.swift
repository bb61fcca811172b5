import ArgumentParser
import PharosService

/// `pharos inspect`.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what a capture holds.",
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
