package import PharosDelivery
package import PharosIngest
package import PharosJournal
import PharosModel
import PharosMonitoring
import PharosPositioning
import PharosWire

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// - Source: prometheus.io/docs/instrumenting/exposition_formats.
package struct PrometheusText: Sendable {
  /// The content type of an answer that holds the text.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text so far.
  package private(set) var text = ""
  private var written: Set<String> = []

  package init() {}

  /// Writes a family with one sample.
  mutating func write(_ family: MetricFamily, _ value: some BinaryInteger) {
    write(family, [([], Double(value))])
  }

  /// Writes a family with one sample; nothing for nil.
  mutating func write(_ family: MetricFamily, _ value: Double?) {
    guard let value else { return }
    write(family, [([], value)])
  }

  /// Writes a family with a sample for each combination of labels, in the order of the family's labels.
  mutating func write(_ family: MetricFamily, _ samples: [(labels: [String], value: Double)]) {
    precondition(written.insert(family.name).inserted, "\(family.name) is written twice")
    text += "# HELP \(family.name) \(PrometheusText.escaped(family.help, quotes: false))\n"
    text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
    for (labels, value) in samples {
      precondition(labels.count == family.labels.count, "\(family.name) has \(family.labels.count) labels")
      text += family.name
      if !labels.isEmpty {
        let pairs = zip(family.labels, labels).map { "\($0)=\"\(PrometheusText.escaped($1))\"" }
        text += "{\(pairs.joined(separator: ","))}"
      }
      text += " \(PrometheusText.number(value))\n"
    }
  }

  /// A number as Prometheus reads it.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool = true) -> String {
    var escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    if quotes { escaped = escaped.replacing("\"", with: "\\\"") }
    return escaped
  }
}

extension PrometheusText {
  /// Writes what ingest and the two stages have counted.
  package mutating func write(_ snapshot: IngestSnapshot) {
    writeArrivals(snapshot)
    writeMonitoring(snapshot)
    let positioning = snapshot.positioning
    write(.summaries, positioning.summaries)
    write(.presenceChanges, positioning.presenceChanges)
    write(.strayChanges, positioning.strayChanges)
    write(.crowdedOut, positioning.crowdedOut)
    write(.tagEvictions, positioning.evictions)
    write(.tags, positioning.tags)
    write(.sensings, snapshot.monitoring.sensings)
    write(positioning.locating)
  }

  private mutating func writeArrivals(_ snapshot: IngestSnapshot) {
    let decoding = snapshot.decoding
    let formats = WireFormat.allCases
    write(.datagrams, snapshot.datagrams)
    write(.receivedBytes, snapshot.bytes)
    write(.decoded, formats.map { ([$0.name], Double(decoding.datagrams($0))) })
    write(.decodedReports, formats.map { ([$0.name], Double(decoding.reports($0))) })
    let refusals = (formats.map { $0 as WireFormat? } + [nil]).flatMap { format in
      DatagramRefusal.allCases.map { reason in
        (labels: [format?.name ?? "unknown", reason.name], value: Double(decoding.refusals(format, reason)))
      }
    }
    write(.refused, refusals)
    write(.kernelDrops, snapshot.kernelDrops)
    write(.queueWaits, snapshot.queueWaits)
    write(.forwarded, snapshot.forwarded)
    write(.socketErrors, snapshot.socketErrors)
    write(.tableEvictions, snapshot.tableEvictions)
    write(.receiveBuffer, snapshot.sockets.map(\.receiveBuffer).min() ?? 0)
    let isKnown = snapshot.deliveredThrough != .distantPast && snapshot.time != .distantPast
    write(.deliveryLag, isKnown ? max(0, (snapshot.time - snapshot.deliveredThrough).seconds) : 0)
    write(.isRecording, snapshot.isRecording ? 1 : 0)
    write(.devicesHeard, snapshot.heard.beacons.count)
  }

  private mutating func writeMonitoring(_ snapshot: IngestSnapshot) {
    let counted = snapshot.monitoring
    write(
      .adverts,
      [(["matched"], Double(counted.matched)), (["unmatched"], Double(counted.unmatched))]
    )
    write(.late, counted.late)
    write(.joined, counted.joined)
    write(.withoutLevel, counted.withoutLevel)
    write(.backwards, counted.backwards)
    write(.sequenceGaps, counted.sequenceGaps)
    write(.sequenceRepeats, counted.sequenceRepeats)
    write(.restarts, counted.restarts)
    write(.staleBoots, counted.staleBoots)
    write(.outages, counted.outages)
    write(.quarantined, counted.quarantined)
    write(
      .evictions,
      [(["track"], Double(counted.trackEvictions)), (["observer"], Double(counted.observerEvictions))]
    )
    write(.tracks, counted.tracks)
    let up = snapshot.observers.count { $0.isUp }
    write(.observers, [(["up"], Double(up)), (["down"], Double(snapshot.observers.count - up))])
  }
}

extension PrometheusText {
  /// Writes what locating has counted.
  mutating func write(_ counted: LocatingCounters) {
    write(.fixes, counted.fixes)
    write(.locatedSubjects, counted.subjects)
    write(
      .passedOver,
      [
        (["late"], Double(counted.late)), (["unknown"], Double(counted.unknown)),
        (["repeated"], Double(counted.repeated)), (["crowded"], Double(counted.crowded)),
        (["senseless"], Double(counted.senseless)),
      ]
    )
    write(.recoveries, counted.recoveries)
    write(.subjectEvictions, counted.evictions)
  }
}

extension PrometheusText {
  /// Writes how the journal is doing.
  package mutating func write(_ journal: JournalStatistics) {
    write(.journalHead, journal.head)
    write(.journalEvents, journal.events)
    write(.journalBytes, journal.bytes)
    write(.journalCommits, journal.commits)
    write(.journalFailures, journal.failures)
    write(.journalAppended, journal.appended)
    write(.journalPruned, journal.pruned)
    write(.journalCommitTime, journal.lastCommit.seconds)
    write(.journalCheckpointTime, journal.lastCheckpoint.map { Double($0.nanoseconds) / 1e9 })
  }

  /// Writes how many events were decided, published, withheld and lost, and how the journal takes them.
  package mutating func write(_ commitPublisher: CommitPublisherStatistics) {
    write(.tellerReceived, commitPublisher.received)
    write(
      .tellerTold,
      [(["journalled"], Double(commitPublisher.told)), (["live"], Double(commitPublisher.passed))]
    )
    write(.tellerWithheld, commitPublisher.withheld)
    write(.tellerLost, commitPublisher.lost)
    write(.tellerWaiting, commitPublisher.waiting)
    write(.tellerIsFailing, commitPublisher.isFailing ? 1 : 0)
    write(
      .checkpoints,
      [
        (["kept"], Double(commitPublisher.checkpoints)),
        (["failed"], Double(commitPublisher.failedCheckpoints)),
      ]
    )
  }

  /// Writes how live streams fare.
  package mutating func write(_ feeds: FeedStatistics) {
    write(.feedsOpen, feeds.open)
    write(.feedsOpened, feeds.opened)
    write(.feedsRefused, feeds.refused)
    write(.feedsDelivered, feeds.delivered)
    write(.feedsDropped, feeds.dropped)
    write(.feedsBehind, feeds.fellBehind)
    write(.feedsWaiting, feeds.waiting)
    write(.feedsFailedReads, feeds.failedReads)
  }

  /// Writes how webhooks fare.
  package mutating func write(_ webhooks: [WebhookStanding]) {
    let states: [WebhookStanding.State] = [.active, .failing, .disabled]
    write(
      .webhooks,
      states.map { state in ([state.rawValue], Double(webhooks.count { $0.state == state })) }
    )
    write(.webhooksDead, webhooks.reduce(0) { $0 + $1.dead })
    write(.webhooksLag, webhooks.map(\.lag).max() ?? 0)
    write(.webhooksInFlight, webhooks.reduce(0) { $0 + $1.inFlight })
  }
}
