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
    "id", "browser", "disabledBecause", "createdAt", "rotatesAt", "startsAfter", "state", "cursor", "lag",
    "waitingSince",
    "delivered", "failures", "missed", "inFlight", "subjectsBehind", "dead", "failingSince", "lastDelivery",
    "lastFailure",
    "lastFailureReason", "nextAttempt",
  ]

  /// The members in answers, without any secret.
  fileprivate static let members: [DocumentField<WebhookStanding>] = [
    .part(WebhookDefinition.members) { $0.definition },
    .always("state", .word([.active, .failing, .disabled])) { $0.state },
    .always("cursor", .integer) { $0.cursor },
    .always(
      "lag",
      .integer,
      "Sequences of the journal from the oldest event that was neither delivered nor given up."
    ) { $0.lag },
    .sometimes("waitingSince", .moment, "When the first of them was decided; absent if there is none.") {
      $0.waitingSince
    },
    .always("delivered", .integer) { $0.delivered },
    .always("failures", .integer) { $0.failures },
    .always("missed", .integer) { $0.missed },
    .always("inFlight", .integer) { $0.inFlight },
    .always("subjectsBehind", .integer) { $0.subjectsBehind },
    .always("dead", .integer) { $0.dead },
    .sometimes("failingSince", .moment) { $0.failingSince },
    .sometimes("lastDelivery", .moment) { $0.lastDelivery },
    .sometimes("lastFailure", .moment) { $0.lastFailure },
    .sometimes("lastFailureReason", .text) { $0.lastFailureReason },
    .sometimes("nextAttempt", .moment) { $0.nextAttempt },
  ]

  /// Writes the webhook and its state as members of an open JSON object, without any secret.
  package func write(to json: inout JSONText) {
    DocumentField.write(WebhookStanding.members, of: self, to: &json)
  }
}

/// A webhook that was created or changed, with its secret if that is new: it is shown only this once.
package struct WebhookMade: Hashable, Sendable {
  /// The webhook.
  package var standing: WebhookStanding
  /// The new secret, or nil if the present one stays.
  package var secret: WebhookSecret?

  /// The members in answers.
  fileprivate static let members: [DocumentField<WebhookMade>] = [
    .part(WebhookStanding.members) { $0.standing },
    .sometimes("secret", .text, "Shown only when it was made or replaced.") { $0.secret?.revealed },
  ]

  /// Writes the webhook and the new secret as members of an open JSON object.
  package func write(to json: inout JSONText) {
    DocumentField.write(WebhookMade.members, of: self, to: &json)
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

  /// The members in answers.
  fileprivate static let members: [DocumentField<WebhookTrial>] = [
    .always("id", .text) { $0.id },
    .always("delivered", .flag) { $0.failure == nil },
    .sometimes("reason", .text) { $0.failure },
    .always("milliseconds", .number(decimals: 3)) { $0.duration.milliseconds },
  ]

  private var failure: String? {
    switch outcome {
    case .delivered: nil
    case .gone: "status 410: the receiver wants no events"
    case .failed(let reason, _): reason
    }
  }

  /// Writes the result as members of an open JSON object.
  package func write(to json: inout JSONText) {
    DocumentField.write(WebhookTrial.members, of: self, to: &json)
  }
}

extension DeadLetter {
  /// The members in answers, with the event as receivers would have received it.
  fileprivate static let members: [DocumentField<(letter: DeadLetter, stream: String)>] = [
    .always("sequence", .integer) { $0.letter.sequence },
    .always("diedAt", .moment) { $0.letter.diedAt },
    .always("attempts", .integer) { $0.letter.attempts },
    .always("reason", .text) { $0.letter.reason },
    .always("replaying", .flag) { $0.letter.isReplayed },
    DocumentField(writing: [.required("event", .cloudEvent)]) {
      $0.letter.event.write(to: &$1, stream: $0.stream, as: "event")
    },
  ]

  /// Writes a dead letter as members of an open JSON object.
  package func write(to json: inout JSONText, stream: String) {
    DocumentField.write(DeadLetter.members, of: (self, stream), to: &json)
  }
}

extension Schema {
  package static let webhook = Schema.object(WebhookMade.members).named("Webhook")

  package static let deadLetter = Schema.object(DeadLetter.members).named("DeadLetter")

  package static let webhookTrial = Schema.object(WebhookTrial.members).named("WebhookTrial")
}
