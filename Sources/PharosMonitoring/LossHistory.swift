/// What a track keeps about its losses beyond the adverts that it received: changed only when something was missed, or
/// while the level is low.
struct LossHistory: Sendable {
  /// Gaps of the same length in a row that make a mode of them, where such gaps are rare, and where they are not.
  private static let agreeing: (UInt8, UInt8) = (3, 6)
  /// The adverts of a window of recent memory: counted as samples, so that receiving one costs nothing here.
  static let window: UInt32 = 128

  /// Counts of what was received and lost at low levels.
  struct Counts: Hashable, Sendable {
    var received: UInt16 = 0
    var runs: UInt16 = 0
    var lost: UInt16 = 0
  }

  /// Runs of losses.
  var runs: Float = 0
  /// Adverts lost in them.
  var lost: Float = 0
  var longRuns: UInt16 = 0
  var longLost: UInt16 = 0
  var longestRuns: UInt16 = 0
  var longestLost: UInt16 = 0
  var recentRuns: UInt16 = 0
  var recentLost: UInt16 = 0
  /// What happened at low levels.
  var low = Counts()
  /// What happened far below the usual level.
  var far = Counts()
  /// The slowest interval that is known of a tag that is at rest now and then, in seconds, or 0.
  var slowest: Float = 0
  /// A gap that was too short for the interval, and may come again.
  var shorter: Float = 0
  /// A gap much longer than the interval, and may come again.
  var candidate: Float = 0
  var candidateAt: UInt8 = 0
  var candidates: UInt8 = 0
  var isFull = false

  /// Notes a run of losses; true if what follows from it should be computed anew.
  mutating func note(missed: Float, at surroundings: UInt8) -> Bool {
    let missed = min(missed, 4_096)
    let whole = UInt16(missed)
    runs += 1
    lost += missed
    recentRuns = LossHistory.sum(recentRuns, 1)
    recentLost = LossHistory.sum(recentLost, whole)
    if surroundings != 0 {
      change(surroundings) {
        $0.runs = LossHistory.sum($0.runs, 1)
        $0.lost = LossHistory.sum($0.lost, whole)
      }
    }
    let total = UInt32(runs)
    guard missed >= LossRuns.longFrom.0 else { return total < 64 && total & (total - 1) == 0 }
    longRuns = LossHistory.sum(longRuns, 1)
    longLost = LossHistory.sum(longLost, whole - UInt16(LossRuns.longFrom.0))
    isFull = isFull || longLost > 60_000
    guard missed >= LossRuns.longFrom.1 else { return longRuns & (longRuns - 1) == 0 }
    longestRuns = LossHistory.sum(longestRuns, 1)
    longestLost = LossHistory.sum(longestLost, whole - UInt16(LossRuns.longFrom.1))
    return longestRuns & (longestRuns - 1) == 0
  }

  /// Notes an advert received at a low level.
  mutating func noteReceived(at surroundings: UInt8) {
    change(surroundings) { $0.received = LossHistory.sum($0.received, 1) }
  }

  /// Notes a long gap; true if it is the last of enough of one length in a row.
  mutating func noteCandidate(_ gap: Float, at received: Float) -> Bool {
    let place = UInt8(truncatingIfNeeded: UInt32(received))
    let isNext = place &- candidateAt <= 1
    if candidate > 0, isNext, (gap - candidate).magnitude < candidate * 0.04 + IntervalLearner.jitter {
      candidates += 1
    } else {
      candidate = gap
      candidates = 1
    }
    candidateAt = place
    let isRare = Float(longRuns) <= Float(candidates) + received / 128
    return candidates >= (isRare ? LossHistory.agreeing.0 : LossHistory.agreeing.1)
  }

  /// Takes back the runs that turned out to be a mode, each of so many losses.
  mutating func forgetCandidates(missed: Float) {
    defer { candidates = 0 }
    for _ in 0..<candidates {
      runs = max(0, runs - 1)
      lost = max(0, lost - missed)
      longRuns -= longRuns > 0 && missed >= LossRuns.longFrom.0 ? 1 : 0
      longestRuns -= longestRuns > 0 && missed >= LossRuns.longFrom.1 ? 1 : 0
      longLost -= min(longLost, UInt16(max(min(missed, 4_096), LossRuns.longFrom.0) - LossRuns.longFrom.0))
      longestLost -= min(
        longestLost,
        UInt16(max(min(missed, 4_096), LossRuns.longFrom.1) - LossRuns.longFrom.1)
      )
    }
    (recentRuns, recentLost) = (0, 0)
  }

  /// All counts, with how many adverts were received.
  func all(received: Float) -> LossRuns {
    LossRuns(
      received: received,
      runs: runs,
      lost: lost,
      longRuns: Float(longRuns),
      longLost: Float(longLost),
      longestRuns: Float(longestRuns),
      longestLost: Float(longestLost)
    )
  }

  /// The recent runs; how many adverts they lie among is known by whoever counts samples.
  func recent(received: Float) -> (received: Float, runs: Float, lost: Float) {
    (received, Float(recentRuns), Float(recentLost))
  }

  /// Begins another window of recent memory, and halves what is older than a day or too much to count.
  ///
  /// - Parameters:
  ///   - learner: what counts the adverts received.
  ///   - samples: how many samples the window held.
  /// - Returns: what the window counted; of its long runs, as many as is usual among all.
  mutating func turn(_ learner: inout IntervalLearner, samples: UInt32) -> LossRuns {
    let part = runs == 0 ? 0 : min(Float(recentRuns) / runs, 1)
    var stretch = all(received: 0).scaled(by: part)
    stretch.received = min(Float(samples), learner.received)
    stretch.runs = Float(recentRuns)
    stretch.lost = Float(recentLost)
    let day = 86_400 / max(learner.interval, 0.02)
    let isOld = learner.received > max(day, 4_096)
    if isOld || isFull || max(low.received, far.received) > 60_000 { halve(&learner) }
    (recentRuns, recentLost) = (0, 0)
    // Two gaps too short for the interval, hours apart, are two accidents.
    shorter = 0
    return stretch
  }

  private mutating func halve(_ learner: inout IntervalLearner) {
    learner.halve()
    isFull = false
    runs /= 2
    lost /= 2
    longRuns /= 2
    longLost /= 2
    longestRuns /= 2
    longestLost /= 2
    for surroundings in UInt8(1)...2 {
      change(surroundings) { $0 = Counts(received: $0.received / 2, runs: $0.runs / 2, lost: $0.lost / 2) }
    }
  }

  /// Forgets what was counted with a mistaken interval.
  mutating func restart() {
    let slowest = slowest
    self = LossHistory()
    self.slowest = slowest
  }

  private mutating func change(_ surroundings: UInt8, _ body: (inout Counts) -> Void) {
    if surroundings == 1 { body(&low) } else { body(&far) }
  }

  private static func sum(_ left: UInt16, _ right: UInt16) -> UInt16 {
    let (sum, isOver) = left.addingReportingOverflow(right)
    return isOver ? .max : sum
  }
}
