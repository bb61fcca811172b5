/// How a teller groups and keeps events.
package struct TellerSettings: Hashable, Sendable {
  /// The shortest time between two commits; an event that comes after a pause is committed at once.
  ///
  /// 20 ms is unnoticed by people, and 50 commits a second leave even a disk that needs 10 ms for each half idle.
  package var interval: Duration = .milliseconds(20)
  /// How many events are committed without waiting for the interval, and at most in one transaction.
  package var group = 4_096
  /// How many events wait at most; beyond, the oldest are given up and counted.
  ///
  /// Some 200 MB, and minutes of a busy site while its disk is full.
  package var backlog = 262_144
  /// The pause after a failed commit; it doubles with each further failure.
  package var firstPause: Duration = .milliseconds(100)
  /// The longest pause after a failed commit.
  package var longestPause: Duration = .seconds(5)

  /// The usual settings.
  package init() {}
}

/// What a teller has done so far.
package struct TellerStatistics: Hashable, Sendable {
  /// Events taken from the engine and from others.
  package var received: UInt64 = 0
  /// Events told with a sequence number.
  package var told: UInt64 = 0
  /// Events told without one: ranging, fixes, and what is for live streams only.
  package var passed: UInt64 = 0
  /// Events that the authorisations withhold from all readers.
  package var withheld: UInt64 = 0
  /// Events given up because they could not be committed in time.
  package var lost: UInt64 = 0
  /// Events that wait to be committed.
  package var waiting = 0
  /// Transactions committed.
  package var commits: UInt64 = 0
  /// Transactions that failed.
  package var failures: UInt64 = 0
  /// Checkpoints kept.
  package var checkpoints: UInt64 = 0
  /// Checkpoints that could not be kept.
  package var failedCheckpoints: UInt64 = 0
  /// A Boolean value that is true if the last commit failed: events that must be journalled wait and are not published.
  package var isFailing = false
  /// What the last failure said, kept after the recovery.
  package var lastFailure: String?

  /// Nothing done yet.
  package init() {}
}
