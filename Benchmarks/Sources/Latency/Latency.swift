import ArgumentParser
import Foundation
import PharosModel
import SocketTraffic

/// `latency`: how long a decision takes from the socket to a subscriber.
@main
struct Latency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Measures the time from a datagram's sending until a subscriber has its decision.",
    discussion: """
      The path of `pharos serve` with one loop, an OpenCombine subscriber and an AsyncSequence. First the rate is found that \
      saturates the loop; then a thousand times a second a new observer enters a region with its first advert, \
      among the traffic of a site of 23,744 tracks at 10, 50 and 80 % of that rate. The command fails if what was sent, \
      received, dropped and delivered does not add up.
      """
  )

  @Flag(help: "Half a second a level: a smoke test of some ten seconds that judges no time.")
  var quick = false

  @Option(help: ArgumentHelp("Adverts a datagram: a divisor of 96 up to 24.", valueName: "N"))
  var adverts = 24

  @Option(help: ArgumentHelp("Seconds for each load, up to 5.", valueName: "SECONDS"))
  var seconds = 5.0

  @Option(
    help: ArgumentHelp(
      "How often the loop looks while there is traffic, if not as serve does.",
      valueName: "MICROSECONDS"
    )
  )
  var tick: Int?

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    guard (1...24).contains(adverts), SiteTraffic.heard.isMultiple(of: adverts) else {
      throw ValidationError("--adverts \(adverts): expected a divisor of 96 up to 24, as 1, 4, 16 or 24.")
    }
    guard seconds > 0, seconds <= 5 else {
      throw ValidationError("--seconds \(seconds): expected more than 0, up to 5.")
    }
    if let tick, !(50...10_000).contains(tick) {
      throw ValidationError("--tick \(tick): expected 50 to 10000 microseconds.")
    }
  }

  func run() async throws {
    var measurement = try await LatencyMeasurement(
      adverts: adverts,
      tick: tick.map { TimeSpan.microseconds(Int64($0)) },
      warmUp: quick ? 20 : 160,
      duration: Int64((quick ? 0.5 : seconds) * 1e9)
    )
    var report = LatencyReport()
    report.loops = 1
    report.advertsPerDatagram = adverts
    let saturation = try await measurement.findSaturation()
    report.saturation = saturation
    report.figures["saturatingRate"] = saturation.advertsPerSecond
    say(LatencyReport.line(saturation))
    say(LatencyReport.heading)
    for share in [0.1, 0.5, 0.8] {
      let row = try await measurement.measure(at: share)
      report.add(row)
      say(LatencyReport.line(row, "OpenCombine", row.publisher))
      say(LatencyReport.line(row, "AsyncSequence", row.sequence))
    }
    try await measurement.finish()
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
  }
}
