import PharosCluster
import PharosDelivery
import PharosFixes
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosPipeline
import PharosPresence
import PharosRooms
import PharosWire

/// Collects the metrics of a part of the table, one a statement.
@resultBuilder
enum MetricList {
  static func buildBlock(_ metrics: Metric...) -> [Metric] { metrics }
}

extension Metric {
  /// All metrics, in the order of `/metrics`.
  ///
  /// The guide on operations lists the same ones.
  package static let all: [Metric] =
    process + arrivals + monitoring + positioning + locating + observers + journal + events + feeds + webhooks
    + mqtt + cluster + http

  // MARK: - The process

  static let buildInfo = gauge(
    "pharos_build_info",
    "Always 1; the label gives the version",
    by: "version"
  ) { $0.process.map { [($0.version, 1)] } }
  static let processStart = gauge(
    "process_start_time_seconds",
    "Start time of the server, in seconds since 1970"
  ) { $0.process?.startedAt }
  static let processorTime = Metric(
    "process_cpu_seconds_total",
    .counter,
    "User and system processor time spent in seconds"
  ) { $0.process.map { [([], $0.usage.cpuSeconds)] } }
  static let residentMemory = gauge("process_resident_memory_bytes", "Resident memory in bytes") {
    $0.process?.usage.residentBytes
  }
  static let openDescriptors = gauge("process_open_fds", "Open file descriptors") {
    $0.process?.usage.openDescriptors
  }
  static let maximumDescriptors = gauge("process_max_fds", "Limit of open file descriptors") {
    $0.process?.usage.maximumDescriptors
  }

  @MetricList private static var process: [Metric] {
    buildInfo
    processStart
    processorTime
    residentMemory
    openDescriptors
    maximumDescriptors
    gauge("process_threads", "Number of threads of the process") { $0.process?.usage.threads }
  }

  // MARK: - Ingest

  static let datagrams = counter("pharos_ingest_datagrams_total", "Datagrams received") {
    $0.snapshot?.datagrams
  }
  static let datagramsDecoded = counter(
    "pharos_ingest_datagrams_decoded_total",
    "Datagrams decoded, by format",
    by: "format"
  ) { sources in
    sources.snapshot.map { snapshot in
      WireFormat.allCases.map { ($0.name, snapshot.decoding.datagrams($0)) }
    }
  }
  static let datagramsRefused = Metric(
    "pharos_ingest_datagrams_refused_total",
    .counter,
    "Datagrams refused, by format (`unknown` if the format is not recognised) and reason",
    by: ["format", "reason"]
  ) { sources in
    sources.snapshot.map { snapshot in
      (WireFormat.allCases.map { $0 as WireFormat? } + [nil]).flatMap { format in
        DatagramRefusal.allCases.map { reason in
          ([format?.name ?? "unknown", reason.name], Double(snapshot.decoding.refusals(format, reason)))
        }
      }
    }
  }
  static let kernelDrops = counter(
    "pharos_ingest_kernel_drops_total",
    "Datagrams that the kernel dropped because a receive buffer was full"
  ) { $0.snapshot?.kernelDrops }
  static let tableEvictions = counter(
    "pharos_ingest_table_evictions_total",
    "Devices and senders evicted from full tables"
  ) { $0.snapshot?.tableEvictions }
  static let deliveryLag = gauge(
    "pharos_ingest_delivery_lag_seconds",
    "Delay of delivered events behind received datagrams"
  ) { sources in
    sources.snapshot.map { snapshot -> Double in
      let isKnown = snapshot.deliveredThrough != .distantPast && snapshot.time != .distantPast
      return isKnown ? max(0, (snapshot.time - snapshot.deliveredThrough).seconds) : 0
    }
  }
  static let heardDevices = gauge("pharos_heard_devices", "Devices heard recently, registered or not") {
    $0.snapshot?.heard.beacons.count
  }

  @MetricList private static var arrivals: [Metric] {
    datagrams
    counter("pharos_ingest_received_bytes_total", "Bytes of received datagrams") { $0.snapshot?.bytes }
    datagramsDecoded
    counter("pharos_ingest_reports_total", "Reports in decoded datagrams, by format", by: "format") {
      sources in
      sources.snapshot.map { snapshot in
        WireFormat.allCases.map { ($0.name, snapshot.decoding.reports($0)) }
      }
    }
    datagramsRefused
    Metric(
      "pharos_ingest_elements_skipped_total",
      .counter,
      "Elements that could not be read in datagrams of which the rest was read, by format and reason",
      by: ["format", "reason"]
    ) { sources in
      sources.snapshot.map { snapshot in
        WireFormat.allCases.flatMap { format in
          DatagramRefusal.allCases.map {
            ([format.name, $0.name], Double(snapshot.decoding.skips(format, $0)))
          }
        }
      }
    }
    counter(
      "pharos_ingest_ignored_identities_total",
      "Members of JSON objects that look like a beacon's identity and were ignored, by name: that beacon is not found",
      by: "name"
    ) { $0.snapshot?.decoding.ignoredIdentities.withOther.map { ($0.name, $0.count) } }
    kernelDrops
    counter(
      "pharos_ingest_queue_waits_total",
      "Times that a socket waited because a queue between threads was full; no datagram is lost by this"
    ) { $0.snapshot?.queueWaits }
    counter(
      "pharos_ingest_reports_forwarded_total",
      "Reports decoded by one event loop and processed by another"
    ) { $0.snapshot?.forwarded }
    counter("pharos_ingest_socket_errors_total", "Transient socket errors") { $0.snapshot?.socketErrors }
    tableEvictions
    gauge(
      "pharos_ingest_receive_buffer_bytes",
      "The smallest receive buffer that the kernel granted a socket"
    ) { $0.snapshot.map { $0.sockets.map(\.receiveBuffer).min() ?? 0 } }
    deliveryLag
    gauge("pharos_ingest_recording", "Whether inputs are being recorded, 1 or 0") {
      $0.snapshot.map { flag($0.isRecording) }
    }
    heardDevices
  }

  private static func flag(_ isSet: Bool) -> Int { isSet ? 1 : 0 }

  // MARK: - Monitoring

  static let adverts = counter(
    "pharos_monitoring_adverts_total",
    "Adverts and ranged beacons, by whether the configuration asks for the beacon: matched or unmatched",
    by: "interest"
  ) {
    $0.snapshot.map { [("matched", $0.monitoring.matched), ("unmatched", $0.monitoring.unmatched)] }
  }
  static let late = counter(
    "pharos_monitoring_late_total",
    "Reports older than their observer's lag allows"
  ) { $0.snapshot?.monitoring.late }
  static let quarantined = counter(
    "pharos_monitoring_reports_quarantined_total",
    "Reports ignored because the observer is neither listed nor accepted"
  ) { $0.snapshot?.monitoring.quarantined }
  static let monitoringEvictions = counter(
    "pharos_monitoring_evictions_total",
    "Entries evicted from a full table, by table: track or observer",
    by: "table"
  ) {
    $0.snapshot.map {
      [("track", $0.monitoring.trackEvictions), ("observer", $0.monitoring.observerEvictions)]
    }
  }
  static let tracks = gauge(
    "pharos_monitoring_tracks",
    "Tracks kept; a track is the state of one observer and one beacon"
  ) { $0.snapshot?.monitoring.tracks }

  @MetricList private static var monitoring: [Metric] {
    adverts
    late
    counter(
      "pharos_monitoring_adverts_joined_total",
      "Adverts merged into the preceding sample: the same advert on other channels, and scan responses"
    ) { $0.snapshot?.monitoring.joined }
    counter("pharos_monitoring_adverts_without_level_total", "Adverts without a signal level") {
      $0.snapshot?.monitoring.withoutLevel
    }
    counter(
      "pharos_monitoring_backwards_total",
      "Reports with a receive time before that of an earlier report; the later time is used"
    ) { $0.snapshot?.monitoring.backwards }
    counter(
      "pharos_monitoring_datagrams_missing_total",
      "Datagrams missing, by their sequence numbers"
    ) { $0.snapshot?.monitoring.sequenceGaps }
    counter(
      "pharos_monitoring_datagrams_repeated_total",
      "Datagrams received twice, by their sequence numbers"
    ) { $0.snapshot?.monitoring.sequenceRepeats }
    counter(
      "pharos_monitoring_datagrams_conflicting_total",
      "Datagrams with the sequence number of another one: two senders have one identity"
    ) { $0.snapshot?.monitoring.sequenceConflicts }
    counter("pharos_monitoring_observer_restarts_total", "Restarts of observers") {
      $0.snapshot?.monitoring.restarts
    }
    counter(
      "pharos_monitoring_datagrams_stale_total",
      "Datagrams of an earlier boot that arrived after those of a later boot"
    ) { $0.snapshot?.monitoring.staleBoots }
    counter("pharos_monitoring_outages_total", "Outages of observers") { $0.snapshot?.monitoring.outages }
    quarantined
    monitoringEvictions
    tracks
    gauge("pharos_monitoring_observers", "Observers known, by state: up or down", by: "state") { sources in
      sources.snapshot.map { snapshot in
        let up = snapshot.observers.count { $0.isUp }
        return [("up", up), ("down", snapshot.observers.count - up)]
      }
    }
  }

  // MARK: - Positioning

  static let positioningEvictions = counter(
    "pharos_positioning_evictions_total",
    "Beacons evicted because the table was full"
  ) { $0.snapshot?.positioning.evictions }
  static let tags = gauge("pharos_positioning_tags", "Beacons with a kept state") {
    $0.snapshot?.positioning.tags
  }
  static let locatedSubjects = gauge("pharos_locating_subjects", "Subjects being located now") {
    $0.snapshot?.positioning.locating.subjects
  }

  @MetricList private static var positioning: [Metric] {
    counter("pharos_positioning_summaries_total", "Track summaries processed") {
      $0.snapshot?.positioning.summaries
    }
    counter("pharos_positioning_presence_changes_total", "Changes of presence processed") {
      $0.snapshot?.positioning.presenceChanges
    }
    counter(
      "pharos_positioning_presence_changes_stray_total",
      "Changes of presence for a region that is no longer monitored"
    ) { $0.snapshot?.positioning.strayChanges }
    counter(
      "pharos_positioning_hearings_crowded_out_total",
      "Presence changes ignored because too many other observers hear the beacon"
    ) { $0.snapshot?.positioning.crowdedOut }
    positioningEvictions
    tags
  }

  @MetricList private static var locating: [Metric] {
    counter("pharos_locating_sensings_total", "Sensor reports of handsets passed to the locator") {
      $0.snapshot?.monitoring.sensings
    }
    counter("pharos_locating_fixes_total", "Fixes decided") { $0.snapshot?.positioning.locating.fixes }
    locatedSubjects
    counter(
      "pharos_locating_readings_passed_over_total",
      "Readings and motion samples ignored, by reason: late, unknown (in no map), repeated, crowded (the inbox was full), senseless (invalid)",
      by: "reason"
    ) { sources in
      sources.snapshot.map { snapshot in
        let counted = snapshot.positioning.locating
        return [
          ("late", counted.late), ("unknown", counted.unknown), ("repeated", counted.repeated),
          ("crowded", counted.crowded), ("senseless", counted.invalid),
        ]
      }
    }
    counter(
      "pharos_locating_recoveries_total",
      "Times that a locator moved part of a subject's estimate to a place that explained the readings much better"
    ) { $0.snapshot?.positioning.locating.recoveries }
    counter("pharos_locating_evictions_total", "Subjects evicted because the table was full") {
      $0.snapshot?.positioning.locating.evictions
    }
  }

  // MARK: - Listed observers

  static let observerUp = ofObservers(
    "pharos_observer_up",
    .gauge,
    "Whether the listed observer is up, 1 or 0"
  ) { $0?.isUp == true ? 1 : 0 }
  static let observerAdverts = ofObservers(
    "pharos_observer_adverts_total",
    .counter,
    "Adverts that the listed observer reported"
  ) { Double($0?.adverts ?? 0) }
  static let observerDatagrams = ofObservers(
    "pharos_observer_datagrams_total",
    .counter,
    "Datagrams received from the listed observer, where it numbers them"
  ) { Double($0?.datagrams ?? 0) }
  static let observerMissing = ofObservers(
    "pharos_observer_datagrams_missing_total",
    .counter,
    "Datagrams of the listed observer that are missing, by their sequence numbers"
  ) { Double($0?.lostDatagrams ?? 0) }

  @MetricList private static var observers: [Metric] {
    observerUp
    ofObservers(
      "pharos_observer_last_heard_timestamp_seconds",
      .gauge,
      "Time of the latest report of the listed observer, in seconds since 1970; absent before the first"
    ) { $0.map { Double($0.lastHeard.nanoseconds) / 1e9 } }
    observerAdverts
    observerDatagrams
    observerMissing
    ofObservers(
      "pharos_observer_late_total",
      .counter,
      "Reports of the listed observer that were older than its lag allows"
    ) { Double($0?.late ?? 0) }
  }

  // MARK: - The journal and what is published

  static let journalSize = gauge("pharos_journal_size_bytes", "Size of the journal without free pages") {
    $0.journal?.bytes
  }
  static let lastCommit = gauge("pharos_journal_last_commit_seconds", "Duration of the last commit") {
    $0.journal?.lastCommit.seconds
  }
  static let eventsDecided = counter("pharos_events_decided_total", "Events decided") {
    $0.committed?.received
  }
  static let eventsPublished = counter(
    "pharos_events_published_total",
    "Events published, by path: journalled, or live only",
    by: "path"
  ) { $0.committed.map { [("journalled", $0.committed), ("live", $0.passed)] } }
  static let eventsLost = counter(
    "pharos_events_lost_total",
    "Events dropped because the server stopped while the journal could not be written"
  ) { $0.committed?.lost }
  static let journalRefusing = gauge(
    "pharos_journal_refusing",
    "Whether the last write was refused, 1 or 0"
  ) { $0.committed.map { flag($0.isFailing) } }

  @MetricList private static var journal: [Metric] {
    gauge("pharos_journal_sequence", "Sequence number of the newest event in the journal") {
      $0.journal?.head
    }
    gauge("pharos_journal_events", "Events in the journal") { $0.journal?.events }
    journalSize
    counter("pharos_journal_commits_total", "Groups of events written") { $0.journal?.commits }
    counter(
      "pharos_journal_failures_total",
      "Failed writes of a group of events; each is retried"
    ) { $0.journal?.failures }
    counter(
      "pharos_journal_damages_total",
      "Reads and writes that found the files of the journal damaged"
    ) { $0.journal?.damages }
    counter("pharos_journal_events_written_total", "Events written") { $0.journal?.appended }
    counter("pharos_journal_events_pruned_total", "Events dropped because of age or size") {
      $0.journal?.pruned
    }
    lastCommit
    gauge(
      "pharos_journal_checkpoint_timestamp_seconds",
      "Time of the newest checkpoint, in seconds since 1970"
    ) { $0.journal?.lastCheckpoint.map { Double($0.nanoseconds) / 1e9 } }
  }

  @MetricList private static var events: [Metric] {
    eventsDecided
    eventsPublished
    counter(
      "pharos_events_withheld_total",
      "Events that authorisation withheld from all recipients"
    ) { $0.committed?.withheld }
    eventsLost
    gauge("pharos_events_waiting", "Events waiting to be written to the journal") { $0.committed?.waiting }
    journalRefusing
    counter("pharos_checkpoints_total", "Checkpoints, by outcome: kept or failed", by: "outcome") {
      $0.committed.map { [("kept", $0.checkpoints), ("failed", $0.failedCheckpoints)] }
    }
  }

  // MARK: - Receivers

  static let eventsStreamed = counter(
    "pharos_feeds_events_delivered_total",
    "Events delivered to live streams, counted once for each stream"
  ) { $0.feeds?.delivered }
  static let eventsMissedByStreams = counter(
    "pharos_feeds_events_dropped_total",
    "Events that are not journalled and that a slow stream did not read in time"
  ) { $0.feeds?.dropped }
  static let webhookStates = gauge(
    "pharos_webhooks",
    "Webhooks, by state: active, failing or disabled",
    by: "state"
  ) { sources in
    sources.webhooks.map { webhooks in
      let states: [WebhookStanding.State] = [.active, .failing, .disabled]
      return states.map { state in (state.rawValue, webhooks.count { $0.state == state }) }
    }
  }
  static let deadLetters = gauge(
    "pharos_webhooks_dead_letters",
    "Events given up and not delivered since then"
  ) { $0.webhooks?.reduce(0) { $0 + $1.dead } }
  static let webhookLag = gauge(
    "pharos_webhooks_lag_events",
    "Sequence numbers of the journal from the oldest event that some webhook has neither delivered nor given up"
  ) { $0.webhooks.map { $0.map(\.lag).max() ?? 0 } }

  @MetricList private static var feeds: [Metric] {
    gauge("pharos_feeds_open", "Live streams open") { $0.feeds?.open }
    counter("pharos_feeds_opened_total", "Live streams opened") { $0.feeds?.opened }
    counter("pharos_feeds_refused_total", "Live streams refused because too many were open") {
      $0.feeds?.refused
    }
    eventsStreamed
    eventsMissedByStreams
    counter(
      "pharos_feeds_fell_behind_total",
      "Times that a slow stream had to continue from the journal"
    ) { $0.feeds?.fellBehind }
    gauge("pharos_feeds_events_waiting", "Events waiting in live streams") { $0.feeds?.waiting }
    counter(
      "pharos_feeds_failed_reads_total",
      "Failed reads of the journal, each of which ended a stream"
    ) { $0.feeds?.failedReads }
  }

  @MetricList private static var webhooks: [Metric] {
    webhookStates
    deadLetters
    webhookLag
    gauge("pharos_webhooks_in_flight", "Events being sent to webhooks") {
      $0.webhooks?.reduce(0) { $0 + $1.inFlight }
    }
  }

  @MetricList private static var mqtt: [Metric] {
    gauge(
      "pharos_mqtt_up",
      "Whether the connection to the MQTT broker is up, by direction: in (messages of gateways), out (states)",
      by: "direction"
    ) { $0.mqttConnections?.map { ($0.direction, flag($0.isUp)) } }
    counter(
      "pharos_mqtt_connections_total",
      "Connections that the MQTT broker accepted, by direction",
      by: "direction"
    ) { $0.mqttConnections?.map { ($0.direction, $0.count) } }
    counter(
      "pharos_mqtt_messages_total",
      "Messages from the MQTT broker: read as datagrams, retained ones that were ignored, and those dropped because "
        + "too many waited",
      by: "outcome"
    ) { $0.mqttInput.map { [("read", $0.read), ("retained", $0.retained), ("dropped", $0.dropped)] } }
    counter("pharos_mqtt_published_total", "Messages that the MQTT broker took") {
      $0.mqttOutput?.published
    }
    gauge(
      "pharos_mqtt_lag_events",
      "Sequence numbers of the journal behind the last event that the MQTT broker has acknowledged"
    ) { $0.mqttOutput?.lag }
    counter(
      "pharos_mqtt_missed_total",
      "Events that the journal dropped before the MQTT broker had them"
    ) { $0.mqttOutput?.missed }
  }

  // MARK: - The cluster

  /// Batches of inputs that are not in the cluster's log yet.
  static let clusterWaiting = gauge(
    "pharos_cluster_waiting_batches",
    "Batches of inputs that wait for the log of the cluster"
  ) { $0.cluster?.log.waiting }

  @MetricList private static var cluster: [Metric] {
    gauge("pharos_cluster_position", "Position in the log of the cluster that this node has decided") {
      $0.cluster?.log.position
    }
    clusterWaiting
    counter("pharos_cluster_stored_total", "Batches of inputs of this node that the log has stored") {
      $0.cluster?.log.stored
    }
    counter("pharos_cluster_failures_total", "Attempts to store a batch in the log that failed") {
      $0.cluster?.log.failures
    }
    counter(
      "pharos_cluster_lost_total",
      "Batches of inputs that were dropped because the file for them was full"
    ) {
      $0.cluster?.log.lost
    }
    gauge("pharos_cluster_delivers", "Whether this node delivers for the cluster, 1 or 0") {
      $0.cluster.map { flag($0.delivers) }
    }
  }

  // MARK: - The HTTP interface

  /// The statuses that the interface answers with; any other would be a bug and is counted as `other`.
  private static let statuses = [
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 500, 503,
  ]

  @MetricList private static var http: [Metric] {
    gauge("pharos_http_connections", "HTTP connections open") { $0.http?.connections }
    counter("pharos_http_connections_total", "HTTP connections opened") { $0.http?.connected }
    counter("pharos_http_answers_total", "HTTP requests answered, by status", by: "status") { sources in
      sources.http.map { http in
        let others = http.answers.filter { !statuses.contains($0.key) }.values.reduce(0, +)
        return statuses.map { ("\($0)", http.answers[$0] ?? 0) } + [("other", others)]
      }
    }
    counter("pharos_http_malformed_total", "Connections that sent data other than HTTP") {
      $0.http?.malformed
    }
    counter(
      "pharos_http_limits_reached_total",
      "Requests and connections refused because of a limit, by limit",
      by: "limit"
    ) { sources in
      sources.http.map { http in HTTPLimit.allCases.map { ($0.rawValue, http.reached[$0] ?? 0) } }
    }
  }
}
