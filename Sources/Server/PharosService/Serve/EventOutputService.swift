import Logging
import Pharos
import PharosModel
import PharosPublishing
import PharosTerminal
import ServiceLifecycle
import Synchronization

/// A tally of the events written and the events lost, for the status line.
package final class EventTally: Sendable {
  // Relaxed: two numbers that are only shown.
  private let writtenCount = Atomic<Int>(0)
  private let lostCount = Atomic<Int>(0)

  package init() {}

  var written: Int { writtenCount.load(ordering: .relaxed) }
  var lost: Int { lostCount.load(ordering: .relaxed) }

  package func wrote(_ count: Int) { writtenCount.wrappingAdd(count, ordering: .relaxed) }
  package func lose(_ count: Int) { lostCount.wrappingAdd(count, ordering: .relaxed) }
}

/// A service that writes a server's events until the server's streams end.
///
/// It has its own queue, so a slow disk delays neither ingest nor another subscriber. When a write fails, as on a full
/// disk, the service counts the events as lost, logs one error, and logs a notice once writing works again.
struct EventOutputService: Service {
  private let batches: EventSequence<[Event], Never>
  private let sink: any OutputSink
  private let writer: EventWriter
  private let tally: EventTally
  private let logger: Logger

  /// The maximum number of batches that wait: minutes of a slow disk at usual rates.
  private static let queueLimit = 16_384

  /// Subscribes; what is decided from now on is written once the service runs.
  init(
    server: PharosServer,
    sink: any OutputSink,
    writer: EventWriter,
    tally: EventTally,
    logger: Logger
  ) {
    batches = server.batches.buffering(EventOutputService.queueLimit) { count in tally.lose(count) }.sequence
    self.sink = sink
    self.writer = writer
    self.tally = tally
    self.logger = logger
  }

  func run() async throws {
    var writer = writer
    var isFailing = false
    for await batch in batches {
      let before = writer.count
      do throws(OutputError) {
        try writer.write(batch, to: sink)
        try sink.flush()
        // A batch without an event of the chosen kinds proves nothing about the disk.
        guard writer.count > before else { continue }
        tally.wrote(writer.count - before)
        if isFailing {
          logger.notice("The event output can be written again.", metadata: [LogKey.lost: "\(tally.lost)"])
        }
        isFailing = false
      } catch {
        // The reader has closed the pipe. This ends the service, and the console reports no error.
        guard case .failed(let reason) = error else { throw error }
        tally.lose(writer.count - before)
        if !isFailing {
          logger.error(
            "Cannot write to the event output. Events are lost.",
            metadata: [LogKey.reason: "\(reason)"]
          )
        }
        isFailing = true
      }
    }
    // The streams end when the server has drained, which may be before the group comes to this service; one that
    // returns before its turn counts as failed.
    try? await gracefulShutdown()
  }
}
