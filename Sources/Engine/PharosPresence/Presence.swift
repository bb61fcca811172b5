// How an enter and an exit are decided for one beacon at one observer:
//
//   outside  --enough samples within the window-->      inside    enter
//   inside   --deadline passed, observer alive-->       outside   exit
//   inside   --observer down-->                         held      unmonitored: its silence proves nothing
//   held     --sample-->                                recovered confirmed
//   recovered --another within the window-->            inside    proven: where it was known to have left, this is its enter
//   held, recovered --deadline passed, observer alive--> outside  exit
//
// A sample counts towards an enter if both its own level and the filtered level reach the enter level. Inside, every sample
// moves the deadline. It is the earlier of two times: the last sample plus the allowed silence, which `AdaptiveSilence`
// computes from the interval and the losses of the track, and the dwell after two samples have shown a level below the exit
// level. The owner keeps the timer, and when it fires asks for proof that the observer lives before it ends the visit.

package import PharosDocuments
package import PharosModel

/// The presence of one beacon at one observer under one policy: the state machine behind every enter and exit.
///
/// Its owner passes in each input, and its methods return the resulting actions. It has no clock, timer or output of
/// its own. It cannot know if the observer is alive: the owner checks that before it calls ``deadlinePassed()``.
package struct Presence: Sendable {
  package enum Phase: UInt8 {
    /// Not here; samples that count towards entering may have been heard.
    case outside
    /// Here.
    case inside
    /// Here when the observer was last able to tell; not heard since it is able again.
    case held
    /// Heard once since the observer is able again, which may have been a reflection.
    case recovered
  }

  /// The interned policy.
  package let policy: UInt16
  package var phase = Phase.outside
  /// Indicates whether a deadline has passed and only proof of life is missing.
  package var isWaiting = false
  var isBelow = false
  /// Indicates whether more than one sample found the level below.
  var isBelowSurely = false
  /// The levels to enter and to leave at in dBm, a distance turned into a level; not a number where none is asked for.
  package var enterLevel = Float.nan
  var exitLevel = Float.nan
  /// The silence that is allowed now, with the level where it is.
  package var allowed = TimeSpan.forever
  /// The sample that counted last, while outside; the first that counted, or since when the level is below, while inside.
  package var mark = Timestamp.distantPast
  package var earlier: [Timestamp] = []
  package var began = Timestamp.distantPast

  package init(policy: UInt16) { self.policy = policy }

  /// Indicates whether the beacon is here, as far as is known.
  package var isHere: Bool { phase != .outside }

  /// Indicates whether the beacon is here and was heard since the observer became able to tell.
  var isConfirmed: Bool { phase == .inside || phase == .recovered }

  /// The start of the visit, if there is one.
  package var since: Timestamp? { phase == .outside ? nil : began }

  /// The time span of the samples that made the beacon enter, right after it did.
  var spread: TimeSpan { max(.zero, began - mark) }

  /// The time since which the level has been below the exit level, if it has.
  var belowSince: Timestamp? { isBelow ? mark : nil }

  /// The level of a sample, and the filtered level of it and of the samples before it.
  struct Level {
    var sample: Double
    var filtered: Double
  }

  /// The effect of a sample.
  enum HeardAction: Hashable {
    /// The beacon came.
    case entered
    /// The beacon was here before its observer went down, and was heard again.
    case confirmed
    /// It was heard as often since, within a time span, as an enter takes: it is here, even if it had left meanwhile.
    case proven(spread: TimeSpan)
  }

  /// Sets the levels that the policy asks for.
  package mutating func setLevels(enter: Float, exit: Float) {
    enterLevel = enter
    exitLevel = exit
  }

  /// A sample was heard, or the sample of that time turned out to be stronger.
  mutating func heard(
    at time: Timestamp,
    level: Level?,
    rules: borrowing PresencePolicy,
    window: TimeSpan,
    isOfBatch: Bool = false
  ) -> HeardAction? {
    isWaiting = false
    switch phase {
    case .outside:
      let before = mark
      guard counts(level),
        count(time, needed: rules.enterSamples, window: window, isOfBatch: isOfBatch)
      else { return nil }
      (phase, began, earlier) = (.inside, max(time, before), [])
      follow(level?.filtered, at: time, dwell: rules.exitDwell)
      return .entered
    case .held:
      phase = .recovered
      follow(level?.filtered, at: time, dwell: rules.exitDwell)
      if counts(level) { earlier = [time] }
      return .confirmed
    case .recovered:
      follow(level?.filtered, at: time, dwell: rules.exitDwell)
      guard counts(level), isOfBatch || earlier.last != time else { return nil }
      earlier.removeAll { time - $0 > window }
      earlier.append(time)
      guard earlier.count >= max(2, rules.enterSamples) else { return nil }
      defer { (phase, earlier) = (.inside, []) }
      return .proven(spread: time - earlier[0])
    case .inside:
      follow(level?.filtered, at: time, dwell: rules.exitDwell)
      return nil
    }
  }

  /// A late report said that the beacon was here then: the exit that was waiting is off, and of a beacon outside it counts
  /// as one of the samples before the one that enters.
  mutating func heardLate(at time: Timestamp, level: Level?, needed: Int) {
    isWaiting = false
    guard phase == .outside, counts(level), needed > 1, time > mark else { return }
    mark = time
    guard needed > 2 else { return }
    if earlier.count >= needed - 1 { earlier.removeFirst() }
    earlier.append(time)
  }

  /// Returns the time at which the beacon counts as gone unless it is heard before, and the rule that decides.
  ///
  /// - Parameters:
  ///   - lastHeard: the time when it was last heard.
  ///   - other: the time until which another transmitter of the same identity may be silent.
  ///   - silenceFrom: the time from which silence of the observer is evidence.
  ///   - stretch: the factor by which the silence is stretched, as the observer scans in windows.
  ///   - dwell: the time for which the level must stay below.
  /// - Returns: the time and whether the level decides, or nil if there is no deadline.
  func deadline(
    lastHeard: Timestamp,
    other: Timestamp,
    silenceFrom: Timestamp,
    stretch: Double,
    dwell: TimeSpan
  ) -> (time: Timestamp, isLevel: Bool)? {
    guard isHere else { return nil }
    let span = stretch == 1 ? allowed : allowed * stretch
    let silence = span == .forever ? Timestamp.distantFuture : max(max(lastHeard, silenceFrom) + span, other)
    let level = isBelowSurely && isConfirmed ? mark + dwell : .distantFuture
    let first = min(silence, level)
    return first == .distantFuture ? nil : (first, level < silence)
  }

  /// The deadline has passed and the observer lives: the visit ends, and the time at which it began is given.
  package mutating func deadlinePassed() -> Timestamp? {
    let began = since
    reset()
    return began
  }

  /// Suspends the presence, since the observer's silence proves nothing; returns true if the beacon was inside.
  package mutating func suspended() -> Bool {
    let wasHere = isHere
    let began = began
    reset()
    guard wasHere else { return false }
    phase = .held
    self.began = began
    return true
  }

  /// Handles a downtime of the server: a level below the exit level must be measured there again, and no exit waits.
  mutating func interrupt() {
    isWaiting = false
    if isBelow { endBelow() }
  }

  private mutating func reset() {
    phase = .outside
    isWaiting = false
    earlier.removeAll()
    endBelow()
  }

  /// A sample without a level counts only where no level is asked for.
  ///
  /// It must be loud itself, not only the filter, which holds one loud sample for several weak ones: one spike never enters.
  private func counts(_ level: Level?) -> Bool {
    let threshold = enterLevel.isNaN ? exitLevel : enterLevel
    guard !threshold.isNaN else { return true }
    return level.map { min($0.sample, $0.filtered) >= Double(threshold) } ?? false
  }

  /// Counts a sample; true if there are enough within the window.
  ///
  /// One that is earlier than the sample before it counts where two are enough, and one of the very same time in a batch.
  private mutating func count(_ time: Timestamp, needed: Int, window: TimeSpan, isOfBatch: Bool) -> Bool {
    guard needed > 1 else {
      mark = time
      return true
    }
    guard isOfBatch || time > mark || time < mark && needed == 2 else { return false }
    let oldest = needed == 2 ? mark : earlier.count >= needed - 1 ? earlier[0] : .distantPast
    if oldest != .distantPast, max(time - oldest, oldest - time) <= window {
      mark = min(oldest, time)
      return true
    }
    mark = max(mark, time)
    guard needed > 2 else { return false }
    if earlier.count >= needed - 1 { earlier.removeFirst() }
    earlier.append(time)
    return false
  }

  /// Follows a level that may fall below the exit level; it takes two samples there, as one dip never leaves.
  private mutating func follow(_ level: Double?, at time: Timestamp, dwell: TimeSpan) {
    guard !exitLevel.isNaN, let level else { return }
    if level >= Double(exitLevel) {
      if isBelow { endBelow() }
    } else if !isBelow {
      isBelow = true
      mark = time
    } else if !isBelowSurely, time > mark {
      isBelowSurely = true
      // A slow beacon is sure only after the dwell: it has left then, not before.
      mark = max(mark, time - dwell)
    }
  }

  private mutating func endBelow() {
    mark = .distantPast
    isBelow = false
    isBelowSurely = false
  }
}

extension Presence: FieldParts {
  /// The parts that are present beside the phase, which takes the two lowest bits.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    static let phase: UInt8 = 3
    static let waiting = Parts(rawValue: 4)
    static let below = Parts(rawValue: 8)
    static let surelyBelow = Parts(rawValue: 16)
    static let levels = Parts(rawValue: 32)
    static let earlier = Parts(rawValue: 64)
    static let allowed = Parts(rawValue: 128)
  }

  private var parts: Parts {
    var parts = Parts(rawValue: phase.rawValue)
    if isWaiting { parts.insert(.waiting) }
    if isBelow { parts.insert(.below) }
    if isBelowSurely { parts.insert(.surelyBelow) }
    if !enterLevel.isNaN || !exitLevel.isNaN { parts.insert(.levels) }
    if !earlier.isEmpty { parts.insert(.earlier) }
    if allowed != .forever { parts.insert(.allowed) }
    return parts
  }

  /// Hands the presence to a coder, without its policy, which the match set supplies.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var parts = parts
    try coder.code(options: &parts)
    let known = Phase(rawValue: parts.rawValue & Parts.phase)
    try coder.check(known != nil, "a presence")
    phase = known ?? .outside
    isWaiting = parts.contains(.waiting)
    isBelow = parts.contains(.below)
    isBelowSurely = parts.contains(.surelyBelow)
    try coder.code(&mark)
    try coder.code(&began)
    if parts.contains(.allowed) { try coder.code(&allowed) }
    if parts.contains(.levels) {
      try coder.code(threshold: &enterLevel)
      try coder.code(threshold: &exitLevel)
    }
    if parts.contains(.earlier) { try coder.code(&earlier) }
  }
}

extension FieldCoder {
  /// Codes a level to enter or to leave at: a number of dBm, none, or one that nothing reaches.
  fileprivate mutating func code(threshold: inout Float) throws(Failure) {
    try code(&threshold)
    try check(!threshold.isFinite || threshold.magnitude <= 1e9, "a threshold")
  }
}
