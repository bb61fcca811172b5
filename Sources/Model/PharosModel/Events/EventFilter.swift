/// The conditions for events, all of which an event must fulfil.
///
/// A member that is nil is no condition; no event fulfils an empty set. Names are compared byte by byte, so that a
/// search of the journal finds exactly the events that a live stream passes.
public struct EventFilter: Hashable, Sendable {
  /// The kinds wanted.
  public var kinds: Set<EventKind>?
  /// The applications wanted; an empty text stands for events that are for all of them.
  public var applications: Set<String>?
  /// The regions or zones wanted, by identifier.
  public var regions: Set<String>?
  /// The subjects wanted.
  public var subjects: Set<SubjectID>?
  /// The observers wanted: those that an event is about, or that its detail names as having heard.
  public var observers: Set<ObserverID>?
  /// The earliest event time wanted.
  public var since: Timestamp?
  /// The event time before which events are wanted.
  public var until: Timestamp?

  /// Makes a filter; without arguments, one that lets everything through.
  public init(
    kinds: Set<EventKind>? = nil,
    applications: Set<String>? = nil,
    regions: Set<String>? = nil,
    subjects: Set<SubjectID>? = nil,
    observers: Set<ObserverID>? = nil,
    since: Timestamp? = nil,
    until: Timestamp? = nil
  ) {
    self.kinds = kinds
    self.applications = applications
    self.regions = regions
    self.subjects = subjects
    self.observers = observers
    self.since = since
    self.until = until
  }

  /// A filter that lets everything through.
  public static let all = EventFilter()

  /// Indicates whether the filter passes every event.
  public var isAll: Bool { self == .all }

  /// Returns whether the filter passes an event.
  public func matches(_ event: Event) -> Bool {
    if let kinds, !kinds.contains(event.kind) { return false }
    if let since, event.time < since { return false }
    if let until, event.time >= until { return false }
    if let applications, !applications.names(event.application) { return false }
    if let regions, !regions.names(event.region) { return false }
    if let subjects, !subjects.names(event.subject) { return false }
    guard let observers else { return true }
    if case .observer(let observer) = event.subject, observers.names(observer) { return true }
    var walk = MemberWalk()
    _ = event.detail.walked(by: &walk)
    return walk.observers.contains { observers.names($0) }
  }
}

extension Set<String> {
  /// Returns whether the set contains exactly this text: a set takes canonically equivalent texts for equal.
  fileprivate func names(_ text: String) -> Bool {
    firstIndex(of: text).map { self[$0].utf8.elementsEqual(text.utf8) } ?? false
  }
}

extension Set<ObserverID> {
  fileprivate func names(_ observer: ObserverID) -> Bool {
    firstIndex(of: observer).map { self[$0].isSpelled(as: observer) } ?? false
  }
}

extension Set<SubjectID> {
  fileprivate func names(_ subject: SubjectID) -> Bool {
    guard let index = firstIndex(of: subject) else { return false }
    guard case .observer(let wanted) = self[index], case .observer(let observer) = subject else {
      return true
    }
    return wanted.isSpelled(as: observer)
  }
}

extension ObserverID {
  /// Returns whether an equal observer's name consists of the same bytes.
  fileprivate func isSpelled(as other: ObserverID) -> Bool {
    guard case .name(let name) = self, case .name(let otherName) = other else { return true }
    return name.utf8.elementsEqual(otherName.utf8)
  }
}
