/// How a teller groups and keeps events.
public struct TellerSettings: Hashable, Sendable {
  /// The shortest time between two commits; an event that comes after a pause is committed at once.
  ///
  /// 20 ms is unnoticed by people, and 50 commits a second leave even a disk that needs 10 ms for each half idle.
  public var interval: Duration = .milliseconds(20)
  /// How many events are committed without waiting for the interval, and at most in one transaction.
  public var group = 4_096
  /// How many events wait at most; beyond, the oldest are given up and counted.
  ///
  /// Some 200 MB, and minutes of a busy site while its disk is full.
  public var backlog = 262_144
  /// The pause after a failed commit; it doubles with each further failure.
  public var firstPause: Duration = .milliseconds(100)
  /// The longest pause after a failed commit.
  public var longestPause: Duration = .seconds(5)

  /// The usual settings.
  public init() {}
}

/// What a teller has done so far.
public struct TellerStatistics: Hashable, Sendable {
  /// Events taken from the engine and from others.
  public var received: UInt64 = 0
  /// Events told with a sequence number.
  public var told: UInt64 = 0
  /// Events told without one: ranging, fixes, and what is for live streams only.
  public var passed: UInt64 = 0
  /// Events that the authorisations withhold from all readers.
  public var withheld: UInt64 = 0
  /// Events given up because they could not be committed in time.
  public var lost: UInt64 = 0
  /// Events that wait to be committed.
  public var waiting = 0
  /// Transactions committed.
  public var commits: UInt64 = 0
  /// Transactions that failed.
  public var failures: UInt64 = 0
  /// Checkpoints kept.
  public var checkpoints: UInt64 = 0
  /// Checkpoints that could not be kept.
  public var failedCheckpoints: UInt64 = 0
  /// A Boolean value that is true if the last commit failed: events that must be journalled wait and are not published.
  public var isFailing = false
  /// What the last failure said, kept after the recovery.
  public var lastFailure: String?

  /// Nothing done yet.
  public init() {}
}
