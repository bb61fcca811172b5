import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import Synchronization

/// A journal, a hub and webhooks over them, as a server composes them.
struct WebhookHouse {
  let journal: Journal
  let hub = CommittedEventHub()
  let webhooks: Webhooks

  init(
    _ journal: Journal,
    clock: any DeliveryClock = LeapingClock(),
    settings: DeliverySettings = DeliverySettings(),
    ownPorts: Set<Int> = [],
    gate: @escaping @Sendable (String?) -> Gate = { _ in .open },
    sender: any WebhookSender = HTTPWebhookSender()
  ) throws {
    self.journal = journal
    let generator = Mutex(SystemRandomNumberGenerator())
    webhooks = try Webhooks(
      journal: journal,
      committed: hub,
      stream: Samples.stream,
      ownPorts: ownPorts,
      gate: gate,
      sender: sender,
      clock: clock,
      settings: settings,
      jitter: { generator.withLock { Double.random(in: 0..<1, using: &$0) } },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
  }

  /// Journals and publishes events, as the commit publisher does.
  @discardableResult
  func tell(_ events: [Event]) throws -> [Int64?] {
    let sequences = try journal.append(events.map { Journal.Entry(event: $0) })
    hub.publish(
      zip(sequences, events).map { PublishedEvent(sequence: $0, event: $1, stream: Samples.stream) }
    )
    return sequences
  }
}

/// A JSON document.
func json(_ text: String) -> [UInt8] { Array(text.utf8) }
