import PharosJournal
package import PharosModel
package import PharosPublishing

/// The one gate: everything that the server sends to a reader passes it, with all identities that it names.
///
/// An identity is an observer or a beacon in any role: the subject of an event, a beacon in a list of ranged ones, the
/// observer that heard it. An application may learn of a thing unless a decision denies it, and of a person only if a
/// decision allows it. The operator's readers (tokens, pages, MQTT, webhooks of no application) may learn what at least
/// one application may always learn. A subject that looks for its friends may learn where those are that share it with
/// it: an accepted ``Share`` is a ground of its own, which only a denial to the application takes away that it looks through.
///
/// What is about a hidden identity does not pass; what merely names one passes without it. What is about an identity of which
/// the reader may learn with reduced accuracy alone passes as far as that allows (`Event.reduced(to:)`). Stores hold everything, and
/// every read judges by the present authorisations, so that a withdrawal takes effect at once wherever data wait.
package struct Gate: Sendable {
  /// A reader.
  package enum Reader: Hashable, Sendable {
    /// The operator.
    case `operator`
    /// An application; `isLive` is true for its live streams, and for what holds now while one of them is open.
    case application(String, isLive: Bool)
    /// A subject, through an application that speaks for it: it learns where those are that share it with the subject.
    ///
    /// Through the operator, whose application is nil, it learns of those alone of which the operator may learn as well.
    case viewer(SubjectID, through: String?)
  }

  /// The kinds of events that say where a subject is: those that a viewer receives.
  package static let sharedKinds: Set<EventKind> = [.fix, .zoneEnter, .zoneExit]

  /// The authorisations.
  package let view: AuthorisationView
  /// The reader.
  package let reader: Reader

  /// Makes the gate of a reader.
  package init(_ view: AuthorisationView, for reader: Reader) {
    self.view = view
    self.reader = reader
  }

  /// A gate that everything passes, where there are neither persons nor decisions.
  package static let open = Gate(AuthorisationView(), for: .operator)

  /// Indicates whether everything passes.
  package var isOpen: Bool {
    if case .viewer = reader { false } else { view.isOpen }
  }

  /// Returns how finely the reader may learn of an identity; nil if it may not.
  ///
  /// - Parameters:
  ///   - identity: the observer or beacon; none for what is about no single one, such as a number.
  ///   - application: the application whose data name it; empty for data that are for all applications.
  /// - Returns: the accuracy, or nil.
  package func access(to identity: SubjectID, of application: String = "") -> AccuracyAuthorisation? {
    if case .viewer(let viewer, let application) = reader {
      return access(to: identity, by: viewer, through: application)
    }
    guard !view.isOpen else { return .full }
    if case .application(let name, let isLive) = reader, application.isEmpty || application == name {
      guard identity != .none else { return view.accuracy(of: name, isLive: isLive) }
      return view.access(application: name, subject: identity, isLive: isLive)
    }
    guard application.isEmpty else {
      guard identity != .none else { return view.accuracy(of: application, isLive: false) }
      return view.access(application: application, subject: identity, isLive: false)
    }
    guard view.persons.contains(identity) else { return .full }
    let isAllowed = view.deciding(about: identity).contains {
      view.state(application: $0, subject: identity) == .always
    }
    return isAllowed ? .full : nil
  }

  /// Returns how finely an identity lets a viewer learn where it is, as far as it lets the application.
  private func access(
    to identity: SubjectID,
    by viewer: SubjectID,
    through application: String?
  ) -> AccuracyAuthorisation? {
    guard let shared = view.shared(identity, with: viewer) else { return nil }
    guard let application else {
      return Gate(view, for: .operator).access(to: identity).map { min($0, shared) }
    }
    switch view.state(application: application, subject: identity) {
    case .denied, .restricted: return nil
    case .notDetermined, .whenInUse, .always:
      return min(shared, view.accuracy(of: application, isLive: true))
    }
  }

  /// Returns whether the reader may learn of an identity, at whatever accuracy.
  package func shows(_ identity: SubjectID, of application: String = "") -> Bool {
    access(to: identity, of: application) != nil
  }

  /// Returns whether the reader may learn all about an identity: its regions, what it hears and what hears it, its way.
  package func showsFully(_ identity: SubjectID, of application: String = "") -> Bool {
    access(to: identity, of: application) == .full
  }

  /// Returns the filter by which stored events are searched for the reader: without the kinds that its accuracy keeps back
  /// and without the places, which are compared once an event is reduced.
  ///
  /// What is found is then no sign of what was not shown.
  package func searched(_ filter: EventFilter) -> EventFilter {
    guard let accuracy = access(to: .none), accuracy.isReduced else { return filter }
    var searched = filter
    let kinds = filter.kinds ?? Set(EventKind.allCases)
    searched.kinds = kinds.filter { $0.coarsestAccuracy <= accuracy }
    (searched.regions, searched.observers) = (nil, nil)
    return searched
  }

  /// Returns an event as the reader may learn it: without the hidden identities that it names, or nil if it is about
  /// one.
  ///
  /// An event that reports a changed authorisation always passes.
  package func passed(_ event: Event) -> Event? { judged(event)?.event }

  /// Returns a published event as the reader may learn it, or nil.
  package func passed(_ published: PublishedEvent) -> PublishedEvent? {
    guard let (event, isStripped) = judged(published.event) else { return nil }
    return isStripped ? published.replacingEvent(event) : published
  }

  /// Returns an event that still matches the filter by which the reader found it, so that a filter cannot ask for a
  /// hidden identity.
  package func passed(_ event: Event, matching filter: EventFilter) -> Event? {
    guard let event = passed(event), isOpen || filter.matches(event) else { return nil }
    return event
  }

  /// Returns the record of a subject's state towards a region as the reader may learn it, or nil.
  package func passed(_ record: PublishedState.RegionRecord) -> PublishedState.RegionRecord? {
    guard !isOpen else { return record }
    guard showsFully(record.subject, of: record.application) else { return nil }
    var passed = record
    passed.refinement = record.refinement.flatMap { shows(.beacon($0), of: record.application) ? $0 : nil }
    passed.observer = record.observer.flatMap { shows(.observer($0), of: record.application) ? $0 : nil }
    return passed
  }

  /// Returns states as the reader may learn them.
  package func passed(_ state: PublishedState) -> PublishedState {
    guard !isOpen else { return state }
    var passed = state
    passed.regions = state.regions.compactMap { self.passed($0) }
    passed.zones.removeAll { access(to: .beacon($0.beacon)).map { $0 < .zone } ?? true }
    passed.observers.removeAll { !shows(.observer($0.observer)) }
    passed.visits = state.visits.compactMap { record in
      self.passed(record.visit, of: record.subject).map { visit in
        var passed = record
        passed.visit = visit
        return passed
      }
    }
    return passed
  }

  /// Returns a visit of a subject as the reader may learn it, or nil.
  package func passed(_ visit: VisitDetail, of subject: SubjectID) -> VisitDetail? {
    access(to: subject).map { visit.reduced(to: $0, of: subject) }
  }

  private func judged(_ event: Event) -> (event: Event, isStripped: Bool)? {
    if case .viewer = reader, !Gate.sharedKinds.contains(event.kind) { return nil }
    guard !isOpen, event.kind != .authorisationChanged else { return (event, false) }
    guard let accuracy = access(to: event.subject, of: event.application),
      let reduced = event.reduced(to: accuracy),
      let (passed, isStripped) = reduced.without({ !names($0, in: event) })
    else { return nil }
    return (passed, isStripped || accuracy.isReduced)
  }

  /// Returns whether the reader may learn of an identity that an event names.
  ///
  /// Guidance leads its subject to one that shares with it fully where it is, if the application speaks for the subject.
  func names(_ identity: SubjectID, in event: Event) -> Bool {
    if shows(identity, of: event.application) { return true }
    guard event.kind == .guidance, case .application(let name, _) = reader,
      view.speaks(name, for: event.subject)
    else { return false }
    return view.shared(identity, with: event.subject) == .full
  }
}

extension Gate {
  /// Returns whether a text names an identity that the reader may not learn of.
  ///
  /// - Complexity: the length of the text, times the number of observers that are persons or decided about.
  package func hidesWord(of text: String) -> Bool {
    guard !isOpen else { return false }
    let isPart = { (byte: UInt8) in
      UInt8(ascii: "0")...UInt8(ascii: ":") ~= byte || UInt8(ascii: "@")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "-")
        || byte == UInt8(ascii: "/")
    }
    let words = Set(text.utf8.split { !isPart($0) }.map { String(decoding: $0, as: UTF8.self) })
    let named = words.compactMap { word -> SubjectID? in
      if let beacon = BeaconID(word) { return .beacon(beacon) }
      guard case .eui48(let bits)? = ObserverID(word) else { return nil }
      return .observer(.eui48(bits))
    }
    if named.contains(where: { !shows($0) }) { return true }
    let observers = view.decidedObservers.filter { !shows(.observer($0)) }
    guard !observers.isEmpty else { return false }
    let bytes = Array(text.utf8)
    return observers.contains { SubjectTraces($0.description)?.isNamed(in: bytes) ?? false }
  }
}

extension AuthorisationView {
  /// Returns whether the operator may guide a subject to another: it may learn where that one is, or that one lets the subject.
  package func guides(_ subject: SubjectID, to target: SubjectID) -> Bool {
    Gate(self, for: .operator).showsFully(target) || shared(target, with: subject) == .full
  }

  /// Returns the gate of a reader: of an application, or of the operator for nil.
  package func gate(to application: String?, isLive: Bool) -> Gate {
    Gate(self, for: application.map { .application($0, isLive: isLive) } ?? .operator)
  }
}
