package import PharosDocuments
package import PharosModel

/// A snapshot of the authorisations: a value, so that a whole batch is judged alike and without a lock.
///
/// A decision is about a device, however it is named: with and without its address in the key, by its address alone, as a
/// beacon and as an observer. Of several decisions about one device the strictest holds.
package struct AuthorisationView: Sendable {
  struct Key: Hashable, Sendable {
    let application: String
    let subject: SubjectID
  }

  /// Counts the changes.
  package private(set) var revision: UInt64 = 0
  private(set) var entries: [Key: AuthorisationEntry] = [:]
  private(set) var persons = Persons()
  /// The accuracies of the applications that have none or not always the full one.
  private(set) var accuracies: [String: AccuracyPolicy] = [:]
  /// The temporary full accuracies, by application.
  private(set) var temporary: [String: TemporaryAccuracy] = [:]
  /// What subjects share with others: requests, answers and what holds.
  private(set) var shares: [Share.Key: Share] = [:]
  /// The keys of accepted shares, by each form of the subject that shares.
  private var sharing: [SubjectID: Set<Share.Key>] = [:]
  /// The time at which the first of the shares ends; nil if none does.
  private(set) var firstEndOfShares: Timestamp?
  /// The applications that have an entry about a subject.
  private var applications: [SubjectID: Set<String>] = [:]
  /// The subjects with an entry, by each of their forms.
  private var subjects: [SubjectID: Set<SubjectID>] = [:]

  /// A Boolean value that is true if there are no entries, no persons and no reduced accuracies, so that every event is
  /// published.
  package var isOpen: Bool { entries.isEmpty && persons.isEmpty && accuracies.isEmpty }

  /// Returns how finely an application may learn of a subject; nil if it may not.
  ///
  /// This is the one function that decides what an application receives.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - subject: the subject.
  ///   - isLive: indicates whether it is for a live stream, or for what holds now while one is open.
  /// - Returns: the accuracy, or nil.
  package func access(application: String, subject: SubjectID, isLive: Bool) -> AccuracyAuthorisation? {
    switch state(application: application, subject: subject) {
    case .always: accuracy(of: application, isLive: isLive)
    case .whenInUse: isLive ? accuracy(of: application, isLive: isLive) : nil
    case .notDetermined, .restricted, .denied: nil
    }
  }

  /// Returns how finely a subject lets another one learn where it is; nil if it does not.
  ///
  /// Of several shares between two devices the strictest holds, as of decisions.
  package func shared(_ subject: SubjectID, with viewer: SubjectID) -> AccuracyAuthorisation? {
    guard !sharing.isEmpty else { return nil }
    let forms = viewer.forms
    return sharing(subject).filter { !$0.viewer.deviceForms.isDisjoint(with: forms) }
      .compactMap { shares[$0]?.accuracy }.min()
  }

  /// Returns whether a subject lets any other learn where it is.
  func isShared(_ subject: SubjectID) -> Bool { !sharing.isEmpty && !sharing(subject).isEmpty }

  private func sharing(_ subject: SubjectID) -> Set<Share.Key> {
    subject.forms.reduce(into: []) { $0.formUnion(sharing[$1] ?? []) }
  }

  /// Returns whether an application may speak for a subject: a decision lets it learn where the subject is.
  package func speaks(_ application: String, for subject: SubjectID) -> Bool {
    guard deciding(about: subject).contains(application) else { return false }
    return switch state(application: application, subject: subject) {
    case .always, .whenInUse: true
    case .notDetermined, .restricted, .denied: false
    }
  }

  /// Returns how finely an application may learn of subjects that it may learn of.
  package func accuracy(of application: String, isLive: Bool) -> AccuracyAuthorisation {
    guard let policy = accuracies[application] else { return .full }
    return switch temporary[application]?.end {
    case nil: policy.accuracy
    case .session: isLive ? .full : policy.accuracy
    case .at: .full
    }
  }

  /// Returns what an application may learn about a subject.
  package func state(application: String, subject: SubjectID) -> AuthorisationState {
    let states = decided(about: subject).compactMap {
      entries[Key(application: application, subject: $0)]?.state
    }
    return states.min { $0.rawValue < $1.rawValue } ?? (persons.contains(subject) ? .notDetermined : .always)
  }

  /// Returns the applications that have an entry about a subject in any of its forms.
  func deciding(about subject: SubjectID) -> Set<String> {
    decided(about: subject).reduce(into: []) { $0.formUnion(applications[$1] ?? []) }
  }

  /// The observers that are persons, or have an entry.
  var decidedObservers: Set<ObserverID> {
    entries.keys.reduce(into: persons.observers) { observers, key in
      if case .observer(let observer) = key.subject { observers.insert(observer) }
    }
  }

  /// Returns the subjects with an entry that mean a device.
  private func decided(about subject: SubjectID) -> Set<SubjectID> {
    guard !subjects.isEmpty else { return [] }
    return subject.forms.reduce(into: []) { $0.formUnion(subjects[$1] ?? []) }
  }

  mutating func insert(_ entry: AuthorisationEntry) {
    revision += 1
    entries[Key(application: entry.application, subject: entry.subject)] = entry
    applications[entry.subject, default: []].insert(entry.application)
    for form in entry.subject.deviceForms { subjects[form, default: []].insert(entry.subject) }
  }

  mutating func remove(_ key: Key) {
    revision += 1
    entries[key] = nil
    applications[key.subject]?.remove(key.application)
    guard applications[key.subject]?.isEmpty == true else { return }
    applications[key.subject] = nil
    for form in key.subject.deviceForms {
      subjects[form]?.remove(key.subject)
      if subjects[form]?.isEmpty == true { subjects[form] = nil }
    }
  }

  /// Replaces the entries and the shares by those that are stored.
  mutating func replace(entries stored: [AuthorisationEntry], shares others: [Share]) {
    let entries = Dictionary(stored.map { (Key(application: $0.application, subject: $0.subject), $0) }) {
      $1
    }
    for key in self.entries.keys where entries[key] == nil { remove(key) }
    for (key, entry) in entries where self.entries[key] != entry { insert(entry) }
    let shares = Dictionary(others.map { ($0.key, $0) }) { $1 }
    for key in self.shares.keys where shares[key] == nil { setShare(nil, of: key) }
    for (key, share) in shares where self.shares[key] != share { setShare(share, of: key) }
  }

  /// Makes, replaces or, without a value, ends a share.
  mutating func setShare(_ share: Share?, of key: Share.Key) {
    revision += 1
    shares[key] = share
    for form in key.subject.deviceForms {
      if share?.state == .accepted {
        sharing[form, default: []].insert(key)
      } else {
        sharing[form]?.remove(key)
        if sharing[form]?.isEmpty == true { sharing[form] = nil }
      }
    }
    firstEndOfShares = shares.values.compactMap(\.until).min()
  }

  /// Ends the shares whose end has come.
  mutating func endShares(at now: Timestamp) {
    for (key, share) in shares where share.until.map({ $0 <= now }) ?? false { setShare(nil, of: key) }
  }

  /// Sets the accuracies of the applications, and ends the temporary ones of those whose policy changes.
  mutating func setAccuracies(_ policies: [String: AccuracyPolicy]) {
    revision += 1
    let before = accuracies
    accuracies = policies.filter { $0.value.accuracy.isReduced }
    temporary = temporary.filter { accuracies[$0.key] == before[$0.key] }
  }

  /// Begins or, without a value, ends the temporary full accuracy of an application.
  mutating func setTemporary(_ accuracy: TemporaryAccuracy?, of application: String) {
    revision += 1
    temporary[application] = accuracy
  }

  mutating func setPersons(_ persons: Persons) {
    revision += 1
    self.persons = persons
  }
}

extension SubjectID {
  /// The identities that a decision about this one, and nothing wider, is filed under: itself, and its address.
  fileprivate var deviceForms: Set<SubjectID> { Set([self] + (deviceAddress.map { [.beacon($0)] } ?? [])) }

  /// The identities under which decisions about this one are found: those of its device, and the beacon without its
  /// address in the key.
  fileprivate var forms: Set<SubjectID> {
    guard case .beacon(let beacon) = self else { return deviceForms }
    return deviceForms.union([.beacon(beacon.unkeyed)])
  }

  /// The device by its address alone, where the identity has one.
  private var deviceAddress: BeaconID? {
    switch self {
    case .observer(.eui48(let bits)): .address(DeviceAddress(bits: bits, kind: .unknown))
    case .beacon(let beacon): beacon.address.map { .address($0) }
    case .observer, .none: nil
    }
  }
}

/// A decision on what an application may learn about a subject.
package struct AuthorisationEntry: Hashable, Sendable {
  /// The application.
  package let application: String
  /// The subject.
  package let subject: SubjectID
  /// The state of the authorisation.
  package let state: AuthorisationState
  /// The time of the last change.
  package let since: Timestamp
  /// The number of changes, which is part of the ids of the events that report them.
  let changes: UInt64
}

extension AuthorisationEntry: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    AuthorisationEntry(
      application: try coder.field(value().application),
      subject: try coder.field(value().subject),
      state: try coder.field(value().state),
      since: try coder.field(value().since),
      changes: try coder.field(value().changes)
    )
  }
}

/// The observers and beacons that people carry; events about them are withheld unless an authorisation allows them.
package struct Persons: Hashable, Sendable {
  /// The handsets.
  package var observers: Set<ObserverID>
  /// The tags: single ones, or all that share a UUID, a namespace or an address.
  package var beacons: Set<BeaconConstraint>

  /// Creates a set of persons.
  package init(observers: Set<ObserverID> = [], beacons: Set<BeaconConstraint> = []) {
    self.observers = observers
    self.beacons = Set(beacons.map(\.normal))
  }

  /// A Boolean value that is true if no observer and no beacon is a person.
  package var isEmpty: Bool { observers.isEmpty && beacons.isEmpty }

  /// Returns whether a subject is a person.
  package func contains(_ subject: SubjectID) -> Bool {
    switch subject {
    case .none: false
    case .observer(let observer):
      if observers.contains(observer) {
        true
      } else if case .eui48(let bits) = observer {
        beacons.contains(.address(DeviceAddress(bits: bits, kind: .unknown)))
      } else {
        false
      }
    case .beacon(let beacon):
      !beacons.isEmpty && beacon.namingConstraints.contains(where: beacons.contains)
        || !observers.isEmpty && beacon.address.map { observers.contains(.eui48($0.bits)) } ?? false
    }
  }

  /// Returns the union of two sets.
  func union(_ other: Persons) -> Persons {
    var all = self
    all.observers.formUnion(other.observers)
    all.beacons.formUnion(other.beacons)
    return all
  }

  /// Adds a single subject.
  mutating func insert(_ subject: SubjectID) {
    switch subject {
    case .none: break
    case .observer(let observer): observers.insert(observer)
    case .beacon(let beacon): if let exact = beacon.namingConstraints.first { beacons.insert(exact) }
    }
  }
}
