/// Where decisions come out that have been told: committed to the journal, with their sequence numbers.
///
/// The same queues and policies as ``EventHub``, one step later. What comes out here may be shown to the network: it is
/// in the journal already, or, like ranging, is of a kind that is never kept.
public final class ToldHub: Sendable {
  private let hub = Hub<ToldEvent>()

  /// Makes a hub without subscribers.
  public init() {}

  /// How many subscriptions there are.
  public var subscriptionCount: Int { hub.count }

  /// Every told event, one by one.
  public var events: EventPublisher<ToldEvent, Never> { hub.stream { $0 } }

  /// Every told event in the batches they were committed in.
  public var batches: EventPublisher<[ToldEvent], Never> { hub.stream { [$0] } }

  /// Hands a batch to every subscription; never blocks.
  ///
  /// To be called from one thread at a time, with sequence numbers that rise.
  public func publish(_ batch: [ToldEvent]) { hub.publish(batch) }

  /// Ends every subscription once its queue is empty; later subscriptions end at once.
  public func finish() { hub.finish() }

  /// Calls a function with every batch on the sender's thread, for those who must miss none and keep a bound of
  /// their own.
  ///
  /// - Parameters:
  ///   - take: called with each batch; it must put the batch aside and return.
  ///   - onFinish: called once when nothing follows.
  /// - Returns: the tap, by which to end the calls.
  @discardableResult
  public func tap(
    _ take: @escaping @Sendable ([ToldEvent]) -> Void,
    onFinish: @escaping @Sendable () -> Void = {}
  ) -> HubTap {
    hub.tap(take, onFinish: onFinish)
  }
}
