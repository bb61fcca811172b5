package import PharosDocuments
package import PharosJournal
package import PharosModel
import Synchronization

/// The authorisations: what each application may learn about each subject, as in Core Location, and for what purpose.
///
/// They are stored in the journal. A change takes effect once it is stored, and results in an event.
package final class Authorisations: Sendable {
  /// The maximum number of decisions, each about one application and subject.
  package static let limit = 200_000

  struct State {
    var view = AuthorisationView()
    /// The persons by the site's declaration; `markedPersons` are those marked over HTTP.
    var declaredPersons = Persons()
    var markedPersons: Set<SubjectID> = []
    var declaredPurposes: [String: String] = [:]
    var purposes: [String: String] = [:]
    /// The accuracies by the site's declaration; `policies` are those set over HTTP.
    var declaredPolicies: [String: AccuracyPolicy] = [:]
    var policies: [String: AccuracyPolicy] = [:]

    mutating func gatherPersons() {
      let persons = persons(without: .none)
      if persons != view.persons { view.setPersons(persons) }
    }

    /// The persons, except one whose mark is being removed.
    func persons(without unmarked: SubjectID) -> Persons {
      var persons = declaredPersons
      for subject in markedPersons where subject != unmarked { persons.insert(subject) }
      return persons
    }
  }

  package let store: any DocumentStore<JournalError>
  /// The steady time, by which temporary full accuracies end.
  let uptime: @Sendable () -> TimeSpan
  /// The wall clock, by which shares end.
  let clock: @Sendable () -> Timestamp
  /// The looks at those who share where they are.
  package let looks: Looks
  let state = Mutex(State())
  /// The functions that are called after each change.
  private let taps = Mutex<[@Sendable () -> Void]>([])
  /// A lock held while a change is stored and applied, so that two changes of one entry cannot overtake each other.
  let changing = Mutex(())

  /// Reads the stored authorisations.
  ///
  /// - Parameters:
  ///   - store: the journal.
  ///   - uptime: returns the steady time.
  ///   - clock: returns the time of the wall clock.
  /// - Throws: `AccessError.store` where the journal cannot be read, or `.damaged`.
  package init(
    store: any DocumentStore<JournalError>,
    uptime: @escaping @Sendable () -> TimeSpan = Authorisations.systemUptime(),
    clock: @escaping @Sendable () -> Timestamp = { MachineClock().now }
  ) throws(AccessError) {
    self.store = store
    self.uptime = uptime
    self.clock = clock
    looks = try Looks(store: store)
    try Authorisations.dropEndedShares(in: store, at: clock())
    try reload()
  }

  /// Reads all again that another server may have changed.
  package func reload() throws(AccessError) {
    let shares: [Share] = try store.decoded(kind: DocumentKind.share).map(\.value)
    let entries: [AuthorisationEntry] = try store.decoded(kind: DocumentKind.authorisation).map(\.value)
    let purposes: [(key: String, value: String)] = try store.decoded(kind: DocumentKind.purpose)
    let persons: [SubjectID] = try store.decoded(kind: DocumentKind.person).map(\.value)
    let policies: [(key: String, value: AccuracyPolicy)] = try store.decoded(kind: DocumentKind.accuracy)
    let now = clock()
    update { state in
      state.policies = Dictionary(policies.map { ($0.key, $0.value) }) { $1 }
      state.gatherAccuracies()
      state.view.replace(entries: entries, shares: shares.filter { $0.until.map { $0 > now } ?? true })
      state.purposes = Dictionary(purposes.map { ($0.key, $0.value) }) { $1 }
      state.markedPersons = Set(persons)
      state.gatherPersons()
    }
  }

  /// The current authorisations, by which to judge a batch.
  package var view: AuthorisationView {
    state.withLock { state in
      state.endExpired(at: uptime, clock)
      return state.view
    }
  }

  /// Makes a steady clock of the system that starts at zero.
  package static func systemUptime() -> @Sendable () -> TimeSpan {
    let start = ContinuousClock.now
    return { .seconds((ContinuousClock.now - start).inSeconds) }
  }

  /// Calls a function after each change, on the thread of the change; it must return at once.
  package func tap(_ changed: @escaping @Sendable () -> Void) { taps.withLock { $0.append(changed) } }

  func update(_ change: (inout State) -> Void) {
    let isChanged = state.withLock { state in
      let before = state.view.revision
      change(&state)
      return state.view.revision != before
    }
    guard isChanged else { return }
    for changed in taps.withLock({ $0 }) { changed() }
  }

  /// Applies the site's declarations: at the start, and again whenever the site is reloaded.
  ///
  /// - Parameters:
  ///   - persons: the persons.
  ///   - purposes: the purposes of the applications; empty ones do not count.
  ///   - accuracies: the accuracies of the applications.
  package func declare(
    persons: Persons,
    purposes: [String: String],
    accuracies: [String: AccuracyPolicy] = [:]
  ) {
    update { state in
      state.declaredPersons = persons
      state.declaredPolicies = accuracies
      state.gatherAccuracies()
      state.declaredPurposes = purposes.filter { !$0.value.isEmpty }
      state.gatherPersons()
    }
  }

  /// Returns what an application may learn about a subject.
  package func state(application: String, subject: SubjectID) -> AuthorisationState {
    view.state(application: application, subject: subject)
  }

  /// Returns the decisions for an application, ordered by subject.
  package func list(application: String) -> [AuthorisationEntry] {
    view.entries.values.filter { $0.application == application }.sorted { $0.subject < $1.subject }
  }

  /// Changes what an application may learn about a subject, and whether it is marked as a person, both or neither.
  ///
  /// - Parameters:
  ///   - wanted: the new state; nil to leave it.
  ///   - isPerson: indicates whether the subject is marked as a person; nil to leave the mark.
  ///   - application: the application.
  ///   - subject: the subject.
  ///   - principal: the author of the change; only the operator may set or remove `restricted`.
  ///   - stream: the name of the stream, which is part of the event's id.
  ///   - now: the present time.
  /// - Returns: the event that reports the change, or nil if nothing has changed.
  /// - Throws: `AccessError`, in which case nothing has changed.
  package func set(
    _ wanted: AuthorisationState?,
    isPerson: Bool? = nil,
    application: String,
    subject: SubjectID,
    by principal: Principal,
    stream: String,
    at now: Timestamp
  ) throws(AccessError) -> Event? {
    guard subject != .none else { throw .noSubject }
    let key = AuthorisationView.Key(application: application, subject: subject)
    return try changing.withLock { _ throws(AccessError) in
      let mark = try isPerson.map { isPerson throws(AccessError) in try marking(subject, isPerson: isPerson) }
      var view = view
      if let isPerson {
        var persons = state.withLock { $0.persons(without: subject) }
        if isPerson { persons.insert(subject) }
        view.setPersons(persons)
      }
      let change = try wanted.flatMap { wanted throws(AccessError) in
        try changing(to: wanted, key, in: view, by: principal, stream: stream, at: now)
      }
      let both = (mark ?? PendingChange()).and(change?.change ?? PendingChange())
      try store.carryOut(both)
      return change?.event
    }
  }

  private func changing(
    to wanted: AuthorisationState,
    _ key: AuthorisationView.Key,
    in view: AuthorisationView,
    by principal: Principal,
    stream: String,
    at now: Timestamp
  ) throws(AccessError) -> (change: PendingChange, event: Event?)? {
    let before = view.entries[key]
    let from = view.state(application: key.application, subject: key.subject)
    guard before == nil || from != wanted else { return nil }
    guard principal.isOperator || from != .restricted && wanted != .restricted else {
      throw .operatorOnly(application: key.application, subject: key.subject, from: from, to: wanted)
    }
    let purpose = purpose(of: key.application) ?? ""
    let grants = wanted == .always || wanted == .whenInUse
    if grants, purpose.isEmpty, view.persons.contains(key.subject) {
      throw .purposeMissing(application: key.application)
    }
    if before == nil, view.entries.count >= Authorisations.limit {
      throw .tooMany(what: "authorisations", limit: Authorisations.limit)
    }
    let entry = AuthorisationEntry(
      application: key.application,
      subject: key.subject,
      state: wanted,
      since: now,
      changes: (before?.changes ?? 0) + 1
    )
    let document = DocumentChange(
      kind: DocumentKind.authorisation,
      key: key.document,
      document: entry.encoded
    )
    let change = PendingChange(documents: [document]) { [self] in update { $0.view.insert(entry) } }
    let transition = AuthorisationTransition(from: from, to: wanted, purpose: purpose)
    return (change, from == wanted ? nil : entry.event(transition, stream: stream))
  }
}

extension AuthorisationView.Key {
  /// The key of its document.
  var document: String {
    Secret.key { writer in
      writer.write(application)
      subject.write(to: &writer)
    }
  }
}

extension AuthorisationEntry {
  /// Returns the event that reports the change to this entry.
  fileprivate func event(_ transition: AuthorisationTransition, stream: String) -> Event {
    Event(
      stream: stream,
      kind: .authorisationChanged,
      time: since,
      decidedAt: since,
      stage: 0,
      subject: subject,
      application: application,
      counter: changes,
      detail: .authorisation(transition)
    )
  }
}

extension Authorisations {
  /// Returns the purpose of an application's authorisations, set over HTTP or else declared by the site; nil if there
  /// is none.
  package func purpose(of application: String) -> String? {
    state.withLock { $0.purposes[application] ?? $0.declaredPurposes[application] }
  }

  /// Returns the change that sets the purpose of an application's authorisations.
  ///
  /// - Parameters:
  ///   - purpose: the sentences that people read.
  ///   - application: the application.
  /// - Returns: the change.
  /// - Throws: `AccessError.badPurpose` if it is empty or too long.
  package func settingPurpose(
    _ purpose: String,
    application: String
  ) throws(AccessError) -> PendingChange {
    let isBlank = purpose.utf8.allSatisfy { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
    guard !isBlank, purpose.unicodeScalars.count <= Application.maximumPurpose else {
      throw .badPurpose(application: application, limit: Application.maximumPurpose)
    }
    return PendingChange(
      documents: [DocumentChange(kind: DocumentKind.purpose, key: application, document: purpose.encoded)]
    ) { [self] in state.withLock { $0.purposes[application] = purpose } }
  }

  /// Returns the change that removes the decisions, the purpose and the accuracy of an application that no longer exists.
  package func forgetting(application: String) -> PendingChange {
    let keys = list(application: application).map {
      AuthorisationView.Key(application: application, subject: $0.subject)
    }
    var change = PendingChange {
      [self] in
      update { state in
        for key in keys { state.view.remove(key) }
        state.purposes[application] = nil
        state.policies[application] = nil
        state.gatherAccuracies()
      }
    }
    change.documents = keys.map { DocumentChange(kind: DocumentKind.authorisation, key: $0.document) }
    if state.withLock({ $0.purposes[application] }) != nil {
      change.documents.append(DocumentChange(kind: DocumentKind.purpose, key: application))
    }
    if state.withLock({ $0.policies[application] }) != nil {
      change.documents.append(DocumentChange(kind: DocumentKind.accuracy, key: application))
    }
    return change
  }

  /// The subjects that were marked as persons over HTTP, in addition to those that the site declares.
  package var markedPersons: [SubjectID] { state.withLock { $0.markedPersons }.sorted() }

  /// Returns whether a subject is a person, by the site's declaration or by a mark.
  package func isPerson(_ subject: SubjectID) -> Bool { view.persons.contains(subject) }

  /// Marks a subject as a person, or removes the mark; the site's declarations are unaffected.
  ///
  /// - Throws: `AccessError`, in which case nothing has changed.
  package func mark(_ subject: SubjectID, isPerson: Bool) throws(AccessError) {
    try store.carryOut(marking(subject, isPerson: isPerson))
  }

  private func marking(_ subject: SubjectID, isPerson: Bool) throws(AccessError) -> PendingChange {
    guard subject != .none else { throw .noSubject }
    let key = Secret.key { subject.write(to: &$0) }
    if isPerson {
      guard state.withLock({ $0.markedPersons.count }) < Authorisations.limit else {
        throw .tooMany(what: "persons", limit: Authorisations.limit)
      }
    }
    let document = DocumentChange(
      kind: DocumentKind.person,
      key: key,
      document: isPerson ? subject.encoded : nil
    )
    return PendingChange(documents: [document]) { [self] in
      update { state in
        if isPerson { state.markedPersons.insert(subject) } else { state.markedPersons.remove(subject) }
        state.gatherPersons()
      }
    }
  }
}

/// The counts of the removed authorisation data of a subject.
package struct ErasedAuthorisations: Hashable, Sendable {
  /// Decisions on what applications may learn about it.
  package var authorisations = 0
  /// Marks as a person, set over HTTP.
  package var persons = 0
  /// What it shared with others, and others with it.
  package var shares = 0
  /// Looks of others at it, and its looks at others.
  package var looks = 0

  /// Creates counts of zero.
  package init() {}
}

extension Authorisations {
  /// Removes all decisions about a subject.
  ///
  /// A subject that the site file marks as a person stays one; only the owner of the file can change that.
  ///
  /// - Returns: the counts of the removed data.
  /// - Throws: `AccessError.store`; the call may be repeated.
  package func erase(_ traces: SubjectTraces) throws(AccessError) -> ErasedAuthorisations {
    try changing.withLock { _ throws(AccessError) in
      var erased = ErasedAuthorisations()
      let (entries, persons, shares) = state.withLock { state in
        (
          state.view.entries.keys.filter { traces.contains($0.subject) },
          state.markedPersons.filter { traces.contains($0) },
          state.view.shares.keys.filter { traces.contains($0.subject) || traces.contains($0.viewer) }
        )
      }
      try store.carryOut(
        entries.map { DocumentChange(kind: DocumentKind.authorisation, key: $0.document) }
          + persons.map { subject in
            DocumentChange(kind: DocumentKind.person, key: Secret.key { subject.write(to: &$0) })
          } + shares.map { DocumentChange(kind: DocumentKind.share, key: $0.document) }
      )
      update { state in
        for key in entries { state.view.remove(key) }
        for key in shares { state.view.setShare(nil, of: key) }
        state.markedPersons.subtract(persons)
        state.gatherPersons()
      }
      erased.authorisations = entries.count
      erased.persons = persons.count
      erased.shares = shares.count
      erased.looks = try looks.erase(traces)
      return erased
    }
  }
}
