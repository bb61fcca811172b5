public import PharosEvents

/// Where decisions come out: one sender, any number of subscribers, none of which can delay another.
///
/// Every subscription has a bounded queue of its own. ``publish(_:)`` appends a batch to each queue and returns; the
/// queue is drained elsewhere, at the speed of its subscriber and as far as its demand goes. What a full queue does
/// is the subscriber's choice: drop the oldest and count, or end with an error.
public final class EventHub: Sendable {
  let hub = Hub<Event>()
  let sensed = Hub<Sensing>()

  /// Makes a hub without subscribers.
  public init() {}

  /// How many subscriptions there are.
  public var subscriptionCount: Int { hub.count + sensed.count }

  /// Hands a batch to every subscription; never blocks.
  ///
  /// To be called from one thread at a time: the order of the calls is the order of the events.
  public func publish(_ batch: [Event]) { hub.publish(batch) }

  /// Hands what handsets sensed to every subscription that wants it; never blocks.
  ///
  /// To be called from the thread that hands over events, before the events that were decided by it.
  public func publish(sensings batch: [Sensing]) { sensed.publish(batch) }

  /// Ends every subscription once its queue is empty; later subscriptions end at once.
  public func finish() {
    hub.finish()
    sensed.finish()
  }

  /// Calls a function with every batch on the sender's thread, for those who must miss none and keep a bound of
  /// their own.
  ///
  /// - Parameters:
  ///   - take: called with each batch; it must put the batch aside and return.
  ///   - onFinish: called once when nothing follows.
  /// - Returns: the tap, by which to end the calls.
  @discardableResult
  public func tap(
    _ take: @escaping @Sendable ([Event]) -> Void,
    onFinish: @escaping @Sendable () -> Void = {}
  ) -> HubTap {
    hub.tap(take, onFinish: onFinish)
  }
}
