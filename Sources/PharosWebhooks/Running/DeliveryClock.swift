import Foundation
import NIOCore
import NIOPosix
package import PharosReports

/// What deliveries and notifications know of time: what it is, and to be woken.
package protocol DeliveryClock: Sendable {
  /// The present time.
  var now: Timestamp { get }
  /// Calls back once the time has come; an instant that is past is as good as now.
  ///
  /// - Parameters:
  ///   - instant: when.
  ///   - ring: what to call, from any thread.
  /// - Returns: what cancels it; after that, a call that is on its way may still come.
  func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// The time of the machine.
package struct MachineClock: DeliveryClock {
  /// Makes the clock.
  package init() {}

  /// The present time.
  package var now: Timestamp {
    Timestamp(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e6) &* 1_000)
  }

  /// Calls back once the time has come.
  package func alarm(at instant: Timestamp, ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let wait = TimeAmount.nanoseconds(max((instant - now).nanoseconds, 0))
    let task = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: wait, ring)
    return { task.cancel() }
  }
}
