package import PharosHTTP

/// A family of metrics: its name, which ends in its unit, its kind, its help text and its labels.
///
/// Names and labels do not change, because the graphs of operators depend on them. The families are declared in
/// extensions of this type, and the guide on operations lists them.
package struct MetricFamily: Hashable, Sendable {
  /// The behaviour of the values over time.
  package enum Kind: String, Sendable {
    /// Only up, from zero at each start.
    case counter
    /// Up and down.
    case gauge
  }

  /// The name; that of a counter ends in `_total`.
  package let name: String
  /// The kind of the metrics.
  package let kind: Kind
  /// The help text: one sentence without a full stop.
  package let help: String
  /// The labels of every sample, in their order.
  package let labels: [String]

  static func counter(_ name: String, _ help: String, by labels: String...) -> MetricFamily {
    MetricFamily(name: name, kind: .counter, help: help, labels: labels)
  }

  static func gauge(_ name: String, _ help: String, by labels: String...) -> MetricFamily {
    MetricFamily(name: name, kind: .gauge, help: help, labels: labels)
  }
}

/// The metrics of ingest.
extension MetricFamily {
  static let datagrams = counter("pharos_ingest_datagrams_total", "Datagrams received")
  static let receivedBytes = counter("pharos_ingest_received_bytes_total", "Bytes of received datagrams")
  static let decoded = counter(
    "pharos_ingest_datagrams_decoded_total",
    "Datagrams decoded, by format",
    by: "format"
  )
  static let decodedReports = counter(
    "pharos_ingest_reports_total",
    "Reports that decoded datagrams brought, by format",
    by: "format"
  )
  static let refused = counter(
    "pharos_ingest_datagrams_refused_total",
    "Datagrams refused, by format (unknown where it has none) and reason",
    by: "format",
    "reason"
  )
  static let kernelDrops = counter(
    "pharos_ingest_kernel_drops_total",
    "Datagrams that the kernel dropped because a receive buffer was full"
  )
  static let queueWaits = counter(
    "pharos_ingest_queue_waits_total",
    "Times that a socket waited because a queue between threads was full, which loses nothing"
  )
  static let forwarded = counter(
    "pharos_ingest_reports_forwarded_total",
    "Reports that one loop decoded and another decided"
  )
  static let socketErrors = counter("pharos_ingest_socket_errors_total", "Passing errors of sockets")
  static let tableEvictions = counter(
    "pharos_ingest_table_evictions_total",
    "Devices and senders that the bounded tables forgot to make room"
  )
  static let receiveBuffer = gauge(
    "pharos_ingest_receive_buffer_bytes",
    "The smallest receive buffer that the kernel granted a socket"
  )
  static let deliveryLag = gauge(
    "pharos_ingest_delivery_lag_seconds",
    "How far delivered events are behind received datagrams"
  )
  static let isRecording = gauge("pharos_ingest_recording", "Whether inputs are being recorded, 1 or 0")
  static let devicesHeard = gauge("pharos_heard_devices", "Devices heard lately, registered or not")

  static let ingest = [
    datagrams, receivedBytes, decoded, decodedReports, refused, kernelDrops, queueWaits, forwarded,
    socketErrors, tableEvictions, receiveBuffer, deliveryLag, isRecording, devicesHeard,
  ]
}

/// The metrics of the two stages: monitoring and positioning.
extension MetricFamily {
  static let adverts = counter(
    "pharos_monitoring_adverts_total",
    "Adverts and ranged beacons, by whether somebody asks about them: matched or unmatched",
    by: "interest"
  )
  static let late = counter("pharos_monitoring_late_total", "Reports older than their observer's lag allows")
  static let joined = counter(
    "pharos_monitoring_adverts_joined_total",
    "Adverts that joined the sample before them: other channels, scan responses"
  )
  static let withoutLevel = counter(
    "pharos_monitoring_adverts_without_level_total",
    "Adverts without a signal level"
  )
  static let backwards = counter(
    "pharos_monitoring_backwards_total",
    "Reports whose receive time lay before an earlier one's and was moved to it"
  )
  static let sequenceGaps = counter(
    "pharos_monitoring_datagrams_missing_total",
    "Datagrams that never came, by their sequence numbers"
  )
  static let sequenceRepeats = counter(
    "pharos_monitoring_datagrams_repeated_total",
    "Datagrams that came twice, by their sequence numbers"
  )
  static let restarts = counter("pharos_monitoring_observer_restarts_total", "Restarts of observers")
  static let staleBoots = counter(
    "pharos_monitoring_datagrams_stale_total",
    "Datagrams of a boot that a later one had replaced"
  )
  static let outages = counter("pharos_monitoring_outages_total", "Outages of observers")
  static let quarantined = counter(
    "pharos_monitoring_reports_quarantined_total",
    "Reports of observers that are neither listed nor accepted, which changed nothing"
  )
  static let evictions = counter(
    "pharos_monitoring_evictions_total",
    "What gave way because there was too much of it: track or observer",
    by: "table"
  )
  static let tracks = gauge("pharos_monitoring_tracks", "Tracks kept: one for each observer and beacon")
  static let observers = gauge(
    "pharos_monitoring_observers",
    "Observers known, by state: up or down",
    by: "state"
  )
  static let summaries = counter("pharos_positioning_summaries_total", "Summaries of tracks compared")
  static let presenceChanges = counter(
    "pharos_positioning_presence_changes_total",
    "Changes of presence compared"
  )
  static let strayChanges = counter(
    "pharos_positioning_presence_changes_stray_total",
    "Changes of presence for a region that is no longer monitored"
  )
  static let crowdedOut = counter(
    "pharos_positioning_hearings_crowded_out_total",
    "Presence changes ignored because too many other observers hear the beacon"
  )
  static let tagEvictions = counter(
    "pharos_positioning_evictions_total",
    "Beacons forgotten because there were too many"
  )
  static let tags = gauge("pharos_positioning_tags", "Beacons that a state is kept for")

  static let engine = [
    adverts, late, joined, withoutLevel, backwards, sequenceGaps, sequenceRepeats, restarts, staleBoots,
    outages, quarantined, evictions, tracks, observers, summaries, presenceChanges, strayChanges, crowdedOut,
    tagEvictions, tags,
  ]
}

/// The metrics of locating.
extension MetricFamily {
  static let sensings = counter(
    "pharos_locating_sensings_total",
    "What handsets sensed and was passed on to locate them by"
  )
  static let fixes = counter("pharos_locating_fixes_total", "Fixes decided")
  static let locatedSubjects = gauge("pharos_locating_subjects", "Subjects that are looked for now")
  static let passedOver = counter(
    "pharos_locating_readings_passed_over_total",
    "Readings and samples of motion that count for nothing: late, unknown (of no map), repeated, crowded, senseless",
    by: "reason"
  )
  static let recoveries = counter(
    "pharos_locating_recoveries_total",
    "Times that a locator moved part of a subject's estimate to a place that explained the readings much better"
  )
  static let subjectEvictions = counter(
    "pharos_locating_evictions_total",
    "Subjects forgotten because there were too many"
  )

  static let locating = [sensings, fixes, locatedSubjects, passedOver, recoveries, subjectEvictions]
}

/// The metrics of the journal, publishing, live streams and webhooks.
extension MetricFamily {
  static let journalHead = gauge("pharos_journal_sequence", "The sequence number of the newest event kept")
  static let journalEvents = gauge("pharos_journal_events", "Events kept")
  static let journalBytes = gauge(
    "pharos_journal_size_bytes",
    "The journal's size without what is free again"
  )
  static let journalCommits = counter("pharos_journal_commits_total", "Groups of events written")
  static let journalFailures = counter(
    "pharos_journal_failures_total",
    "Groups of events that could not be written; they are tried again"
  )
  static let journalAppended = counter("pharos_journal_events_written_total", "Events written")
  static let journalPruned = counter(
    "pharos_journal_events_pruned_total",
    "Events that were too old or made room"
  )
  static let journalCommitTime = gauge(
    "pharos_journal_last_commit_seconds",
    "How long the last group took to reach the disk"
  )
  static let journalCheckpointTime = gauge(
    "pharos_journal_checkpoint_timestamp_seconds",
    "When the newest checkpoint was taken, in seconds since 1970"
  )

  static let tellerReceived = counter("pharos_events_decided_total", "Events decided")
  static let tellerTold = counter(
    "pharos_events_told_total",
    "Events told, by whether the journal keeps them: journalled or live",
    by: "path"
  )
  static let tellerWithheld = counter(
    "pharos_events_withheld_total",
    "Events that authorisation withheld from all recipients"
  )
  static let tellerLost = counter(
    "pharos_events_lost_total",
    "Events given up because the journal refused them for too long"
  )
  static let tellerWaiting = gauge("pharos_events_waiting", "Events that wait to be kept")
  static let tellerIsFailing = gauge("pharos_journal_refusing", "Whether the last write was refused, 1 or 0")
  static let checkpoints = counter(
    "pharos_checkpoints_total",
    "Checkpoints, by outcome: kept or failed",
    by: "outcome"
  )

  static let feedsOpen = gauge("pharos_feeds_open", "Live streams open")
  static let feedsOpened = counter("pharos_feeds_opened_total", "Live streams opened")
  static let feedsRefused = counter(
    "pharos_feeds_refused_total",
    "Live streams refused because too many were open"
  )
  static let feedsDelivered = counter(
    "pharos_feeds_events_delivered_total",
    "Events handed to live streams, each counted for each stream"
  )
  static let feedsDropped = counter(
    "pharos_feeds_events_dropped_total",
    "Events that are not kept and that a slow stream did not take in time"
  )
  static let feedsBehind = counter(
    "pharos_feeds_fell_behind_total",
    "Times that a slow stream went back to the journal"
  )
  static let feedsWaiting = gauge("pharos_feeds_events_waiting", "Events that wait in live streams")
  static let feedsFailedReads = counter(
    "pharos_feeds_failed_reads_total",
    "Reads of the journal that failed, each of which ended a stream"
  )

  static let webhooks = gauge(
    "pharos_webhooks",
    "Webhooks, by state: active, failing or disabled",
    by: "state"
  )
  static let webhooksDead = gauge("pharos_webhooks_dead_letters", "Events given up and not delivered since")
  static let webhooksLag = gauge(
    "pharos_webhooks_lag_events",
    "The most events that a webhook is behind the journal"
  )
  static let webhooksInFlight = gauge("pharos_webhooks_in_flight", "Events being sent to webhooks")

  static let telling = [
    journalHead, journalEvents, journalBytes, journalCommits, journalFailures, journalAppended,
    journalPruned, journalCommitTime, journalCheckpointTime, tellerReceived, tellerTold, tellerWithheld,
    tellerLost, tellerWaiting, tellerIsFailing, checkpoints, feedsOpen, feedsOpened, feedsRefused,
    feedsDelivered, feedsDropped, feedsBehind, feedsWaiting, feedsFailedReads, webhooks, webhooksDead,
    webhooksLag, webhooksInFlight,
  ]

  /// Every family there is.
  package static let all = process + ingest + engine + locating + telling + http
}

/// The metrics of the HTTP interface.
extension MetricFamily {
  static let httpConnections = gauge("pharos_http_connections", "HTTP connections open")
  static let httpConnected = counter("pharos_http_connections_total", "HTTP connections opened")
  static let httpAnswers = counter(
    "pharos_http_answers_total",
    "HTTP requests answered, by status",
    by: "status"
  )
  static let httpMalformed = counter(
    "pharos_http_malformed_total",
    "Connections on which something came that is no HTTP"
  )
  static let httpLimits = counter(
    "pharos_http_limits_reached_total",
    "Times that a limit of the HTTP interface refused something, by limit",
    by: "limit"
  )

  /// The statuses that the interface answers with.
  static let statuses = [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 431, 500, 503]

  static let http = [httpConnections, httpConnected, httpAnswers, httpMalformed, httpLimits]
}

extension PrometheusText {
  /// Writes what the HTTP interface has counted.
  package mutating func write(_ http: HTTPStatistics) {
    write(.httpConnections, http.connections)
    write(.httpConnected, http.connected)
    // Every status that the interface gives; an unheard-of one would be a mistake of ours, and is counted as such.
    let known = MetricFamily.statuses
    let others = http.answers.filter { !known.contains($0.key) }.values.reduce(0, +)
    write(
      .httpAnswers,
      known.map { (["\($0)"], Double(http.answers[$0] ?? 0)) } + [(["other"], Double(others))]
    )
    write(.httpMalformed, http.malformed)
    let limits = HTTPLimit.allCases
    write(.httpLimits, limits.map { ([$0.rawValue], Double(http.reached[$0] ?? 0)) })
  }
}
