public import PharosReports

extension Event {
  /// The same decision with all its times told by a wall clock that was set by so much since.
  ///
  /// What was decided, its id and its place in the order stay; spans such as the length of a visit stay too, since both
  /// their ends move.
  ///
  /// - Parameter step: by how much the clock was set, forward being positive.
  /// - Returns: the event as it is to be published.
  public func told(withClockSetBy step: TimeSpan) -> Event {
    guard step != .zero else { return self }
    var event = self
    event.time = time + step
    event.decidedAt = decidedAt + step
    switch detail {
    case .region(var transition):
      transition.enteredAt = transition.enteredAt.map { $0 + step }
      transition.evidence.lastHeard = transition.evidence.lastHeard.map { $0 + step }
      transition.evidence.fixedRuleAt = transition.evidence.fixedRuleAt.map { $0 + step }
      event.detail = .region(transition)
    case .observer(var transition):
      transition.lastHeard = transition.lastHeard.map { $0 + step }
      event.detail = .observer(transition)
    case .regionLimit, .ranging, .zone, .battery, .clockStep, .authorisation, .notification, .fix:
      break
    }
    return event
  }
}
