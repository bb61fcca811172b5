package import PharosDocuments
import PharosModel

/// Learns a beacon's advertising interval from the gaps between its samples, and from it what was missed.
///
/// A gap is a whole number of intervals plus up to 10 ms of advDelay for each (Bluetooth Core 5.4, Vol 6, Part B,
/// 4.4.2.2). The interval is the shortest gap that keeps coming back: a shorter one is believed when it comes twice, by
/// an old track when it comes four times. A longer one is believed when twelve gaps in a row had a common divisor, or
/// at once three of the same length, eight times the interval or more: a tag that came to rest. An interval that the tag has
/// shown before is one of its ``TagModes``, and is believed at once. Only what every advert changes lies here; the rest is in
/// ``LossHistory``.
package struct IntervalLearner: Hashable, Sendable {
  /// The advDelay, which every event adds: two gaps of the same interval differ by up to so much.
  ///
  /// - Units: seconds; 10 ms, and a little for the gateway's own clock.
  static let jitter: Float = 0.012
  /// The shortest interval of legacy advertising: what comes sooner is a report of the same event that a network repeated.
  ///
  /// - Units: seconds; Bluetooth Core 5.4, Vol 6, Part B, 4.4.2.2.1.
  private static let shortest: Float = 0.02
  /// The ratio from which on two intervals are modes of a tag, moved and at rest, and no error of one of them.
  static let modes: Float = 8
  /// The number of times that a gap that is too short must come again before an old track believes it.
  ///
  /// Three times: a network that holds datagrams up for 0.1 to 0.4 s makes a few short gaps in a hundred, and two of
  /// them are soon alike; a tag that is picked up makes nothing else.
  private static let repetitions: UInt8 = 3
  /// For so many adverts a track looks for the interval of its family.
  static let young: Float = 32
  /// Beyond so many intervals the advDelay has blurred how many exactly a gap spans.
  private static let countable: Float = 16

  /// The interval in seconds, or 0 before the first gap.
  package var interval: Float = 0
  /// Adverts received after one that was received before.
  package var received: Float = 0
  /// The common divisor and the counts of the last gaps.
  var counts = GapCounts()

  package init() {}

  init(interval: Float, received: Float, counts: GapCounts) {
    self.interval = interval
    self.received = received
    self.counts = counts
  }

  /// Returns true if a gap is one interval: no adverts were missed in it, and it is not too short for one.
  @inline(__always)
  func isOneInterval(_ gap: Float) -> Bool {
    gap < interval * 1.5 && (gap >= interval * 0.7 || interval - gap <= IntervalLearner.jitter)
  }

  /// Takes a gap of one interval: what nearly every advert is.
  @inline(__always)
  mutating func learnOne(gap: Float) {
    let difference = gap - interval
    if difference.magnitude < interval * 0.1 + IntervalLearner.jitter { interval += difference * rate }
    received += 1
    counts.recordOne()
    if received <= IntervalLearner.young { recordRegular(difference) }
  }

  /// Learns from a gap in seconds.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  package mutating func learn(
    gap: Float,
    at place: GapContext = GapContext(),
    _ history: inout LossHistory
  ) -> Bool {
    guard gap >= IntervalLearner.shortest, gap.isFinite else { return false }
    guard interval > 0 else {
      interval = isOfFamily(gap / 2, history) ? gap / 2 : gap
      return true
    }
    guard gap < interval * 1.5 else { return learnLonger(gap, at: place, &history) }
    guard isOneInterval(gap) else { return learnShorter(gap, &history) }
    learnOne(gap: gap)
    history.recordReceived(at: place)
    return false
  }

  /// Follows the interval through a gap of several, and counts the advert that ended it.
  @inline(__always)
  private mutating func follow(_ gap: Float, _ multiple: Float) {
    let single = gap / multiple
    if (single - interval).magnitude < interval * 0.1 + IntervalLearner.jitter {
      interval += (single - interval) * rate / multiple
    }
    received += 1
  }

  /// Learns from an unexpectedly long gap of a beacon that is outside; only a new interval can follow from it.
  ///
  /// - Returns: true if an interval was found.
  mutating func learnSlow(gap: Float, _ history: inout LossHistory) -> Bool {
    guard gap > interval * IntervalLearner.modes, gap.isFinite else { return false }
    guard history.recordLong(gap, at: received, isCounted: false) else { return false }
    history.removeRuns(explainedBy: gap, faster: interval)
    adopt(gap, &history)
    return true
  }

  /// Adopts the interval of gaps that are surely regular.
  mutating func adopt(_ run: SparseGaps.Run, _ history: inout LossHistory) {
    restart(with: run.interval, &history)
    received = Float(run.samples - 1)
    counts.regular = IntervalLearner.ownGaps
    for place in 0..<4 where run.multiples[place] > 1 {
      _ = history.recordShort(missed: run.multiples[place] - 1)
    }
  }

  /// Halves the count of adverts; the history halves its own.
  mutating func halve() { received /= 2 }

  private var rate: Float { received < 14 ? 1 / (received + 2) : 1.0 / 16 }

  private mutating func learnLonger(
    _ gap: Float,
    at place: GapContext,
    _ history: inout LossHistory
  ) -> Bool {
    var modes = history.modes
    modes.insert(place.declared)
    switch modes.explaining(gap, beyond: interval) {
    case .whole(let mode):
      turn(to: mode)
      received += 1
      history.recordReceived(at: place)
      let missed = (gap / mode).rounded() - 1
      if missed >= 1 { _ = history.record(missed: missed, at: place) }
      return true
    case .part:
      received += 1
      history.recordReceived(at: place)
      return false
    case nil: break
    }
    let multiple = Float(Int32(min(gap / interval, 1_000_000) + 0.5))
    follow(gap, multiple)
    history.recordReceived(at: place)
    let isNotable = history.record(missed: multiple - 1, at: place)
    if gap > interval * IntervalLearner.modes, history.recordLong(gap, at: received, isCounted: !place.isWeak)
    {
      history.removeRuns(explainedBy: gap, faster: interval)
      adopt(gap, &history)
      return true
    }
    guard multiple <= IntervalLearner.countable else {
      counts.divisor = 1
      return isNotable
    }
    let common = GapCounts.commonDivisor(UInt8(multiple), counts.divisor)
    guard counts.record(multiple: UInt8(multiple)) else { return isNotable }
    restart(with: interval * Float(common), &history)
    return true
  }

  private mutating func learnShorter(_ gap: Float, _ history: inout LossHistory) -> Bool {
    if let mode = history.modes.mode(near: gap) {
      history.shorter = 0
      counts.shorts = 0
      turn(to: mode)
      received += 1
      return true
    }
    let shorter = history.shorter
    // Two intervals of the family's, one missed.
    if isOfFamily(gap / 2, history) {
      restart(with: gap / 2, &history)
      return true
    }
    guard shorter > 0, (gap - shorter).magnitude <= shorter * 0.2 + IntervalLearner.jitter else {
      if shorter == 0 || gap < shorter {
        history.shorter = gap
        counts.shorts = 0
      }
      return false
    }
    let found = (gap + shorter) / 2
    counts.shorts += 1
    guard received < IntervalLearner.young || counts.shorts >= IntervalLearner.repetitions else {
      history.shorter = found
      return false
    }
    counts.shorts = 0
    history.shorter = 0
    guard isMode(besides: found, history) else {
      restart(with: found, &history)
      return true
    }
    history.modes.insert(interval)
    history.modes.insert(found)
    turn(to: found)
    return true
  }

  /// Returns true if the interval is one that the tag has shown, and no multiple of a faster one of which adverts were lost.
  ///
  /// If adverts are lost at random, a gap is k intervals long with a chance of 1 ÷ (e · k) at most. So many must have been as
  /// long as the one before that this happens to one tag in 150: one of sixty times the faster interval, two of eight times.
  /// Less than that is what heavy losses often make, so it takes half a dozen and no loss among them.
  private func isMode(besides faster: Float, _ history: LossHistory) -> Bool {
    if history.modes.contains(interval) { return true }
    if received >= IntervalLearner.young, history.runs * 4 < received { return true }
    let ratio = interval / faster
    guard ratio > IntervalLearner.modes else {
      return counts.regular >= IntervalLearner.ownGaps * 3 && history.runs == 0
    }
    return received >= IntervalLearner.young
      || Double(counts.regular) >= 5 / (1 + RadioMath.naturalLog(Double(ratio)))
  }

  /// Goes on in another mode: the counts of losses stay.
  private mutating func turn(to mode: Float) {
    interval = mode
    counts.forgetDivisor()
  }

  /// Indicates whether the interval is surely the beacon's own: gaps of just this length came again twice, or it is
  /// old.
  var isOwn: Bool { counts.regular >= IntervalLearner.ownGaps || received >= IntervalLearner.young }

  private static let ownGaps: UInt8 = 2

  private mutating func recordRegular(_ difference: Float) {
    let isSame = difference.magnitude < interval * 0.02 + IntervalLearner.jitter
    counts.regular = isSame ? min(counts.regular + 1, GapCounts.maximumRegular) : 0
  }

  /// Returns true if a gap of a young track is the one that its family taught it to look for.
  private func isOfFamily(_ gap: Float, _ history: LossHistory) -> Bool {
    received < IntervalLearner.young && history.shorter > 0
      && (gap - history.shorter).magnitude < history.shorter * 0.04 + IntervalLearner.jitter / 2
  }

  /// A tag that came to rest: both intervals are modes of it.
  private mutating func adopt(_ slow: Float, _ history: inout LossHistory) {
    history.modes.insert(slow)
    if isOwn { history.modes.insert(interval) }
    turn(to: slow)
  }

  /// The interval was mistaken, and with it what was lost.
  private mutating func restart(with interval: Float, _ history: inout LossHistory) {
    self.interval = interval
    received = 0
    counts.regular = 0
    counts.forgetDivisor()
    history.restart()
  }
}

/// The common divisor and the counts of the last gaps of a track, in two bytes.
///
/// - Shape: common divisor 5 bits, gaps 4, regular gaps 4, short gaps 3; the lowest first.
package struct GapCounts: Hashable, Sendable {
  /// The gaps it takes to be sure that an interval has grown.
  package static let window: UInt8 = 12
  /// The most regular gaps that are counted.
  static let maximumRegular: UInt8 = 8
  /// The greatest divisor there is: beyond so many intervals gaps are not counted.
  static let maximumDivisor: UInt8 = 16
  /// The most short gaps that are counted.
  static let maximumShorts: UInt8 = 7

  private var word: UInt16 = 0

  package init() {}

  /// The common divisor of the gaps in this window, in intervals; 0 stands for all multiples at once.
  package var divisor: UInt8 {
    get { UInt8(truncatingIfNeeded: word & 0x1F) }
    set { word = word & ~0x1F | UInt16(newValue & 0x1F) }
  }

  /// The number of gaps in this window.
  package var gaps: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 5 & 0xF) }
    set { word = word & ~(0xF << 5) | UInt16(newValue & 0xF) << 5 }
  }

  /// The number of gaps of just one interval that came lately, while the track was young.
  package var regular: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 9 & 0xF) }
    set { word = word & ~(0xF << 9) | UInt16(newValue & 0xF) << 9 }
  }

  /// The number of gaps that were too short and alike, after the first of them.
  package var shorts: UInt8 {
    get { UInt8(truncatingIfNeeded: word >> 13) }
    set { word = word & ~(0x7 << 13) | UInt16(newValue & 0x7) << 13 }
  }

  /// Counts a gap of one interval: whatever came before it, the common divisor is one.
  @inline(__always)
  package mutating func recordOne() {
    let next = (word & ~0x1F | 1) &+ 1 << 5
    // The twelfth ends the window.
    word = next >> 5 & 0xF == UInt16(GapCounts.window) ? next & ~0x1FF : next
  }

  /// Counts a gap of several intervals; true if it is the last of a window whose gaps all have a divisor above one.
  @inline(__always)
  package mutating func record(multiple: UInt8) -> Bool {
    let common = divisor == 1 ? 1 : GapCounts.commonDivisor(multiple, divisor)
    divisor = common
    gaps += 1
    guard gaps >= GapCounts.window else { return false }
    forgetDivisor()
    return common >= 2
  }

  /// Begins another window.
  mutating func forgetDivisor() { word &= ~0x1FF }

  /// Euclid's algorithm; 0 stands for all multiples at once.
  package static func commonDivisor(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var (larger, smaller) = (left, right)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }
}

extension IntervalLearner: FieldParts {
  /// Hands what was learned to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(amount: &interval, "an interval")
    try coder.code(amount: &received, "adverts received")
    try coder.code(small: &counts.divisor, through: GapCounts.maximumDivisor, "a divisor")
    try coder.code(small: &counts.gaps, through: GapCounts.window - 1, "gaps")
    try coder.code(small: &counts.regular, through: GapCounts.maximumRegular, "regular gaps")
    try coder.code(small: &counts.shorts, through: GapCounts.maximumShorts, "short gaps")
  }
}

extension LossHistory: FieldParts {
  /// The parts that are present; nearly all of nearly all histories is zero.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    static let runs = Parts(rawValue: 1)
    static let long = Parts(rawValue: 2)
    static let classes = Parts(rawValue: 4)
    static let pending = Parts(rawValue: 8)
    static let modes = Parts(rawValue: 16)
    static let shorter = Parts(rawValue: 32)
    static let longGaps = Parts(rawValue: 64)
    static let full = Parts(rawValue: 128)
  }

  private var parts: Parts {
    var parts: Parts = rare.isFull ? .full : []
    if runs != 0 || lost != 0 || recentRuns != 0 || recentLost != 0 { parts.insert(.runs) }
    if rare.longRuns | rare.longLost | rare.cappedRuns | rare.cappedLost != 0 { parts.insert(.long) }
    if rare.classes != ClassCounts() { parts.insert(.classes) }
    if !rare.hasNothingPending { parts.insert(.pending) }
    if !modes.isEmpty { parts.insert(.modes) }
    if shorter != 0 { parts.insert(.shorter) }
    if !rare.longGaps.isEmpty { parts.insert(.longGaps) }
    return parts
  }

  /// Hands what was lost to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var parts = parts
    try coder.code(options: &parts)
    rare.isFull = parts.contains(.full)
    if parts.contains(.runs) {
      try coder.code(amount: &runs, "runs of losses")
      try coder.code(amount: &lost, "losses")
      try coder.code(&recentRuns)
      try coder.code(&recentLost)
    }
    if parts.contains(.long) {
      try coder.code(&rare.longRuns)
      try coder.code(&rare.longLost)
      try coder.code(&rare.cappedRuns)
      try coder.code(&rare.cappedLost)
    }
    if parts.contains(.classes) { try coder.code(parts: &rare.classes) }
    if parts.contains(.pending) {
      try coder.code(&rare.waitingSince)
      try coder.code(parts: &rare.pending)
      try coder.code(parts: &rare.waiting)
    }
    if parts.contains(.modes) { try coder.code(parts: &modes) }
    if parts.contains(.shorter) { try coder.code(amount: &shorter, "a shorter gap") }
    if parts.contains(.longGaps) { try coder.code(parts: &rare.longGaps) }
  }
}

extension ClassCounts: FieldParts {
  /// Hands the counts of the classes below the usual one to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    for lane in LevelClass.low.lane...LevelClass.far.lane {
      try coder.code(&received[lane])
      try coder.code(&runs[lane])
      try coder.code(&lost[lane])
    }
  }
}

extension PendingLosses: FieldParts {
  /// Hands what waits to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(parts: &classes)
    try coder.code(parts: &runs)
  }
}
