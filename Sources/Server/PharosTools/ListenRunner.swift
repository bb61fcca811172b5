package import Logging
import Pharos
import PharosCaptures
import PharosDocuments
package import PharosIngest
import PharosLab
package import PharosModel
import PharosService
import PharosSite
package import PharosTerminal
import PharosWire

/// `pharos listen`: a live table of all that is heard, configured or not.
///
/// Unlike a server, which shows pseudonyms, the table shows the addresses and names of unregistered devices. The
/// command is a tool for the installer of a gateway: it runs while the installer watches, and keeps nothing.
package struct ListenRunner: Sendable {
  private let site: String?
  private let udp: [HostPort]
  private let duration: TimeSpan?

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - site: the site file, for names; nil for none.
  ///   - udp: the addresses to listen at; empty for the site's addresses or the default.
  ///   - duration: the time to listen; nil to listen until interrupted.
  package init(site: String? = nil, udp: [HostPort] = [], duration: TimeSpan? = nil) {
    self.site = site
    self.udp = udp
    self.duration = duration
  }

  /// The interval at which the table is drawn.
  private static let period = Duration.seconds(1)

  /// Listens and shows, until the time is over or the task is cancelled.
  ///
  /// - Returns: 0; 1 if it cannot listen; 78 if the site file is wrong.
  package func run(on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      let configuration = try SiteLoader.load(site, console: console)
      var ingest = IngestConfiguration(
        listeners: (udp.isEmpty ? configuration.listen : udp).map(ListenAddress.init)
      )
      ingest.showsUnregistered = true
      let server = PharosServer(site: configuration.site, configuration: ingest, logger: logger)
      _ = try await Listening.run(server, for: duration, console: console) { server in
        try await show(server, site: configuration.site, on: console)
      }
      return .success
    }
  }

  private func show(_ server: PharosServer, site: Site, on console: Console) async throws {
    let addresses = try await server.addresses().map { "\($0)" }.joined(separator: ", ")
    console.say("Listening on udp \(addresses). Point a gateway here; Ctrl-C ends.")
    let screen = HeardScreen(site: site, style: console.outputStyle)
    var known: Set<String> = []
    while !Task.isCancelled {
      let lines = screen.lines(try await server.snapshot())
      if console.outputStyle.isTerminal {
        // Home, the lines each with the rest of its line wiped, then all below wiped.
        let text = lines.map { "\($0)\u{1B}[K\n" }.joined()
        try console.output.write(Array("\u{1B}[H\(text)\u{1B}[J".utf8))
      } else {
        for line in ListenRunner.news(try await server.snapshot().heard, known: &known) {
          try console.print(line)
        }
      }
      try console.output.flush()
      try? await Task.sleep(for: ListenRunner.period)
    }
  }

  /// Returns one JSON line for each observer and transmitter that was not reported yet: the output to a pipe in place
  /// of a screen.
  package static func news(_ heard: Heard, known: inout Set<String>) -> [String] {
    var lines: [String] = []
    for observer in heard.observers where known.insert("\(observer.id)").inserted {
      let line = JSONText.object { json in
        json.member("time", observer.firstHeard.rfc3339)
        json.member("observer", observer.id.description)
        json.member("from", observer.source.description)
        json.member("format", observer.format.name)
      }
      lines.append(line)
    }
    for beacon in heard.beacons {
      let identity = beacon.identities.first?.description ?? beacon.address?.description ?? "anonymous"
      guard known.insert("\(beacon.observer) \(identity)").inserted else { continue }
      let line = JSONText.object { json in
        json.member("time", beacon.firstHeard.rfc3339)
        json.member("observer", beacon.observer.description)
        json.member("beacon", ifPresent: beacon.identities.first?.description)
        json.member("address", ifPresent: beacon.address?.description)
        json.member("hint", ifPresent: beacon.iBeaconCompany.map { IBeaconHint.text($0) })
        json.member("name", ifPresent: beacon.name)
        if let rssi = beacon.rssi { json.member("rssi", Int(rssi.dBm)) }
      }
      lines.append(line)
    }
    return lines
  }
}

/// Runs a server beside something that watches it.
enum Listening {
  /// Runs both until the watcher ends, the time is over, or the task is cancelled; the server drains at the end.
  static func run<Outcome: Sendable>(
    _ server: PharosServer,
    for duration: TimeSpan?,
    console: Console,
    _ watch: @escaping @Sendable (PharosServer) async throws -> Outcome
  ) async throws -> Outcome? {
    try await withThrowingTaskGroup(of: Outcome?.self) { group in
      group.addTask {
        try await server.run()
        return nil
      }
      group.addTask { try await watch(server) }
      if let duration {
        group.addTask {
          try? await Task.sleep(for: .nanoseconds(duration.nanoseconds))
          return nil
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

/// The live table of `pharos listen`: observers, and what they hear.
package struct HeardScreen {
  private let names: SiteNames
  private let style: TerminalStyle

  /// The maximum number of lines of each sort on a screen; a pipe gets all.
  private static let observersShown = 8
  private static let beaconsShown = 24
  /// A transmitter that was not heard for so long is grey.
  private static let fresh = TimeSpan.seconds(10)

  private static let observerTable = TextTable([
    .text("OBSERVER", 28), .text("FROM", 21), .text("FORMAT", 7), .number("AGE", 6), .number("REPORTS/s", 10),
  ])
  private static let beaconTable = TextTable([
    .text("HEARD BY", 17), .text("BEACON OR DEVICE", 41), .number("dBm", 4), .number("AGE", 6),
    .number("ADV/s", 6),
  ])

  package init(site: Site, style: TerminalStyle) {
    names = SiteNames(site)
    self.style = style
  }

  /// The screen for what is heard at some moment.
  package func lines(_ snapshot: IngestSnapshot) -> [String] {
    let heard = snapshot.heard
    guard !heard.observers.isEmpty else {
      return ["Nothing decoded yet. \(refusals(snapshot))"]
    }
    let observers =
      style.isTerminal ? heard.observers.prefix(HeardScreen.observersShown) : heard.observers[...]
    let transmitters = heard.beacons.sorted { ($0.rssi?.dBm ?? .min) > ($1.rssi?.dBm ?? .min) }
    let shown = style.isTerminal ? transmitters.prefix(HeardScreen.beaconsShown) : transmitters[...]
    var lines = [HeardScreen.observerTable.header] + observers.map { line($0, at: snapshot.time) }
    lines += more(heard.observers.count - observers.count)
    lines += ["", HeardScreen.beaconTable.header] + shown.map { line($0, at: snapshot.time) }
    lines += more(transmitters.count - shown.count)
    lines += ["", "\(snapshot.datagrams) datagrams. \(refusals(snapshot))"]
    for company in Set(heard.beacons.compactMap(\.iBeaconCompany)).sorted() {
      lines.append("Heard: \(IBeaconHint.text(company)).")
    }
    let ignored = snapshot.decoding.ignoredIdentities.sorted.map { "\"\($0.name)\" \($0.count) times" }
    if !ignored.isEmpty {
      lines.append("Ignored, though they look like a beacon's identity: \(ignored.joined(separator: ", ")).")
    }
    return lines
  }

  private func more(_ count: Int) -> [String] { count > 0 ? ["and \(count) more"] : [] }

  private func refusals(_ snapshot: IngestSnapshot) -> String {
    guard let worst = snapshot.refusedSources.first else { return "Nothing was refused." }
    let (refused, skipped) = (snapshot.decoding.totalRefusals, snapshot.decoding.totalSkips)
    let elements =
      skipped > 0 ? ", \(Wording.count(Int(clamping: skipped), "element")) of others skipped" : ""
    return "\(refused) refused\(elements); from \(worst.source): \(worst.lastReason)"
  }

  private func line(_ observer: HeardObserver, at now: Timestamp) -> String {
    HeardScreen.observerTable.line([
      names.name(of: .observer(observer.id)), observer.source.description, observer.format.name,
      age(observer.lastHeard, now),
      rate(observer.reportsPerSecond),
    ])
  }

  private func line(_ beacon: HeardBeacon, at now: Timestamp) -> String {
    let identity = beacon.identities.first
    let known = identity.flatMap { names.given(to: .beacon($0)) }
    let label =
      known ?? identity.map { Inspection.shortened($0, to: 41) } ?? beacon.name.map { "\"\($0)\"" }
      ?? beacon.address?.description ?? "anonymous"
    let text = HeardScreen.beaconTable.line([
      names.name(of: .observer(beacon.observer)), label, beacon.rssi.map { "\($0.dBm)" } ?? "",
      age(beacon.lastHeard, now),
      rate(beacon.advertsPerSecond),
    ])
    return now - beacon.lastHeard > HeardScreen.fresh ? style.paint(text, .gray) : text
  }

  private func age(_ time: Timestamp, _ now: Timestamp) -> String {
    let age = max(.zero, now - time)
    return age < .seconds(1) ? "now" : TimeSpan.seconds(age.seconds.rounded(.down)).written
  }

  private func rate(_ perSecond: Double?) -> String {
    guard let perSecond else { return "" }
    let tenths = Int((perSecond * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
