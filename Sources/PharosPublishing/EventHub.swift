public import PharosEvents
import Synchronization

/// Where decisions come out: one sender, any number of subscribers, none of which can delay another.
///
/// Every subscription has a bounded queue of its own. ``publish(_:)`` appends a batch to each queue and returns; the
/// queue is drained elsewhere, at the speed of its subscriber and as far as its demand goes. What a full queue does
/// is the subscriber's choice: drop the oldest and count, or end with an error.
public final class EventHub: Sendable {
  private struct State {
    var sinks: [(id: UInt64, sink: any EventSink)] = []
    var nextID: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Makes a hub without subscribers.
  public init() {}

  /// How many subscriptions there are.
  public var subscriptionCount: Int { state.withLock { $0.sinks.count } }

  /// Hands a batch to every subscription; never blocks.
  ///
  /// To be called from one thread at a time: the order of the calls is the order of the events.
  public func publish(_ batch: [Event]) {
    guard !batch.isEmpty else { return }
    // The sinks are called outside the lock: an `onDrop` of a user's may subscribe or cancel.
    for (_, sink) in state.withLock({ $0.sinks }) { sink.offer(batch) }
  }

  /// Ends every subscription once its queue is empty; later subscriptions end at once.
  public func finish() {
    let sinks = state.withLock { state in
      state.isFinished = true
      defer { state.sinks.removeAll() }
      return state.sinks
    }
    for (_, sink) in sinks { sink.finish() }
  }

  /// Adds a sink and gives the number to remove it by; on a finished hub it is finished at once.
  func add(_ sink: any EventSink) -> UInt64 {
    let (id, isFinished) = state.withLock { state in
      state.nextID += 1
      if !state.isFinished { state.sinks.append((state.nextID, sink)) }
      return (state.nextID, state.isFinished)
    }
    if isFinished { sink.finish() }
    return id
  }

  /// Removes a sink; one that is gone already is no error, since cancelling races with finishing.
  func remove(_ id: UInt64) {
    state.withLock { state in state.sinks.removeAll { $0.id == id } }
  }
}

/// What takes batches without blocking.
protocol EventSink: AnyObject, Sendable {
  /// Takes what concerns it of a batch.
  func offer(_ batch: [Event])
  /// Learns that no batch follows.
  func finish()
}
