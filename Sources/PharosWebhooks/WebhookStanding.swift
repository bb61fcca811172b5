import PharosEvents
package import PharosJournal
package import PharosReports

/// A webhook and how it fares.
package struct WebhookStanding: Hashable, Sendable {
  /// How a webhook fares, in a word.
  package enum State: String, Hashable, Sendable {
    /// The receiver takes what it is sent.
    case active
    /// The receiver has taken nothing since `failingSince`.
    case failing
    /// It is switched off.
    case disabled
  }

  /// The webhook.
  package var definition: WebhookDefinition
  /// Everything up to this sequence is settled, except what subjects that are behind still wait for.
  package var cursor: Int64
  /// How many sequences of the journal lie after the cursor, wanted or not.
  package var lag: Int64 = 0
  /// How many events were delivered since the webhook was made.
  package var delivered: Int64 = 0
  /// How many attempts have failed since the server started.
  package var failures: Int64 = 0
  /// How many events the journal had dropped before they could be delivered, since the server started.
  package var missed: Int64 = 0
  /// How many events are being sent.
  package var inFlight = 0
  /// How many subjects are behind the others because an event of theirs failed.
  package var subjectsBehind = 0
  /// How many events were given up and not delivered since.
  package var dead = 0
  /// Since when every attempt has failed.
  package var failingSince: Timestamp?
  /// When an event was delivered last, since the server started.
  package var lastDelivery: Timestamp?
  /// When an attempt failed last, since the server started.
  package var lastFailure: Timestamp?
  /// Why it failed.
  package var lastFailureReason: String?
  /// When the next attempt is due, if something waits for it.
  package var nextAttempt: Timestamp?

  /// Starts with nothing done.
  init(_ definition: WebhookDefinition, cursor: Int64) {
    self.definition = definition
    self.cursor = cursor
  }

  /// How it fares, in a word.
  package var state: State {
    definition.isEnabled ? failingSince == nil ? .active : .failing : .disabled
  }
}

extension WebhookStanding {
  /// The members of a listing that say how things are, and cannot be set.
  static let readOnlyMembers = [
    "id", "disabledBecause", "createdAt", "rotatesAt", "startsAfter", "state", "cursor", "lag", "delivered",
    "failures", "missed", "inFlight", "subjectsBehind", "dead", "failingSince", "lastDelivery", "lastFailure",
    "lastFailureReason", "nextAttempt",
  ]

  /// Writes the webhook and how it fares, as members of an object that is open; no secret is among them.
  package func write(to json: inout JSONText) {
    definition.write(to: &json)
    json.member("state", state.rawValue)
    json.member("cursor", cursor)
    json.member("lag", lag)
    json.member("delivered", delivered)
    json.member("failures", failures)
    json.member("missed", missed)
    json.member("inFlight", inFlight)
    json.member("subjectsBehind", subjectsBehind)
    json.member("dead", dead)
    json.member("failingSince", ifPresent: failingSince?.rfc3339)
    json.member("lastDelivery", ifPresent: lastDelivery?.rfc3339)
    json.member("lastFailure", ifPresent: lastFailure?.rfc3339)
    json.member("lastFailureReason", ifPresent: lastFailureReason)
    json.member("nextAttempt", ifPresent: nextAttempt?.rfc3339)
  }
}

/// A webhook that was made or changed, with the secret if there is a new one: it is shown this once.
package struct WebhookMade: Hashable, Sendable {
  /// The webhook.
  package var standing: WebhookStanding
  /// The new secret, or nil if the present one stays.
  package var secret: WebhookSecret?

  /// Writes the webhook and the new secret, as members of an object that is open.
  package func write(to json: inout JSONText) {
    standing.write(to: &json)
    json.member("secret", ifPresent: secret?.revealed)
  }
}

/// How a test of a webhook went.
package struct WebhookTrial: Hashable, Sendable {
  /// The id of the test event, which the receiver gets as `webhook-id`.
  package var id: String
  /// How it ended.
  package var outcome: DeliveryOutcome
  /// How long it took.
  package var duration: TimeSpan

  /// Writes how it went, as members of an object that is open.
  package func write(to json: inout JSONText) {
    json.member("id", id)
    switch outcome {
    case .delivered: json.member("delivered", true)
    case .gone:
      json.member("delivered", false)
      json.member("reason", "status 410: the receiver wants no events")
    case .failed(let reason, _):
      json.member("delivered", false)
      json.member("reason", reason)
    }
    json.member("milliseconds", duration.milliseconds, decimals: 3)
  }
}

extension DeadLetter {
  /// Writes a dead letter, as members of an object that is open, with the event as receivers would have got it.
  package func write(to json: inout JSONText, stream: String) {
    json.member("sequence", sequence)
    json.member("diedAt", diedAt.rfc3339)
    json.member("attempts", attempts)
    json.member("reason", reason)
    json.member("replaying", isReplayed)
    event.write(to: &json, stream: stream, as: "event")
  }
}
