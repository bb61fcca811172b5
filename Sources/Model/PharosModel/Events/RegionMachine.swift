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
  /// The present state.
  package private(set) var state: RegionState
  /// The present state; while it is `unmonitored`, the one before.
  package private(set) var lastKnown: RegionState
  /// The start of the visit, or the distant future.
  private var entered = Timestamp.distantFuture
  /// The time of the last change, or the distant past.
  package private(set) var changedAt = Timestamp.distantPast

  /// Starts in a state that is assumed.
  ///
  /// - Parameters:
  ///   - state: the state.
  ///   - lastKnown: the state before it, if it is `unmonitored`.
  ///   - since: the time at which monitoring began: the start of the visit, if the state is `inside`.
  package init(assuming state: RegionState, lastKnown: RegionState = .unknown, since: Timestamp) {
    self.state = state
    self.lastKnown = state != .unmonitored ? state : lastKnown == .unmonitored ? .unknown : lastKnown
    guard state == .inside else { return }
    (entered, changedAt) = (since, since)
  }

  /// The start of the visit, if the last known state is `inside`.
  package var enteredAt: Timestamp? { entered == .distantFuture ? nil : entered }

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
    if transition.from != .unmonitored, transition.from != lastKnown {
      lastKnown = transition.from
      entered = .distantFuture
    }
    state = transition.from
    let change = move(to: transition.to, at: time)
    if lastKnown == .inside, let enteredAt = transition.enteredAt { entered = enteredAt }
    return change
  }

  /// Restores what the last event said, which is newer than everything else that is known.
  package mutating func restore(_ record: PublishedState.RegionRecord) {
    state = record.state
    lastKnown = record.state == .unmonitored ? record.lastKnown : record.state
    if lastKnown != .inside { entered = .distantFuture }
    if lastKnown == .inside, let enteredAt = record.enteredAt { entered = enteredAt }
    if state == .inside, entered == .distantFuture { entered = record.time }
    changedAt = max(changedAt, record.time)
  }

  private mutating func move(to next: RegionState, at time: Timestamp) -> Change {
    let change = Change(from: state, to: next, before: lastKnown, time: time, enteredAt: enteredAt)
    switch next {
    case .inside: if entered == .distantFuture { entered = time }
    case .outside, .unknown: entered = .distantFuture
    case .unmonitored: break
    }
    state = next
    if next != .unmonitored { lastKnown = next }
    changedAt = time
    return change
  }
}

extension RegionMachine: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let state = try coder.field(value().state)
    let lastKnown = try coder.field(value().lastKnown)
    let enteredAt = try coder.field(value().enteredAt)
    let isKnown = state == .unmonitored ? lastKnown != .unmonitored : lastKnown == state
    var machine = RegionMachine(assuming: state, lastKnown: lastKnown, since: .distantPast)
    machine.changedAt = try coder.field(value().changedAt)
    machine.entered = lastKnown == .inside ? enteredAt ?? .distantFuture : .distantFuture
    try coder.check(isKnown, "a state of a region")
    return machine
  }
}
