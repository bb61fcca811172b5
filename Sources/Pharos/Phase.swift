import PharosIngest
import Synchronization

/// Where a server is in its life, for those who wait until it listens.
final class Phase: Sendable {
  private enum State {
    /// Not listening yet; these wait.
    case starting([CheckedContinuation<IngestServer, any Error>])
    /// Listening.
    case listening(IngestServer)
    /// Never will, or no longer does.
    case stopped(any Error)
  }

  private let state = Mutex(State.starting([]))

  /// The ingest server, once there is one.
  func ingest() async throws -> IngestServer {
    try await withCheckedThrowingContinuation { continuation in
      let known = state.withLock { state -> Result<IngestServer, any Error>? in
        switch state {
        case .starting(let waiting):
          state = .starting(waiting + [continuation])
          return nil
        case .listening(let ingest): return .success(ingest)
        case .stopped(let error): return .failure(error)
        }
      }
      if let known { continuation.resume(with: known) }
    }
  }

  /// It listens.
  func listen(_ ingest: IngestServer) {
    for continuation in replace(with: .listening(ingest)) { continuation.resume(returning: ingest) }
  }

  /// It does not, or no longer.
  func stop(_ error: any Error) {
    for continuation in replace(with: .stopped(error)) { continuation.resume(throwing: error) }
  }

  private func replace(with next: State) -> [CheckedContinuation<IngestServer, any Error>] {
    state.withLock { state in
      defer { state = next }
      guard case .starting(let waiting) = state else { return [] }
      return waiting
    }
  }
}
