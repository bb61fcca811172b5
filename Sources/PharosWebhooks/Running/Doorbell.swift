import Synchronization

/// Wakes one task: rung any number of times, it lets the next wait pass once.
final class Doorbell: Sendable {
  private struct State {
    var isRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Resumes the waiting task; if none waits, the next call of `wait()` returns at once.
  func ring() {
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
  func wait() async {
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
