import ServiceLifecycle
import UnixSignals

/// Reads the site file again at every SIGHUP.
struct ReloadService: Service {
  let reloader: SiteReloader
  let notifier: SystemdNotifier?

  func run() async throws {
    let signals = await UnixSignalsSequence(trapping: .sighup)
    for await _ in signals.cancelOnGracefulShutdown() {
      notifier?.tell(.reloading)
      let isTaken = await reloader.reload()
      // systemd waits for this word even where the file was refused: the service serves as before.
      notifier?.tell(.ready, .status(isTaken ? "serving" : "serving; the edited site file was refused"))
    }
  }
}
