import Logging
import Pharos
import PharosCaptures
package import PharosDelivery
import PharosHTTP
package import PharosIngest
import PharosMonitoring
import PharosReports
import PharosSite
import PharosWire
import ServiceLifecycle

/// Says that the server listens, and from then on one line a minute how it fares.
package struct StatusService: Service {
  let parts: ServerParts
  let http: HTTPService?
  let console: Console
  let period: Duration
  let tally: EventTally
  let banner: Banner
  let onListening: @Sendable ([HostPort], HostPort?) -> Void
  let logger: Logger

  package func run() async throws {
    let addresses = try await addresses()
    let web = try await http?.address()
    for line in banner.lines(addresses, http: web) { console.say(line) }
    onListening(addresses, web)
    await cancelWhenGracefulShutdown {
      var before = IngestSnapshot()
      var watch = LimitWatch()
      while !Task.isCancelled {
        guard (try? await Task.sleep(for: period)) != nil, let now = try? await parts.server.snapshot() else {
          return
        }
        let line = StatusService.line(now, since: before, period: period, tally: tally)
        console.say(line + StatusService.trouble(parts.teller.statistics))
        for finding in watch.look(now, parts.feeds.statistics) { tell(finding) }
        before = now
      }
    }
  }

  private func tell(_ finding: LimitWatch.Finding) {
    logger.warning(
      "a limit was reached; it is counted from now on and not told again",
      metadata: [
        LogKey.limit: "\(finding.limit)", LogKey.count: "\(finding.count)",
        LogKey.metric: "\(finding.metric)",
        LogKey.reason: "\(finding.explanation)",
      ]
    )
  }

  /// Where it listens, once everything does.
  func places() async throws -> String {
    let web = try await http?.address()
    return (try await addresses().map { "udp \($0)" } + [web.map { "http \($0)" }].compactMap { $0 })
      .joined(separator: ", ")
  }

  private func addresses() async throws -> [HostPort] {
    try await parts.server.addresses().map { HostPort(host: $0.address.description, port: $0.port) }
  }

  /// What the journal refuses or has lost, if anything.
  package static func trouble(_ told: TellerStatistics) -> String {
    (told.isFailing ? ", journal refuses, \(told.waiting) events wait" : "")
      + (told.lost > 0 ? ", \(told.lost) events not kept" : "")
  }

  /// How things are, in one line of at most 80 columns unless something is lost.
  package static func line(
    _ now: IngestSnapshot,
    since before: IngestSnapshot,
    period: Duration,
    tally: EventTally
  ) -> String {
    let datagrams = now.datagrams - before.datagrams
    let seconds = Double(period.components.seconds) + Double(period.components.attoseconds) / 1e18
    let rate = Int((Double(datagrams) / max(0.001, seconds)).rounded())
    let up = now.observers.count { $0.isUp }
    var parts = [
      "\(up) of \(CheckRunner.count(now.observers.count, "observer")) up",
      "\(CheckRunner.count(now.heard.beacons.count, "device")) heard",
      "\(rate) datagrams/s",
    ]
    if tally.written > 0 { parts.append("\(CheckRunner.count(tally.written, "event")) written") }
    for (count, what) in [
      (now.decoding.totalRefusals, "refused"), (now.kernelDrops, "dropped by the kernel"),
      (now.monitoring.sequenceGaps, "missing"), (now.monitoring.late, "late"),
      (UInt64(tally.lost), "events lost"),
    ] where count > 0 {
      parts.append("\(count) \(what)")
    }
    return "\(EventTable.clock(now.time).prefix(8))  \(parts.joined(separator: ", "))"
  }
}
