import PharosPipeline
package import PharosDelivery
package import PharosHTTP
package import PharosIngest
package import PharosJournal
import PharosDocuments
package import PharosModel
package import PharosPresence
import PharosFixes
import PharosWire

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// The call that writes a family is its only declaration: the name, which ends in the unit, the help text and the labels
/// do not change, because the graphs of operators depend on them. The guide on operations lists the same families.
///
/// - Source: prometheus.io/docs/instrumenting/exposition_formats.
package struct PrometheusText: Sendable {
  /// The content type of an answer that holds the text.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text so far.
  package private(set) var text = ""
  private var written: Set<String> = []

  package init() {}

  /// Writes a family that only grows, from zero at each start, with one sample.
  private mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
    family(name, "counter", help, [([], Double(value))])
  }

  /// Writes a family that only grows, with a sample for each value of its label.
  private mutating func counter(
    _ name: String,
    _ help: String,
    by label: String,
    _ samples: [(String, some BinaryInteger)]
  ) {
    family(name, "counter", help, by: [label], samples.map { ([$0], Double($1)) })
  }

  /// Writes a family that goes up and down, with one sample; nothing for nil.
  private mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
    if let value { family(name, "gauge", help, [([], value)]) }
  }

  /// Writes a family that goes up and down, with one sample; nothing for nil.
  private mutating func gauge(_ name: String, _ help: String, _ value: (some BinaryInteger)?) {
    gauge(name, help, value.map { Double($0) })
  }

  /// Writes a family that goes up and down, with a sample for each value of its label.
  private mutating func gauge(_ name: String, _ help: String, by label: String, _ samples: [(String, Int)]) {
    family(name, "gauge", help, by: [label], samples.map { ([$0], Double($1)) })
  }

  /// Writes a family with a sample for each combination of labels, in the order of the family's labels.
  private mutating func family(
    _ name: String,
    _ kind: String,
    _ help: String,
    by labels: [String] = [],
    _ samples: [(labels: [String], value: Double)]
  ) {
    precondition(written.insert(name).inserted, "\(name) is written twice")
    text += "# HELP \(name) \(EscapedText.help(help))\n# TYPE \(name) \(kind)\n"
    for sample in samples {
      precondition(sample.labels.count == labels.count, "\(name) has \(labels.count) labels")
      let pairs = zip(labels, sample.labels).map { "\($0)=\"\(EscapedText.label($1))\"" }
      text += labels.isEmpty ? name : "\(name){\(pairs.joined(separator: ","))}"
      text += " \(PrometheusText.number(sample.value))\n"
    }
  }

  /// A number as Prometheus reads it.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && value.magnitude < 9e15 ? "\(Int64(value))" : "\(value)"
  }

  /// Writes a family with a sample for each observer, labelled with its id and its name.
  private mutating func family(
    _ name: String,
    _ kind: String,
    _ help: String,
    of observers: [ListedObserver],
    _ value: (ObserverStatus?) -> Double?
  ) {
    let samples = observers.compactMap { observer in
      value(observer.status).map { ([observer.id.description, observer.name], $0) }
    }
    family(name, kind, help, by: ["observer", "name"], samples)
  }
}

extension PrometheusText {
  /// Writes what the process takes.
  package mutating func write(_ usage: ProcessUsage, startedAt: Double, version: String) {
    gauge("pharos_build_info", "Always 1; the label gives the version", by: "version", [(version, 1)])
    gauge("process_start_time_seconds", "Start time of the server, in seconds since 1970", startedAt)
    family(
      "process_cpu_seconds_total",
      "counter",
      "User and system processor time spent in seconds",
      [([], usage.cpuSeconds)]
    )
    gauge("process_resident_memory_bytes", "Resident memory in bytes", usage.residentBytes.map(Double.init))
    gauge("process_open_fds", "Open file descriptors", usage.openDescriptors.map(Double.init))
    gauge("process_max_fds", "Limit of open file descriptors", usage.maximumDescriptors.map(Double.init))
    gauge("process_threads", "Number of threads of the process", usage.threads.map(Double.init))
  }
}

extension PrometheusText {
  /// Writes what ingest and the two stages have counted.
  package mutating func write(_ snapshot: IngestSnapshot) {
    writeArrivals(snapshot)
    writeMonitoring(snapshot)
    let positioning = snapshot.positioning
    counter("pharos_positioning_summaries_total", "Track summaries processed", positioning.summaries)
    counter(
      "pharos_positioning_presence_changes_total",
      "Changes of presence processed",
      positioning.presenceChanges
    )
    counter(
      "pharos_positioning_presence_changes_stray_total",
      "Changes of presence for a region that is no longer monitored",
      positioning.strayChanges
    )
    counter(
      "pharos_positioning_hearings_crowded_out_total",
      "Presence changes ignored because too many other observers hear the beacon",
      positioning.crowdedOut
    )
    counter(
      "pharos_positioning_evictions_total",
      "Beacons evicted because the table was full",
      positioning.evictions
    )
    gauge("pharos_positioning_tags", "Beacons with a kept state", positioning.tags)
    counter(
      "pharos_locating_sensings_total",
      "Sensor reports of handsets passed to the locator",
      snapshot.monitoring.sensings
    )
    writeLocating(positioning.locating)
  }

  private mutating func writeLocating(_ counted: LocatingCounters) {
    counter("pharos_locating_fixes_total", "Fixes decided", counted.fixes)
    gauge("pharos_locating_subjects", "Subjects being located now", counted.subjects)
    counter(
      "pharos_locating_readings_passed_over_total",
      "Readings and motion samples ignored, by reason: late, unknown (in no map), repeated, crowded (the inbox was full), senseless (invalid)",
      by: "reason",
      [
        ("late", counted.late), ("unknown", counted.unknown),
        ("repeated", counted.repeated), ("crowded", counted.crowded),
        ("senseless", counted.invalid),
      ]
    )
    counter(
      "pharos_locating_recoveries_total",
      "Times that a locator moved part of a subject's estimate to a place that explained the readings much better",
      counted.recoveries
    )
    counter(
      "pharos_locating_evictions_total",
      "Subjects evicted because the table was full",
      counted.evictions
    )
  }

  private mutating func writeArrivals(_ snapshot: IngestSnapshot) {
    let decoding = snapshot.decoding
    let formats = WireFormat.allCases
    counter("pharos_ingest_datagrams_total", "Datagrams received", snapshot.datagrams)
    counter("pharos_ingest_received_bytes_total", "Bytes of received datagrams", snapshot.bytes)
    counter(
      "pharos_ingest_datagrams_decoded_total",
      "Datagrams decoded, by format",
      by: "format",
      formats.map { ($0.name, decoding.datagrams($0)) }
    )
    counter(
      "pharos_ingest_reports_total",
      "Reports in decoded datagrams, by format",
      by: "format",
      formats.map { ($0.name, decoding.reports($0)) }
    )
    let refusals = (formats.map { $0 as WireFormat? } + [nil]).flatMap { format in
      DatagramRefusal.allCases.map { reason in
        ([format?.name ?? "unknown", reason.name], Double(decoding.refusals(format, reason)))
      }
    }
    family(
      "pharos_ingest_datagrams_refused_total",
      "counter",
      "Datagrams refused, by format (`unknown` if the format is not recognised) and reason",
      by: ["format", "reason"],
      refusals
    )
    family(
      "pharos_ingest_elements_skipped_total",
      "counter",
      "Elements that could not be read in datagrams of which the rest was read, by format and reason",
      by: ["format", "reason"],
      formats.flatMap { format in
        DatagramRefusal.allCases.map { ([format.name, $0.name], Double(decoding.skips(format, $0))) }
      }
    )
    counter(
      "pharos_ingest_ignored_identities_total",
      "Members of JSON objects that look like a beacon's identity and were ignored, by name: that beacon is not found",
      by: "name",
      decoding.ignoredIdentities.withOther.map { ($0.name, $0.count) }
    )
    counter(
      "pharos_ingest_kernel_drops_total",
      "Datagrams that the kernel dropped because a receive buffer was full",
      snapshot.kernelDrops
    )
    counter(
      "pharos_ingest_queue_waits_total",
      "Times that a socket waited because a queue between threads was full; no datagram is lost by this",
      snapshot.queueWaits
    )
    counter(
      "pharos_ingest_reports_forwarded_total",
      "Reports decoded by one event loop and processed by another",
      snapshot.forwarded
    )
    counter("pharos_ingest_socket_errors_total", "Transient socket errors", snapshot.socketErrors)
    counter(
      "pharos_ingest_table_evictions_total",
      "Devices and senders evicted from full tables",
      snapshot.tableEvictions
    )
    gauge(
      "pharos_ingest_receive_buffer_bytes",
      "The smallest receive buffer that the kernel granted a socket",
      snapshot.sockets.map(\.receiveBuffer).min() ?? 0
    )
    let isKnown = snapshot.deliveredThrough != .distantPast && snapshot.time != .distantPast
    gauge(
      "pharos_ingest_delivery_lag_seconds",
      "Delay of delivered events behind received datagrams",
      isKnown ? max(0, (snapshot.time - snapshot.deliveredThrough).seconds) : 0
    )
    gauge(
      "pharos_ingest_recording",
      "Whether inputs are being recorded, 1 or 0",
      snapshot.isRecording ? 1 : 0
    )
    gauge("pharos_heard_devices", "Devices heard recently, registered or not", snapshot.heard.beacons.count)
  }

  private mutating func writeMonitoring(_ snapshot: IngestSnapshot) {
    let counted = snapshot.monitoring
    counter(
      "pharos_monitoring_adverts_total",
      "Adverts and ranged beacons, by whether the configuration asks for the beacon: matched or unmatched",
      by: "interest",
      [("matched", counted.matched), ("unmatched", counted.unmatched)]
    )
    counter("pharos_monitoring_late_total", "Reports older than their observer's lag allows", counted.late)
    counter(
      "pharos_monitoring_adverts_joined_total",
      "Adverts merged into the preceding sample: the same advert on other channels, and scan responses",
      counted.joined
    )
    counter(
      "pharos_monitoring_adverts_without_level_total",
      "Adverts without a signal level",
      counted.withoutLevel
    )
    counter(
      "pharos_monitoring_backwards_total",
      "Reports with a receive time before that of an earlier report; the later time is used",
      counted.backwards
    )
    counter(
      "pharos_monitoring_datagrams_missing_total",
      "Datagrams missing, by their sequence numbers",
      counted.sequenceGaps
    )
    counter(
      "pharos_monitoring_datagrams_repeated_total",
      "Datagrams received twice, by their sequence numbers",
      counted.sequenceRepeats
    )
    counter(
      "pharos_monitoring_datagrams_conflicting_total",
      "Datagrams with the sequence number of another one: two senders have one identity",
      counted.sequenceConflicts
    )
    counter("pharos_monitoring_observer_restarts_total", "Restarts of observers", counted.restarts)
    counter(
      "pharos_monitoring_datagrams_stale_total",
      "Datagrams of an earlier boot that arrived after those of a later boot",
      counted.staleBoots
    )
    counter("pharos_monitoring_outages_total", "Outages of observers", counted.outages)
    counter(
      "pharos_monitoring_reports_quarantined_total",
      "Reports ignored because the observer is neither listed nor accepted",
      counted.quarantined
    )
    counter(
      "pharos_monitoring_evictions_total",
      "Entries evicted from a full table, by table: track or observer",
      by: "table",
      [("track", counted.trackEvictions), ("observer", counted.observerEvictions)]
    )
    gauge(
      "pharos_monitoring_tracks",
      "Tracks kept; a track is the state of one observer and one beacon",
      counted.tracks
    )
    let up = snapshot.observers.count { $0.isUp }
    gauge(
      "pharos_monitoring_observers",
      "Observers known, by state: up or down",
      by: "state",
      [("up", up), ("down", snapshot.observers.count - up)]
    )
  }
}

extension PrometheusText {
  /// An observer of the site, with its state if it was ever heard.
  private struct ListedObserver {
    var id: ObserverID
    var name: String
    var status: ObserverStatus?
  }

  /// The most observers that have series of their own; those after it in the order of ids have none.
  package static let maximumObservers = 2_000

  /// Writes the state of each observer that the site lists or that a zone or region names.
  ///
  /// A gateway that was never heard is down. An observer that merely sends has no series, so a sender cannot make any.
  ///
  /// - Parameters:
  ///   - site: the site.
  ///   - statuses: the states of observers.
  ///   - isShown: returns whether an observer may be named.
  package mutating func write(
    observersOf site: Site,
    _ statuses: [ObserverStatus],
    isShown: (ObserverID) -> Bool = { _ in true }
  ) {
    let known = Dictionary(statuses.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let names = Dictionary(site.observers.map { ($0.id, $0.name ?? "") }, uniquingKeysWith: { $1 })
    let listed = site.mentionedObservers.union(names.keys).filter(isShown).sorted().prefix(
      PrometheusText.maximumObservers
    )
    .map { ListedObserver(id: $0, name: names[$0] ?? "", status: known[$0]) }
    family("pharos_observer_up", "gauge", "Whether the listed observer is up, 1 or 0", of: listed) {
      $0?.isUp == true ? 1 : 0
    }
    family(
      "pharos_observer_last_heard_timestamp_seconds",
      "gauge",
      "Time of the latest report of the listed observer, in seconds since 1970; absent before the first",
      of: listed
    ) { $0.map { Double($0.lastHeard.nanoseconds) / 1e9 } }
    family(
      "pharos_observer_adverts_total",
      "counter",
      "Adverts that the listed observer reported",
      of: listed
    ) { Double($0?.adverts ?? 0) }
    family(
      "pharos_observer_datagrams_total",
      "counter",
      "Datagrams received from the listed observer, where it numbers them",
      of: listed
    ) { Double($0?.datagrams ?? 0) }
    family(
      "pharos_observer_datagrams_missing_total",
      "counter",
      "Datagrams of the listed observer that are missing, by their sequence numbers",
      of: listed
    ) { Double($0?.lostDatagrams ?? 0) }
    family(
      "pharos_observer_late_total",
      "counter",
      "Reports of the listed observer that were older than its lag allows",
      of: listed
    ) { Double($0?.late ?? 0) }
  }
}

extension PrometheusText {
  /// Writes how the journal is doing.
  package mutating func write(_ journal: JournalStatistics) {
    gauge("pharos_journal_sequence", "Sequence number of the newest event in the journal", journal.head)
    gauge("pharos_journal_events", "Events in the journal", journal.events)
    gauge("pharos_journal_size_bytes", "Size of the journal without free pages", journal.bytes)
    counter("pharos_journal_commits_total", "Groups of events written", journal.commits)
    counter(
      "pharos_journal_failures_total",
      "Failed writes of a group of events; each is retried",
      journal.failures
    )
    counter(
      "pharos_journal_damages_total",
      "Reads and writes that found the files of the journal damaged",
      journal.damages
    )
    counter("pharos_journal_events_written_total", "Events written", journal.appended)
    counter("pharos_journal_events_pruned_total", "Events dropped because of age or size", journal.pruned)
    gauge("pharos_journal_last_commit_seconds", "Duration of the last commit", journal.lastCommit.seconds)
    gauge(
      "pharos_journal_checkpoint_timestamp_seconds",
      "Time of the newest checkpoint, in seconds since 1970",
      journal.lastCheckpoint.map { Double($0.nanoseconds) / 1e9 }
    )
  }

  /// Writes how many events were decided, published, withheld and lost, and how the journal takes them.
  package mutating func write(_ committed: CommitPublisherStatistics) {
    counter("pharos_events_decided_total", "Events decided", committed.received)
    counter(
      "pharos_events_told_total",
      "Events published, by path: journalled, or live only",
      by: "path",
      [("journalled", committed.committed), ("live", committed.passed)]
    )
    counter(
      "pharos_events_withheld_total",
      "Events that authorisation withheld from all recipients",
      committed.withheld
    )
    counter(
      "pharos_events_lost_total",
      "Events dropped because the journal refused writes for too long",
      committed.lost
    )
    gauge("pharos_events_waiting", "Events waiting to be written to the journal", committed.waiting)
    gauge(
      "pharos_journal_refusing",
      "Whether the last write was refused, 1 or 0",
      committed.isFailing ? 1 : 0
    )
    counter(
      "pharos_checkpoints_total",
      "Checkpoints, by outcome: kept or failed",
      by: "outcome",
      [
        ("kept", committed.checkpoints),
        ("failed", committed.failedCheckpoints),
      ]
    )
  }

  /// Writes how live streams fare.
  package mutating func write(_ feeds: FeedStatistics) {
    gauge("pharos_feeds_open", "Live streams open", feeds.open)
    counter("pharos_feeds_opened_total", "Live streams opened", feeds.opened)
    counter("pharos_feeds_refused_total", "Live streams refused because too many were open", feeds.refused)
    counter(
      "pharos_feeds_events_delivered_total",
      "Events delivered to live streams, counted once for each stream",
      feeds.delivered
    )
    counter(
      "pharos_feeds_events_dropped_total",
      "Events that are not journalled and that a slow stream did not read in time",
      feeds.dropped
    )
    counter(
      "pharos_feeds_fell_behind_total",
      "Times that a slow stream had to continue from the journal",
      feeds.fellBehind
    )
    gauge("pharos_feeds_events_waiting", "Events waiting in live streams", feeds.waiting)
    counter(
      "pharos_feeds_failed_reads_total",
      "Failed reads of the journal, each of which ended a stream",
      feeds.failedReads
    )
  }

  /// Writes how webhooks fare.
  package mutating func write(_ webhooks: [WebhookStanding]) {
    let states: [WebhookStanding.State] = [.active, .failing, .disabled]
    gauge(
      "pharos_webhooks",
      "Webhooks, by state: active, failing or disabled",
      by: "state",
      states.map { state in (state.rawValue, webhooks.count { $0.state == state }) }
    )
    gauge(
      "pharos_webhooks_dead_letters",
      "Events given up and not delivered since then",
      webhooks.reduce(0) { $0 + $1.dead }
    )
    gauge(
      "pharos_webhooks_lag_events",
      "Largest number of events by which a webhook is behind the journal",
      webhooks.map(\.lag).max() ?? 0
    )
    gauge(
      "pharos_webhooks_in_flight",
      "Events being sent to webhooks",
      webhooks.reduce(0) { $0 + $1.inFlight }
    )
  }
}

extension PrometheusText {
  /// Writes how the connections to MQTT brokers fare; nothing for one that there is not.
  package mutating func write(_ feed: MQTTFeedStatistics?, _ publisher: MQTTStanding?) {
    let connections = [
      feed.map { ("in", $0.isConnected, $0.connections) },
      publisher.map { ("out", $0.isOnline, $0.connections) },
    ].compactMap { $0 }
    guard !connections.isEmpty else { return }
    gauge(
      "pharos_mqtt_up",
      "Whether the connection to the MQTT broker is up, by direction: in (messages of gateways), out (states)",
      by: "direction",
      connections.map { ($0.0, $0.1 ? 1 : 0) }
    )
    counter(
      "pharos_mqtt_connections_total",
      "Connections that the MQTT broker accepted, by direction",
      by: "direction",
      connections.map { ($0.0, $0.2) }
    )
    if let feed {
      counter(
        "pharos_mqtt_messages_total",
        "Messages from the MQTT broker: read as datagrams, retained ones that were ignored, and those dropped because "
          + "too many waited",
        by: "outcome",
        [("read", feed.read), ("retained", feed.retained), ("dropped", feed.dropped)]
      )
    }
    guard let publisher else { return }
    counter("pharos_mqtt_published_total", "Messages that the MQTT broker took", publisher.published)
    gauge(
      "pharos_mqtt_lag_events",
      "Sequence numbers of the journal behind the last event that the MQTT broker has acknowledged",
      publisher.lag
    )
    counter(
      "pharos_mqtt_missed_total",
      "Events that the journal dropped before the MQTT broker had them",
      UInt64(publisher.missed)
    )
  }

  /// The statuses that the interface answers with.
  private static let statuses = [
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 500, 503,
  ]

  /// Writes what the HTTP interface has counted.
  package mutating func write(_ http: HTTPStatistics) {
    gauge("pharos_http_connections", "HTTP connections open", http.connections)
    counter("pharos_http_connections_total", "HTTP connections opened", http.connected)
    // Every status that the interface gives; an unheard-of one would be a mistake of ours, and is counted as such.
    let known = PrometheusText.statuses
    let others = http.answers.filter { !known.contains($0.key) }.values.reduce(0, +)
    counter(
      "pharos_http_answers_total",
      "HTTP requests answered, by status",
      by: "status",
      known.map { ("\($0)", http.answers[$0] ?? 0) } + [("other", others)]
    )
    counter("pharos_http_malformed_total", "Connections that sent data other than HTTP", http.malformed)
    let limits = HTTPLimit.allCases
    counter(
      "pharos_http_limits_reached_total",
      "Requests and connections refused because of a limit, by limit",
      by: "limit",
      limits.map { ($0.rawValue, http.reached[$0] ?? 0) }
    )
  }
}
