/// What is kept, told and delivered.
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
