package import PharosDocuments
package import PharosJournal
package import PharosModel

/// A webhook and its delivery state.
package struct WebhookStanding: Hashable, Sendable {
  /// The state of a webhook.
  package enum State: String, Hashable, Sendable {
    /// The receiver accepts events.
    case active
    /// The receiver has accepted no event since `failingSince`.
    case failing
    /// The webhook is disabled.
    case disabled
  }

  /// The webhook.
  package var definition: WebhookDefinition
  /// The sequence up to which every event is settled, except the events of subjects that are behind.
  package var cursor: Int64
  /// The number of sequences of the journal from the oldest event that is not settled on, including events that the filter
  /// excludes.
  package var lag: Int64 = 0
  /// The time at which the first of these was decided.
  package var waitingSince: Timestamp?
  /// The number of events delivered since the webhook was created.
  package var delivered: Int64 = 0
  /// The number of failed attempts since the server started.
  package var failures: Int64 = 0
  /// The number of events that the journal dropped before they were delivered, since the server started.
  package var missed: Int64 = 0
  /// The number of events that are being sent.
  package var inFlight = 0
  /// The number of subjects that are behind the others because one of their events failed.
  package var subjectsBehind = 0
  /// The number of dead letters: events that were given up and not delivered since.
  package var dead = 0
  /// The time since which every attempt has failed.
  package var failingSince: Timestamp?
  /// The time of the last delivery since the server started.
  package var lastDelivery: Timestamp?
  /// The time of the last failed attempt since the server started.
  package var lastFailure: Timestamp?
  /// The reason of the last failure.
  package var lastFailureReason: String?
  /// The time of the next attempt, if an event waits for one.
  package var nextAttempt: Timestamp?

  /// Creates the state of a webhook that has delivered nothing.
  init(_ definition: WebhookDefinition, cursor: Int64) {
    self.definition = definition
    self.cursor = cursor
  }

  /// The state: disabled, failing or active.
  package var state: State {
    definition.isEnabled ? failingSince == nil ? .active : .failing : .disabled
  }
}

extension WebhookStanding {
  /// The members of a listing that only describe the state and cannot be set.
  static let readOnlyMembers = [
    "id", "disabledBecause", "createdAt", "rotatesAt", "startsAfter", "state", "cursor", "lag",
    "waitingSince",
    "delivered", "failures", "missed", "inFlight", "subjectsBehind", "dead", "failingSince", "lastDelivery",
    "lastFailure",
    "lastFailureReason", "nextAttempt",
  ]

  /// Writes the webhook and its state as members of an open JSON object, without any secret.
  package func write(to json: inout JSONText) {
    definition.write(to: &json)
    json.member("state", state.rawValue)
    json.member("cursor", cursor)
    json.member("lag", lag)
    json.member("waitingSince", ifPresent: waitingSince?.rfc3339)
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

/// A webhook that was created or changed, with its secret if that is new: it is shown only this once.
package struct WebhookMade: Hashable, Sendable {
  /// The webhook.
  package var standing: WebhookStanding
  /// The new secret, or nil if the present one stays.
  package var secret: WebhookSecret?

  /// Writes the webhook and the new secret as members of an open JSON object.
  package func write(to json: inout JSONText) {
    standing.write(to: &json)
    json.member("secret", ifPresent: secret?.revealed)
  }
}

/// The result of a test of a webhook.
package struct WebhookTrial: Hashable, Sendable {
  /// The duration of every trial without a connection: longer than the time limit of connecting.
  package static let timeWithoutConnection = TimeSpan.seconds(6)

  /// The id of the test event, which the receiver gets as `webhook-id`.
  package var id: String
  /// The outcome.
  package var outcome: DeliveryOutcome
  /// The duration of the request.
  package var duration: TimeSpan

  /// Writes the result as members of an open JSON object.
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
  /// Writes a dead letter as members of an open JSON object, with the event as receivers would have received it.
  package func write(to json: inout JSONText, stream: String) {
    json.member("sequence", sequence)
    json.member("diedAt", diedAt.rfc3339)
    json.member("attempts", attempts)
    json.member("reason", reason)
    json.member("replaying", isReplayed)
    event.write(to: &json, stream: stream, as: "event")
  }
}

extension Schema {
  package static let webhook = Schema.object([
    .required("id", .text),
    .required("url", .text),
    .required("summary", .text),
    .optional("application", .text),
    .required(
      "filter",
      .object([
        .optional("kinds", .list(.text)),
        .optional("regions", .list(.text)),
        .optional("subjects", .list(.text)),
        .optional("observers", .list(.text)),
      ])
    ),
    .required("concurrency", .integer),
    .required("enabled", .flag),
    .optional("disabledBecause", .text),
    .required("createdAt", .time),
    .optional("rotatesAt", .time),
    .required("startsAfter", .integer),
    .required("state", .words(["active", "failing", "disabled"])),
    .required("cursor", .integer),
    .required(
      "lag",
      .integer,
      "Sequences of the journal from the oldest event that was neither delivered nor given up."
    ),
    .optional("waitingSince", .time, "When the first of them was decided; absent if there is none."),
    .required("delivered", .integer),
    .required("failures", .integer),
    .required("missed", .integer),
    .required("inFlight", .integer),
    .required("subjectsBehind", .integer),
    .required("dead", .integer),
    .optional("failingSince", .time),
    .optional("lastDelivery", .time),
    .optional("lastFailure", .time),
    .optional("lastFailureReason", .text),
    .optional("nextAttempt", .time),
    .optional("secret", .text, "Shown only when it was made or replaced."),
  ]).named("Webhook")

  package static let deadLetter = Schema.object([
    .required("sequence", .integer),
    .required("diedAt", .time),
    .required("attempts", .integer),
    .required("reason", .text),
    .required("replaying", .flag),
    .required("event", .cloudEvent),
  ]).named("DeadLetter")

  package static let webhookTrial = Schema.object([
    .required("id", .text),
    .required("delivered", .flag),
    .optional("reason", .text),
    .required("milliseconds", .number),
  ]).named("WebhookTrial")
}
