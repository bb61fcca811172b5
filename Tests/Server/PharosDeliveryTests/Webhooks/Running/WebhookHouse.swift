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
  func publish(_ events: [Event]) throws -> [Int64?] {
    let sequences = try journal.append(events.map { Journal.Entry(event: $0) })
    hub.publish(
      zip(sequences, events).map { PublishedEvent(sequence: $0, event: $1, stream: Samples.stream) }
    )
    return sequences
  }
}

/// A sender that accepts each event at once, except for one that it holds until the attempt is cancelled.
final class HoldingSender: WebhookSender {
  private let held: String?
  private let ids = Mutex<[String]>([])
  private let changes = AsyncStream<Void>.makeStream()

  /// Makes a sender that holds the event with an id.
  init(holding held: String? = nil) { self.held = held }

  /// The ids of the accepted events, in order.
  var accepted: [String] { ids.withLock { $0 } }

  /// Waits until so many events were accepted.
  func wait(for count: Int) async {
    if accepted.count >= count { return }
    for await _ in changes.stream where accepted.count >= count { return }
  }

  func send(_ request: WebhookRequest) async -> DeliveryOutcome {
    let id = request.headers.first { $0.name == "webhook-id" }?.value ?? ""
    guard id != held else {
      let (cancellation, continuation) = AsyncStream<Void>.makeStream()
      for await _ in cancellation {}
      continuation.finish()
      return .failed(reason: "it was cancelled", retryAfter: nil)
    }
    ids.withLock { $0.append(id) }
    changes.continuation.yield()
    return .delivered
  }

  func shutdown() async {}
}

/// A JSON document.
func json(_ text: String) -> [UInt8] { Array(text.utf8) }
