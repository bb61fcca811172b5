package import PharosReports

/// How a journal is doing.
package struct JournalStatistics: Hashable, Sendable {
  /// The last sequence given; 0 before the first event.
  package var head: Int64 = 0
  /// The first sequence still kept; one more than the head if none is.
  package var oldest: Int64 = 1
  /// How large the database is, without what is free to be used again.
  ///
  /// - Units: bytes.
  package var bytes: Int64 = 0
  /// How many groups of events were written.
  package var commits: UInt64 = 0
  /// How many groups could not be written.
  package var failures: UInt64 = 0
  /// How many events were written since the journal was opened.
  package var appended: UInt64 = 0
  /// How many events made room for new ones or had grown too old, since the journal was opened.
  package var pruned: UInt64 = 0
  /// How long the last group took to write and to reach the disk.
  package var lastCommit: TimeSpan = .zero
  /// When the newest checkpoint was taken.
  package var lastCheckpoint: Timestamp?

  /// How many events are kept.
  package var events: Int64 { max(0, head - oldest + 1) }
}
