import PharosReports

/// When a subject advertises: its interval, what its motion does to that, and the delay that each advert has by rule.
struct DrillClockwork: Sendable {
  /// The greatest delay that is added to each interval.
  private static let delay = 10_000_000.0
  /// How long it rests, how long it is moved in between, and how long it moves while it comes and leaves.
  ///
  /// - Units: seconds.
  private static let meanRest = 900.0
  private static let meanMotion = 30.0
  private static let coming = 20.0

  private let fast: Int64
  private let slow: Int64
  private var isMoving = true
  private var changes = Int64.max
  private var leavesFrom = Int64.max
  /// The interval that led to the last time given.
  private(set) var interval: Int64

  init(_ interval: Drill.Interval) {
    switch interval {
    case .steady(let span):
      fast = span.nanoseconds
      slow = fast
    case .triggered(let moving, let still):
      fast = moving.nanoseconds
      slow = still.nanoseconds
    }
    self.interval = fast
  }

  /// The time of the first advert of a stay.
  mutating func begin(_ stay: DrillStay, random: inout RandomStream) -> Int64 {
    isMoving = true
    interval = fast
    if slow > fast {
      changes = stay.from + Int64(DrillClockwork.coming * 1e9)
      leavesFrom = stay.until - Int64(DrillClockwork.coming * 1e9)
    }
    return stay.from + Int64(random.uniform() * Double(fast))
  }

  /// The time of the next advert.
  mutating func next(after time: Int64, random: inout RandomStream) -> Int64 {
    let delay = Int64(random.uniform() * DrillClockwork.delay)
    if slow > fast, time >= changes, time < leavesFrom { turn(at: time, random: &random) }
    if isMoving || slow == fast {
      interval = fast
      return time + fast + delay
    }
    // A tag that is picked up says so at once.
    let wakes = min(changes, leavesFrom)
    interval = slow
    guard time + slow > wakes else { return time + slow + delay }
    if wakes == leavesFrom { isMoving = true }
    return max(time, wakes) + delay
  }

  private mutating func turn(at time: Int64, random: inout RandomStream) {
    isMoving.toggle()
    let mean = isMoving ? DrillClockwork.meanMotion : DrillClockwork.meanRest
    changes = time + Int64(random.exponential(mean: mean) * 1e9)
  }
}
