package import Logging
package import PharosModel
import ServiceLifecycle
import Synchronization

/// Serves the HTTP interface until its service group shuts down: requests, live streams, the dashboard.
///
/// At a graceful shutdown it takes no more connections, ends live streams cleanly, lets requests that are under way end
/// and returns.
package final class HTTPService: Service {
  private let configuration: HTTPConfiguration
  private let backend: HTTPBackend
  private let logger: Logger
  private let listening = Listening()

  /// Makes a service that does nothing yet.
  ///
  /// - Parameters:
  ///   - configuration: the settings.
  ///   - backend: the parts of the server that it serves.
  ///   - logger: the logger for problems; a working service is silent.
  package init(_ configuration: HTTPConfiguration, backend: HTTPBackend, logger: Logger) {
    self.configuration = configuration
    self.backend = backend
    self.logger = logger
  }

  /// Returns the address on which it listens, once it does.
  ///
  /// - Throws: the reason why it does not.
  package func address() async throws -> HostPort { try await listening.address() }

  /// Serves until the task is cancelled or its service group shuts down gracefully.
  ///
  /// - Throws: the reason why it cannot listen.
  package func run() async throws {
    do {
      let api = API(backend: backend, configuration: configuration, logger: logger)
      let server = try HTTPServer(
        configuration: configuration,
        api: api,
        tally: backend.tally,
        listening: listening,
        logger: logger
      )
      try await server.run()
    } catch {
      listening.stop(error)
      throw error
    }
    listening.stop(HTTPServiceError.stopped)
  }
}

/// The listening state of the service, for callers that wait until it listens.
final class Listening: Sendable {
  private enum State {
    case starting([CheckedContinuation<HostPort, any Error>])
    case listening(HostPort)
    case stopped(any Error)
  }

  private let state = Mutex(State.starting([]))

  /// Returns the address on which it listens, once it does.
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

  /// Notes that the service listens, and resumes the waiting callers.
  func begin(at address: HostPort) {
    for continuation in replace(with: .listening(address)) {
      continuation.resume(returning: address)
    }
  }

  /// Notes that the service has stopped or cannot listen, and fails the waiting callers.
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
