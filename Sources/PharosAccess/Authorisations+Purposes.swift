package import PharosReports
import Synchronization

extension Authorisations {
  /// What an application says that it needs its authorisations for: what was said over HTTP, else what the site
  /// declares; nil if it never said.
  package func purpose(of application: String) -> String? {
    state.withLock { $0.purposes[application] ?? $0.declaredPurposes[application] }
  }

  /// Takes what an application says that it needs its authorisations for.
  ///
  /// - Parameters:
  ///   - purpose: sentences for people.
  ///   - application: the application.
  /// - Throws: `AccessError.badPurpose` where it is empty or too long; `.store` where it could not be kept.
  package func setPurpose(_ purpose: String, application: String) throws(AccessError) {
    let isBlank = purpose.utf8.allSatisfy { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
    guard !isBlank, purpose.utf8.count <= Authorisations.longestPurpose else {
      throw .badPurpose(application: application, limit: Authorisations.longestPurpose)
    }
    try store.keep(purpose, kind: DocumentKind.purpose, key: application)
    state.withLock { $0.purposes[application] = purpose }
  }

  /// Forgets all that was decided for an application that is no more.
  ///
  /// - Throws: `AccessError.store` where it could not be forgotten; what was not, still holds.
  package func forget(application: String) throws(AccessError) {
    for entry in list(application: application) {
      let key = AuthorisationView.Key(application: application, subject: entry.subject)
      try store.forget(kind: DocumentKind.authorisation, key: key.document)
      state.withLock { $0.view.remove(key) }
    }
    guard state.withLock({ $0.purposes[application] }) != nil else { return }
    try store.forget(kind: DocumentKind.purpose, key: application)
    state.withLock { $0.purposes[application] = nil }
  }

  /// The subjects that were marked as persons here, beside those that the site declares.
  package var markedPersons: [SubjectID] { state.withLock { $0.markedPersons }.sorted() }

  /// Whether a subject is a person, by the site's declaration or by a mark.
  package func isPerson(_ subject: SubjectID) -> Bool { view.persons.contains(subject) }

  /// Marks a subject as a person, or takes the mark away; what the site declares stays.
  ///
  /// - Throws: `AccessError`, in which case nothing has changed.
  package func mark(_ subject: SubjectID, isPerson: Bool) throws(AccessError) {
    guard subject != .none else { throw .noSubject }
    let key = Secret.key { subject.write(to: &$0) }
    if isPerson {
      guard state.withLock({ $0.markedPersons.count }) < Authorisations.limit else {
        throw .tooMany(what: "persons", limit: Authorisations.limit)
      }
      try store.keep(subject, kind: DocumentKind.person, key: key)
    } else {
      try store.forget(kind: DocumentKind.person, key: key)
    }
    state.withLock { state in
      if isPerson { state.markedPersons.insert(subject) } else { state.markedPersons.remove(subject) }
      state.gatherPersons()
    }
  }
}

extension AuthorisationView {
  mutating func remove(_ key: Key) {
    entries[key] = nil
    applications[key.subject]?.remove(key.application)
    if applications[key.subject]?.isEmpty == true { applications[key.subject] = nil }
  }
}
