import ArgumentParser
import PharosLab
import PharosTerminal

/// `pharos rooms`.
struct RoomsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms",
    abstract: "Learn how rooms sound from stays whose room is known, and score rooms.",
    discussion: """
      pharos rooms learn morning.pcapng --site site.yaml --stays stays.csv -o taught.yaml
      pharos rooms score afternoon.pcapng --site taught.yaml --stays truth.csv

      A file of stays has the columns transmitter,zone,from,to, or JSON lines with these \
      keys. Times are dates as in 2026-07-01T12:30:00Z, or seconds since 1970.
      """,
    subcommands: [RoomsLearnCommand.self, RoomsScoreCommand.self]
  )
}

/// `pharos rooms learn`.
struct RoomsLearnCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "learn",
    abstract: "Learn the fingerprints of zones from stays whose zone is known.",
    discussion: """
      pharos rooms learn morning.pcapng --site site.yaml --stays stays.csv -o taught.yaml
          writes the site file again, with a fingerprint in each zone of a stay, to stand in \
      its place. Comments are lost.
      pharos rooms learn morning.pcapng --site site.yaml --stays stays.csv --format zones
          writes the zones as JSON, for a server that has them over HTTP.

      A zone without its key `fingerprint` is decided as before.
      """
  )

  @Argument(help: ArgumentHelp("The captures.", valueName: "capture"))
  var captures: [String]

  @Option(help: ArgumentHelp("The site file.", valueName: "file"))
  var site: String

  @Option(help: ArgumentHelp("The stays whose zone is known.", valueName: "file"))
  var stays: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write; - is standard output.", valueName: "file")
  )
  var output = "-"

  @Option(help: "What is written.")
  var format: RoomsLearnRunner.Format = .site

  func run() throws {
    var options = RoomsLearnRunner.Options(captures: captures, site: site, stays: stays)
    options.output = output
    options.format = format
    try RoomsLearnRunner(options).run(on: .standard()).leave()
  }
}

/// `pharos rooms score`.
struct RoomsScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Report which zones were taken for which, and where another gateway would help.",
    discussion: """
      pharos rooms score afternoon.pcapng --site site.yaml --stays truth.csv
          decides the capture again and compares the zones with those of the stays. Of zones \
      that are mistaken most often it says which two gateways tell them apart best and least.
      """
  )

  @Argument(help: ArgumentHelp("The captures.", valueName: "capture"))
  var captures: [String]

  @Option(help: ArgumentHelp("The site file.", valueName: "file"))
  var site: String

  @Option(help: ArgumentHelp("The stays whose zone is known.", valueName: "file"))
  var stays: String

  @Option(help: "How the figures are written.")
  var format: RoomsScoreRunner.Format = .table

  func run() throws {
    var options = RoomsScoreRunner.Options(captures: captures, site: site, stays: stays)
    options.format = format
    try RoomsScoreRunner(options).run(on: .standard()).leave()
  }
}
