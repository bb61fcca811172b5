package import PharosModel

/// The verdict of a gate on an event.
package enum GateVerdict: Hashable, Sendable {
  /// The event is not published.
  case withhold
  /// The event is published to the live streams of the applications that may learn of it, and to no other reader.
  case live
  /// The event is published to all readers, and the journal keeps it.
  case always
}

/// A snapshot of the authorisations: a value, so that a whole batch is judged alike and without a lock.
///
/// An application may learn of a thing unless an entry denies it, and of a person only if an entry allows it.
///
/// An event that is for all applications (a zone, an outage) is published to all readers if at least one application
/// may always learn of its subject, and otherwise to the live streams of the applications that may while in use.
package struct AuthorisationView: Sendable {
  struct Key: Hashable, Sendable {
    let application: String
    let subject: SubjectID
  }

  var entries: [Key: AuthorisationEntry] = [:]
  /// The applications that have an entry about a subject.
  var applications: [SubjectID: Set<String>] = [:]
  var persons = Persons()

  /// A Boolean value that is true if there are no entries and no persons, so that every event is published.
  package var isOpen: Bool { entries.isEmpty && persons.isEmpty }

  /// Returns what an application may learn about a subject.
  package func state(application: String, subject: SubjectID) -> AuthorisationState {
    if let entry = entries[Key(application: application, subject: subject)] { return entry.state }
    return persons.contains(subject) ? .notDetermined : .always
  }

  /// Returns whether the operator may learn where a subject is or was: of a person, only what an application may always learn.
  package func allowsHistory(of subject: SubjectID) -> Bool {
    guard !isOpen, persons.contains(subject) else { return true }
    return (applications[subject] ?? []).contains { state(application: $0, subject: subject) == .always }
  }

  /// Returns the verdict on an event that has just been decided.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - liveApplications: the applications that have a live stream open.
  /// - Returns: the verdict.
  package func gate(_ event: Event, liveApplications: Set<String>) -> GateVerdict {
    guard isJudged(event) else { return .always }
    let states: [(application: String, state: AuthorisationState)]
    if event.application.isEmpty {
      guard persons.contains(event.subject) else { return .always }
      states = (applications[event.subject] ?? []).map { application in
        (application, state(application: application, subject: event.subject))
      }
    } else {
      states = [
        (event.application, state(application: event.application, subject: event.subject))
      ]
    }
    if states.contains(where: { $0.state == .always }) { return .always }
    let isLive = states.contains { $0.state == .whenInUse && liveApplications.contains($0.application) }
    return isLive ? .live : .withhold
  }

  /// Returns whether an event may be delivered now, regardless of the authorisations at the time of its decision.
  ///
  /// So a withdrawn authorisation also stops events that wait already, and events that a reader pages through later.
  ///
  /// - Parameters:
  ///   - event: the event to deliver.
  ///   - reader: the application that reads, or nil for the operator's readers.
  ///   - isLive: true if the reader is a live stream, false for webhooks and pages of history.
  /// - Returns: true if it may be delivered.
  package func allows(_ event: Event, to reader: String?, isLive: Bool) -> Bool {
    guard isJudged(event) else { return true }
    if let reader, event.application.isEmpty || event.application == reader {
      switch state(application: reader, subject: event.subject) {
      case .always: return true
      case .whenInUse: return isLive
      case .notDetermined, .restricted, .denied: return false
      }
    }
    return gate(event, liveApplications: []) == .always
  }

  /// Returns whether an event needs an authorisation.
  ///
  /// An event without a subject and an event that reports a changed authorisation need none.
  private func isJudged(_ event: Event) -> Bool {
    !isOpen && event.subject != .none && event.kind != .authorisationChanged
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

extension AuthorisationEntry: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(application)
    subject.write(to: &writer)
    state.write(to: &writer)
    since.write(to: &writer)
    writer.write(changes)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    application = try reader.text()
    subject = try SubjectID(from: &reader)
    state = try AuthorisationState(from: &reader)
    since = try Timestamp(from: &reader)
    changes = try reader.number(UInt64.self)
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
    self.beacons = Set(beacons.map(\.withoutUnseen))
  }

  /// A Boolean value that is true if no observer and no beacon is a person.
  package var isEmpty: Bool { observers.isEmpty && beacons.isEmpty }

  /// Returns whether a subject is a person.
  package func contains(_ subject: SubjectID) -> Bool {
    switch subject {
    case .none: false
    case .observer(let observer): observers.contains(observer)
    case .beacon(let beacon): !beacons.isEmpty && beacon.matched.contains(where: beacons.contains)
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
    case .beacon(let beacon): if let exact = beacon.matched.first { beacons.insert(exact) }
    }
  }
}

extension BeaconConstraint {
  /// The constraint without the parts that comparisons ignore: an address's kind, an instance's high bits.
  fileprivate var withoutUnseen: BeaconConstraint {
    switch self {
    case .proximity: self
    case .eddystone(let namespace, let instance):
      .eddystone(namespace, instance: instance.map { $0 & 0xFFFF_FFFF_FFFF })
    case .address(let address): .address(DeviceAddress(bits: address.bits, kind: .unknown))
    }
  }
}

extension BeaconID {
  /// The constraints that the identity satisfies, the most specific first; if an address is part of the key, also the
  /// address alone.
  fileprivate var matched: [BeaconConstraint] {
    let byAddress: [BeaconConstraint] = address.map { [.address($0)] } ?? []
    if let uuid {
      return byAddress + [
        .proximity(uuid, major: major, minor: minor),
        .proximity(uuid, major: major),
        .proximity(uuid, minor: minor),
        .proximity(uuid),
      ]
    }
    if let namespace {
      return byAddress + [.eddystone(namespace, instance: instance), .eddystone(namespace)]
    }
    return byAddress
  }
}
