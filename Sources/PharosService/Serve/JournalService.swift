import Logging
import NIOPosix
import PharosJournal
import PharosReports
import ServiceLifecycle

/// Keeps the journal within its bounds: once a minute what is too old or too much is dropped.
struct JournalService: Service {
  let journal: Journal
  let logger: Logger
  var period: Duration = .seconds(60)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var isFailing = false
      while !Task.isCancelled {
        do {
          // Dropping blocks on the disk, which no task may do.
          let pruned = try await NIOThreadPool.singleton.runIfActive { [journal] in
            try journal.prune(now: .wallClock)
          }
          if pruned.events > 0 {
            logger.debug("old events were dropped", metadata: [LogKey.count: "\(pruned.events)"])
          }
          isFailing = false
        } catch {
          if !isFailing {
            logger.error("old events cannot be dropped", metadata: [LogKey.reason: "\(error)"])
          }
          isFailing = true
        }
        guard (try? await Task.sleep(for: period)) != nil else { return }
      }
    }
  }
}
