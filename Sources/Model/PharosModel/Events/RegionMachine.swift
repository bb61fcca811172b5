package import PharosDocuments

/// The state of one subject relative to one region, and the only rule by which it changes.
///
/// A wanted state and its time go in, a ``Change`` comes out:
///
/// 1. The present state again is no change.
/// 2. The times of a region never go back: a change that is reported with an earlier time than the last one takes the
///    time of the last one.
/// 3. While the region is unmonitored the last known state is kept. The state that follows is compared with it, so that
///    only a real difference is an enter or an exit.
/// 4. A visit begins with the enter and lasts through outages until the exit. A change that ends it, interrupts it or
///    continues it states its beginning.
///
/// The engine, stage two and the geofences decide with ``change(to:at:)``. Readers of events follow a published change
/// with ``follow(_:at:)`` and reach the same state.
package struct RegionMachine: Hashable, Sendable {
  /// A state that an observer can find.
  private enum Known: Hashable, Sendable {
    case unknown, outside
    /// In a visit, which began at a time if that is known.
    case inside(since: Timestamp?)

    /// Makes the state of a name.
    ///
    /// A visit begins at a time. Of a region that is only said to be unmonitored nothing is known.
    init(_ state: RegionState, since: Timestamp?) {
      self = state == .inside ? .inside(since: since) : state == .outside ? .outside : .unknown
    }
  }

  /// The last known state, which is the present one while the region is monitored.
  private var known: Known
  private var isMonitored: Bool
  /// The time of the last change, or the distant past.
  package private(set) var changedAt = Timestamp.distantPast

  /// The present state.
  package var state: RegionState { isMonitored ? lastKnown : .unmonitored }

  /// The present state; while it is `unmonitored`, the one before.
  package var lastKnown: RegionState {
    switch known {
    case .unknown: .unknown
    case .inside: .inside
    case .outside: .outside
    }
  }

  /// Starts in a state that is assumed.
  ///
  /// - Parameters:
  ///   - state: the state.
  ///   - lastKnown: the state before it, if it is `unmonitored`.
  ///   - since: the time at which monitoring began: the start of the visit, if the state is `inside`.
  package init(assuming state: RegionState, lastKnown: RegionState = .unknown, since: Timestamp) {
    isMonitored = state != .unmonitored
    known = isMonitored ? Known(state, since: since) : Known(lastKnown, since: nil)
    if state == .inside { changedAt = since }
  }

  /// The start of the visit, if the last known state is `inside`.
  package var enteredAt: Timestamp? { if case .inside(let since) = known { since } else { nil } }

  /// A change of state that is ready to be published.
  package struct Change: Hashable, Sendable {
    /// The state before.
    package let from: RegionState
    /// The state now.
    package let to: RegionState
    /// The last known state before.
    package let before: RegionState
    /// The time of the change.
    package let time: Timestamp
    /// The start of the visit that was open before the change, if one was.
    package let enteredAt: Timestamp?

    /// The kind of the event that follows that of the state itself; nil if only the state changes.
    package var announcement: EventKind? {
      switch to {
      case .inside: before != .inside ? .regionEnter : nil
      case .outside: before == .inside ? .regionExit : nil
      case .unmonitored: .regionUnmonitored
      case .unknown: nil
      }
    }

    /// Returns the kind of the event that follows that of the state itself, if the region wants one.
    package func announcement(for region: Region) -> EventKind? {
      switch announcement {
      case .regionEnter where !region.notifyOnEntry, .regionExit where !region.notifyOnExit: nil
      case let kind: kind
      }
    }
  }

  /// Changes to a state; returns nil if that is the present one.
  package mutating func change(to next: RegionState, at time: Timestamp) -> Change? {
    guard next != state else { return nil }
    return move(to: next, at: max(time, changedAt))
  }

  /// Follows a change that was published, which is right where it contradicts what is known.
  ///
  /// Events may be missing between two changes, and a change may be followed twice.
  @discardableResult
  package mutating func follow(_ transition: RegionTransition, at time: Timestamp) -> Change {
    isMonitored = transition.from != .unmonitored
    if isMonitored, transition.from != lastKnown { known = Known(transition.from, since: nil) }
    let change = move(to: transition.to, at: time)
    if case .inside(let since) = known { known = .inside(since: transition.enteredAt ?? since) }
    return change
  }

  /// Restores what the last event said, which is newer than everything else that is known.
  mutating func restore(
    _ state: RegionState,
    lastKnown: RegionState,
    enteredAt entered: Timestamp?,
    at time: Timestamp
  ) {
    isMonitored = state != .unmonitored
    let since = entered ?? enteredAt
    known = isMonitored ? Known(state, since: since ?? time) : Known(lastKnown, since: since)
    changedAt = max(changedAt, time)
  }

  private mutating func move(to next: RegionState, at time: Timestamp) -> Change {
    let change = Change(from: state, to: next, before: lastKnown, time: time, enteredAt: enteredAt)
    isMonitored = next != .unmonitored
    if isMonitored { known = Known(next, since: enteredAt ?? time) }
    changedAt = time
    return change
  }
}

extension RegionMachine: FieldStruct {
  /// Makes a value whose fields are still to be read.
  package init() { self.init(assuming: .unknown, since: .distantPast) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (state, since) = (lastKnown, enteredAt)
    try coder.code(&state)
    try coder.code(&since)
    known = Known(state, since: since)
    try coder.code(&isMonitored)
    try coder.code(&changedAt)
  }
}
