import PharosEvents
import PharosReports

/// Where one beacon stands towards one region about beacons, and which observers say so.
///
/// A value without clock or output: `hear`, `lose` and `goDark` take what observers say, and ``settle()`` draws the
/// conclusion once all that they said at one instant is in, so that a hand-over from one gateway to the next within
/// an instant is no exit.
struct RegionRow: Sendable {
  /// One observer that has the beacon inside, or had it when the observer went down.
  struct Hearing: Sendable {
    let observer: ObserverID
    /// Whether the observer went down, or stopped scanning, with the beacon inside.
    var isDark: Bool
    /// Whether an event from before a restart is all that is known of it.
    var isAssumed = false
    var time: Timestamp
    var lastHeard: Timestamp
    var evidence: Evidence
  }

  /// The latest word of an observer that the beacon is gone.
  struct Farewell: Sendable {
    var observer: ObserverID?
    var time: Timestamp
    var lastHeard: Timestamp
    var evidence: Evidence
  }

  /// A change of state, ready to be told.
  struct Change: Sendable {
    var from: RegionState
    var to: RegionState
    var isEnter = false
    var isExit = false
    var time: Timestamp
    var observer: ObserverID?
    var enteredAt: Timestamp?
    var evidence: Evidence
  }

  /// The least patience with an assumption.
  ///
  /// A second: what observers tell comes once a second.
  static let leastPatience = TimeSpan.seconds(1)

  /// The region's place among the regions.
  var region: Int
  /// Where the beacon stands.
  var state: RegionState
  /// Where it stood when somebody could last tell.
  var lastKnown: RegionState
  /// When the present visit began.
  var enteredAt: Timestamp?
  /// The observers that have it inside, or went down with it inside, in their order.
  var hearings: [Hearing] = []
  /// The time at which the `maximumHold` alarm is due, or `distantFuture` if the beacon is not unmonitored or the alarm
  /// has been raised already.
  var holdDeadline = Timestamp.distantFuture
  /// When a state that was only assumed is given up.
  var assumptionDeadline = Timestamp.distantFuture
  /// The time for which an observer must have been up without hearing the beacon to refute an assumption.
  var patience = StageTwo.neverHeardAfter
  /// Counts the transitions: a part of every event's id.
  var counter: UInt64
  /// Whether something was said since the last conclusion.
  var isDirty = false

  var farewell: Farewell?
  var changedAt = Timestamp.distantPast

  /// Starts from a state that is assumed.
  init(region: Int, assuming state: RegionState, since: Timestamp, counter: UInt64) {
    self.region = region
    self.state = state
    self.lastKnown = state
    self.enteredAt = state == .inside ? since : nil
    self.counter = counter
  }

  /// An observer has the beacon inside; false if there are too many to tell apart.
  mutating func hear(_ change: PresenceChange, limit: Int) -> Bool {
    isDirty = true
    if assumptionDeadline != .distantFuture {
      assumptionDeadline = .distantFuture
      hearings.removeAll(where: \.isAssumed)
    }
    let hearing = Hearing(
      observer: change.observer,
      isDark: false,
      time: change.time,
      lastHeard: change.evidence.lastHeard ?? change.time,
      evidence: change.evidence
    )
    if let index = index(of: change.observer) {
      hearings[index] = hearing
      return true
    }
    guard hearings.count < limit else { return false }
    let place = hearings.firstIndex { change.observer < $0.observer } ?? hearings.count
    hearings.insert(hearing, at: place)
    return true
  }

  /// An observer says that the beacon is gone.
  mutating func lose(_ change: PresenceChange) {
    isDirty = true
    var lastHeard = change.evidence.lastHeard ?? .distantPast
    if let index = index(of: change.observer) {
      lastHeard = max(lastHeard, hearings.remove(at: index).lastHeard)
    }
    if let farewell, farewell.time > change.time {
      self.farewell?.lastHeard = max(farewell.lastHeard, lastHeard)
      return
    }
    farewell = Farewell(
      observer: change.observer,
      time: change.time,
      lastHeard: max(lastHeard, farewell?.lastHeard ?? .distantPast),
      evidence: change.evidence
    )
  }

  /// Whether there is something to conclude or to tell at an instant.
  func isDue(at instant: Timestamp) -> Bool {
    isDirty || holdDeadline <= instant || assumptionDeadline <= instant
  }

  /// Whether an observer has the beacon inside.
  func hears(_ observer: ObserverID) -> Bool { hearings.contains { $0.observer == observer && !$0.isDark } }

  /// An observer went down or stopped scanning; one that did not have the beacon inside makes no difference.
  mutating func goDark(_ observer: ObserverID, time: Timestamp, lastHeard: Timestamp?, evidence: Evidence) {
    guard let index = index(of: observer) else { return }
    isDirty = true
    if !hearings[index].isDark {
      hearings[index].isDark = true
      hearings[index].time = time
      hearings[index].lastHeard = time
    }
    hearings[index].lastHeard = lastHeard ?? hearings[index].lastHeard
    hearings[index].evidence = evidence
  }

  /// The observer that is only assumed to have the beacon inside, if one is.
  var assumedHearer: ObserverID? { hearings.first(where: \.isAssumed)?.observer }

  /// Gives up an assumed state that no observer has confirmed.
  mutating func giveUpAssumption(at time: Timestamp) {
    var evidence = Evidence(rule: .neverHeard)
    evidence.window = patience
    evidence.gap = patience + max(.zero, time - assumptionDeadline)
    isDirty = true
    assumptionDeadline = .distantFuture
    let observer = assumedHearer
    hearings.removeAll(where: \.isAssumed)
    farewell = Farewell(observer: observer, time: time, lastHeard: .distantPast, evidence: evidence)
  }

  /// The beacon is no longer watched although it may be there: never an exit.
  mutating func evict(at time: Timestamp) -> Change? {
    guard state == .inside else { return nil }
    lastKnown = state
    state = .unmonitored
    return Change(
      from: .inside,
      to: .unmonitored,
      time: max(time, changedAt),
      enteredAt: enteredAt,
      evidence: Evidence(rule: .eviction)
    )
  }

  /// Draws the conclusion: the change of state, if there is one.
  ///
  /// Any live observer that has the beacon inside settles the matter. If none does, it is unmonitored as long as an
  /// observer that is down heard it no earlier than the last live one that lost it; otherwise it is outside.
  mutating func settle() -> Change? {
    guard isDirty else { return nil }
    isDirty = false
    var settled: Change?
    if let hearing = earliest() {
      settled = conclude(.inside, hearing.time, hearing.observer, hearing.evidence)
    } else if let hearing = latestInTheDark() {
      settled = conclude(.unmonitored, hearing.time, hearing.observer, hearing.evidence)
    } else if let farewell {
      hearings.removeAll(keepingCapacity: true)
      settled = conclude(.outside, farewell.time, farewell.observer, farewell.evidence)
    }
    return settled
  }

  private mutating func conclude(
    _ next: RegionState,
    _ time: Timestamp,
    _ observer: ObserverID?,
    _ evidence: Evidence
  ) -> Change? {
    guard next != state else { return nil }
    var change = Change(
      from: state,
      to: next,
      time: max(time, changedAt),
      observer: observer,
      evidence: evidence
    )
    let known = state == .unmonitored ? lastKnown : state
    switch next {
    case .inside:
      change.isEnter = known != .inside
      if change.isEnter { enteredAt = change.time }
    case .outside:
      change.isExit = known == .inside
      change.enteredAt = enteredAt
      enteredAt = nil
    case .unmonitored, .unknown:
      change.enteredAt = enteredAt
    }
    lastKnown = next == .unmonitored ? known : next
    if next != .unmonitored { holdDeadline = .distantFuture }
    state = next
    changedAt = change.time
    return change
  }

  private func index(of observer: ObserverID) -> Int? { hearings.firstIndex { $0.observer == observer } }

  private func earliest() -> Hearing? {
    hearings.lazy.filter { !$0.isDark }.min { $0.time < $1.time }
  }

  private func latestInTheDark() -> Hearing? {
    let bound = farewell?.lastHeard ?? .distantPast
    return hearings.lazy.filter { $0.isDark && $0.lastHeard >= bound }.max { $0.lastHeard < $1.lastHeard }
  }
}
