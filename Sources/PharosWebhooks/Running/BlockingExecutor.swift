import Dispatch

/// Runs tasks that wait for the disk on threads of their own, so that nobody else's tasks wait with them.
final class BlockingExecutor: TaskExecutor {
  private let queue: DispatchQueue

  /// Makes an executor; `name` is what its threads are called.
  init(_ name: String) { queue = DispatchQueue(label: name, attributes: .concurrent) }

  /// Runs a piece of a task.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
