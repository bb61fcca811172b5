package import PharosReports

/// The greatest gap of late between things of one sort.
package struct GapMemory: Sendable {
  /// How fast the greatest gap is forgotten.
  ///
  /// - Units: seconds; two hours, so that a quiet spell is remembered through the next busy one.
  package static let memory = 7_200.0
  /// How much of the greatest gap is forgotten in a nanosecond.
  private static let forgotten = 1 / (memory * 1e9)
  /// What is shorter is no gap: a busy radio pays for no arithmetic.
  ///
  /// - Units: nanoseconds.
  private static let least: Int64 = 10_000_000
  /// How many gaps are counted at most.
  private static let most: UInt16 = 1_000

  /// When the latest one came; the distant past before the first.
  var latest = Timestamp.distantPast
  /// The greatest gap, in nanoseconds.
  var widest = 0.0
  /// How many gaps are known, up to a thousand.
  var count: UInt16 = 0
  /// Whether the gap up to the next one is none.
  package var isBroken = false

  package init() {}

  /// When the latest one came, if ever.
  package var last: Timestamp? { latest == .distantPast ? nil : latest }

  /// The greatest gap, in seconds.
  package var greatest: Double { widest / 1e9 }

  /// One came.
  @inline(__always)
  package mutating func note(_ time: Timestamp) {
    guard time > latest else { return }
    // Not before the first one; times that lie so far apart wrap around and make no gap.
    let gap = time.nanoseconds &- latest.nanoseconds
    guard !isBroken, latest != .distantPast else { return begin(at: time) }
    latest = time
    count &+= count < GapMemory.most ? 1 : 0
    guard gap > GapMemory.least else { return }
    let length = Double(gap)
    widest = max(length, widest * max(0, 1 - length * GapMemory.forgotten))
  }

  /// Time up to then makes no gap.
  mutating func skip(to time: Timestamp) {
    if latest != .distantPast { latest = max(latest, time) }
  }

  @inline(never)
  private mutating func begin(at time: Timestamp) {
    if latest != .distantPast { isBroken = false }
    latest = time
  }
}

/// The heartbeats of an observer, which come by a clock.
package struct HeartbeatClock: Sendable {
  /// The heartbeats after which their period is known.
  private static let lesson: UInt16 = 8
  /// A gap of so many periods is none of the clock's: heartbeats were lost, or the observer was out.
  private static let strange = 4.0
  /// When so many strange gaps come in a row, the clock goes slower now.
  private static let patience = 3

  /// Their gaps.
  package var gaps = GapMemory()
  var period = 0.0
  var strangers = 0

  package init() {}

  /// When the latest one came.
  var last: Timestamp? { gaps.last }

  /// How long an observer is silent at most while all is well: two heartbeats and a half, and half a second for the
  /// network; for ever while that is not known.
  package var longestPause: TimeSpan {
    gaps.count < HeartbeatClock.lesson ? .forever : .seconds(period * 2.5 + 0.5)
  }

  /// One came.
  package mutating func note(_ time: Timestamp) {
    guard let last = gaps.last, time > last, !gaps.isBroken else { return gaps.note(time) }
    let gap = (time - last).seconds
    let isStrange = gaps.count >= HeartbeatClock.lesson && gap > period * HeartbeatClock.strange
    if isStrange, strangers < HeartbeatClock.patience {
      strangers += 1
      gaps.isBroken = true
    } else {
      period = period == 0 || isStrange ? gap : period + (gap - period) / 8
      strangers = 0
    }
    gaps.note(time)
  }

  /// The gap up to the next one is none.
  mutating func interrupt() { gaps.isBroken = true }

  /// Time up to then makes no gap.
  mutating func skip(to time: Timestamp) { gaps.skip(to: time) }
}
