package import Logging
import Pharos
import PharosCaptures
package import PharosIngest
package import PharosReports
import PharosSite
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
  ///   - udp: where to listen; empty for the site's addresses or the default.
  ///   - duration: how long; nil until interrupted.
  package init(site: String? = nil, udp: [HostPort] = [], duration: TimeSpan? = nil) {
    self.site = site
    self.udp = udp
    self.duration = duration
  }

  /// How often the table is drawn.
  private static let period = Duration.seconds(1)

  /// Listens and shows, until the time is over or the task is cancelled.
  ///
  /// - Returns: 0; 1 if it cannot listen; 78 if the site file is wrong.
  package func run(on console: Console, logger: Logger) async -> CommandStatus {
    await console.run {
      let configuration = try SiteFile.load(site, console: console)
      let server = PharosServer(
        site: configuration.site,
        configuration: IngestConfiguration(
          listeners: (udp.isEmpty ? configuration.listen : udp).map(ListenAddress.init),
          showsStrangers: true
        ),
        logger: logger
      )
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

  /// One JSON line for each observer and transmitter that was not told yet: what a pipe gets in place of a screen.
  package static func news(_ heard: Heard, known: inout Set<String>) -> [String] {
    var lines: [String] = []
    for observer in heard.observers where known.insert("\(observer.id)").inserted {
      var json = JSONText()
      json.openObject()
      json.member("time", observer.firstHeard.rfc3339)
      json.member("observer", observer.id.description)
      json.member("from", observer.source.description)
      json.member("format", observer.format.name)
      json.closeObject()
      lines.append(json.text)
    }
    for beacon in heard.beacons {
      let identity = beacon.identities.first?.description ?? beacon.address?.description ?? "anonymous"
      guard known.insert("\(beacon.observer) \(identity)").inserted else { continue }
      var json = JSONText()
      json.openObject()
      json.member("time", beacon.firstHeard.rfc3339)
      json.member("observer", beacon.observer.description)
      json.member("beacon", ifPresent: beacon.identities.first?.description)
      json.member("address", ifPresent: beacon.address?.description)
      json.member("name", ifPresent: beacon.name)
      if let rssi = beacon.rssi { json.member("rssi", Int(rssi.dBm)) }
      json.closeObject()
      lines.append(json.text)
    }
    return lines
  }
}

extension ListenAddress {
  /// The address of a command line or site file.
  init(_ address: HostPort) { self.init(address, policy: .open) }

  /// The address of a command line or site file, with whose datagrams are taken there.
  init(_ address: HostPort, policy: ListenPolicy) {
    self.init(host: address.host, port: Int(address.port), policy: policy)
  }

  /// The same place with another policy.
  func under(_ policy: ListenPolicy) -> ListenAddress {
    var address = self
    address.policy = policy
    return address
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
