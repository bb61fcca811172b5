import Foundation
import NIOCore
import NIOPosix
package import PharosModel
import Synchronization

/// The clock of deliveries and notifications, which also provides alarms.
package protocol DeliveryClock: Sendable {
  /// The present time.
  var now: Timestamp { get }
  /// Calls a function once the time has come; an instant that is past counts as now.
  ///
  /// - Parameters:
  ///   - instant: the time of the call.
  ///   - ring: the function to call, from any thread.
  /// - Returns: a function that cancels the alarm; a call that is already on its way may still arrive.
  func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// The wall clock of the machine.
package struct MachineClock: DeliveryClock {
  /// Makes the clock.
  package init() {}

  /// The present time.
  package var now: Timestamp {
    Timestamp(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e6) &* 1_000)
  }

  /// Calls a function once the time has come.
  package func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let wait = TimeAmount.nanoseconds(max((instant - now).nanoseconds, 0))
    let task = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: wait, ring)
    return { task.cancel() }
  }
}

/// A signal that wakes one task: after any number of rings, the next wait returns once.
package final class AsyncSignal: Sendable {
  private struct State {
    var isRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Makes a signal that has not been rung.
  package init() {}

  /// Resumes the waiting task; if none waits, the next call of `wait()` returns at once.
  package func ring() {
    let waiter = state.withLock { state in
      guard let waiter = state.waiter else {
        state.isRung = true
        return nil as CheckedContinuation<Void, Never>?
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume()
  }

  /// Waits until it is rung; for one task at a time.
  package func wait() async {
    await withCheckedContinuation { continuation in
      let isRung = state.withLock { state in
        guard state.isRung else {
          state.waiter = continuation
          return false
        }
        state.isRung = false
        return true
      }
      if isRung { continuation.resume() }
    }
  }
}
