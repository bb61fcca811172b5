/// The `AsyncSequence` twin of an ``EventPublisher``: the same elements, the same queue, the same policies.
///
/// For one consumer. It receives from the moment it was made until the last copy of it is released.
public struct EventSequence<Output: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = Output

  private let lease: Lease

  init(_ publisher: EventPublisher<Output, Failure>) {
    lease = Lease(publisher)
  }

  /// The number of elements that were dropped because they were not taken in time.
  public var dropped: Int { lease.queue.dropped }

  /// Begins to take elements.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

  /// Takes elements; a run is fetched at a time, so that most steps neither lock nor suspend.
  public struct Iterator: AsyncIteratorProtocol {
    private let lease: Lease
    private var run: ArraySlice<Output> = []

    fileprivate init(lease: Lease) { self.lease = lease }

    /// The next element, or nil at the end or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Output? {
      if run.isEmpty {
        guard let fetched = try await lease.queue.next() else { return nil }
        run = fetched
      }
      return run.popFirst()
    }

    /// The next element, or nil at the end or when the task is cancelled.
    public mutating func next() async throws(Failure) -> Output? {
      try await next(isolation: nil)
    }
  }

  /// Removes the queue from the hub when the last copy of the sequence and its iterator are gone.
  fileprivate final class Lease: Sendable {
    let queue: SubscriptionQueue<Output, Failure>
    private let source: StreamSource<Output>
    private let id: UInt64

    init(_ publisher: EventPublisher<Output, Failure>) {
      source = publisher.source
      let queue = SubscriptionQueue<Output, Failure>(overflow: publisher.overflow, wake: {})
      self.queue = queue
      id = source.attach({ queue.offer($0) }, { queue.finish() })
    }

    deinit { source.detach(id) }
  }
}
