package import PharosJournal
package import PharosReports
import Synchronization

extension Notifications {
  /// Forgets a subject, in memory and where it is written down.
  ///
  /// - Returns: how many kept states named it: 1 or 0.
  /// - Throws: ``WebhookError/journal(_:)``.
  package func forget(_ traces: SubjectTraces) throws(WebhookError) -> Int {
    shared.withLock { $0.forgotten.append(traces) }
    bell.ring()
    return try Notifications.forget(traces, keptIn: journal)
  }

  /// Forgets a subject where the state of a server that does not run is written down.
  ///
  /// - Returns: how many kept states named it: 1 or 0.
  /// - Throws: ``WebhookError/journal(_:)``.
  package static func forget(_ traces: SubjectTraces, keptIn journal: Journal) throws(WebhookError) -> Int {
    try WebhookError.journal { () throws(JournalError) in
      guard let document = try journal.document(kind: stateKind, key: "") else { return 0 }
      var machine = NotificationMachine(stream: journal.stream)
      var reader = FieldReader(document[...])
      guard let cursor = try? reader.number(Int64.self), (try? machine.restoreState(from: &reader)) != nil
      else {
        // What cannot be read is of no use to anybody: it may name whom it will.
        try journal.delete(kind: stateKind, key: "")
        return 1
      }
      guard machine.forget(traces) else { return 0 }
      var writer = FieldWriter()
      writer.write(cursor)
      machine.writeState(to: &writer)
      try journal.put(writer.bytes, kind: stateKind, key: "")
      return 1
    }
  }
}
