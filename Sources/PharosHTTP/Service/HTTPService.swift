package import Logging
package import PharosReports
import ServiceLifecycle

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
