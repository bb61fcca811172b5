public import OpenCombine

/// Operators whose closures run on the subscription's own queue.
///
/// OpenCombine's are not annotated for concurrency: a closure that is written on the main actor is taken to run there,
/// without a warning, and ends the process at the first element. These take `@Sendable` closures, and what they return is
/// an ``EventPublisher`` again, with its queue, its limit and its ``EventPublisher/values``. The limit counts elements
/// before the operators.
extension EventPublisher {
  /// Returns the elements that fulfil a condition.
  ///
  /// - Parameter isIncluded: returns whether to publish an element.
  /// - Returns: the stream.
  public func filter(_ isIncluded: @escaping @Sendable (Output) -> Bool) -> EventPublisher {
    compactMap { isIncluded($0) ? $0 : nil }
  }

  /// Returns what a function makes of each element.
  ///
  /// - Parameter transform: makes an element of the new stream.
  /// - Returns: the stream.
  public func map<Result: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Result
  ) -> EventPublisher<Result, Failure> {
    compactMap { transform($0) }
  }

  /// Returns a property of each element.
  ///
  /// - Parameter keyPath: the property.
  /// - Returns: the stream.
  public func map<Result: Sendable>(
    _ keyPath: any KeyPath<Output, Result> & Sendable
  ) -> EventPublisher<Result, Failure> {
    compactMap { $0[keyPath: keyPath] }
  }

  /// Returns what a function makes of each element, without those of which it makes nothing.
  ///
  /// - Parameter transform: makes an element of the new stream, or nil.
  /// - Returns: the stream.
  public func compactMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Output) -> Result?
  ) -> EventPublisher<Result, Failure> {
    operated { source in
      StreamSource(
        attach: { receive, finish in source.attach({ receive($0.compactMap(transform)) }, finish) },
        detach: source.detach
      )
    }
  }

  /// Returns the first elements; the stream ends behind them.
  ///
  /// - Parameter count: the number of elements; the stream ends at once for one below 1.
  /// - Returns: the stream.
  public func prefix(_ count: Int) -> EventPublisher {
    operated { source in
      StreamSource(
        attach: { receive, finish in
          let rest = MutexBox(count)
          if count < 1 { finish() }
          return source.attach({ receive($0.prefix(rest, end: finish)) }, finish)
        },
        detach: source.detach
      )
    }
  }

  /// Returns the first element; the stream ends behind it.
  public func first() -> EventPublisher { prefix(1) }

  /// Returns the first element that fulfils a condition; the stream ends behind it.
  ///
  /// - Parameter condition: returns whether an element is the one.
  /// - Returns: the stream.
  public func first(where condition: @escaping @Sendable (Output) -> Bool) -> EventPublisher {
    filter(condition).first()
  }

  private func operated<Result>(
    _ operate: (StreamSource<Output>) -> StreamSource<Result>
  ) -> EventPublisher<Result, Failure> {
    EventPublisher<Result, Failure>(source: operate(source), overflow: overflow, executor: executor)
  }
}

extension EventPublisher {
  /// Returns the elements of the publishers that a function makes of the elements.
  ///
  /// - Parameters:
  ///   - maxPublishers: the largest number of publishers that are subscribed to at a time.
  ///   - transform: makes a publisher of an element.
  /// - Returns: the publisher.
  public func flatMap<Child: Publisher>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping @Sendable (Output) -> Child
  ) -> Publishers.FlatMap<Child, EventPublisher> where Child.Failure == Failure {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }
}

/// OpenCombine's operators with `@Sendable` closures, for what no longer is an ``EventPublisher``.
///
/// The compiler prefers them to OpenCombine's own, since they are about fewer publishers. Each does what OpenCombine's does.
extension Publisher where Output: Sendable {
  /// Returns the elements that fulfil a condition.
  public func filter(_ isIncluded: @escaping @Sendable (Output) -> Bool) -> Publishers.Filter<Self> {
    Publishers.Filter(upstream: self, isIncluded: isIncluded)
  }

  /// Returns what a function makes of each element.
  public func map<Result>(
    _ transform: @escaping @Sendable (Output) -> Result
  ) -> Publishers.Map<Self, Result> {
    Publishers.Map(upstream: self, transform: transform)
  }

  /// Returns what a function makes of each element, without those of which it makes nothing.
  public func compactMap<Result>(
    _ transform: @escaping @Sendable (Output) -> Result?
  ) -> Publishers.CompactMap<Self, Result> {
    Publishers.CompactMap(upstream: self, transform: transform)
  }

  /// Returns what a function makes of each element and its result for the one before.
  public func scan<Result>(
    _ initialResult: Result,
    _ nextPartialResult: @escaping @Sendable (Result, Output) -> Result
  ) -> Publishers.Scan<Self, Result> {
    Publishers.Scan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Returns the elements without those that equal the one before by a condition.
  public func removeDuplicates(
    by predicate: @escaping @Sendable (Output, Output) -> Bool
  ) -> Publishers.RemoveDuplicates<Self> {
    Publishers.RemoveDuplicates(upstream: self, predicate: predicate)
  }

  /// Returns the elements up to the first that does not fulfil a condition.
  public func prefix(
    while predicate: @escaping @Sendable (Output) -> Bool
  ) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, predicate: predicate)
  }

  /// Returns the elements from the first that does not fulfil a condition.
  public func drop(while predicate: @escaping @Sendable (Output) -> Bool) -> Publishers.DropWhile<Self> {
    Publishers.DropWhile(upstream: self, predicate: predicate)
  }

  /// Calls functions with each element, at the end and when the subscription is cancelled.
  public func handleEvents(
    receiveOutput: (@Sendable (Output) -> Void)? = nil,
    receiveCompletion: (@Sendable (Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveCancel: (@Sendable () -> Void)? = nil
  ) -> Publishers.HandleEvents<Self> {
    Publishers.HandleEvents(
      upstream: self,
      receiveSubscription: nil,
      receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion,
      receiveCancel: receiveCancel,
      receiveRequest: nil
    )
  }

  /// Calls functions with each element and at the end.
  ///
  /// - Parameters:
  ///   - receiveCompletion: called once, when nothing follows.
  ///   - receiveValue: called with each element.
  /// - Returns: the subscription, which lasts as long as it is kept.
  public func sink(
    receiveCompletion: @escaping @Sendable (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping @Sendable (Output) -> Void
  ) -> AnyCancellable {
    let subscriber = Subscribers.Sink<Output, Failure>(
      receiveCompletion: receiveCompletion,
      receiveValue: receiveValue
    )
    subscribe(subscriber)
    return AnyCancellable(subscriber)
  }
}

extension Publisher where Output: Sendable, Failure == Never {
  /// Calls a function with each element.
  ///
  /// - Parameter receiveValue: called with each element.
  /// - Returns: the subscription, which lasts as long as it is kept.
  public func sink(receiveValue: @escaping @Sendable (Output) -> Void) -> AnyCancellable {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
  }
}
