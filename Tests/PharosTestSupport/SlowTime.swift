import Synchronization

/// Time that hardly passes by itself, for servers under test: a machine that is busy elsewhere for a minute must not
/// make a silence of it.
///
/// A thousandth of the machine's, so that what waits for a reading to move goes on; tests let more pass by hand.
package final class SlowTime: Sendable {
  private static let slowness: Int64 = 1_000

  private let start = ContinuousClock().now
  private let passed = Mutex<Int64>(0)

  /// Starts at nothing.
  package init() {}

  /// How much has passed.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = start.duration(to: ContinuousClock().now).components
    let elapsed = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    return passed.withLock { $0 } + elapsed / SlowTime.slowness
  }

  /// Lets time pass.
  package func pass(seconds: Int64) { passed.withLock { $0 += seconds * 1_000_000_000 } }

  /// Lets time pass until so many nanoseconds have passed on purpose.
  package func pass(until nanoseconds: Int64) { passed.withLock { $0 = max($0, nanoseconds) } }
}
