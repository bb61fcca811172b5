public import PharosReports

/// How a journal is doing.
public struct JournalStatistics: Hashable, Sendable {
  /// The last sequence given; 0 before the first event.
  public var head: Int64 = 0
  /// The first sequence still kept; one more than the head if none is.
  public var oldest: Int64 = 1
  /// How large the database is, without what is free to be used again.
  ///
  /// - Units: bytes.
  public var bytes: Int64 = 0
  /// How many groups of events were written.
  public var commits: UInt64 = 0
  /// How many groups could not be written.
  public var failures: UInt64 = 0
  /// How many events were written since the journal was opened.
  public var appended: UInt64 = 0
  /// How many events made room for new ones or had grown too old, since the journal was opened.
  public var pruned: UInt64 = 0
  /// How long the last group took to write and to reach the disk.
  public var lastCommit: TimeSpan = .zero
  /// When the newest checkpoint was taken.
  public var lastCheckpoint: Timestamp?

  /// How many events are kept.
  public var events: Int64 { max(0, head - oldest + 1) }
}
