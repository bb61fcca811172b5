import PharosCaptures
package import PharosIngest
import PharosReports
import PharosSite
import PharosWire

/// The live table of `pharos listen`: observers, and what they hear.
package struct HeardScreen {
  private let observerNames: [ObserverID: String]
  private let beacons: [BeaconEntry]
  private let style: TerminalStyle

  /// How many lines of each sort a screen shows; a pipe gets all.
  private static let observersShown = 8
  private static let beaconsShown = 24
  /// A transmitter that was not heard for so long is grey.
  private static let fresh = TimeSpan.seconds(10)

  private static let observerTable = TextTable([
    .init("OBSERVER", width: 28), .init("FROM", width: 21), .init("FORMAT", width: 7),
    .init("AGE", width: 6, alignment: .right), .init("REPORTS/s", width: 10, alignment: .right),
  ])
  private static let beaconTable = TextTable([
    .init("HEARD BY", width: 17), .init("BEACON OR DEVICE", width: 41),
    .init("dBm", width: 4, alignment: .right), .init("AGE", width: 6, alignment: .right),
    .init("ADV/s", width: 6, alignment: .right),
  ])

  package init(site: Site, style: TerminalStyle) {
    observerNames = Dictionary(
      site.observers.compactMap { entry in entry.name.map { (entry.id, $0) } },
      uniquingKeysWith: { first, _ in first }
    )
    beacons = site.beacons.filter { $0.name != nil }
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
    return lines
  }

  private func more(_ count: Int) -> [String] { count > 0 ? ["and \(count) more"] : [] }

  private func refusals(_ snapshot: IngestSnapshot) -> String {
    guard let worst = snapshot.refusedSources.first else { return "Nothing was refused." }
    return "\(snapshot.decoding.totalRefusals) refused; from \(worst.source): \(worst.lastReason)"
  }

  private func line(_ observer: HeardObserver, at now: Timestamp) -> String {
    HeardScreen.observerTable.line([
      name(of: observer.id), observer.source.description, observer.format.name, age(observer.lastHeard, now),
      rate(observer.reportsPerSecond),
    ])
  }

  private func line(_ beacon: HeardBeacon, at now: Timestamp) -> String {
    let identity = beacon.identities.first
    let known = identity.flatMap { id in beacons.first { $0.constraint.matches(id) }?.name }
    let label =
      known ?? identity.map { Inspection.shortened($0, to: 41) } ?? beacon.name.map { "\"\($0)\"" }
      ?? beacon.address?.description ?? "anonymous"
    let text = HeardScreen.beaconTable.line([
      name(of: beacon.observer), label, beacon.rssi.map { "\($0.dBm)" } ?? "", age(beacon.lastHeard, now),
      rate(beacon.advertsPerSecond),
    ])
    return now - beacon.lastHeard > HeardScreen.fresh ? style.paint(text, .gray) : text
  }

  private func name(of observer: ObserverID) -> String { observerNames[observer] ?? observer.description }

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
