import PharosReports

/// Whether one beacon is here at one observer, under one policy: the state machine behind every enter and exit.
///
/// It is told what happens and answers what that means; it has no clock, no timer and no output of its own. What it
/// cannot know (whether the observer lives) its owner decides before telling it that a deadline has passed.
struct Presence: Sendable {
  private enum State: Hashable {
    /// Not here; samples that count towards entering may have been heard.
    case outside
    /// Here since then.
    case inside(since: Timestamp)
    /// Here when the observer was last able to tell; not heard since it is able again.
    case held(since: Timestamp)
  }

  /// The interned policy.
  let policy: UInt16
  /// Whether a deadline has passed and only proof of life is missing.
  var isWaiting = false
  /// Whether more than one sample found the level below.
  private var isBelowSurely = false
  /// The silence that is allowed now.
  var allowed = TimeSpan.forever
  private var lastCounted = Timestamp.distantPast
  private var earlier: [Timestamp] = []
  private var belowSince = Timestamp.distantFuture
  private var state = State.outside

  init(policy: UInt16) { self.policy = policy }

  /// Whether the beacon is here, as far as is known.
  var isHere: Bool { state != .outside }

  /// Whether the beacon is here and was heard since the observer is able to tell.
  var isConfirmed: Bool {
    switch state {
    case .inside: true
    case .outside, .held: false
    }
  }

  /// When the visit began, if there is one.
  var since: Timestamp? {
    switch state {
    case .outside: nil
    case .inside(let since), .held(let since): since
    }
  }

  /// How loud a sample was, and what the filter makes of it and of those before it.
  struct Level {
    var sample: Double
    var filtered: Double
  }

  /// What a sample means.
  enum HeardAction: Hashable {
    /// The beacon came.
    case entered
    /// The beacon was here before its observer went down, and still is.
    case confirmed
  }

  /// A sample was heard, or the sample of that time turned out to be stronger.
  mutating func heard(
    at time: Timestamp,
    level: Level?,
    rules: PresencePolicy,
    window: @autoclosure () -> TimeSpan
  ) -> HeardAction? {
    isWaiting = false
    switch state {
    case .outside:
      guard counts(level, rules), count(time, needed: rules.enterSamples, window: window()) else {
        return nil
      }
      state = .inside(since: time)
      follow(level?.filtered, at: time, rules)
      return .entered
    case .held(let since):
      state = .inside(since: since)
      follow(level?.filtered, at: time, rules)
      return .confirmed
    case .inside:
      follow(level?.filtered, at: time, rules)
      return nil
    }
  }

  /// A late report said that the beacon was still here: the exit that was waiting is off.
  mutating func heardLate() { isWaiting = false }

  /// The time at which the beacon counts as gone unless it is heard before, and the rule that says so.
  func deadline(
    lastHeard: Timestamp,
    silenceFrom: Timestamp,
    stretch: Double,
    rules: PresencePolicy
  ) -> (time: Timestamp, isLevel: Bool)? {
    guard isHere else { return nil }
    let span = stretch == 1 ? allowed : allowed * stretch
    let silence = span == .forever ? Timestamp.distantFuture : max(lastHeard, silenceFrom) + span
    let level = isBelowSurely && isConfirmed ? belowSince + rules.exitDwell : .distantFuture
    let first = min(silence, level)
    return first == .distantFuture ? nil : (first, level < silence)
  }

  /// The deadline has passed and the observer lives: the visit ends, and the time at which it began is given.
  mutating func deadlinePassed() -> Timestamp? {
    let began = since
    reset()
    return began
  }

  /// The observer cannot tell any more; true if the beacon was here.
  mutating func suspended() -> Bool {
    isWaiting = false
    endBelow()
    lastCounted = .distantPast
    earlier.removeAll()
    guard let since else { return false }
    state = .held(since: since)
    return true
  }

  private mutating func reset() {
    state = .outside
    isWaiting = false
    lastCounted = .distantPast
    earlier.removeAll()
    endBelow()
  }

  /// A sample without a level counts only where no level is asked for.
  ///
  /// It must be loud itself, not only the filter, which holds one loud sample for several weak ones: one spike never enters.
  private func counts(_ level: Level?, _ rules: PresencePolicy) -> Bool {
    guard let threshold = rules.enterRSSI ?? rules.exitRSSI else { return true }
    return level.map { min($0.sample, $0.filtered) >= threshold } ?? false
  }

  /// Counts a sample; true if there are enough within the window.
  private mutating func count(_ time: Timestamp, needed: Int, window: TimeSpan) -> Bool {
    guard needed > 1 else { return true }
    guard time != lastCounted else { return false }
    let oldest = needed == 2 ? lastCounted : earlier.count >= needed - 1 ? earlier[0] : .distantPast
    if oldest != .distantPast, time - oldest <= window { return true }
    lastCounted = time
    guard needed > 2 else { return false }
    if earlier.count >= needed - 1 { earlier.removeFirst() }
    earlier.append(time)
    return false
  }

  /// Follows a level that may fall below the exit level; it takes two samples there, as one dip never leaves.
  private mutating func follow(_ level: Double?, at time: Timestamp, _ rules: PresencePolicy) {
    guard let exit = rules.exitRSSI, let level else { return }
    if level >= exit {
      endBelow()
    } else if belowSince == .distantFuture {
      belowSince = time
    } else if !isBelowSurely, time > belowSince {
      isBelowSurely = true
      // A slow beacon is sure only after the dwell: it has left then, not before.
      belowSince = max(belowSince, time - rules.exitDwell)
    }
  }

  private mutating func endBelow() {
    belowSince = .distantFuture
    isBelowSurely = false
  }
}
