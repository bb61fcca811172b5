package import Logging
package import PharosReports
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
  ///   - configuration: where and how to serve.
  ///   - backend: what is served.
  ///   - logger: where problems are logged; a working service is silent.
  package init(_ configuration: HTTPConfiguration, backend: HTTPBackend, logger: Logger) {
    self.configuration = configuration
    self.backend = backend
    self.logger = logger
  }

  /// Where it listens, once it does.
  ///
  /// - Throws: why it does not.
  package func address() async throws -> HostPort { try await listening.address() }

  /// Serves until the task is cancelled or its service group shuts down gracefully.
  ///
  /// - Throws: why it cannot listen.
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
