import PharosEvents
public import PharosJournal
public import PharosReports

/// Whose events come one after the other: a subject, apart from what is replayed of it.
public struct DeliveryLane: Hashable, Sendable {
  /// The subject.
  public var subject: SubjectID
  /// Whether these are dead letters that are delivered once more.
  public var isReplay: Bool

  /// Makes a lane.
  public init(_ subject: SubjectID, isReplay: Bool = false) {
    self.subject = subject
    self.isReplay = isReplay
  }
}

/// One attempt to deliver an event.
public struct DeliveryAttempt: Hashable, Sendable {
  /// Whose events it belongs to.
  public var lane: DeliveryLane
  /// The event and its sequence.
  public var entry: JournaledEvent
  /// The how-manieth attempt it is, from 1.
  public var number: Int

  /// Makes an attempt.
  public init(lane: DeliveryLane, entry: JournaledEvent, number: Int) {
    self.lane = lane
    self.entry = entry
    self.number = number
  }
}

/// What is to be done next.
public enum DeliveryStep: Hashable, Sendable {
  /// An event is sent, and its outcome given to the schedule.
  case send(DeliveryAttempt)
  /// An event was given up without another attempt, because its receiver has been down for so long.
  case giveUp(DeliveryAttempt, reason: String)
}

/// What is to be read from the journal next.
public enum DeliveryLoad: Hashable, Sendable {
  /// The events after a sequence.
  case onward(after: Int64, limit: Int)
  /// The events of one subject after a sequence.
  case lane(DeliveryLane, after: Int64, limit: Int)
}

/// What becomes of an event when an attempt has ended.
public enum DeliveryVerdict: Hashable, Sendable {
  /// It is delivered.
  case delivered
  /// It is tried again, not before this instant.
  case again(Timestamp)
  /// It is given up.
  case dead(reason: String)
  /// The receiver wants no more events.
  case stopped
}
