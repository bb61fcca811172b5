import Glibc
import NIOPosix

/// Threads for tasks that block on the disk or compute for long: the threads that all asynchronous work shares stay free.
package final class BackgroundExecutor: TaskExecutor {
  /// The niceness of threads of low priority: one gets a tenth of a core that decisions and commits want as well.
  package static let niceness: Int32 = 10
  /// The threads of everything that follows the journal or waits for a broker, at the priority of the process.
  package static let followers = BackgroundExecutor(threads: 4, niceness: 0)

  private let pool: NIOThreadPool
  private let niceness: Int32

  /// Makes an executor, whose threads start at once and live as long as the process.
  package init(threads: Int, niceness: Int32 = BackgroundExecutor.niceness) {
    self.niceness = niceness
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
  }

  /// Runs a piece of a task.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pool.submit { [self] _ in
      if niceness > 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Runs a part of a task on these threads.
  ///
  /// - Parameter body: the part; it may block.
  /// - Returns: the result of the part.
  /// - Throws: the error of the part.
  package func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    // A task that is here already goes on.
    guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) != asUnownedTaskExecutor() else {
      return try await body()
    }
    return try await withTaskExecutorPreference(self) {
      // A preference moves a task only when it next waits.
      await Task.yield()
      return try await body()
    }
  }
}
