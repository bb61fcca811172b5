import PharosEvents
package import PharosJournal
package import PharosReports

/// Whose events come one after the other: a subject, apart from what is replayed of it.
package struct DeliveryLane: Hashable, Sendable {
  /// The subject.
  package var subject: SubjectID
  /// Whether these are dead letters that are delivered once more.
  package var isReplay: Bool

  /// Makes a lane.
  package init(_ subject: SubjectID, isReplay: Bool = false) {
    self.subject = subject
    self.isReplay = isReplay
  }
}

/// One attempt to deliver an event.
package struct DeliveryAttempt: Hashable, Sendable {
  /// Whose events it belongs to.
  package var lane: DeliveryLane
  /// The event and its sequence.
  package var entry: JournaledEvent
  /// The how-manieth attempt it is, from 1.
  package var number: Int

  /// Makes an attempt.
  package init(lane: DeliveryLane, entry: JournaledEvent, number: Int) {
    self.lane = lane
    self.entry = entry
    self.number = number
  }
}

/// What is to be done next.
package enum DeliveryStep: Hashable, Sendable {
  /// An event is sent, and its outcome given to the schedule.
  case send(DeliveryAttempt)
  /// An event was given up without another attempt, because its receiver has been down for so long.
  case giveUp(DeliveryAttempt, reason: String)
}

/// What is to be read from the journal next.
package enum DeliveryLoad: Hashable, Sendable {
  /// The events after a sequence.
  case onward(after: Int64, limit: Int)
  /// The events of one subject after a sequence.
  case lane(DeliveryLane, after: Int64, limit: Int)
}

/// What becomes of an event when an attempt has ended.
package enum DeliveryVerdict: Hashable, Sendable {
  /// It is delivered.
  case delivered
  /// It is tried again, not before this instant.
  case again(Timestamp)
  /// It is given up.
  case dead(reason: String)
  /// The receiver wants no more events.
  case stopped
}
