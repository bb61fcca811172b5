package import PharosJournal
package import PharosModel

/// A lane of events that are delivered one after the other: those of a topic, or the replayed dead letters of a subject.
package struct DeliveryLane: Hashable, Sendable {
  /// The topic.
  package var topic: DeliveryTopic
  /// Indicates whether the events are dead letters that are delivered once more.
  package var isReplay: Bool

  /// Makes a lane.
  package init(_ topic: DeliveryTopic, isReplay: Bool = false) {
    self.topic = topic
    self.isReplay = isReplay
  }
}

/// One attempt to deliver an event.
package struct DeliveryAttempt: Hashable, Sendable {
  /// The lane of the event.
  package var lane: DeliveryLane
  /// The event and its sequence.
  package var entry: JournaledEvent
  /// The number of the attempt, from 1.
  package var number: Int

  /// Makes an attempt.
  package init(lane: DeliveryLane, entry: JournaledEvent, number: Int) {
    self.lane = lane
    self.entry = entry
    self.number = number
  }
}

/// The next step of the caller.
package enum DeliveryStep: Hashable, Sendable {
  /// Send an event, and pass its outcome to the schedule.
  case send(DeliveryAttempt)
  /// An event was given up without another attempt, because its subject or its receiver has failed for too long.
  case giveUp(DeliveryAttempt, reason: String)
}

/// The next read of the journal.
package enum DeliveryLoad: Hashable, Sendable {
  /// The events after a sequence.
  case onward(after: Int64, limit: Int)
  /// The events of one topic after a sequence.
  case lane(DeliveryLane, after: Int64, limit: Int)
}

/// The decision on an event after an attempt.
package enum DeliveryVerdict: Hashable, Sendable {
  /// It is delivered.
  case delivered
  /// It is retried, not before this instant.
  case again(Timestamp)
  /// It is given up and becomes a dead letter.
  case dead(reason: String)
  /// The receiver accepts no further events.
  case stopped
}

/// The outcome of an attempt to deliver an event.
package enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver accepted it: any status from 200 to 299.
  case delivered
  /// The receiver did not accept it, or could not be reached.
  ///
  /// `reason` describes the failure; `retryAfter` is the time for which the receiver asks to get no requests.
  case failed(reason: String, retryAfter: TimeSpan?)
  /// The receiver wants no events ever again: status 410.
  case gone

  /// Creates the outcome for an HTTP status; redirects are not followed, since a signed event is for one address alone.
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

/// The times and limits of deliveries.
package struct DeliverySettings: Hashable, Sendable {
  /// The longest wait after the first failure; it doubles with every further one.
  package var firstDelay = TimeSpan.seconds(1)
  /// The longest wait between attempts: a receiver that is repaired after hours gets events again within it.
  package var maximumDelay = TimeSpan.minutes(15)
  /// The time after which an event that still fails becomes a dead letter: long enough for an outage of a night and a
  /// morning.
  package var giveUpAfter = TimeSpan.minutes(24 * 60)
  /// The time limit of one attempt, from the connection to the end of the response.
  package var timeout = TimeSpan.seconds(15)
  /// The number of events held in memory: enough to keep 64 requests going while the journal is read.
  package var readAhead = 256
  /// The number of events of one subject held in memory; a subject that has more is behind and no longer delays others.
  package var laneReadAhead = 16
  /// The number of subjects that may be behind before reading on stops; each takes about 200 bytes.
  package var laneLimit = 10_000
  /// The number of subjects that must fail without a success in between before the receiver is considered down and is
  /// only probed.
  ///
  /// With fewer, the waits of the subjects spare the receiver enough. A receiver that fails half of the time for its
  /// own reasons reaches the number once in 65 thousand attempts.
  package var subjectsUntilDown = 16
  /// The interval at which the delivery state is saved: events settled within it may be delivered twice after a crash.
  package var saveInterval = TimeSpan.milliseconds(200)
  /// The number of changes (settled events and changed lanes) that are saved without waiting for the interval.
  package var saveLimit = 1_024
  /// The maximum number of dead letters of a webhook; the oldest are deleted and counted.
  package var deadLimit = 10_000

  /// Creates the default settings.
  package init() {}

  /// Returns the wait after a number of failures: a random part of a bound that doubles, so that subjects that failed
  /// together do not retry together.
  ///
  /// - Parameters:
  ///   - failures: the number of failed attempts, from 1.
  ///   - jitter: a random number from 0 up to 1.
  /// - Returns: the wait.
  /// - Source: "full jitter", Exponential Backoff And Jitter, AWS Architecture Blog, 2015.
  package func delay(afterFailures failures: Int, jitter: Double) -> TimeSpan {
    var bound = firstDelay
    var doublings = max(failures, 1) - 1
    while doublings > 0, bound < maximumDelay {
      bound = bound + bound
      doublings -= 1
    }
    return min(bound, maximumDelay) * min(max(jitter, 0), 1)
  }
}
