import Atomics
import Synchronization

/// Wakes the thread of a consumer, many signals for one wake-up.
package final class Wake: Sendable {
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let action = Mutex<Callback?>(nil)
  /// Indicates whether a wake-up is pending.
  ///
  /// Acquired and released on both sides: a producer that finds it set leaves its push to the wake-up that clears it,
  /// which must then see the push.
  private let isUnderWay = ManagedAtomic(false)
  /// Indicates whether the consumer holds results back until a watermark advances.
  let isWaiting = ManagedAtomic(false)

  /// Wakes a thread by having it execute something.
  package init(execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.execute = execute
  }

  /// Sets what the consumer does when it wakes, before the first signal; nil when it has ended.
  package func setAction(_ action: (@Sendable () -> Void)?) {
    self.action.withLock { $0 = action.map { Callback(call: $0) } }
  }

  /// Wakes the consumer unless a wake-up is pending; called by producers.
  package func signal() {
    guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
    guard let action = action.withLock({ $0 }) else { return }
    execute(action.call)
  }

  /// Clears the pending wake-up; called by the consumer before it looks for work.
  package func begin() { _ = isUnderWay.exchange(false, ordering: .acquiringAndReleasing) }
}

/// A function that is stored behind a lock.
///
/// A `Mutex` of the bare function type would wrap the function again each time it is locked: generic code stores a
/// function in another representation than its caller uses, and each access converts it there and back with two thunks
/// that are never removed. A function that is read a hundred times a second would become a chain of a million calls
/// within two hours, all of which are kept and executed. Inside a structure, a function has only one representation.
struct Callback: Sendable {
  /// The function.
  let call: @Sendable () -> Void
}
