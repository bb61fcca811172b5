public import OpenCombine
import Synchronization

/// A stream of decisions, as an OpenCombine publisher and as an `AsyncSequence`.
///
/// A value that says what to subscribe to; nothing is kept before a client subscribes, or asks for the
/// ``sequence``. Demand is honoured exactly: a subscriber that asks for three gets three, and what comes meanwhile
/// waits in its queue, at most as much as ``buffering(_:onDrop:)`` or ``failing(beyond:)`` says.
///
/// Elements arrive on a serial queue of the subscription's own, one at a time. The closures of its operators run there,
/// never on an actor, and are `@Sendable` for that reason: what they share with an actor is the compiler's to check.
public struct EventPublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
  let source: StreamSource<Output>
  let overflow: Overflow<Failure>
  /// The executor that calls subscribers; nil for a queue of each subscription's own.
  var executor: SubscriptionExecutor?

  /// The default limit of a queue, in elements.
  ///
  /// About a second's worth of a busy site: 2,000 tags that change rooms at once and 100 handsets that range.
  public static var defaultLimit: Int { 4_096 }

  /// Starts a subscription.
  ///
  /// - Parameter subscriber: the subscriber that receives the elements.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = EventSubscription(publisher: self, downstream: AnySubscriber(subscriber))
    subscriber.receive(subscription: subscription)
    subscription.start()
  }

  /// Returns the same stream with an executor that calls its subscribers, one piece of work after the other.
  package func called(by executor: @escaping SubscriptionExecutor) -> EventPublisher {
    var copy = self
    copy.executor = executor
    return copy
  }

  /// The same elements for `for await`.
  ///
  /// The queue fills from the moment of asking, so nothing is missed between asking and the first iteration. For one
  /// consumer; ask again for another.
  public var sequence: EventSequence<Output, Failure> { EventSequence(self) }

  /// The same as ``sequence``, by Combine's name.
  public var values: EventSequence<Output, Failure> { sequence }
}

extension EventPublisher where Failure == Never {
  /// Returns the same stream with another limit of its queue; a closure receives the number of dropped elements.
  ///
  /// - Parameters:
  ///   - limit: the largest number of elements that wait, at least 1.
  ///   - onDrop: called on the sender's thread with the number of elements that were just dropped; it must not block.
  /// - Returns: the stream.
  public func buffering(_ limit: Int, onDrop: (@Sendable (Int) -> Void)? = nil) -> EventPublisher {
    EventPublisher(
      source: source,
      overflow: .dropOldest(limit: Swift.max(1, limit), onDrop: onDrop),
      executor: executor
    )
  }

  /// Returns the same stream, which ends with an error instead of dropping anything.
  ///
  /// - Parameter limit: the maximum number of waiting elements, at least 1.
  /// - Returns: the stream, whose failure is ``PublishingError/overflow(limit:)``.
  public func failing(beyond limit: Int = defaultLimit) -> EventPublisher<Output, PublishingError> {
    let limit = Swift.max(1, limit)
    return EventPublisher<Output, PublishingError>(
      source: source,
      overflow: .fail(limit: limit, .overflow(limit: limit)),
      executor: executor
    )
  }
}

/// Runs pieces of work one after the other, soon.
package typealias SubscriptionExecutor = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

/// The reason why a stream ended before its source did.
public enum PublishingError: Error, Hashable, Sendable {
  /// The subscriber left more elements waiting than its limit allows.
  case overflow(limit: Int)
}

extension PublishingError: CustomStringConvertible {
  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .overflow(let limit):
      "the subscriber left more than \(limit) events waiting; take them faster, raise the limit of "
        + "failing(beyond:), or accept losses with buffering(_:onDrop:)"
    }
  }
}

extension EventPublisher {
  /// The elements of this stream and of others, in the order in which they come; it ends when all of them have ended.
  ///
  /// Streams of one hub keep the hub's order, since they share one queue from there on. The policy of the queue is this
  /// stream's.
  ///
  /// - Parameter others: streams of the same elements.
  /// - Returns: the stream.
  public func merge(with others: EventPublisher...) -> EventPublisher {
    EventPublisher(source: StreamSource(merging: [source] + others.map(\.source)), overflow: overflow)
  }
}

extension StreamSource {
  /// Makes one source of several.
  ///
  /// - Parameters:
  ///   - sources: the sources, of which at least one.
  ///   - endsWithFirst: indicates whether the end of the first one ends all, rather than the end of the last.
  init(merging sources: [StreamSource], endsWithFirst: Bool = false) {
    self.init { receive, finish in
      let unfinished = MutexBox(endsWithFirst ? 1 : sources.count)
      let ids = sources.enumerated().map { place, source in
        source.attach(receive) {
          guard place == 0 || !endsWithFirst else { return }
          let isLast = unfinished.mutex.withLock { count in
            count -= 1
            return count == 0
          }
          if isLast { finish() }
        }
      }
      return { for (source, id) in zip(sources, ids) { source.detach(id) } }
    }
  }
}
