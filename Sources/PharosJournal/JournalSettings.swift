package import PharosReports

/// How much a journal keeps.
package struct JournalSettings: Hashable, Sendable {
  /// How long events are kept; nil means for as long as there is room.
  package var longest: TimeSpan?
  /// How large the database may grow before the oldest events make room.
  ///
  /// - Units: bytes.
  package var mostBytes: Int64
  /// How long a write waits for another program that has locked the file.
  package var patience: TimeSpan

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - longest: how long events are kept; by default 30 days, within which a month's bill or quarrel is looked up.
  ///   - mostBytes: how large the database may grow; by default 4 GiB, about 27 million events.
  ///   - patience: how long a write waits for a lock; by default 1 s, the queue in front of it holds far more.
  package init(
    longest: TimeSpan? = .seconds(30 * 86_400),
    mostBytes: Int64 = 4 << 30,
    patience: TimeSpan = .seconds(1)
  ) {
    self.longest = longest
    self.mostBytes = mostBytes
    self.patience = patience
  }

  /// The settings of a journal in memory: 64 MiB, about 400,000 events.
  package static let inMemory = JournalSettings(mostBytes: 64 << 20)
}
