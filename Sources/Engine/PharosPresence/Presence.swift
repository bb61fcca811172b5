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
  /// The kinds of states.
  enum Phase: UInt8 {
    case outside
    case inside
    case held
    case recovered
  }

  /// The state, with the data that it needs.
  enum State: Sendable {
    /// Not here; samples that count towards entering may have been heard.
    case outside(EntrySamples)
    /// Here.
    case inside(Visit)
    /// Here when the observer was last able to tell; not heard since it is able again.
    ///
    /// `isWaiting` indicates whether a deadline has passed and only proof of life is missing.
    case held(began: Timestamp, isWaiting: Bool)
    /// Heard since the observer is able again, which may have been a reflection: at the times of the latest samples that count.
    case recovered(again: [Timestamp], Visit)
  }

  /// The samples that count towards an enter.
  struct EntrySamples: Hashable, Sendable {
    /// The one that counted last.
    var latest = Timestamp.distantPast
    /// The latest of them, one fewer than an enter takes; empty where it takes two or one.
    var earlier: [Timestamp] = []
  }

  /// The visit of a beacon that was heard at an observer that is able to tell.
  struct Visit: Hashable, Sendable {
    var began: Timestamp
    var descent = Descent.none
    /// Indicates whether a deadline has passed and only proof of life is missing.
    var isWaiting = false
  }

  /// The levels below the exit level.
  enum Descent: Hashable, Sendable {
    /// The latest sample with a level reached the exit level.
    case none
    /// One sample was below, at that time.
    case once(at: Timestamp)
    /// More than one sample was below; the level has been since that time.
    case sure(since: Timestamp)
  }

  /// The levels to enter and to leave at in dBm, a distance turned into a level; not a number where none is asked for.
  package var enterLevel = Float.nan
  private(set) var exitLevel = Float.nan
  /// The silence that is allowed now, with the level where it is.
  package var allowed = TimeSpan.forever
  private(set) var state = State.outside(EntrySamples())
  /// The interned policy.
  package let policy: UInt16

  package init(policy: UInt16) { self.policy = policy }

  /// Makes the presence that its phase, one point in time and the allowed silence describe completely.
  ///
  /// - Parameters:
  ///   - phase: the kind of the state.
  ///   - moment: the sample that counted last, if it is outside; otherwise the start of the visit.
  ///   - isWaiting: indicates whether only proof of life is missing.
  ///   - allowed: the silence that is allowed.
  ///   - policy: the interned policy.
  init(_ phase: Phase, moment: Timestamp, isWaiting: Bool, allowed: TimeSpan, policy: UInt16) {
    self.policy = policy
    self.allowed = allowed
    switch phase {
    case .outside: state = .outside(EntrySamples(latest: moment))
    case .inside: state = .inside(Visit(began: moment, isWaiting: isWaiting))
    case .held: state = .held(began: moment, isWaiting: isWaiting)
    case .recovered: state = .recovered(again: [], Visit(began: moment, isWaiting: isWaiting))
    }
  }

  /// The kind of the state.
  var phase: Phase {
    switch state {
    case .outside: .outside
    case .inside: .inside
    case .held: .held
    case .recovered: .recovered
    }
  }

  /// The sample that counted last, while the beacon is outside; otherwise the start of the visit.
  var moment: Timestamp {
    switch state {
    case .outside(let samples): samples.latest
    case .inside(let visit), .recovered(_, let visit): visit.began
    case .held(let began, _): began
    }
  }

  /// Indicates whether its phase, its moment and the allowed silence describe it completely.
  var isSilenceOnly: Bool {
    guard enterLevel.isNaN, exitLevel.isNaN else { return false }
    switch state {
    case .outside(let samples): return samples.earlier.isEmpty
    case .inside(let visit): return visit.descent == .none
    case .held: return true
    case .recovered(let again, let visit): return again.isEmpty && visit.descent == .none
    }
  }

  /// Indicates whether the beacon is here, as far as is known.
  package var isHere: Bool { phase != .outside }

  /// Indicates whether the beacon is here and was heard since the observer became able to tell.
  var isConfirmed: Bool {
    switch state {
    case .inside, .recovered: true
    case .outside, .held: false
    }
  }

  /// The start of the visit, if there is one.
  package var since: Timestamp? { isHere ? moment : nil }

  /// Indicates whether a deadline has passed and only proof of life is missing; outside there is none.
  package var isWaiting: Bool {
    get {
      switch state {
      case .outside: false
      case .inside(let visit), .recovered(_, let visit): visit.isWaiting
      case .held(_, let isWaiting): isWaiting
      }
    }
    set {
      switch state {
      case .outside: break
      case .inside(var visit):
        visit.isWaiting = newValue
        state = .inside(visit)
      case .held(let began, _): state = .held(began: began, isWaiting: newValue)
      case .recovered(let again, var visit):
        visit.isWaiting = newValue
        state = .recovered(again: again, visit)
      }
    }
  }

  /// The levels below the exit level, of a beacon that was heard since the observer became able to tell.
  private var descent: Descent {
    switch state {
    case .inside(let visit), .recovered(_, let visit): visit.descent
    case .outside, .held: .none
    }
  }

  /// The time since which the level has been below the exit level, if it has.
  var belowSince: Timestamp? {
    switch descent {
    case .none: nil
    case .once(let time), .sure(let time): time
    }
  }

  /// The level of a sample, and the filtered level of it and of the samples before it.
  struct Level {
    var sample: Double
    var filtered: Double
  }

  /// The effect of a sample.
  enum HeardAction: Hashable {
    /// The beacon came; the samples that made it enter span a time.
    case entered(spread: TimeSpan)
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
    switch state {
    case .inside(var visit):
      follow(level, at: time, dwell: rules.exitDwell, in: &visit)
      state = .inside(visit)
      return nil
    case .outside(var samples):
      guard counts(level) else { return nil }
      // Taken out of the state, so that the list is not copied.
      state = .outside(EntrySamples())
      let latest = samples.latest
      guard
        let first = samples.count(time, needed: rules.enterSamples, window: window, isOfBatch: isOfBatch)
      else {
        state = .outside(samples)
        return nil
      }
      var visit = Visit(began: max(time, latest))
      follow(level, at: time, dwell: rules.exitDwell, in: &visit)
      state = .inside(visit)
      return .entered(spread: visit.began - first)
    case .held(let began, _):
      var visit = Visit(began: began)
      follow(level, at: time, dwell: rules.exitDwell, in: &visit)
      state = .recovered(again: counts(level) ? [time] : [], visit)
      return .confirmed
    case .recovered(let again, var visit):
      follow(level, at: time, dwell: rules.exitDwell, in: &visit)
      state = .recovered(again: again, visit)
      guard counts(level) else { return nil }
      var samples = EntrySamples(latest: again.last ?? .distantPast, earlier: again)
      // One alone may have been a reflection.
      let needed = max(2, rules.enterSamples)
      guard let first = samples.count(time, needed: needed, window: window, isOfBatch: isOfBatch) else {
        state = .recovered(again: needed == 2 ? [samples.latest] : samples.earlier, visit)
        return nil
      }
      state = .inside(visit)
      return .proven(spread: max(time, samples.latest) - first)
    }
  }

  /// A late report said that the beacon was here then: the exit that was waiting is off, and of a beacon outside it counts
  /// as one of the samples before the one that enters.
  mutating func heardLate(at time: Timestamp, level: Level?, needed: Int) {
    guard case .outside(var samples) = state else { return isWaiting = false }
    guard counts(level), needed > 1, time > samples.latest else { return }
    state = .outside(EntrySamples())
    samples.add(time, needed: needed)
    state = .outside(samples)
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
    var level = Timestamp.distantFuture
    if case .sure(let since) = descent { level = since + dwell }
    let first = min(silence, level)
    return first == .distantFuture ? nil : (first, level < silence)
  }

  /// The deadline has passed and the observer lives: the visit ends, and the time at which it began is given.
  package mutating func deadlinePassed() -> Timestamp? {
    let began = since
    state = .outside(EntrySamples())
    return began
  }

  /// Suspends the presence, since the observer's silence proves nothing; returns true if the beacon was inside.
  package mutating func suspended() -> Bool {
    let since = since
    state = since.map { .held(began: $0, isWaiting: false) } ?? .outside(EntrySamples())
    return since != nil
  }

  /// Handles a downtime of the server: a level below the exit level must be measured there again, and no exit waits.
  mutating func interrupt() {
    switch state {
    case .outside: break
    case .inside(let visit): state = .inside(Visit(began: visit.began))
    case .held(let began, _): state = .held(began: began, isWaiting: false)
    case .recovered(let again, let visit): state = .recovered(again: again, Visit(began: visit.began))
    }
  }

  /// A sample without a level counts only where no level is asked for.
  ///
  /// It must be loud itself, not only the filter, which holds one loud sample for several weak ones: one spike never enters.
  private func counts(_ level: Level?) -> Bool {
    let threshold = enterLevel.isNaN ? exitLevel : enterLevel
    guard !threshold.isNaN else { return true }
    return level.map { min($0.sample, $0.filtered) >= Double(threshold) } ?? false
  }

  /// Follows a level that may fall below the exit level; the exit that was waiting is off.
  private func follow(_ level: Level?, at time: Timestamp, dwell: TimeSpan, in visit: inout Visit) {
    visit.isWaiting = false
    guard !exitLevel.isNaN, let level = level?.filtered else { return }
    if level >= Double(exitLevel) {
      visit.descent = .none
    } else {
      visit.descent.follow(time, dwell: dwell)
    }
  }
}

extension Presence.EntrySamples {
  /// Counts a sample.
  ///
  /// One that is earlier than the sample before it counts where two are enough, and one of the very same time in a batch.
  ///
  /// - Returns: the time of the first one, if there are enough within the window.
  fileprivate mutating func count(
    _ time: Timestamp,
    needed: Int,
    window: TimeSpan,
    isOfBatch: Bool
  ) -> Timestamp? {
    guard needed > 1 else { return time }
    guard isOfBatch || time > latest || time < latest && needed == 2 else { return nil }
    let oldest = needed == 2 ? latest : earlier.count >= needed - 1 ? earlier[0] : .distantPast
    if oldest != .distantPast, max(time - oldest, oldest - time) <= window { return min(oldest, time) }
    add(time, needed: needed)
    return nil
  }

  /// Adds a sample that makes no enter.
  fileprivate mutating func add(_ time: Timestamp, needed: Int) {
    latest = max(latest, time)
    guard needed > 2 else { return }
    if earlier.count >= needed - 1 { earlier.removeFirst() }
    earlier.append(time)
  }
}

extension Presence.Descent {
  /// Follows a sample below the exit level; it takes two there, as one dip never leaves.
  fileprivate mutating func follow(_ time: Timestamp, dwell: TimeSpan) {
    switch self {
    case .none: self = .once(at: time)
    // A slow beacon is sure only after the dwell: it has left then, not before.
    case .once(let first) where time > first: self = .sure(since: max(first, time - dwell))
    case .once, .sure: break
    }
  }
}

extension Presence: FieldParts {
  /// The parts that are present.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    static let levels = Parts(rawValue: 1)
    static let allowed = Parts(rawValue: 2)
    static let all: Parts = [.levels, .allowed]
  }

  /// Hands the presence to a coder, without its policy, which the match set supplies.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var parts: Parts = allowed != .forever ? .allowed : []
    if !enterLevel.isNaN || !exitLevel.isNaN { parts.insert(.levels) }
    try coder.code(options: &parts)
    try coder.check(parts.isSubset(of: .all), "a presence")
    try coder.code(&state)
    if parts.contains(.allowed) { try coder.code(&allowed) }
    if parts.contains(.levels) {
      try coder.code(threshold: &enterLevel)
      try coder.code(threshold: &exitLevel)
    }
  }
}

extension Presence.State: FieldUnion {
  /// The name of the field.
  static let fieldName = "a presence"

  /// Hands each case to a coder.
  static func visitCases<C: FieldCoder>(_ union: inout FieldCase<Self>, _ coder: inout C) throws(C.Failure) {
    try coder.code(&union, 0, Self.outside) { if case .outside(let samples) = $0 { samples } else { nil } }
    try coder.code(&union, 1, Self.inside) { if case .inside(let visit) = $0 { visit } else { nil } }
    try coder.code(&union, 2, Self.held) {
      if case .held(let began, let isWaiting) = $0 { (began, isWaiting) } else { nil }
    }
    try coder.code(&union, 3, Self.recovered) {
      if case .recovered(let again, let visit) = $0 { (again, visit) } else { nil }
    }
  }
}

extension Presence.Descent: FieldUnion {
  /// The name of the field.
  static let fieldName = "a descent"

  /// Hands each case to a coder.
  static func visitCases<C: FieldCoder>(_ union: inout FieldCase<Self>, _ coder: inout C) throws(C.Failure) {
    try coder.code(&union, 0, Self.none)
    try coder.code(&union, 1, Self.once) { if case .once(let time) = $0 { time } else { nil } }
    try coder.code(&union, 2, Self.sure) { if case .sure(let time) = $0 { time } else { nil } }
  }
}

extension Presence.EntrySamples: FieldStruct {
  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&latest)
    try coder.code(&earlier)
  }
}

extension Presence.Visit: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      began: try coder.field(value().began),
      descent: try coder.field(value().descent),
      isWaiting: try coder.field(value().isWaiting)
    )
  }
}

extension FieldCoder {
  /// Codes a level to enter or to leave at: a number of dBm, none, or one that nothing reaches.
  fileprivate mutating func code(threshold: inout Float) throws(Failure) {
    try code(&threshold)
    try check(!threshold.isFinite || threshold.magnitude <= 1e9, "a threshold")
  }
}
