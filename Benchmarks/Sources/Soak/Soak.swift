import ArgumentParser
import Foundation
import ServedProcess

/// `soak`: a server at work for an hour, with clients that come and go, and whether anything grows.
@main
struct Soak: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak",
    abstract:
      "Runs `pharos serve` under load for an hour and says whether memory, descriptors and delay stay flat.",
    discussion: """
      A hundred gateways send --rate adverts a second. 256 markers enter a region again and again: each is timed from its \
      datagram to the moment when a client of server-sent events has read of it. Other clients open streams, read, do not \
      read, disconnect without a close, and ask for pages. Every ten seconds a sample is taken. Ends with 1 if something grew.
      """
  )

  @Option(help: ArgumentHelp("How long; the clients of the last part are counted in.", valueName: "N"))
  var minutes = 60.0

  @Option(
    help: ArgumentHelp(
      "Adverts a second. (default: half of what this machine takes with the sender on it, tried first)",
      valueName: "N"
    )
  )
  var rate: Int?

  @Option(help: ArgumentHelp("The `pharos` to run.", valueName: "FILE"))
  var pharos = ".build/release/pharos"

  @Option(help: ArgumentHelp("Write every sample as a line of JSON.", valueName: "FILE"))
  var samples: String?

  @Option(help: ArgumentHelp("Draw memory and delay over time as SVG.", valueName: "FILE"))
  var picture: String?

  @Option(
    help: ArgumentHelp(
      "Run nothing: judge and draw the samples that a run has written so far.",
      valueName: "FILE"
    )
  )
  var from: String?

  func validate() throws {
    guard from == nil || rate != nil else { throw ValidationError("--from needs the --rate of that run.") }
    guard minutes >= 1 else { throw ValidationError("--minutes is \(minutes); expected 1 or more.") }
  }

  func run() async throws {
    let record = try await record()
    if let picture {
      try Data(SoakPicture(record).text.utf8).write(to: URL(fileURLWithPath: picture))
    }
    let verdict = SoakVerdict(record)
    print(verdict.text)
    guard verdict.isFlat else { throw ExitCode.failure }
  }

  private func record() async throws -> SoakRecord {
    if let from { return try SoakRecord.read(URL(fileURLWithPath: from), rate: rate ?? 0) }
    Machine.raiseDescriptorLimit()
    let program = URL(fileURLWithPath: pharos)
    let rate: Int
    if let given = self.rate {
      rate = given
    } else {
      rate = try await Calibration(pharos: program).half()
      print("half of what was sustained: \(rate) adverts/s")
    }
    return try await SoakRun(pharos: program, rate: rate, duration: minutes * 60, samples: samples).perform()
  }
}
