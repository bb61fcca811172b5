import CPharos
package import PharosReports
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a replay is paced by: a parameter, so that tests play an hour in no time.
package protocol PacingClock: Sendable {
  /// The time since some fixed point.
  func now() -> TimeSpan
  /// Waits until a time; returns early where somebody asked to stop.
  func wait(until deadline: TimeSpan)
  /// Whether somebody asked to stop.
  var isInterrupted: Bool { get }
}

/// The machine's monotonic clock; Ctrl-C asks to stop.
package struct SystemPacingClock: PacingClock {
  private static let interrupted = Atomic<Bool>(false)

  /// Reads the machine's clock; from now on SIGINT asks to stop instead of ending the process.
  package init() {
    // Relaxed: nothing else is handed over with the flag.
    signal(SIGINT) { _ in SystemPacingClock.interrupted.store(true, ordering: .relaxed) }
  }

  /// The time since the machine started.
  package func now() -> TimeSpan { TimeSpan(nanoseconds: pharos_clock_monotonic()) }

  /// Sleeps until a time, woken early by a signal only.
  package func wait(until deadline: TimeSpan) {
    while !isInterrupted {
      let rest = (deadline - now()).nanoseconds
      guard rest > 0 else { return }
      pharos_wait(rest)
    }
  }

  /// Whether SIGINT came.
  package var isInterrupted: Bool { SystemPacingClock.interrupted.load(ordering: .relaxed) }
}
