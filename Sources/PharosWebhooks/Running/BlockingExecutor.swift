import Dispatch

/// A task executor for tasks that block on the disk: it has threads of its own, so that other tasks are not held up.
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
