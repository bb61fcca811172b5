import PharosReports

/// The greatest gap of late between things of one sort.
struct GapMemory: Sendable {
  /// How fast the greatest gap is forgotten.
  ///
  /// - Units: seconds; two hours, so that a quiet spell is remembered through the next busy one.
  static let memory = 7_200.0

  /// When the latest one came.
  var last: Timestamp?
  /// The greatest gap, in seconds.
  var greatest = 0.0
  /// How many gaps are known, up to a thousand.
  var count = 0
  /// Whether the gap up to the next one is none.
  var isBroken = false

  /// One came.
  mutating func note(_ time: Timestamp) {
    guard let last else {
      self.last = time
      return
    }
    guard time > last else { return }
    self.last = time
    guard !isBroken else {
      isBroken = false
      return
    }
    count = min(count + 1, 1_000)
    // What is shorter than a hundredth of a second is no gap: a busy radio pays for no arithmetic here.
    guard time - last > .milliseconds(10) else { return }
    let gap = (time - last).seconds
    greatest = max(gap, greatest * (1 - min(1, gap / GapMemory.memory)))
  }

  /// Time up to then makes no gap.
  mutating func skip(to time: Timestamp) {
    if let last { self.last = max(last, time) }
  }
}

/// The heartbeats of an observer, which come by a clock.
struct HeartbeatClock: Sendable {
  /// The heartbeats after which their period is known.
  private static let lesson = 8
  /// A gap of so many periods is none of the clock's: heartbeats were lost, or the observer was out.
  private static let strange = 4.0
  /// When so many strange gaps come in a row, the clock goes slower now.
  private static let patience = 3

  /// Their gaps.
  var gaps = GapMemory()
  var period = 0.0
  var strangers = 0

  /// When the latest one came.
  var last: Timestamp? { gaps.last }

  /// How long an observer is silent at most while all is well: two heartbeats and a half, and half a second for the
  /// network; for ever while that is not known.
  var longestPause: TimeSpan {
    gaps.count < HeartbeatClock.lesson ? .forever : .seconds(period * 2.5 + 0.5)
  }

  /// One came.
  mutating func note(_ time: Timestamp) {
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
