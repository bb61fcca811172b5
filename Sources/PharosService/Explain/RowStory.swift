import PharosReports

/// What happened to one subject and one region: the states that Pharos told, and what fixed rules would have told of
/// the same adverts.
package struct RowStory {
  /// A state, and since when.
  struct Turn: Hashable {
    var time: Timestamp
    var state: RegionState
  }

  /// The rules by which the region debounces, as they were last.
  var rules: PresencePolicy?
  /// Pharos' states, in order.
  private(set) var turns: [Turn] = []
  /// The fixed rules, told every advert that any observer which counts has heard.
  package private(set) var fixed = FixedRule.timeouts.map(FixedRule.init)

  package init() {}

  /// An advert was heard.
  package mutating func hear(at time: Timestamp) {
    for index in fixed.indices { fixed[index].hear(at: time) }
  }

  /// Pharos told a state.
  package mutating func turn(to state: RegionState, at time: Timestamp) {
    turns.append(Turn(time: time, state: state))
  }

  /// Time ends.
  package mutating func finish(at time: Timestamp) {
    for index in fixed.indices { fixed[index].finish(at: time) }
  }

  /// Returns the state at an instant: that of the last change up to then.
  func state(at time: Timestamp) -> RegionState { turns.last { $0.time <= time }?.state ?? .unknown }

  /// Returns the last state before a turn other than unmonitored; unknown if there is none.
  package func known(before turn: Int) -> RegionState {
    turns[..<turn].last { $0.state != .unmonitored }?.state ?? .unknown
  }

  /// Whether Pharos says that the subject stayed all the time: inside, or not monitored and inside again afterwards.
  package func isStay(_ range: ClosedRange<Timestamp>) -> Bool {
    guard state(at: range.lowerBound) == .inside, state(at: range.upperBound) == .inside else { return false }
    return !turns.contains { $0.state == .outside && range.contains($0.time) }
  }

  /// The time after an exit within which an enter takes the exit back.
  ///
  /// One minute, because a person who leaves a house stays away for longer.
  static let returnSpan = TimeSpan.minutes(1)

  /// How many of Pharos' own exits an enter took back.
  package var returns: Int {
    let visits = visits
    return zip(visits, visits.dropFirst()).count { visit, next in
      visit.left.map { next.entered - $0 <= RowStory.returnSpan } ?? false
    }
  }

  /// The stays, as Pharos tells them; the last one may go on.
  package var visits: [(entered: Timestamp, left: Timestamp?)] {
    var visits: [(entered: Timestamp, left: Timestamp?)] = []
    for (index, turn) in turns.enumerated() {
      switch turn.state {
      case .inside where visits.last.map { $0.left != nil } ?? true:
        visits.append((turn.time, nil))
      case .outside where visits.last.map { $0.left == nil } ?? false:
        visits[visits.count - 1].left = turns[index].time
      case .inside, .outside, .unknown, .unmonitored: break
      }
    }
    return visits
  }
}
