package import PharosEvents
package import PharosReports

/// A receiver of events: where to, which, and how they are signed.
package struct WebhookDefinition: Hashable, Sendable {
  /// How many webhooks there may be: each holds connections and a cursor in the journal.
  package static let limit = 64
  /// How many requests a receiver is sent at a time, if it says nothing else.
  package static let usualConcurrency = 8
  /// How many requests a receiver may ask to be sent at a time.
  package static let concurrencies = 1...64
  /// How long a secret that was replaced still signs, so that a receiver can change over.
  package static let rotation = TimeSpan.minutes(24 * 60)

  /// The identifier.
  package var id: String
  /// Where events are posted to.
  package var url: String
  /// What it is for, in somebody's words.
  package var summary: String
  /// The application whose events it gets, or nil for those of all.
  package var application: String?
  /// Which events it gets.
  package var filter: EventFilter
  /// What deliveries are signed with.
  package var secret: WebhookSecret
  /// The secret before, which signs as well until ``rotatesAt``.
  package var formerSecret: WebhookSecret?
  /// When the secret before ceases to sign.
  package var rotatesAt: Timestamp?
  /// How many requests it is sent at a time.
  package var concurrency: Int
  /// Whether it is switched on.
  package var isEnabled: Bool
  /// Why it was switched off, if the server did so.
  package var disabledBecause: String?
  /// When it was made.
  package var createdAt: Timestamp
  /// The sequence after which it gets events.
  package var startsAfter: Int64

  /// Makes a definition.
  package init(
    id: String,
    url: String,
    summary: String = "",
    application: String? = nil,
    filter: EventFilter = .all,
    secret: WebhookSecret = WebhookSecret(),
    concurrency: Int = WebhookDefinition.usualConcurrency,
    isEnabled: Bool = true,
    createdAt: Timestamp,
    startsAfter: Int64
  ) {
    self.id = id
    self.url = url
    self.summary = summary
    self.application = application
    self.filter = filter
    self.secret = secret
    self.concurrency = concurrency
    self.isEnabled = isEnabled
    self.createdAt = createdAt
    self.startsAfter = startsAfter
  }

  /// The filter with the bond to the application in it: what is read from the journal.
  package var boundFilter: EventFilter {
    guard let application else { return filter }
    var bound = filter
    bound.applications = [application]
    return bound
  }

  /// The secrets that sign at an instant, the present one first.
  package func secrets(at instant: Timestamp) -> [WebhookSecret] {
    guard let formerSecret, let rotatesAt, instant < rotatesAt else { return [secret] }
    return [secret, formerSecret]
  }
}
