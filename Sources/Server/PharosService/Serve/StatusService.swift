import AsyncAlgorithms
import Logging
import Pharos
import PharosCaptures
package import PharosDelivery
import PharosDocuments
import PharosHTTP
package import PharosIngest
package import PharosModel
import PharosPresence
import PharosRooms
package import PharosSite
import PharosTerminal
import PharosWire
import ServiceLifecycle

/// A service that reports that the server listens, and then writes one status line for each period.
package struct StatusService: Service {
  let parts: ServerParts
  let http: HTTPService?
  let console: Console
  let period: Duration
  let tally: EventTally
  let banner: Banner
  let onListening: @Sendable ([HostPort], HostPort?) -> Void
  let logger: Logger

  /// The usual interval between status lines.
  static let usualPeriod: Duration = .seconds(60)
  /// The interval in the demo, whose status lines keep the address of the dashboard in sight.
  static let demoPeriod: Duration = .seconds(10)

  package func run() async throws {
    let addresses = try await addresses()
    let web = try await http?.address()
    console.say(banner.title(addresses, http: web), details: banner.details(addresses, http: web))
    onListening(addresses, web)
    await cancelWhenGracefulShutdown {
      var before = IngestSnapshot()
      var watch = LimitWatch()
      var named: Set<SiteConflict> = []
      for await _ in AsyncTimerSequence(interval: period, clock: .continuous) {
        guard let now = try? await parts.server.snapshot() else { return }
        let line =
          banner.reminder(at: now.time, http: web)
          ?? StatusService.line(now, since: before, period: period, tally: tally)
        console.say(line + StatusService.trouble(parts.commitPublisher.statistics))
        for finding in watch.look(now, parts.feeds.statistics) { log(finding) }
        for conflict in now.heard.conflicts(with: parts.owner.site) where named.insert(conflict).inserted {
          logger.warning(
            "The input proves a conflict in the site. It is logged once.",
            metadata: [LogKey.reason: "\(conflict.message) \(conflict.remedy)"]
          )
        }
        before = now
      }
    }
  }

  private func log(_ finding: LimitWatch.Finding) {
    logger.warning(
      "A limit was reached. Further occurrences are counted and not logged.",
      metadata: [
        LogKey.limit: "\(finding.limit)", LogKey.count: "\(finding.count)",
        LogKey.metric: "\(finding.metric)",
        LogKey.reason: "\(finding.explanation)",
      ]
    )
  }

  /// Returns the listening addresses, once every listener listens.
  func places() async throws -> String {
    let web = try await http?.address()
    return (try await addresses().map { "udp \($0)" } + [web.map { "http \($0)" }].compactMap { $0 })
      .joined(separator: ", ")
  }

  private func addresses() async throws -> [HostPort] {
    try await parts.server.addresses().map { HostPort(host: $0.address.description, port: $0.port) }
  }

  /// Returns a text about events that wait for the journal or were dropped; empty if there are none.
  package static func trouble(_ committed: CommitPublisherStatistics) -> String {
    (committed.isFailing ? ", journal refuses, \(committed.waiting) events wait" : "")
      + (committed.isFull ? ", commit queue full, sockets not read" : "")
      + (committed.lost > 0 ? ", \(committed.lost) events dropped" : "")
  }

  /// Returns the status line, of at most 80 columns unless something is lost.
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
      "\(up) of \(Wording.count(now.observers.count, "observer")) up",
      "\(Wording.count(now.heard.beacons.count, "device")) heard",
      "\(rate) datagrams/s",
    ]
    if tally.written > 0 { parts.append("\(Wording.count(tally.written, "event")) written") }
    for (count, what) in [
      (now.decoding.totalRefusals, "refused"), (now.kernelDrops, "dropped by the kernel"),
      (now.monitoring.sequenceGaps, "missing"), (now.monitoring.late, "late"),
      (UInt64(tally.lost), "events lost"),
    ] where count > 0 {
      parts.append("\(count) \(what)")
    }
    return "\(Wording.clock(now.time).prefix(8))  \(parts.joined(separator: ", "))"
  }
}

/// The lines that a server prints when it listens: addresses, settings, what is missing, and what to try next.
package struct Banner {
  let settings: ServeSettings
  let isDemo: Bool
  let configuration: SiteConfiguration
  /// What was registered over HTTP, and the site file.
  let sources: SiteSources

  package init(
    settings: ServeSettings,
    isDemo: Bool,
    configuration: SiteConfiguration,
    sources: SiteSources? = nil
  ) {
    self.settings = settings
    self.isDemo = isDemo
    self.configuration = configuration
    self.sources = sources ?? SiteSources(declared: configuration.site)
  }

  /// The lines of text.
  package func lines(_ addresses: [HostPort], http: HostPort?) -> [String] {
    [title(addresses, http: http)] + details(addresses, http: http).map(\.row)
  }

  /// The first line: where the server listens, and whether other machines reach its dashboard.
  func title(_ addresses: [HostPort], http: HostPort?) -> String {
    let places = addresses.map { "udp \($0)" } + (http.map { ["\(scheme) \($0)"] } ?? [])
    let reach = http?.isLoopback == true ? ", the latter for this machine alone" : ""
    return PlainText.clean("Pharos is listening on \(places.joined(separator: ", "))\(reach). Ctrl-C ends.")
  }

  /// The values below it.
  func details(_ addresses: [HostPort], http: HostPort?) -> [Console.Detail] {
    var lines = [row("site", site)]
    if let http {
      lines.append(row("dashboard", dashboard(http)))
    }
    if let data = settings.data { lines.append(row("journal", data + registered)) }
    lines += brokers.map { row("MQTT", $0) }
    if let output = settings.output {
      lines.append(row("events", output == "-" ? "on standard output" : output))
    }
    if let record = settings.record { lines.append(row("recording", record)) }
    lines += missing(addresses).map { row("not yet", $0) }
    lines.append(row("try next", next(addresses)))
    return lines
  }

  /// The line of the demo that takes the place of a status line; nil unless it is one with a dashboard.
  package func reminder(at time: Timestamp, http: HostPort?) -> String? {
    guard isDemo, let http else { return nil }
    return "\(Wording.clock(time).prefix(8))  The dashboard is at \(dashboard(http)). Ctrl-C ends."
  }

  private func dashboard(_ http: HostPort) -> String {
    let place = HostPort(host: Banner.reachable(http.host), port: http.port)
    return "\(scheme)://\(place)/"
  }

  private var scheme: String { settings.tls == nil ? "http" : "https" }

  private func row(_ name: String, _ value: String) -> Console.Detail {
    Console.Detail(name: name, value: PlainText.clean(value))
  }

  private var site: String {
    let site = configuration.site
    let regions = site.applications.reduce(0) { $0 + $1.regions.count }
    let name = settings.site ?? (isDemo ? "the demo's own" : "none")
    let parts = [
      Wording.count(regions, "region"), Wording.count(site.zones.count, "zone"),
      Wording.count(site.observers.count, "observer"),
    ]
    return "\(name): \(parts.joined(separator: ", "))"
  }

  /// What was made on the dashboard, or over HTTP, and is kept in the journal.
  private var registered: String {
    let regions = sources.made.values.reduce(0) { $0 + $1.regions.count }
    let names =
      sources.observers.values.count { $0.name != nil } + sources.beacons.values.count { $0.name != nil }
    let parts = [(sources.zones.count, "room"), (regions, "region"), (names, "name")].filter { $0.0 > 0 }
      .map { Wording.count($0.0, $0.1) }
    return parts.isEmpty ? "" : ": \(Wording.list(parts)) made on the dashboard"
  }

  private var brokers: [String] {
    var brokers: [String] = []
    if let input = configuration.mqttInput {
      brokers.append("\(Wording.count(input.topics.count, "topic")) of \(input.broker.address)")
    }
    if let output = configuration.mqttOutput {
      let memory = settings.data == nil ? ", from memory: after a restart only what is decided then" : ""
      brokers.append("states to \(output.broker.address) as \(output.prefix)/…\(memory)")
    }
    return brokers
  }

  private func missing(_ addresses: [HostPort]) -> [String] {
    var missing: [String] = []
    let site = sources.site
    if site.applications.allSatisfy({ $0.regions.isEmpty && $0.ranging.isEmpty && $0.rotation.isEmpty }) {
      let page = settings.http == nil ? "" : "name a gateway on the dashboard, or "
      missing.append("no region to enter: \(page)pharos init writes a site file to start from")
    }
    if settings.output == nil, settings.http == nil, configuration.mqttOutput == nil, !isDemo {
      missing.append("events go nowhere: add --http 127.0.0.1:8080 or --output events.jsonl")
    }
    if settings.data == nil, !isDemo {
      missing.append("nothing survives a restart: --data pharos-data keeps states and events")
    }
    if !isDemo, configuration.mqttInput == nil,
      addresses.allSatisfy({ $0.host.hasPrefix("127.") || $0.host == "::1" })
    {
      missing.append("only this machine is heard: --udp 0.0.0.0:50001 hears the network")
    }
    return missing
  }

  private func next(_ addresses: [HostPort]) -> String {
    guard !isDemo else { return "pharos init, then pharos serve --site site.yaml --output -" }
    let to = addresses.first.map { HostPort(host: Banner.reachable($0.host), port: $0.port) }
    return
      "pharos replay Captures/museum-visit/capture.pcapng --to \(to.map { "\($0)" } ?? "127.0.0.1:50001")"
  }

  /// An address that a sender on this machine can use for one that means all of the machine's.
  private static func reachable(_ host: String) -> String {
    switch host {
    case "0.0.0.0": "127.0.0.1"
    case "::": "::1"
    default: host
    }
  }
}

/// A watch over bounded tables and queues that reports each limit when it is first reached.
///
/// Metrics count every entry that a limit removes. A limit is reported again only after ``quiet`` looks in which it was
/// not reached.
package struct LimitWatch {
  /// A limit that was reached.
  package struct Finding: Equatable {
    /// Its name in the log, and the metric that counts it.
    package var limit: String
    package var metric: String
    /// The number of times that the limit was reached since the last look.
    package var count: UInt64
    /// The meaning of the limit and the advice to the operator.
    var explanation: String
  }

  /// The watched limits: a name, the metric that counts it, and its meaning.
  private static let watched: [(limit: String, metric: String, explanation: String)] = [
    (
      "tracks", Metric.monitoringEvictions.name,
      "too many beacons at one observer; its oldest are dropped, those of other observers are kept"
    ),
    (
      "observers", Metric.monitoringEvictions.name,
      "too many observers; the oldest are dropped. Accept only known ones: ingest: { policy: allowlist }"
    ),
    (
      "tables of heard devices and refused senders", Metric.tableEvictions.name,
      "too many devices or senders to list; the oldest are dropped from the list, decisions are not affected"
    ),
    (
      "beacons compared", Metric.positioningEvictions.name,
      "too many beacons to compare observers; the oldest are dropped"
    ),
    (
      "events waiting in live streams", Metric.eventsMissedByStreams.name,
      "slow live streams missed readings; each stream reports to its client how many"
    ),
  ]

  /// For so many looks a limit must not have been reached before it is named again: an hour of looks a minute.
  package static let quiet = 60

  private var counts: [UInt64] = Array(repeating: 0, count: LimitWatch.watched.count)
  private var looksSince: [Int?] = Array(repeating: nil, count: LimitWatch.watched.count)

  package init() {}

  /// Compares the counts with those of the last look; returns what to log now.
  mutating func look(_ snapshot: IngestSnapshot, _ feeds: FeedStatistics) -> [Finding] {
    look([
      snapshot.monitoring.trackEvictions, snapshot.monitoring.observerEvictions, snapshot.tableEvictions,
      snapshot.positioning.evictions, feeds.dropped,
    ])
  }

  /// The same with the counts themselves, in the order of what is watched.
  package mutating func look(_ now: [UInt64]) -> [Finding] {
    var findings: [Finding] = []
    for (place, watched) in LimitWatch.watched.enumerated() {
      let grown = now[place] - min(now[place], counts[place])
      counts[place] = now[place]
      guard grown > 0 else {
        looksSince[place] = looksSince[place].map { $0 + 1 }
        continue
      }
      if looksSince[place].map({ $0 >= LimitWatch.quiet }) ?? true {
        findings.append(
          Finding(
            limit: watched.limit,
            metric: watched.metric,
            count: grown,
            explanation: watched.explanation
          )
        )
      }
      looksSince[place] = 0
    }
    return findings
  }
}
