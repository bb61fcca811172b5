package import PharosReports

/// The samples of one track in one second.
package struct SecondBucket: Hashable, Sendable {
  /// Which second, counted from the observer's first report.
  var second: Int64
  /// How many samples.
  package var count: UInt32 = 0
  /// How many of them had a level.
  var levels: UInt32 = 0
  /// The sum of the levels in dBm.
  var sum = 0.0
  /// The sum of their squares in dBm².
  var squares = 0.0
  /// The latest one.
  var lastHeard: Timestamp

  /// The mean level in dBm, or nil if no sample had one.
  package var mean: Double? { levels == 0 ? nil : sum / Double(levels) }

  /// The variance of the levels in dB².
  package var variance: Double {
    guard let mean, levels > 1 else { return 0 }
    return max(0, (squares - sum * mean) / Double(levels - 1))
  }
}

/// The seconds of a track that are still open: as many as the observer's lag spans, and one more.
///
/// A sample counts in the second of its event time, not in that of its arrival, so that observers with different lags can
/// be compared.
package struct SecondBuckets: Hashable, Sendable {
  var open: [SecondBucket] = []

  package init() {}

  /// Adds a sample.
  package mutating func add(second: Int64, at time: Timestamp, level: Double?) {
    let index = position(of: second, at: time)
    open[index].count += 1
    open[index].lastHeard = max(open[index].lastHeard, time)
    guard let level else { return }
    open[index].levels += 1
    open[index].sum += level
    open[index].squares += level * level
  }

  /// Replaces the level of the sample added last to a second by a stronger one.
  mutating func raise(second: Int64, from old: Double, to new: Double) {
    guard let index = open.lastIndex(where: { $0.second == second }) else { return }
    open[index].sum += new - old
    open[index].squares += new * new - old * old
  }

  /// Takes all samples up to and including a second out, as one.
  package mutating func close(through second: Int64) -> SecondBucket? {
    guard var closed = open.first, closed.second <= second else { return nil }
    var count = 1
    while count < open.count, open[count].second <= second {
      let next = open[count]
      closed.count += next.count
      closed.levels += next.levels
      closed.sum += next.sum
      closed.squares += next.squares
      closed.lastHeard = max(closed.lastHeard, next.lastHeard)
      count += 1
    }
    // Nearly always there is one.
    if count == open.count, count == 1 { _ = open.removeLast() } else { open.removeFirst(count) }
    return closed
  }

  private mutating func position(of second: Int64, at time: Timestamp) -> Int {
    var index = open.count
    while index > 0, open[index - 1].second >= second {
      index -= 1
      if open[index].second == second { return index }
    }
    let bucket = SecondBucket(second: second, lastHeard: time)
    if index == open.count { open.append(bucket) } else { open.insert(bucket, at: index) }
    return index
  }
}
