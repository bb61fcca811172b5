package import PharosEvents
package import PharosReports

/// How far the deliveries to one receiver have come: what is kept so that a restart goes on where it stopped.
///
/// The journal is the only queue. A receiver has a cursor, through which everything is settled, and a subject that is
/// behind has a cursor of its own, so that its later events need not be listed.
package struct DeliveryLedger: Hashable, Sendable {
  /// Everything up to this sequence is settled, except what ``lanes`` say.
  package var cursor: Int64
  /// How many events were delivered.
  package var delivered: Int64 = 0
  /// Since when every attempt has failed, or nil while the receiver answers.
  package var failingSince: Timestamp?
  /// Whether it is switched off: then the journal keeps nothing for it.
  package var isPaused = false
  /// The subjects that are behind.
  package var lanes: [Lane] = []

  /// Makes a ledger that begins after a sequence.
  package init(cursor: Int64) { self.cursor = cursor }

  /// A subject that is behind the others, because its next event could not be delivered yet.
  package struct Lane: Hashable, Sendable {
    /// The subject.
    package var subject: SubjectID
    /// What was settled last of this subject.
    package var after: Int64
    /// The event that is to be delivered next, or 0 if it has not been looked up yet.
    package var head: Int64
    /// How often that was tried.
    package var attempts: Int
    /// When it was tried first.
    package var firstTried: Timestamp?
    /// When it is tried next.
    package var nextAttempt: Timestamp

    /// Makes a lane.
    package init(
      subject: SubjectID,
      after: Int64,
      head: Int64 = 0,
      attempts: Int = 0,
      firstTried: Timestamp? = nil,
      nextAttempt: Timestamp = .distantPast
    ) {
      self.subject = subject
      self.after = after
      self.head = head
      self.attempts = attempts
      self.firstTried = firstTried
      self.nextAttempt = nextAttempt
    }
  }
}

/// An event that was given up, kept so that it can be delivered after all.
package struct DeadLetter: Hashable, Sendable {
  /// Its sequence in the journal.
  package var sequence: Int64
  /// The event, which the journal itself may have dropped by now.
  package var event: Event
  /// When it was given up.
  package var diedAt: Timestamp
  /// How often it was tried.
  package var attempts: Int
  /// What went wrong at last.
  package var reason: String
  /// Whether it is being delivered once more.
  package var isReplayed: Bool

  /// Makes a dead letter.
  package init(
    sequence: Int64,
    event: Event,
    diedAt: Timestamp,
    attempts: Int,
    reason: String,
    isReplayed: Bool = false
  ) {
    self.sequence = sequence
    self.event = event
    self.diedAt = diedAt
    self.attempts = attempts
    self.reason = reason
    self.isReplayed = isReplayed
  }
}

/// What has changed in one receiver's deliveries since the last time it was written down.
package struct DeliveryUpdate: Hashable, Sendable {
  /// The receiver.
  package var receiver: String
  /// Everything up to this sequence is settled, except what the lanes say.
  package var cursor: Int64
  /// How many events were delivered in all.
  package var delivered: Int64
  /// Since when every attempt has failed.
  package var failingSince: Timestamp?
  /// Whether it is switched off: then the journal keeps nothing for it.
  package var isPaused = false
  /// The subjects that are behind, as far as they changed.
  package var lanes: [DeliveryLedger.Lane] = []
  /// The subjects that are behind no longer.
  package var caughtUp: [SubjectID] = []
  /// The events that were given up.
  package var dead: [DeadLetter] = []
  /// The dead letters that were delivered after all, by sequence.
  package var revived: [Int64] = []

  /// Makes an update that says how far the receiver has come and nothing else.
  package init(receiver: String, cursor: Int64, delivered: Int64, failingSince: Timestamp? = nil) {
    self.receiver = receiver
    self.cursor = cursor
    self.delivered = delivered
    self.failingSince = failingSince
  }
}
