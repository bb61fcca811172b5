import PharosEvents
import PharosJournal
import PharosEvents
import PharosJournal
package import PharosReports

extension DeliverySchedule {
  /// Forgets what was to be delivered of a subject, as it was erased from the journal.
  ///
  /// What is being sent at this moment ends as it may; nothing of it is tried again or written down.
  package mutating func forget(_ traces: SubjectTraces) {
    for (key, lane) in lanes where traces.contains(key.subject) {
      loadedCount -= lane.entries.count
      lanes[key] = nil
      flowing.remove(key)
      failed.remove(key)
      changedLanes.remove(key)
    }
    dead.removeAll { traces.contains($0.event.subject) }
  }
}
