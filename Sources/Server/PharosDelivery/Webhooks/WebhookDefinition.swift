import Foundation
public import PharosDocuments
public import PharosModel
import PharosSecurity

/// A receiver of events: its URL, the filter of its events and the secret that signs them.
package struct WebhookDefinition: Hashable, Sendable {
  /// The maximum number of webhooks: each holds connections and a cursor in the journal.
  package static let limit = 128
  /// The maximum number of webhooks of one application, and of those that belong to none: none takes the place of another.
  package static let limitOfOneApplication = 32
  /// The default number of concurrent requests to a receiver.
  package static let usualConcurrency = 8
  /// The allowed numbers of concurrent requests to a receiver.
  package static let concurrencies = 1...64
  /// The time for which a replaced secret still signs, so that a receiver can change over.
  package static let rotation = TimeSpan.minutes(24 * 60)

  /// The identifier.
  package var id: String
  /// The URL to which events are posted.
  package var url: String
  /// The purpose, as its creator described it.
  package var summary: String
  /// The application whose events it receives, or nil for those of all.
  package var application: String?
  /// The filter of the events that it receives.
  package var filter: EventFilter
  /// The secret that signs deliveries.
  package var secret: WebhookSecret
  /// The previous secret, which also signs until ``rotatesAt``.
  package var formerSecret: WebhookSecret?
  /// The time at which the previous secret ceases to sign.
  package var rotatesAt: Timestamp?
  /// The maximum number of concurrent requests to the receiver.
  package var concurrency: Int
  /// The rule by which its events wait for each other, or nil if each is sent at once.
  package var deferral: DeliveryDeferral?
  /// The keys of the browser that is the receiver, or nil if it is a server or a mailbox.
  package var push: PushSubscription?
  /// Indicates whether it is enabled.
  package var isEnabled: Bool
  /// The reason for which the server disabled it, or nil.
  package var disabledBecause: String?
  /// The time of its creation.
  package var createdAt: Timestamp
  /// The sequence after which it receives events.
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

  /// The filter restricted to the application, and for a person to notifications, for reading the journal.
  package var boundFilter: EventFilter {
    var bound = filter
    if let application { bound.applications = [application] }
    // People read notifications alone.
    if receiver != nil || push != nil { bound.kinds = [.notification] }
    return bound
  }

  /// The address of the person that is the receiver; nil if the receiver is a server or a browser.
  package var receiver: String? { MailRelay.address(in: url) }

  /// The secrets that sign at an instant, the present one first.
  package func secrets(at instant: Timestamp) -> [WebhookSecret] {
    guard let formerSecret, let rotatesAt, instant < rotatesAt else { return [secret] }
    return [secret, formerSecret]
  }
}

/// The key that deliveries to one receiver are signed with.
///
/// It is shown once, when it is made; its description hides it.
///
/// - Source: Standard Webhooks 1.0: `whsec_` and the base64 of 24 to 64 random bytes.
package struct WebhookSecret: Hashable, Sendable {
  /// The prefix of every secret.
  package static let prefix = "whsec_"
  /// The allowed numbers of bytes of a secret.
  package static let lengths = 24...64
  /// The number of bytes of a generated secret: as many as the signature that it makes.
  static let ownLength = 32

  /// The bytes of the key.
  let bytes: [UInt8]

  /// Generates a random secret.
  package init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<WebhookSecret.ownLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Parses a secret; returns nil if the text is none.
  package init?(_ text: String) {
    guard text.hasPrefix(WebhookSecret.prefix) else { return nil }
    guard let data = Data(base64Encoded: String(text.dropFirst(WebhookSecret.prefix.count))) else {
      return nil
    }
    guard WebhookSecret.lengths.contains(data.count) else { return nil }
    bytes = Array(data)
  }

  /// The secret in clear text, to be shown once to its creator.
  package var revealed: String { WebhookSecret.prefix + Data(bytes).base64EncodedString() }

  /// The signature of a message: `v1,` and the base64 of the HMAC-SHA256 over `id.timestamp.body`.
  ///
  /// - Source: Standard Webhooks 1.0, symmetric signatures.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let message = Array("\(id).\(timestamp).".utf8) + body
    return "v1," + Data(HMACSHA256(key: bytes).code(of: message.span.bytes).array).base64EncodedString()
  }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the secret.
  package var description: String { WebhookSecret.prefix + "…" }

  /// A mirror without children, so that the secret is not dumped.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension WebhookSecret: FieldForm {
  /// The secret's text.
  package var form: String { revealed }
  /// Reads the text.
  package init?(form: String) { self.init(form) }
}

extension WebhookDefinition: FieldStruct {
  /// The version of the layout; data of other versions is not read.
  static let version: UInt8 = 1

  /// Makes a value whose fields are still to be read.
  package init() { self.init(id: "", url: "", createdAt: .distantPast, startsAfter: 0) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: WebhookDefinition.version)
    try coder.code(&id)
    try coder.code(&url)
    try coder.code(&summary)
    try coder.code(&application)
    try coder.code(&filter)
    try coder.code(&secret)
    try coder.code(&formerSecret)
    try coder.code(&rotatesAt)
    try coder.code(&concurrency)
    concurrency = min(max(concurrency, Self.concurrencies.lowerBound), Self.concurrencies.upperBound)
    try coder.code(&isEnabled)
    try coder.code(&disabledBecause)
    try coder.code(&createdAt)
    try coder.code(&startsAfter)
    guard coder.hasMore(deferral != nil || push != nil) else { return }
    try coder.code(&deferral)
    guard coder.hasMore(push != nil) else { return }
    try coder.code(&push)
  }
}

extension EventFilter: FieldRecord {
  /// Hands each field to a coder, as a webhook stores a filter: kinds by their types, sets in order.
  ///
  /// A reader omits event kinds that this version does not know.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let types = try coder.field(value().kinds.map { $0.map(\.type).sorted() })
    return EventFilter(
      kinds: types.map { types in Set(EventKind.allCases.filter { types.contains($0.type) }) },
      regions: try coder.field(value().regions),
      subjects: try coder.field(value().subjects),
      observers: try coder.field(value().observers)
    )
  }
}
