import Atomics
import Synchronization

/// Wakes the thread of a consumer, many signals for one wake-up.
package final class Wake: Sendable {
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let action = Mutex<Callback?>(nil)
  /// Whether a wake-up is under way.
  ///
  /// Acquired and released on both sides: who finds it set leaves what it pushed to
  /// the wake-up that clears it, which must then see the push.
  private let isUnderWay = ManagedAtomic(false)
  /// Whether the consumer holds something back until a watermark moves.
  let isWaiting = ManagedAtomic(false)

  /// Wakes a thread by having it execute something.
  package init(execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.execute = execute
  }

  /// Sets what the consumer does when it wakes, once, before the first signal.
  package func setAction(_ action: @escaping @Sendable () -> Void) {
    self.action.withLock { $0 = Callback(call: action) }
  }

  /// Says that there is something to do; called by producers.
  package func signal() {
    guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
    guard let action = action.withLock({ $0 }) else { return }
    execute(action.call)
  }

  /// Says that the consumer is about to look; called by the consumer before it does.
  package func begin() { _ = isUnderWay.exchange(false, ordering: .acquiringAndReleasing) }
}
