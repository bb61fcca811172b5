import ArgumentParser
import CSocketMeter
import Foundation
import SocketTraffic
import Traffic

/// `throughput`: what the whole path costs beside a loop that only counts.
@main
struct Throughput: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "throughput",
    abstract: "Measures the path of `pharos serve` beside a bare C loop and NIO's datagram channel.",
    discussion: """
      A site of 23,744 tracks, 20 regions for each of 100 applications, ranging for one in ten; Pharos datagrams of 1, 4, 16 \
      and 24 iBeacons. First with the socket filled and the receiver alone, all in turn on the same datagrams; then with a \
      sender on the other core; then one loop against two. The command fails if what was sent, received, dropped and decided \
      does not add up.
      """
  )

  @Flag(help: "Two sizes, two rounds: a smoke test of some ten seconds that judges no time.")
  var quick = false

  @Option(help: ArgumentHelp("Only these adverts a datagram.", valueName: "N,N"))
  var adverts: String?

  @Option(help: "Rounds of each.")
  var rounds: Int?

  @Flag(help: "Only one loop against two.")
  var cores = false

  @Flag(help: "Leave out what is measured with a sender.")
  var withoutLive = false

  @Flag(help: "Leave out one loop against two.")
  var withoutCores = false

  @Flag(help: "No application asks for ranging, to see what it costs.")
  var withoutRanging = false

  @Flag(help: "Let the sender send trains that the kernel cuts (UDP_SEGMENT), to overload from one core.")
  var segments = false

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    for part in adverts?.split(separator: ",") ?? [] {
      guard let number = Int(part), (1...24).contains(number), SiteTraffic.heard.isMultiple(of: number) else {
        throw ValidationError("--adverts \(part): expected divisors of 96 up to 24, as in 1,4,16,24.")
      }
    }
  }

  func run() async throws {
    var report = ThroughputReport()
    report.cores = Int(meter_cores())
    let socket = try MeterSocket()
    report.receiveBufferBytes = socket.receiveBuffer
    socket.close()
    say(
      "\(report.cores) cores; receive buffer: asked for \(MeterSocket.receiveBuffer) bytes, granted "
        + "\(report.receiveBufferBytes)"
    )
    if !cores { try await measurePaths(&report) }
    if !withoutCores { try await measureCores(&report) }
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
  }

  private var sizes: [Int] {
    adverts?.split(separator: ",").compactMap { Int($0) } ?? (quick ? [1, 24] : [1, 4, 16, 24])
  }

  private func measurePaths(_ report: inout ThroughputReport) async throws {
    var lines: [String] = []
    say(ThroughputReport.filledHeading)
    for size in sizes {
      let plan = PathMeasurement.Plan(
        adverts: size,
        hasRanging: !withoutRanging,
        warmUp: quick ? 20 : 160,
        rounds: rounds ?? (quick ? 2 : 7),
        seconds: max(1, min(size / 3, quick ? 2 : 8)),
        liveRounds: withoutLive ? 0 : quick ? 1 : min(rounds ?? 3, 3),
        liveNanoseconds: quick ? 200_000_000 : 1_000_000_000,
        segments: segments
      )
      var measurement = try await PathMeasurement(plan, cores: report.cores)
      let filled = try await measurement.measureFilled()
      for (row, kind) in filled {
        report.add(row, as: kind)
        say(ThroughputReport.line(row))
      }
      let site = Workload(
        observers: SiteTraffic.observers,
        beacons: SiteTraffic.beacons,
        advertsPerDatagram: size
      )
      say(report.yardstickLine(size, Yardstick.nanosecondsPerAdvert(site, clock: meter_thread_nanoseconds)))
      for row in try await measurement.measureLive() {
        report.live.append(row)
        lines.append(ThroughputReport.line(row))
      }
      try await measurement.finish()
    }
    guard !lines.isEmpty else { return }
    say(ThroughputReport.liveHeading)
    for line in lines { say(line) }
  }

  private func measureCores(_ report: inout ThroughputReport) async throws {
    say(ThroughputReport.scalingHeading)
    for size in quick ? [1] : [1, 4] {
      guard try CoresRun.hasRoom(adverts: size) else {
        say(
          "\(size) adverts: left out, as it takes a receive buffer of 32 MiB: run as root, or raise net.core.rmem_max"
        )
        continue
      }
      let row = try await CoresMeasurement(
        adverts: size,
        warmUp: quick ? 10 : 60,
        rounds: rounds ?? (quick ? 2 : 25)
      ).measure()
      report.scaling.append(row)
      if size == 1 {
        report.figures["coresRatio"] = row.wallRatio.median
        report.figures["coresRatioOfQuickest"] = row.quickestWallRatio
        report.figures["coresRatioByThread"] = row.threadRatio.median
      }
      say(ThroughputReport.line(row))
    }
  }
}
