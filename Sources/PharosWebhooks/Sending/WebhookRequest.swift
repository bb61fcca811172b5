package import PharosReports

/// One POST as a receiver gets it.
package struct WebhookRequest: Hashable, Sendable {
  /// The content type: one CloudEvent in structured mode.
  package static let contentType = "application/cloudevents+json; charset=utf-8"

  /// Where to.
  package var url: String
  /// The headers, names in small letters.
  package var headers: [(name: String, value: String)]
  /// The body.
  package var body: [UInt8]
  /// How long the whole attempt may take.
  package var timeout: TimeSpan

  /// Makes and signs a request.
  ///
  /// The id is the event's. It is the same in every attempt, so that a receiver can detect a repetition. The
  /// timestamp is that of the attempt, so that a receiver can reject a recorded request that is replayed.
  ///
  /// - Parameters:
  ///   - url: the URL of the receiver.
  ///   - id: the event's id.
  ///   - body: the CloudEvent.
  ///   - secrets: the secrets to sign with; two while a secret is being replaced.
  ///   - instant: the time of the attempt.
  ///   - timeout: the time limit of the whole attempt.
  /// - Source: Standard Webhooks 1.0, headers and signature scheme.
  package init(
    url: String,
    id: String,
    body: [UInt8],
    secrets: [WebhookSecret],
    at instant: Timestamp,
    timeout: TimeSpan
  ) {
    let seconds = instant.nanoseconds / 1_000_000_000
    let signatures = secrets.map { $0.signature(id: id, timestamp: seconds, body: body) }
    self.url = url
    self.body = body
    self.timeout = timeout
    headers = [
      ("content-type", WebhookRequest.contentType),
      ("user-agent", "pharos-webhooks"),
      ("webhook-id", id),
      ("webhook-timestamp", String(seconds)),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }

  /// Whether two requests are the same, header by header.
  package static func == (left: WebhookRequest, right: WebhookRequest) -> Bool {
    left.url == right.url && left.body == right.body && left.timeout == right.timeout
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }

  /// Hashes what tells requests apart.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}

/// Carries requests to receivers.
package protocol WebhookSender: Sendable {
  /// Sends a request and waits for its outcome; never throws, since a failure is an outcome.
  func send(_ request: WebhookRequest) async -> DeliveryOutcome

  /// Releases the sender's resources; the caller sends no further request.
  func shutdown() async
}
