package import PharosDelivery
package import PharosJournal
import PharosReports
package import PharosWebhooks

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
  package mutating func write(_ teller: TellerStatistics) {
    write(.tellerReceived, teller.received)
    write(
      .tellerTold,
      [(["journalled"], Double(teller.told)), (["live"], Double(teller.passed))]
    )
    write(.tellerWithheld, teller.withheld)
    write(.tellerLost, teller.lost)
    write(.tellerWaiting, teller.waiting)
    write(.tellerIsFailing, teller.isFailing ? 1 : 0)
    write(
      .checkpoints,
      [(["kept"], Double(teller.checkpoints)), (["failed"], Double(teller.failedCheckpoints))]
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
