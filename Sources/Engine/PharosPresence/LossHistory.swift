import PharosModel

/// A track's knowledge of its losses beyond the count of received adverts: it changes only when something was missed,
/// or while the level is low.
///
/// A track keeps it in two parts: the few counts that most tracks have lie in it, the rest in its `Extras`.
package struct LossHistory: Sendable {
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

  /// The modes of the tag.
  package var modes: TagModes {
    get { rare.modes }
    set { rare.modes = newValue }
  }

  /// The slowest interval of its modes in seconds, or 0.
  package var slowest: Float { rare.modes.slowest }

  /// A gap that was too short for the interval, and may come again.
  package var shorter: Float {
    get { rare.shorter }
    set { rare.shorter = newValue }
  }

  /// Counts a run of losses that is not long, at the usual level.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  @inline(__always)
  mutating func recordShort(missed: Float) -> Bool {
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
  mutating func record(missed: Float, at place: GapContext = GapContext()) -> Bool {
    let missed = min(missed, 4_096)
    let whole = UInt16(missed)
    if place.levelClass != .usual {
      rare.pending.classes.recordRun(lost: whole, at: place.levelClass)
    }
    guard !place.isWeak else {
      rare.pending.runs.record(missed: missed)
      return false
    }
    let isNotable = recordShort(missed: missed)
    guard missed >= LossRuns.longFrom.0 else { return isNotable }
    return rare.recordLong(whole)
  }

  /// Notes an advert received below the usual level.
  mutating func recordReceived(at place: GapContext) {
    guard place.levelClass != .usual else { return }
    rare.pending.classes.recordReceived(at: place.levelClass)
  }

  /// Counts what is pending for good: what has waited for long enough, or all of it if the level is back.
  ///
  /// - Returns: true if something was counted.
  mutating func creditPending(at time: Timestamp, isBack: Bool) -> Bool {
    var hasCounted = false
    if isBack || time - rare.waitingSince >= PendingLosses.wait, !rare.waiting.isEmpty {
      credit(rare.waiting)
      rare.waiting = PendingLosses()
      hasCounted = true
    }
    guard !rare.pending.isEmpty else { return hasCounted }
    if isBack {
      credit(rare.pending)
      hasCounted = true
    } else if rare.waiting.isEmpty {
      rare.waiting = rare.pending
      rare.waitingSince = time
    } else {
      return hasCounted
    }
    rare.pending = PendingLosses()
    return hasCounted
  }

  private mutating func credit(_ pending: PendingLosses) {
    rare.classes.add(pending.classes)
    let new = pending.runs
    runs += new.runs
    lost += new.lost
    recentRuns = LossHistory.sum(recentRuns, LossHistory.whole(new.runs))
    recentLost = LossHistory.sum(recentLost, LossHistory.whole(new.lost))
    rare.addLong(new)
  }

  /// Records a gap much longer than the interval.
  ///
  /// - Returns: true if it shows a slower mode.
  mutating func recordLong(_ gap: Float, at received: Float, isCounted: Bool) -> Bool {
    rare.longGaps.add(gap, received: received, isCounted: isCounted, longRuns: Float(rare.longRuns))
  }

  /// Takes back the runs of losses that a mode explains, which were counted in a faster interval.
  mutating func removeRuns(explainedBy mode: Float, faster interval: Float) {
    for gap in rare.longGaps.removeAll(explainedBy: mode) {
      let missed = (gap / interval).rounded() - 1
      let left = (gap / mode).rounded() - 1
      runs = max(0, runs - (left >= 1 ? 0 : 1))
      lost = max(runs, lost - missed + max(0, left))
      rare.forgetLong(missed)
    }
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
      cappedRuns: Float(rare.cappedRuns),
      cappedLost: Float(rare.cappedLost)
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
    if isOld || rare.isFull || rare.classes.received.max() > 60_000 { halve(&learner) }
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
    let modes = modes
    self = LossHistory()
    self.modes = modes
  }

  /// A count as a whole number that fits.
  fileprivate static func whole(_ count: Float) -> UInt16 { UInt16(min(count, 65_535)) }

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
  /// The count from which on all are halved, well before it is full.
  private static let fullFrom: UInt16 = 60_000

  /// Runs of at least eight losses, and what they lost beyond the eighth.
  var longRuns: UInt16 = 0
  var longLost: UInt16 = 0
  /// Runs of at least 32 losses, and what they lost beyond the 32nd.
  var cappedRuns: UInt16 = 0
  var cappedLost: UInt16 = 0
  /// The counts below the usual level.
  var classes = ClassCounts()
  /// What was counted of late while the beacon may have been leaving.
  var pending = PendingLosses()
  /// What was counted so before, and waits to count for good since this time.
  var waiting = PendingLosses()
  var waitingSince = Timestamp.distantPast
  /// The modes of the tag.
  var modes = TagModes()
  /// A gap that was too short for the interval, and may come again.
  var shorter: Float = 0
  /// The latest gaps much longer than the interval.
  var longGaps = LongGaps()
  /// Indicates whether a count is nearly full.
  var isFull = false

  /// Counts a run of at least eight losses.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  mutating func recordLong(_ missed: UInt16) -> Bool {
    longRuns = LossHistory.sum(longRuns, 1)
    longLost = LossHistory.sum(longLost, missed - UInt16(LossRuns.longFrom.0))
    isFull = isFull || longLost > RareLosses.fullFrom
    guard Float(missed) >= LossRuns.longFrom.1 else { return longRuns & (longRuns - 1) == 0 }
    cappedRuns = LossHistory.sum(cappedRuns, 1)
    cappedLost = LossHistory.sum(cappedLost, missed - UInt16(LossRuns.longFrom.1))
    return cappedRuns & (cappedRuns - 1) == 0
  }

  /// Takes back a run of so many losses.
  mutating func forgetLong(_ missed: Float) {
    longRuns -= longRuns > 0 && missed >= LossRuns.longFrom.0 ? 1 : 0
    cappedRuns -= cappedRuns > 0 && missed >= LossRuns.longFrom.1 ? 1 : 0
    longLost -= min(longLost, RareLosses.beyond(LossRuns.longFrom.0, missed))
    cappedLost -= min(cappedLost, RareLosses.beyond(LossRuns.longFrom.1, missed))
  }

  /// Indicates whether nothing waits to count.
  var hasNothingPending: Bool { pending.isEmpty && waiting.isEmpty }

  /// Forgets what waits to count, as the beacon was gone.
  mutating func dropPending() { (pending, waiting) = (PendingLosses(), PendingLosses()) }

  /// Counts half of everything.
  mutating func halve() {
    isFull = false
    longRuns /= 2
    longLost /= 2
    cappedRuns /= 2
    cappedLost /= 2
    classes.halve()
  }

  /// Counts long runs.
  mutating func addLong(_ new: LossRuns) {
    longRuns = LossHistory.sum(longRuns, LossHistory.whole(new.longRuns))
    longLost = LossHistory.sum(longLost, LossHistory.whole(new.longLost))
    cappedRuns = LossHistory.sum(cappedRuns, LossHistory.whole(new.cappedRuns))
    cappedLost = LossHistory.sum(cappedLost, LossHistory.whole(new.cappedLost))
    isFull = isFull || longLost > RareLosses.fullFrom
  }

  private static func beyond(_ length: Float, _ missed: Float) -> UInt16 {
    UInt16(max(min(missed, 4_096), length) - length)
  }
}

/// What surrounds a gap between two adverts.
package struct GapContext: Hashable, Sendable {
  /// The class of the level before the gap.
  var levelClass = LevelClass.usual
  /// Indicates whether the level before or after the gap is hardly more than what the observer can receive.
  var isWeak = false
  /// The interval at rest that is declared, in seconds, or 0.
  var declared: Float = 0
  /// The greatest number of samples that an enter takes, behind a gap of more than one interval.
  var enterSamples = 1

  /// Indicates whether the beacon is where it usually is.
  var isAtUsualPlace: Bool { !isWeak && levelClass == .usual }

  package init() {}

  init(levelClass: LevelClass) { self.levelClass = levelClass }
}

/// The adverts received and lost while the level is in each class below the usual one, in the lane of the class.
struct ClassCounts: Hashable, Sendable {
  /// Adverts received.
  var received = SIMD4<UInt16>()
  /// Runs of losses.
  var runs = SIMD4<UInt16>()
  /// Adverts lost in them.
  var lost = SIMD4<UInt16>()

  /// Counts an advert received.
  mutating func recordReceived(at levelClass: LevelClass) {
    received[levelClass.lane] = LossHistory.sum(received[levelClass.lane], 1)
  }

  /// Counts a run of losses.
  mutating func recordRun(lost count: UInt16, at levelClass: LevelClass) {
    runs[levelClass.lane] = LossHistory.sum(runs[levelClass.lane], 1)
    lost[levelClass.lane] = LossHistory.sum(lost[levelClass.lane], count)
  }

  /// Adds other counts.
  mutating func add(_ other: ClassCounts) {
    for lane in received.indices {
      received[lane] = LossHistory.sum(received[lane], other.received[lane])
      runs[lane] = LossHistory.sum(runs[lane], other.runs[lane])
      lost[lane] = LossHistory.sum(lost[lane], other.lost[lane])
    }
  }

  /// Counts half of everything.
  mutating func halve() {
    received /= 2
    runs /= 2
    lost /= 2
  }
}

extension LevelClass {
  /// The place of its counts.
  var lane: Int {
    switch self {
    case .usual: 0
    case .low: 1
    case .far: 2
    }
  }
}

/// The counts of a time in which the beacon may be leaving: its level is below the usual one, or hardly more than what the
/// observer can receive.
///
/// Most long gaps between weak adverts come after the departure, from places where hardly anything is received. They say
/// nothing about the silence of a beacon that is present, so each counts only when the level rises again, or when the beacon
/// is still heard three quarters of a minute later, and all are dropped if it was gone.
struct PendingLosses: Hashable, Sendable {
  /// The time after which a beacon that is still heard has evidently not been leaving.
  ///
  /// - Units: seconds; adverts are received for up to half a minute after a departure on foot.
  static let wait = TimeSpan.seconds(45)

  /// The counts below the usual level.
  var classes = ClassCounts()
  /// Runs of losses between adverts that were hardly received.
  var runs = LossRuns()

  /// Indicates whether nothing is pending.
  var isEmpty: Bool { runs.runs == 0 && classes == ClassCounts() }
}
