/// One published decision: what, about whom, when, and why.
public struct Event: Hashable, Sendable {
  /// Identifies the decision: the same one carries the same id in every replay and second delivery.
  public let id: EventID
  /// The kind of decision.
  public let kind: EventKind
  /// The time of the event; for an exit its deadline, not the moment at which the server noticed it.
  public internal(set) var time: Timestamp
  /// The time of the decision, computed from inputs alone; events are published in this order.
  public internal(set) var decidedAt: Timestamp
  /// The stage that decided: 0 the server itself, 1 what one observer hears, 2 what compares observers.
  public let stage: UInt8
  /// The subject of the decision.
  public let subject: SubjectID
  /// The application it is for, or an empty string where it is for all.
  public let application: String
  /// The region, zone or place of a visit that it is about, or an empty string where there is none.
  public let region: String
  /// Orders what one subject's decisions leave equal otherwise.
  public let ordinal: UInt64
  /// The details of the decision.
  public internal(set) var detail: EventDetail
}

extension Event {
  /// Makes an event and its id.
  ///
  /// - Parameters:
  ///   - stream: the name of the stream, which is part of the id.
  ///   - kind: the kind of decision.
  ///   - time: the time of the event.
  ///   - decidedAt: the time of the decision.
  ///   - stage: the stage that decided.
  ///   - subject: the subject of the decision.
  ///   - application: the application that the decision is for.
  ///   - region: the region or zone that the decision is about.
  ///   - counter: the number of earlier decisions of this kind for this subject, application and region; with them and
  ///     the stream it makes the id.
  ///   - ordinal: orders events that are equal otherwise.
  ///   - detail: the details of the decision.
  public init(
    stream: String,
    kind: EventKind,
    time: Timestamp,
    decidedAt: Timestamp,
    stage: UInt8,
    subject: SubjectID,
    application: String = "",
    region: String = "",
    counter: UInt64,
    ordinal: UInt64 = 0,
    detail: EventDetail
  ) {
    let id = EventID(
      stream: stream,
      application: application,
      region: region,
      subject: subject,
      kind: kind.rawValue,
      counter: counter
    )
    self.init(
      id: id,
      kind: kind,
      time: time,
      decidedAt: decidedAt,
      stage: stage,
      subject: subject,
      application: application,
      region: region,
      ordinal: ordinal,
      detail: detail
    )
  }
}

extension Event {
  /// Returns whether an event is published before another: by decision time, stage, subject, application, region,
  /// ordinal and kind, so that the order depends neither on threads nor on batches.
  ///
  /// Events of one subject and region at one instant are in the order in which they happened, which the ordinal counts:
  /// an exit that waited for proof of life may be followed by an enter at the instant of that proof.
  ///
  /// Zones are ordered by kind before name: a beacon leaves one before it enters the next.
  public static func isOrderedBefore(_ left: Event, _ right: Event) -> Bool {
    if left.decidedAt != right.decidedAt { return left.decidedAt < right.decidedAt }
    if left.stage != right.stage { return left.stage < right.stage }
    if left.subject != right.subject { return left.subject < right.subject }
    if left.application != right.application {
      return left.application.utf8.lexicographicallyPrecedes(right.application.utf8)
    }
    let (leftRegion, rightRegion) = (
      left.kind.isZone ? "" : left.region, right.kind.isZone ? "" : right.region
    )
    if leftRegion != rightRegion { return leftRegion.utf8.lexicographicallyPrecedes(rightRegion.utf8) }
    if left.kind.isZone != right.kind.isZone { return right.kind.isZone }
    if !left.kind.isZone, left.ordinal != right.ordinal { return left.ordinal < right.ordinal }
    if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
    return left.ordinal < right.ordinal
  }
}

extension Event {
  /// Returns the same decision with all its times shifted by a later step of the wall clock.
  ///
  /// The decision, its id and its place in the order stay the same. Spans such as the length of a visit stay too, since
  /// both their ends move.
  ///
  /// - Parameter step: the step of the clock, positive if it was set forward.
  /// - Returns: the event to publish.
  public func restamped(withClockSetBy step: TimeSpan) -> Event {
    guard step != .zero else { return self }
    var event = self
    event.time = time + step
    event.decidedAt = decidedAt + step
    var walk = MemberWalk(step: step)
    event.detail = detail.walked(by: &walk)
    return event
  }
}

extension Event {
  /// Returns the same event, decided at another instant: the one at which it takes its place in the stream.
  package func announced(at instant: Timestamp) -> Event {
    var event = self
    event.decidedAt = instant
    return event
  }

  /// Returns the same decision with another detail: what a reader may learn of it.
  package func with(_ detail: EventDetail) -> Event {
    var event = self
    event.detail = detail
    return event
  }

  /// Returns the event without the identities in its detail that a reader may not learn of.
  ///
  /// A member that names one is left out, and so is a reading that is of or by one. An event that has nothing to tell
  /// without them is nil.
  ///
  /// - Parameter hides: returns whether the reader may not learn of an identity.
  /// - Returns: the event, and true if it differs from this one.
  package func without(_ hides: @escaping (SubjectID) -> Bool) -> (event: Event, isStripped: Bool)? {
    var walk = MemberWalk(hides: hides)
    let detail = detail.walked(by: &walk)
    guard !walk.isHidden else { return nil }
    return walk.isStripped ? (with(detail), true) : (self, false)
  }
}
