import PharosPositioning
import PharosMonitoring
import PharosDelivery
import PharosIngest

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
    /// How often it was reached since the last look.
    package var count: UInt64
    /// What it means and what to do.
    var explanation: String
  }

  /// What is watched: a name, the metric that counts it, and what it means.
  private static let watched: [(limit: String, metric: MetricFamily, explanation: String)] = [
    (
      "tracks", .evictions,
      "an observer hears more beacons that somebody asks about than are kept; its stalest give way, those of others stay"
    ),
    (
      "observers", .evictions,
      "more observers report than are kept; the stalest give way. Accept only known ones: ingest: { policy: allowlist }"
    ),
    (
      "tables of what is heard and of who is refused", .tableEvictions,
      "more devices or senders than are shown; the stalest are forgotten, decisions are not touched"
    ),
    (
      "beacons compared", .tagEvictions,
      "more beacons than are kept to compare observers; the stalest are forgotten"
    ),
    (
      "events waiting in live streams", .feedsDropped,
      "slow live streams missed readings; each stream reports to its client how many"
    ),
  ]

  /// For so many looks a limit must not have been reached before it is named again: an hour of looks a minute.
  package static let quiet = 60

  private var counts: [UInt64] = Array(repeating: 0, count: LimitWatch.watched.count)
  private var looksSince: [Int?] = Array(repeating: nil, count: LimitWatch.watched.count)

  package init() {}

  /// Looks at what was counted; gives what is to be told now.
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
            metric: watched.metric.name,
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
