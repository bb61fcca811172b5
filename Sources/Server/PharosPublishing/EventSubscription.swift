import Dispatch
import OpenCombine
import Synchronization

/// One OpenCombine subscription: its queue, its demand, and the serial queue on which its subscriber is called.
///
/// `@unchecked Sendable` because OpenCombine's subscribers are not Sendable: `downstream` is touched on `executor`
/// alone, which is serial; everything else is behind the mutex or immutable. A Dispatch queue and not a task, since
/// a subscriber may block: it then holds a thread of its own and none of the few that all tasks share.
final class EventSubscription<Output: Sendable, Failure: Error>: Subscription, @unchecked Sendable {
  private typealias Queue = SubscriptionQueue<Output, Failure>

  private struct State {
    var demand = Subscribers.Demand.none
    /// Indicates whether a drain is scheduled, so that one wake-up serves many batches.
    var isScheduled = false
    var isCancelled = false
    var queue: Queue?
    var registration: UInt64?
  }

  private let source: StreamSource<Output>
  private let state = Mutex(State())
  private let executor: SubscriptionExecutor
  private var downstream: AnySubscriber<Output, Failure>?

  /// The number of elements that are taken at a time, so that a cancellation is noticed soon.
  private static var stride: Int { 64 }

  init(publisher: EventPublisher<Output, Failure>, downstream: AnySubscriber<Output, Failure>) {
    source = publisher.source
    executor =
      publisher.executor
      ?? { [queue = DispatchQueue(label: "pharos.subscription")] work in queue.async { work() } }
    self.downstream = downstream
    let queue = Queue(
      overflow: publisher.overflow,
      wake: { [weak self] in self?.schedule() }
    )
    state.withLock { $0.queue = queue }
  }

  /// Begins to receive batches; called once the subscriber knows its subscription.
  func start() {
    guard let queue = state.withLock({ $0.isCancelled ? nil : $0.queue }) else { return }
    // What the hub holds keeps the subscription alive until it is cancelled or finished.
    let id = source.attach(
      { [self] elements in withExtendedLifetime(self) { queue.offer(elements) } },
      { queue.finish() }
    )
    let isCancelled = state.withLock { state in
      state.registration = id
      return state.isCancelled
    }
    if isCancelled { source.detach(id) }
  }

  func request(_ demand: Subscribers.Demand) {
    state.withLock { $0.demand += demand }
    schedule()
  }

  func cancel() {
    let registration = state.withLock { state in
      state.isCancelled = true
      state.queue = nil
      return state.registration
    }
    if let registration { source.detach(registration) }
    executor { self.downstream = nil }
  }

  private func schedule() {
    let isFirst = state.withLock { state in
      guard !state.isCancelled, !state.isScheduled else { return false }
      state.isScheduled = true
      return true
    }
    if isFirst { executor { self.drain() } }
  }

  /// Delivers as much as there is and the demand allows; runs on the executor.
  private func drain() {
    state.withLock { $0.isScheduled = false }
    while let (queue, allowance) = allowance() {
      switch queue.removeFirst(upTo: allowance) {
      case .nothing:
        // Taken back: what was not delivered may still be asked for.
        return recycle(allowance)
      case .elements(let elements):
        recycle(allowance - elements.count)
        deliver(elements)
      case .finished(let failure):
        return complete(failure)
      }
    }
    completeIfFinished()
  }

  /// Reserves demand for the next elements, or nil if there is none.
  private func allowance() -> (Queue, Int)? {
    state.withLock { state in
      guard !state.isCancelled, let queue = state.queue, state.demand > .none else { return nil }
      let count = min(state.demand.max ?? Self.stride, Self.stride)
      state.demand -= count
      return (queue, count)
    }
  }

  private func recycle(_ count: Int) {
    if count > 0 { state.withLock { $0.demand += count } }
  }

  private func deliver(_ elements: ArraySlice<Output>) {
    for element in elements {
      guard !state.withLock({ $0.isCancelled }), let downstream else { return }
      let more = downstream.receive(element)
      if more > .none { state.withLock { $0.demand += more } }
    }
  }

  /// Completes the subscription as soon as the queue is empty; a completion needs no demand.
  private func completeIfFinished() {
    guard let queue = state.withLock({ $0.isCancelled ? nil : $0.queue }) else { return }
    if case .finished(let failure) = queue.removeFirst(upTo: 0) { complete(failure) }
  }

  private func complete(_ failure: Failure?) {
    let (wasCancelled, registration) = state.withLock { state in
      defer { state.isCancelled = true }
      state.queue = nil
      return (state.isCancelled, state.registration)
    }
    // An operator may end the stream before the hub does.
    if let registration { source.detach(registration) }
    guard !wasCancelled, let downstream else { return }
    self.downstream = nil
    downstream.receive(completion: failure.map { .failure($0) } ?? .finished)
  }
}
