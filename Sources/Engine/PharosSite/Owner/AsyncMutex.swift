import Synchronization

/// A queue that runs asynchronous work one after the other, in the order of the requests.
package final class AsyncMutex: Sendable {
  private struct State {
    var isLocked = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Makes a queue that is free.
  package init() {}

  /// Runs some work after all work that was requested before it has ended.
  ///
  /// - Parameter work: the work; later callers wait until it has ended.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work.
  package func withLock<Value, Failure: Error>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isLocked else {
          state.isLocked = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer { pass() }
    return try await work()
  }

  private func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.isLocked = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
