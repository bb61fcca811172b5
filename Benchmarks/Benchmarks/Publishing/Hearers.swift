import Benchmark
import Dispatch
import Glibc
import OpenCombine
import PharosModel
import PharosPublishing
import Synchronization
import Traffic

/// A hub and subscribers of one kind, each of which hears all that is published.
struct Hearers {
  /// How they subscribe.
  enum Kind {
    /// To events one by one, with a sink.
    case publisher
    /// To events one by one, in a loop over their sequence.
    case sequence
    /// To batches as they were made, with a sink.
    case batches
  }

  /// Events handed over together.
  private static let batch = 256
  /// Batches in a sample; fewer than a subscription keeps, so that none is dropped.
  private static let batches = 8

  private let hub = EventHub()
  private let tally: Tally
  private var subscriptions: [AnyCancellable] = []
  private let events: [Event]

  init(_ kind: Kind, _ count: Int) {
    let tally = Tally(expected: count * Hearers.batch * Hearers.batches)
    self.tally = tally
    events = (0..<Hearers.batch).map { Hearers.event(UInt64($0)) }
    for _ in 0..<count {
      switch kind {
      case .publisher: subscriptions.append(hub.events.sink { @Sendable _ in tally.add(1) })
      case .batches: subscriptions.append(hub.batches.sink { @Sendable in tally.add($0.count) })
      case .sequence:
        let events = hub.events.sequence
        Task { for await _ in events { tally.add(1) } }
      }
    }
    // A sequence subscribes when it is first asked.
    while hub.subscriptionCount < count { sched_yield() }
  }

  /// Publishes a sample and waits until all subscribers have received all of it.
  func publish() -> Int {
    for _ in 0..<Hearers.batches { hub.publish(events) }
    tally.waitForAll()
    return Hearers.batch * Hearers.batches
  }

  private static func event(_ number: UInt64) -> Event {
    Event(
      stream: "benchmark",
      kind: .observerOnline,
      time: Workload.start(ofSecond: 0),
      decidedAt: Workload.start(ofSecond: 0),
      stage: 1,
      subject: .observer(Workload.observer(Int(number))),
      counter: number,
      detail: .observer(ObserverTransition())
    )
  }
}

/// Counts what all subscribers heard, and tells when it is everything.
private final class Tally: Sendable {
  private let expected: Int
  private let heard = Atomic<Int>(0)
  private let whole = DispatchSemaphore(value: 0)

  init(expected: Int) { self.expected = expected }

  func add(_ count: Int) {
    // The last to add reads all the others' counts; nothing else is handed over by it.
    guard heard.add(count, ordering: .relaxed).newValue == expected else { return }
    heard.store(0, ordering: .relaxed)
    whole.signal()
  }

  func waitForAll() { if expected > 0 { whole.wait() } }
}
