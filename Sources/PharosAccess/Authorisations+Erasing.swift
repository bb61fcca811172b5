package import PharosReports
import PharosJournal
import Synchronization

/// What was removed of a subject among the authorisations.
package struct ErasedAuthorisations: Hashable, Sendable {
  /// What applications were allowed or refused to learn about it.
  package var authorisations = 0
  /// That it is a person, as somebody has said over HTTP.
  package var persons = 0

  /// Starts with nothing removed.
  package init() {}
}

extension Authorisations {
  /// Removes all decisions about a subject.
  ///
  /// A subject that the site file marks as a person stays one; only the owner of the file can change that.
  ///
  /// - Returns: what was removed.
  /// - Throws: `AccessError.store`; the call may be repeated.
  package func erase(_ traces: SubjectTraces) throws(AccessError) -> ErasedAuthorisations {
    try changing.withLock { _ throws(AccessError) in
      var erased = ErasedAuthorisations()
      let (entries, persons) = state.withLock { state in
        (
          state.view.entries.keys.filter { traces.contains($0.subject) },
          state.markedPersons.filter { traces.contains($0) }
        )
      }
      for key in entries {
        try store.forget(kind: DocumentKind.authorisation, key: key.document)
        state.withLock { $0.view.remove(key) }
        erased.authorisations += 1
      }
      for subject in persons {
        try store.forget(kind: DocumentKind.person, key: Secret.key { subject.write(to: &$0) })
        state.withLock { state in
          state.markedPersons.remove(subject)
          state.gatherPersons()
        }
        erased.persons += 1
      }
      return erased
    }
  }
}
