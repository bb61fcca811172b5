import CSocketMeter
import Dispatch
import Foundation
import Synchronization

/// A thread of its own, kept on one core, that runs what it is given one after the other.
package final class Lane: Sendable {
  private let jobs = Mutex<[@Sendable () -> Void]>([])
  private let bell = DispatchSemaphore(value: 0)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - core: the core that it stays on, or nil for any.
  ///   - givesWay: whether every other thread goes before it.
  package init(core: Int32?, givesWay: Bool = false) {
    let thread = Thread { [self] in
      if let core { meter_pin(core) }
      if givesWay { meter_give_way() }
      work()
    }
    thread.start()
  }

  /// Runs something on the thread and returns what it gives.
  package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      jobs.withLock { $0.append { continuation.resume(with: Swift.Result(catching: body)) } }
      bell.signal()
    }
  }

  /// The thread lives as long as the process, as the lane does.
  private func work() {
    while true {
      bell.wait()
      let job = jobs.withLock { $0.removeFirst() }
      job()
    }
  }
}
