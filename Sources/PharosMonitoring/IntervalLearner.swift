/// Learns a beacon's advertising interval from the gaps between its samples, and from it what was missed.
///
/// A gap is a whole number of intervals plus up to 10 ms of advDelay for each (Bluetooth Core 5.4, Vol 6, Part B,
/// 4.4.2.2). The interval is the shortest gap that keeps coming back: a shorter one is believed when it comes twice, a
/// longer one when sixteen gaps in a row were at least twice as long.
struct IntervalLearner: Hashable, Sendable {
  /// The gaps it takes to be sure that an interval has grown.
  static let window: UInt8 = 16
  /// The advDelay, which every event adds: two gaps of the same interval differ by up to so much.
  ///
  /// - Units: seconds; 10 ms, and a little for the gateway's own clock.
  static let jitter: Float = 0.012

  /// The interval in seconds, or 0 before the first gap.
  private(set) var interval: Float = 0
  /// The slowest interval that was well known before a faster one took its place, or 0.
  private(set) var slowest: Float = 0
  /// What was missed.
  private(set) var losses = LossRuns()
  private var shorter: Float = 0
  private var smallest: Float = .infinity
  private var gaps: UInt8 = 0

  /// Whether there is enough history to stand on one's own.
  var isMature: Bool { losses.received >= 8 }

  /// Takes a gap in seconds; true if what follows from the interval should be computed anew.
  mutating func learn(gap: Float) -> Bool {
    guard gap > 0, gap.isFinite else { return false }
    guard interval > 0 else {
      interval = gap
      return true
    }
    if gap < interval * 0.7, interval - gap > IntervalLearner.jitter { return learnShorter(gap) }
    let multiple = max(1, (gap / interval).rounded())
    let single = gap / multiple
    if abs(single - interval) < interval * 0.1 + IntervalLearner.jitter {
      interval += (single - interval) / min(16, losses.received + 2)
    }
    smallest = min(smallest, multiple)
    gaps += 1
    let isLongest = losses.note(missed: multiple - 1)
    guard gaps >= IntervalLearner.window else { return isLongest }
    let grown = smallest
    gaps = 0
    smallest = .infinity
    shorter = 0
    guard grown >= 2 else { return isLongest }
    restart(with: interval * grown)
    return true
  }

  private mutating func learnShorter(_ gap: Float) -> Bool {
    let tolerance = shorter * 0.2 + IntervalLearner.jitter
    guard shorter > 0, abs(gap - shorter) <= tolerance else {
      if shorter == 0 || gap < shorter { shorter = gap }
      return false
    }
    if losses.received >= Float(IntervalLearner.window) { slowest = max(slowest, interval) }
    restart(with: (gap + shorter) / 2)
    return true
  }

  private mutating func restart(with interval: Float) {
    self.interval = interval
    losses = LossRuns()
    shorter = 0
    smallest = .infinity
    gaps = 0
  }
}
