package import PharosReports
import ServiceLifecycle

/// A handle to a running server for the code that started it: its addresses, and a way to stop it.
package struct Serving: Sendable {
  /// Where it receives datagrams.
  package let addresses: [HostPort]
  /// Where it serves HTTP, if it does.
  package let http: HostPort?
  /// Makes it drain and end, as SIGTERM does.
  package let stop: @Sendable () -> Void

  package init(addresses: [HostPort], http: HostPort?, stop: @escaping @Sendable () -> Void) {
    self.addresses = addresses
    self.http = http
    self.stop = stop
  }
}

/// Ends its group gracefully once somebody asks for it.
struct StopService: Service {
  // One request is enough: further ones replace it.
  private let asked = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// Asks for the end.
  func request() { asked.continuation.yield() }

  func run() async throws {
    for await _ in asked.stream.cancelOnGracefulShutdown() { break }
  }
}
