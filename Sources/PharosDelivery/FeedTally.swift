import Synchronization

/// The counters that all streams share; the atomics are relaxed, since no counter depends on another.
final class FeedTally: Sendable {
  private let limit: Int
  private let waiting = Atomic<Int>(0)
  private let dropped = Atomic<UInt64>(0)
  private let fellBehind = Atomic<UInt64>(0)
  private let delivered = Atomic<UInt64>(0)
  private let pages = Atomic<UInt64>(0)
  private let failedReads = Atomic<UInt64>(0)

  init(limit: Int) { self.limit = limit }

  /// Whether one more event may wait.
  var hasRoom: Bool { waiting.load(ordering: .relaxed) < limit }

  func count(waiting added: Int, dropped lost: Int = 0, fellBehind fell: Bool = false) {
    if added != 0 { waiting.add(added, ordering: .relaxed) }
    if lost != 0 { dropped.add(UInt64(lost), ordering: .relaxed) }
    if fell { fellBehind.add(1, ordering: .relaxed) }
  }

  func count(delivered count: Int) { delivered.add(UInt64(count), ordering: .relaxed) }

  func countPage(failed: Bool) {
    if failed { failedReads.add(1, ordering: .relaxed) } else { pages.add(1, ordering: .relaxed) }
  }

  /// Adds the counts to statistics.
  func write(to statistics: inout FeedStatistics) {
    statistics.waiting = waiting.load(ordering: .relaxed)
    statistics.dropped = dropped.load(ordering: .relaxed)
    statistics.fellBehind = fellBehind.load(ordering: .relaxed)
    statistics.delivered = delivered.load(ordering: .relaxed)
    statistics.pages = pages.load(ordering: .relaxed)
    statistics.failedReads = failedReads.load(ordering: .relaxed)
  }
}
