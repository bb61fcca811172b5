import PharosEvents
import PharosReports

/// Whose reports count.
extension StageOne {
  /// The observers that are heard and do not count, as far as they are kept, in the order of their identities.
  public func quarantine() -> [QuarantinedObserver] { quarantined.observers }

  /// Whether an observer's reports count.
  func isAdmitted(_ id: ObserverID) -> Bool {
    site.admission == .open || entries[id] != nil || accepted.contains(id)
  }

  /// An observer whose reports do not count is heard: told once, and counted.
  mutating func quarantine(_ id: ObserverID, into output: inout StageOutput) {
    count { $0.quarantined += 1 }
    guard quarantined.note(id, at: current) else { return }
    output.events.append(
      Event(
        stream: stream,
        kind: .observerQuarantined,
        time: current,
        decidedAt: current,
        stage: 1,
        subject: .observer(id),
        counter: UInt64(bitPattern: current.nanoseconds),
        detail: .observer(ObserverTransition())
      )
    )
  }

  /// An observer's reports count from now on.
  mutating func accept(_ id: ObserverID) {
    accepted.insert(id)
    quarantined.remove(id)
  }

  /// Lets those go who do not count any more.
  mutating func dismissStrangers(into output: inout StageOutput) {
    guard site.admission == .listed else {
      quarantined.removeAll { _ in true }
      return
    }
    quarantined.removeAll { entries[$0] != nil }
    for index in states.indices where states[index].isLive && !isAdmitted(states[index].id) {
      letGo(index, into: &output)
      if states[index].isUp { link(isUp: false, at: current, of: index, into: &output) }
    }
    for cell in cells.indices { cells[cell].removeAll { !states[Int($0)].isLive } }
  }
}
