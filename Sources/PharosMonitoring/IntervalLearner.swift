/// Learns a beacon's advertising interval from the gaps between its samples, and from it what was missed.
///
/// A gap is a whole number of intervals plus up to 10 ms of advDelay for each (Bluetooth Core 5.4, Vol 6, Part B,
/// 4.4.2.2). The interval is the shortest gap that keeps coming back: a shorter one is believed when it comes twice, by
/// an old track when it comes four times. A longer one is believed when twelve gaps in a row had a common divisor, or
/// at once three of the same length, eight times the interval or more: a tag that came to rest. Only what every advert
/// changes lies here; the rest is in ``LossHistory``.
package struct IntervalLearner: Hashable, Sendable {
  /// The advDelay, which every event adds: two gaps of the same interval differ by up to so much.
  ///
  /// - Units: seconds; 10 ms, and a little for the gateway's own clock.
  static let jitter: Float = 0.012
  /// The ratio from which on two intervals are modes of a tag, moved and at rest, and no error of one of them.
  static let modes: Float = 8
  /// How often a gap that is too short must come again before an old track believes it.
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
  /// What the last gaps had in common.
  var counts = GapCounts()

  package init() {}

  init(interval: Float, received: Float, counts: GapCounts) {
    self.interval = interval
    self.received = received
    self.counts = counts
  }

  /// Whether a gap is one interval: neither were adverts missed in it, nor is it too short for one.
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
    counts.noteOne()
    if received <= IntervalLearner.young { noteRegular(difference) }
  }

  /// Learns from a gap in seconds.
  ///
  /// - Returns: true if the allowed silence must be recomputed.
  package mutating func learn(gap: Float, at surroundings: UInt8 = 0, _ history: inout LossHistory) -> Bool {
    guard gap > 0, gap.isFinite else { return false }
    guard interval > 0 else {
      interval = isOfFamily(gap / 2, history) ? gap / 2 : gap
      return true
    }
    guard gap < interval * 1.5 else { return learnLonger(gap, at: surroundings, &history) }
    guard isOneInterval(gap) else { return learnShorter(gap, &history) }
    learnOne(gap: gap)
    if surroundings != 0 { history.noteReceived(at: surroundings) }
    return false
  }

  /// Takes a gap of a few intervals if nothing follows from it but that their number is counted.
  ///
  /// - Returns: how many adverts were missed in it; 0 if it is none of these, and nothing was changed.
  @inline(__always)
  mutating func learnFew(gap: Float) -> Float {
    let ratio = gap / interval
    guard ratio < LossRuns.longFrom.0 else { return 0 }
    let multiple = Int32(ratio + 0.5)
    var after = counts
    guard !after.note(multiple: UInt8(truncatingIfNeeded: multiple)) else { return 0 }
    follow(gap, Float(multiple))
    counts = after
    return Float(multiple - 1)
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
    guard history.noteCandidate(gap, at: received) else { return false }
    adopt(history.candidate, &history)
    return true
  }

  /// Halves the count of adverts; the history halves its own.
  mutating func halve() { received /= 2 }

  private var rate: Float { received < 14 ? 1 / (received + 2) : 1.0 / 16 }

  private mutating func learnLonger(
    _ gap: Float,
    at surroundings: UInt8,
    _ history: inout LossHistory
  ) -> Bool {
    // Back at rest, in a mode that is known: nothing was lost.
    if history.slowest > interval * IntervalLearner.modes, gap > history.slowest * 0.8 {
      interval = history.slowest
      counts.forgetDivisor()
      return true
    }
    let multiple = Float(Int32(min(gap / interval, 1_000_000) + 0.5))
    follow(gap, multiple)
    if surroundings != 0 { history.noteReceived(at: surroundings) }
    let isNotable = history.note(missed: multiple - 1, at: surroundings)
    if gap > interval * IntervalLearner.modes, history.noteCandidate(gap, at: received) {
      history.forgetCandidates(missed: multiple - 1)
      adopt(history.candidate, &history)
      return true
    }
    guard multiple <= IntervalLearner.countable else {
      counts.divisor = 1
      return isNotable
    }
    let common = GapCounts.commonDivisor(UInt8(multiple), counts.divisor)
    guard counts.note(multiple: UInt8(multiple)) else { return isNotable }
    restart(with: interval * Float(common), &history)
    return true
  }

  private mutating func learnShorter(_ gap: Float, _ history: inout LossHistory) -> Bool {
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
    if interval > found * IntervalLearner.modes, received >= Float(GapCounts.window) {
      history.slowest = max(history.slowest, interval)
      interval = found
      counts.forgetDivisor()
    } else if history.slowest == interval {
      interval = found
      counts.forgetDivisor()
    } else {
      restart(with: found, &history)
    }
    return true
  }

  /// Whether the interval is surely the beacon's own: gaps of just this length came twice again, or it is old.
  var isOwn: Bool { counts.regular >= 2 || received >= IntervalLearner.young }

  private mutating func noteRegular(_ difference: Float) {
    let isSame = difference.magnitude < interval * 0.02 + IntervalLearner.jitter
    counts.regular = isSame ? min(counts.regular + 1, GapCounts.mostRegular) : 0
  }

  /// Whether a gap of a young track is what the family taught to look for.
  private func isOfFamily(_ gap: Float, _ history: LossHistory) -> Bool {
    received < IntervalLearner.young && history.shorter > 0
      && (gap - history.shorter).magnitude < history.shorter * 0.04 + IntervalLearner.jitter / 2
  }

  /// A tag that came to rest: its losses stay as they were.
  private mutating func adopt(_ slow: Float, _ history: inout LossHistory) {
    history.slowest = max(history.slowest, slow)
    interval = slow
    counts.forgetDivisor()
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
