import PharosModel
import Synchronization

/// A hub with one sender and any number of takers, none of which can delay another.
///
/// ``EventHub`` and ``CommittedEventHub`` are built on it. The hub calls the takers on the sender's thread, so a taker only adds
/// the items that it wants to a queue. The subscriber drains that queue elsewhere, at its own speed.
final class Hub<Item: Sendable>: Sendable {
  /// A receiver of batches, which must not block.
  struct Taker: Sendable {
    /// Takes the items that it needs from a batch.
    let receive: @Sendable ([Item]) -> Void
    /// Notes that no batch follows.
    let finish: @Sendable () -> Void
  }

  private struct State {
    var takers: [(id: UInt64, taker: Taker)] = []
    var nextID: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// The number of takers.
  var count: Int { state.withLock { $0.takers.count } }

  /// Hands a batch to every taker; the order of the calls is the order of the items.
  func publish(_ batch: [Item]) {
    guard !batch.isEmpty else { return }
    // The takers are called outside the lock: an `onDrop` of a user's may subscribe or cancel.
    for (_, taker) in state.withLock({ $0.takers }) { taker.receive(batch) }
  }

  /// Finishes every taker and removes it; a taker that is added later is finished at once.
  func finish() {
    let takers = state.withLock { state in
      state.isFinished = true
      defer { state.takers.removeAll() }
      return state.takers
    }
    for (_, taker) in takers { taker.finish() }
  }

  /// Adds a taker and returns the identifier to remove it by; a finished hub finishes the taker at once.
  func add(_ taker: Taker) -> UInt64 {
    let (id, isFinished) = state.withLock { state in
      state.nextID += 1
      if !state.isFinished { state.takers.append((state.nextID, taker)) }
      return (state.nextID, state.isFinished)
    }
    if isFinished { taker.finish() }
    return id
  }

  /// Removes a taker; one that is gone already is no error, since cancelling races with finishing.
  func remove(_ id: UInt64) {
    state.withLock { state in state.takers.removeAll { $0.id == id } }
  }

  /// Returns a source of the elements that a function selects from the items.
  private func source<Output>(
    by subject: (@Sendable (Output) -> SubjectID)? = nil,
    _ select: @escaping @Sendable ([Item]) -> [Output]
  ) -> StreamSource<Output> {
    StreamSource(
      attach: { receive, finish in
        self.add(Taker(receive: { receive(PendingRun(select($0), by: subject)) }, finish: finish))
      },
      detach: { self.remove($0) }
    )
  }

  /// A stream of what it selects, with the default policy.
  func stream<Output>(
    _ select: @escaping @Sendable ([Item]) -> [Output]
  ) -> EventPublisher<Output, Never> {
    EventPublisher(
      source: source(select),
      overflow: .dropOldest(limit: EventPublisher<Output, Never>.defaultLimit, onDrop: nil)
    )
  }

  /// Returns a stream of which only the newest element about each subject waits for a subscriber.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of subjects about which elements wait.
  ///   - subject: returns the subject of an element.
  ///   - select: selects the elements from a batch.
  /// - Returns: the stream.
  func newest<Output>(
    limit: Int,
    by subject: @escaping @Sendable (Output) -> SubjectID,
    _ select: @escaping @Sendable ([Item]) -> [Output]
  ) -> EventPublisher<Output, Never> {
    EventPublisher(source: source(by: subject, select), overflow: .newest(limit: limit))
  }

  /// Adds a taker that is called with every batch until it is cancelled.
  func tap(
    _ receive: @escaping @Sendable ([Item]) -> Void,
    onFinish: @escaping @Sendable () -> Void
  ) -> HubTap {
    let id = add(Taker(receive: receive, finish: onFinish))
    return HubTap { self.remove(id) }
  }

  /// Returns a stream of what makers make of the items: one maker for each subscription.
  ///
  /// - Parameters:
  ///   - type: the type of the makers.
  ///   - make: creates a maker, which hands over what it makes; it may do so on any thread, until it is cancelled.
  /// - Returns: the stream, with the default policy.
  func stream<Maker: StreamMaker>(
    of type: Maker.Type,
    _ make: @escaping @Sendable (_ deliver: @escaping @Sendable (PendingRun<Maker.Output>) -> Void) -> Maker
  ) -> EventPublisher<Maker.Output, Never> where Maker.Item == Item {
    let source = StreamSource<Maker.Output> { receive, finish in
      let maker = make(receive)
      let tap = self.tap({ maker.receive($0) }) {
        maker.finish()
        finish()
      }
      return {
        tap.cancel()
        maker.cancel()
      }
    }
    return EventPublisher(
      source: source,
      overflow: .dropOldest(limit: EventPublisher<Maker.Output, Never>.defaultLimit, onDrop: nil)
    )
  }
}

/// The maker of the elements of one subscription.
protocol StreamMaker: AnyObject, Sendable {
  associatedtype Item: Sendable
  associatedtype Output: Sendable
  /// Makes what there is to make of a batch.
  func receive(_ batch: [Item])
  /// Hands over what is left, at the end of the hub.
  func finish()
  /// Stops: the subscription has ended, maybe while it is handed an element.
  func cancel()
}

/// The source of the elements of a stream, for any type of the hub's items.
struct StreamSource<Output: Sendable>: Sendable {
  /// Begins to receive elements and the end; returns the number to detach by.
  let attach:
    @Sendable (
      _ receive: @escaping @Sendable (PendingRun<Output>) -> Void, _ finish: @escaping @Sendable () -> Void
    ) -> UInt64
  /// Stops receiving.
  let detach: @Sendable (UInt64) -> Void
}

extension StreamSource {
  /// Creates a source of which each attachment has something of its own: a maker of elements, or attachments to others.
  ///
  /// - Parameter start: begins to hand elements and the end to one receiver; returns the function that stops it.
  init(
    starting start:
      @escaping @Sendable (
        _ receive: @escaping @Sendable (PendingRun<Output>) -> Void, _ finish: @escaping @Sendable () -> Void
      ) -> @Sendable () -> Void
  ) {
    let running = MutexBox((stops: [UInt64: @Sendable () -> Void](), nextID: UInt64(0)))
    self.init(
      attach: { receive, finish in
        let stop = start(receive, finish)
        return running.mutex.withLock { running in
          running.nextID += 1
          running.stops[running.nextID] = stop
          return running.nextID
        }
      },
      detach: { id in
        let stop = running.mutex.withLock { $0.stops.removeValue(forKey: id) }
        stop?()
      }
    )
  }
}

/// A function that a hub calls with every batch, on the sender's own thread.
///
/// The shortest way out of a hub and the one that can do harm: the function must only put the batch aside and return.
/// It is called until ``cancel()``, whether or not the tap is kept.
public struct HubTap: Sendable {
  private let remove: @Sendable () -> Void

  init(remove: @escaping @Sendable () -> Void) { self.remove = remove }

  /// Ends the calls; one that is under way is not waited for.
  public func cancel() { remove() }
}
