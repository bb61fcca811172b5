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

/// How an attempt to deliver an event ended.
package enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver took it: any status from 200 to 299.
  case delivered
  /// It did not, or could not be reached.
  ///
  /// `reason` says what happened; `retryAfter` is how long the receiver asks to be left alone.
  case failed(reason: String, retryAfter: TimeSpan?)
  /// The receiver wants no more, ever: status 410.
  case gone

  /// What an HTTP status means; redirects are not followed, since a signed event is for one address alone.
  ///
  /// - Source: Standard Webhooks 1.0 on statuses; RFC 9110, 10.2.3 on Retry-After.
  package init(status: Int, retryAfter: TimeSpan?) {
    switch status {
    case 200..<300: self = .delivered
    case 410: self = .gone
    case 300..<400:
      self = .failed(
        reason: "status \(status): redirects are not followed; give the final address",
        retryAfter: nil
      )
    default: self = .failed(reason: "status \(status)", retryAfter: retryAfter)
    }
  }
}

/// The times and bounds of deliveries.
package struct DeliverySettings: Hashable, Sendable {
  /// The longest wait after the first failure; it doubles with every further one.
  package var firstDelay = TimeSpan.seconds(1)
  /// The longest wait there is: a receiver that is repaired after hours hears from us within it.
  package var longestDelay = TimeSpan.minutes(15)
  /// How long an event is tried before it becomes a dead letter: what an outage over night and a morning takes.
  package var giveUpAfter = TimeSpan.minutes(24 * 60)
  /// How long one attempt may take, from the connection to the end of the answer.
  package var timeout = TimeSpan.seconds(15)
  /// How many events are held ready: enough to keep 64 requests going while the journal is read.
  package var readAhead = 256
  /// How many events of one subject are held ready; one that has more is behind, and no longer in the way of others.
  package var laneReadAhead = 16
  /// How many subjects may be behind before nothing further is read; each takes about 200 bytes.
  package var laneLimit = 10_000
  /// How many subjects must fail without a success between before the receiver itself is taken to be down and is only
  /// probed: with fewer, their own waits spare it enough, and one that fails half of the time for its own reasons comes
  /// there once in 65 thousand attempts.
  package var subjectsUntilDown = 16
  /// How often what was settled is written down: what a crash may deliver a second time.
  package var saveInterval = TimeSpan.milliseconds(200)
  /// How many events may be settled before that is written down without waiting for the interval.
  package var saveLimit = 1_024
  /// How many dead letters a webhook keeps; the oldest give way, and are counted.
  package var deadLimit = 10_000

  /// The usual times and bounds.
  package init() {}

  /// The wait after so many failures: anything up to a bound that doubles, so that those who failed together do not
  /// come back together.
  ///
  /// - Parameters:
  ///   - failures: how many attempts have failed, from 1.
  ///   - jitter: a random number from 0 up to 1.
  /// - Returns: the wait.
  /// - Source: "full jitter", Exponential Backoff And Jitter, AWS Architecture Blog, 2015.
  package func delay(afterFailures failures: Int, jitter: Double) -> TimeSpan {
    var bound = firstDelay
    var doublings = max(failures, 1) - 1
    while doublings > 0, bound < longestDelay {
      bound = bound + bound
      doublings -= 1
    }
    return min(bound, longestDelay) * min(max(jitter, 0), 1)
  }
}
