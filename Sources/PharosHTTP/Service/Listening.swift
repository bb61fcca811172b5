import PharosReports
import Synchronization

/// Whether the service listens, for those who wait until it does.
final class Listening: Sendable {
  private enum State {
    case starting([CheckedContinuation<HostPort, any Error>])
    case listening(HostPort)
    case stopped(any Error)
  }

  private let state = Mutex(State.starting([]))

  /// Where it listens, once it does.
  func address() async throws -> HostPort {
    try await withCheckedThrowingContinuation { continuation in
      let known = state.withLock { state -> Result<HostPort, any Error>? in
        switch state {
        case .starting(let waiting):
          state = .starting(waiting + [continuation])
          return nil
        case .listening(let address): return .success(address)
        case .stopped(let error): return .failure(error)
        }
      }
      if let known { continuation.resume(with: known) }
    }
  }

  /// It listens.
  func begin(at address: HostPort) {
    for continuation in replace(with: .listening(address)) {
      continuation.resume(returning: address)
    }
  }

  /// It does not, or no longer.
  func stop(_ error: any Error) {
    for continuation in replace(with: .stopped(error)) { continuation.resume(throwing: error) }
  }

  private func replace(with next: State) -> [CheckedContinuation<HostPort, any Error>] {
    state.withLock { state in
      defer { state = next }
      guard case .starting(let waiting) = state else { return [] }
      return waiting
    }
  }
}
