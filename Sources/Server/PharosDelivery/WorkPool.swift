import Glibc
import NIOPosix
import Synchronization

/// Threads for calls that block or take long, off the threads that all asynchronous work shares, with a bound on the calls
/// that wait for them.
///
/// A call whose task is cancelled, because its client has left or the server stops, is skipped while it waits, and asked to
/// end while it runs.
package final class WorkPool: Sendable {
  /// The sign by which running work notices that its result is not wanted any longer.
  package final class Cancellation: Sendable {
    private let flag = Atomic(false)

    package init() {}

    /// Indicates whether the work should end.
    package var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Asks the work to end.
    package func request() { flag.store(true, ordering: .relaxed) }

    /// Throws `CancellationError` if the work should end.
    package func check() throws { if isRequested { throw CancellationError() } }
  }

  /// The error of a call that found too many others waiting.
  package struct Full: Error, CustomStringConvertible {
    /// The number of calls that may wait or run.
    package let limit: Int

    package var description: String {
      "\(limit) requests of this kind wait already, as many as may; try again in a moment"
    }
  }

  /// The niceness of threads that yield to decisions, commits and reads: with 10, they get a tenth of a core that others
  /// want as well.
  private static let niceness: Int32 = 10

  private let pool: NIOThreadPool
  private let yields: Bool
  private let limit: Int
  private let calls = Atomic(0)

  /// Makes a pool, whose threads start at once and live as long as the process.
  ///
  /// - Parameters:
  ///   - threads: the number of threads.
  ///   - limit: the maximum number of calls that run or wait.
  ///   - yields: indicates whether its threads have a lower priority than all others.
  package init(threads: Int, limit: Int, yields: Bool) {
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
    self.limit = limit
    self.yields = yields
  }

  /// Runs work on a thread of the pool and waits for it without blocking.
  ///
  /// - Parameter work: the work, which may look at its cancellation.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work, ``Full``, or `CancellationError`.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable (Cancellation) throws -> Value
  ) async throws -> Value {
    let cancellation = Cancellation()
    guard calls.add(1, ordering: .relaxed).newValue <= limit else {
      calls.subtract(1, ordering: .relaxed)
      throw Full(limit: limit)
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        pool.submit { [self] state in
          let result = Result {
            guard case .active = state else { throw CancellationError() }
            try cancellation.check()
            if yields { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, WorkPool.niceness) }
            return try work(cancellation)
          }
          calls.subtract(1, ordering: .relaxed)
          continuation.resume(with: result)
        }
      }
    } onCancel: {
      cancellation.request()
    }
  }
}
