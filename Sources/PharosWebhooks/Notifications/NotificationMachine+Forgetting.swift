import PharosEvents
import PharosEvents
package import PharosReports

extension NotificationMachine {
  /// Forgets a subject: when it was spoken of, how long it has stayed, what was to be said of it.
  ///
  /// - Returns: whether there was anything.
  @discardableResult
  package mutating func forget(_ traces: SubjectTraces) -> Bool {
    let before = spoken.count + stays.count + outbox.count
    spoken = spoken.filter { !traces.contains($0.key.subject) }
    stays = stays.filter { !traces.contains($0.key.subject) }
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
    for index in outbox.indices.reversed() where traces.contains(outbox[index].subject) {
      outbox.remove(at: index)
      if index < handedOut { handedOut -= 1 }
    }
    return spoken.count + stays.count + outbox.count != before
  }
}
