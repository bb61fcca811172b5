/// A track's knowledge of its losses beyond the count of received adverts: it changes only when something was missed,
/// or while the level is low.
///
/// A track keeps it in two parts: the few counts that most tracks have lie in it, the rest in its `Extras`.
package struct LossHistory: Sendable {
  /// Gaps of the same length in a row that make a mode of them, where such gaps are rare, and where they are not.
  private static let agreeing: (UInt8, UInt8) = (3, 6)
  /// The adverts of a window of recent memory: counted as samples, so that receiving one costs nothing here.
  static let window: UInt32 = 128

  /// Runs of losses.
  package var runs: Float = 0
  /// Adverts lost in them.
  var lost: Float = 0
  /// Runs of losses in this window.
  var recentRuns: UInt16 = 0
  /// Adverts lost in them.
  var recentLost: UInt16 = 0
  /// The counts that few tracks have.
  var rare = RareLosses()

  package init() {}

  init(runs: Float, lost: Float, recentRuns: UInt16, recentLost: UInt16, rare: RareLosses) {
    self.runs = runs
    self.lost = lost
    self.recentRuns = recentRuns
    self.recentLost = recentLost
    self.rare = rare
  }

  /// The slowest interval that is known of a tag that is at rest now and then, in seconds, or 0.
  package var slowest: Float {
    get { rare.slowest }
    set { rare.slowest = newValue }
  }

  /// A gap that was too short for the interval, and may come again.
  package var shorter: Float {
    get { rare.shorter }
    set { rare.shorter = newValue }
  }

  /// A gap much longer than the interval, and may come again.
  var candidate: Float { rare.candidate }

  /// Counts a run of losses that is not long, at the usual level.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  @inline(__always)
  mutating func noteShort(missed: Float) -> Bool {
    runs += 1
    lost += missed
    recentRuns = LossHistory.sum(recentRuns, 1)
    recentLost = LossHistory.sum(recentLost, UInt16(missed))
    return LossHistory.isNotable(runs: runs)
  }

  /// Returns true each time the number of runs doubles, while there are fewer than 64.
  @inline(__always)
  static func isNotable(runs: Float) -> Bool {
    let total = UInt32(runs)
    return total < 64 && total & (total - 1) == 0
  }

  /// Counts a run of losses of any length.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  mutating func note(missed: Float, at surroundings: UInt8) -> Bool {
    let missed = min(missed, 4_096)
    let whole = UInt16(missed)
    let isNotable = noteShort(missed: missed)
    if surroundings != 0 {
      rare.change(surroundings) {
        $0.runs = LossHistory.sum($0.runs, 1)
        $0.lost = LossHistory.sum($0.lost, whole)
      }
    }
    guard missed >= LossRuns.longFrom.0 else { return isNotable }
    return rare.noteLong(whole)
  }

  /// Notes an advert received at a low level.
  mutating func noteReceived(at surroundings: UInt8) {
    rare.change(surroundings) { $0.received = LossHistory.sum($0.received, 1) }
  }

  /// Notes a long gap; true if it is the last of enough of one length in a row.
  mutating func noteCandidate(_ gap: Float, at received: Float) -> Bool {
    let place = UInt8(truncatingIfNeeded: UInt32(received))
    let isNext = place &- rare.candidateAt <= 1
    if candidate > 0, isNext, (gap - candidate).magnitude < candidate * 0.04 + IntervalLearner.jitter {
      rare.candidates += 1
    } else {
      rare.candidate = gap
      rare.candidates = 1
    }
    rare.candidateAt = place
    let isRare = Float(rare.longRuns) <= Float(rare.candidates) + received / 128
    return rare.candidates >= (isRare ? LossHistory.agreeing.0 : LossHistory.agreeing.1)
  }

  /// Takes back the runs that turned out to be a mode, each of so many losses.
  mutating func forgetCandidates(missed: Float) {
    for _ in 0..<rare.candidates {
      runs = max(0, runs - 1)
      lost = max(0, lost - missed)
      rare.forgetLong(missed)
    }
    rare.candidates = 0
    (recentRuns, recentLost) = (0, 0)
  }

  /// All counts, with how many adverts were received.
  package func all(received: Float) -> LossRuns {
    LossRuns(
      received: received,
      runs: runs,
      lost: lost,
      longRuns: Float(rare.longRuns),
      longLost: Float(rare.longLost),
      longestRuns: Float(rare.longestRuns),
      longestLost: Float(rare.longestLost)
    )
  }

  /// Returns the recent runs and losses, with the number of adverts received meanwhile, which the caller counts.
  func recent(received: Float) -> (received: Float, runs: Float, lost: Float) {
    (received, Float(recentRuns), Float(recentLost))
  }

  /// Begins another window of recent memory, and halves what is older than a day or too much to count.
  ///
  /// - Parameters:
  ///   - learner: the learner that counts the adverts received.
  ///   - samples: the number of samples of the window.
  /// - Returns: the counts of the window; its long runs are estimated from their share among all runs.
  package mutating func turn(_ learner: inout IntervalLearner, samples: UInt32) -> LossRuns {
    let part = runs == 0 ? 0 : min(Float(recentRuns) / runs, 1)
    var stretch = all(received: 0).scaled(by: part)
    stretch.received = min(Float(samples), learner.received)
    stretch.runs = Float(recentRuns)
    stretch.lost = Float(recentLost)
    let day = 86_400 / max(learner.interval, 0.02)
    let isOld = learner.received > max(day, 4_096)
    if isOld || rare.isFull || max(rare.low.received, rare.far.received) > 60_000 { halve(&learner) }
    (recentRuns, recentLost) = (0, 0)
    // Two gaps too short for the interval, hours apart, are two accidents.
    shorter = 0
    return stretch
  }

  private mutating func halve(_ learner: inout IntervalLearner) {
    learner.halve()
    runs /= 2
    lost /= 2
    rare.halve()
  }

  /// Forgets what was counted with a mistaken interval.
  mutating func restart() {
    let slowest = slowest
    self = LossHistory()
    self.slowest = slowest
  }

  @inline(__always)
  static func sum(_ left: UInt16, _ right: UInt16) -> UInt16 {
    let (sum, isOver) = left.addingReportingOverflow(right)
    return isOver ? .max : sum
  }
}

/// The part of a loss history that few tracks have: long runs, losses at low levels, and gaps that may be another
/// interval.
///
/// It is stored apart from the track, which nearly always has none of this.
struct RareLosses: Hashable, Sendable {
  /// Counts of what was received and lost at low levels.
  struct Counts: Hashable, Sendable {
    var received: UInt16 = 0
    var runs: UInt16 = 0
    var lost: UInt16 = 0
  }

  /// The count from which on all are halved, well before it is full.
  private static let fullFrom: UInt16 = 60_000

  /// Runs of at least eight losses, and what they lost beyond the eighth.
  var longRuns: UInt16 = 0
  var longLost: UInt16 = 0
  /// Runs of at least 32 losses, and what they lost beyond the 32nd.
  var longestRuns: UInt16 = 0
  var longestLost: UInt16 = 0
  /// The counts at low levels.
  var low = Counts()
  /// The counts far below the usual level.
  var far = Counts()
  /// The slowest interval that is known of a tag that is at rest now and then, in seconds, or 0.
  var slowest: Float = 0
  /// A gap that was too short for the interval, and may come again.
  var shorter: Float = 0
  /// A gap much longer than the interval, and may come again.
  var candidate: Float = 0
  /// The advert that it ended with, in its lowest bits.
  var candidateAt: UInt8 = 0
  /// The number of times it came in a row.
  var candidates: UInt8 = 0
  /// Indicates whether a count is nearly full.
  var isFull = false

  /// Counts a run of at least eight losses.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  mutating func noteLong(_ missed: UInt16) -> Bool {
    longRuns = LossHistory.sum(longRuns, 1)
    longLost = LossHistory.sum(longLost, missed - UInt16(LossRuns.longFrom.0))
    isFull = isFull || longLost > RareLosses.fullFrom
    guard Float(missed) >= LossRuns.longFrom.1 else { return longRuns & (longRuns - 1) == 0 }
    longestRuns = LossHistory.sum(longestRuns, 1)
    longestLost = LossHistory.sum(longestLost, missed - UInt16(LossRuns.longFrom.1))
    return longestRuns & (longestRuns - 1) == 0
  }

  /// Takes back a run of so many losses.
  mutating func forgetLong(_ missed: Float) {
    longRuns -= longRuns > 0 && missed >= LossRuns.longFrom.0 ? 1 : 0
    longestRuns -= longestRuns > 0 && missed >= LossRuns.longFrom.1 ? 1 : 0
    longLost -= min(longLost, RareLosses.beyond(LossRuns.longFrom.0, missed))
    longestLost -= min(longestLost, RareLosses.beyond(LossRuns.longFrom.1, missed))
  }

  /// Counts half of everything.
  mutating func halve() {
    isFull = false
    longRuns /= 2
    longLost /= 2
    longestRuns /= 2
    longestLost /= 2
    for surroundings in UInt8(1)...2 {
      change(surroundings) { $0 = Counts(received: $0.received / 2, runs: $0.runs / 2, lost: $0.lost / 2) }
    }
  }

  /// Changes the counts of one of the low levels: 1 for low, 2 for far below.
  mutating func change(_ surroundings: UInt8, _ body: (inout Counts) -> Void) {
    if surroundings == 1 { body(&low) } else { body(&far) }
  }

  private static func beyond(_ length: Float, _ missed: Float) -> UInt16 {
    UInt16(max(min(missed, 4_096), length) - length)
  }
}
