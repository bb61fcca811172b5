import Pharos
import PharosIngest
import PharosMonitoring
import ServiceLifecycle

/// Tells systemd that the server is ready, that it lives, and that it stops.
///
/// The sign of life is one: it is given only after every loop has answered, so that a server that hangs is restarted.
struct NotifyService: Service {
  let notifier: SystemdNotifier
  let server: PharosServer
  /// Waits until everything that is to listen does, and says where.
  let ready: @Sendable () async throws -> String

  func run() async throws {
    let places = try await ready()
    notifier.tell(.ready, .status("listening on \(places)"))
    await withGracefulShutdownHandler {
      await cancelWhenGracefulShutdown { await watch() }
    } onGracefulShutdown: {
      notifier.tell(.stopping, .status("draining"))
    }
  }

  private func watch() async {
    // Half the time that systemd waits, as its manual asks for; an hour where it does not watch.
    let period = notifier.watchdog.map { $0 / 2 } ?? .seconds(3_600)
    while !Task.isCancelled {
      guard (try? await Task.sleep(for: period)) != nil else { return }
      guard notifier.watchdog != nil, let now = try? await server.snapshot() else { continue }
      let up = now.observers.count { $0.isUp }
      notifier.tell(
        .watchdog,
        .status(
          "\(up) of \(CheckRunner.count(now.observers.count, "observer")) up, \(now.datagrams) datagrams"
        )
      )
    }
  }
}
