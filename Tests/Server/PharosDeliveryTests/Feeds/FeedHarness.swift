import Logging
import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSampleEvents
import Synchronization

/// A desk with a simple journal and a clock that only a test moves.
struct FeedHarness {
  private final class Virtual: Sendable {
    let now = Mutex(Duration.zero)
    let lost = Mutex<UInt64>(0)
    let ended = Mutex<Set<String>>([])
  }

  let committed = CommittedEventHub()
  let live = LiveApplications()
  let store: ModelStore
  let authorisations: Authorisations
  let feedService: FeedService
  let log = RecordedLog()
  private let virtual = Virtual()

  init(sharing other: FeedHarness? = nil, _ change: (inout FeedSettings) -> Void = { _ in }) throws {
    var settings = FeedSettings()
    settings.page = 64
    change(&settings)
    store = other?.store ?? ModelStore()
    authorisations =
      try other?.authorisations
      ?? Authorisations(store: Journal.open(.memory, stream: "test"))
    feedService = FeedService(
      committed: committed,
      live: live,
      authorisations: authorisations,
      stream: "test",
      history: store,
      settings: settings,
      ended: { [virtual] clients in virtual.ended.withLock { clients.intersection($0) } },
      logger: Logger(label: "test") { [log] _ in log },
      lost: { [virtual] in virtual.lost.withLock { $0 } },
      clock: { [virtual] in virtual.now.withLock { $0 } }
    )
  }

  /// Commits events and publishes them, as the commit publisher does.
  func publish(_ events: [Event]) {
    let passing: Set<EventKind> = [.ranging, .fix]
    let kept = events.filter { !passing.contains($0.kind) }
    var sequences = ((try? store.append(kept.map { Journal.Entry(event: $0, isPublished: true) })) ?? [])[...]
    committed.publish(
      events.map { Sample.committed(passing.contains($0.kind) ? nil : sequences.removeFirst(), $0) }
    )
  }

  func advance(by span: Duration) { virtual.now.withLock { $0 += span } }

  /// Ends the token of a client.
  func end(_ client: String) { virtual.ended.withLock { _ = $0.insert(client) } }

  func lose(_ count: UInt64) { virtual.lost.withLock { $0 += count } }

  /// Takes items until so many events have come.
  func numbers(_ count: Int, from iterator: inout Feed.Iterator) async -> [Int] {
    var numbers: [Int] = []
    while numbers.count < count, let items = await iterator.next() {
      for item in items { if case .event(let committed) = item { numbers.append(committed.event.number) } }
    }
    return numbers
  }
}
