package import Logging
package import PharosEvents
package import PharosJournal
package import PharosPublishing
import PharosReports
import ServiceLifecycle
import Synchronization

/// Carries told events to other people's servers: at least once, in order for each subject, signed.
///
/// Webhooks are documents of the journal, and so is how far each has come; a restart goes on where it stopped. Each
/// webhook reads the journal by a cursor of its own, so that a slow or broken receiver delays no other and takes no
/// memory. Changes may come from any thread, before and while it runs.
package final class Webhooks: Service {
  /// The kind under which definitions are kept in the journal.
  static let documentKind = "webhook"

  struct State {
    var runners: [String: WebhookRunner] = [:]
    /// Nothing is started any more.
    var isClosed = false
  }

  let parts: WebhookParts
  let told: ToldHub
  let ownPorts: Set<Int>
  let state = Mutex(State())
  private let executor = BlockingExecutor("pharos.webhooks")
  /// Runners that are to be started by ``run()``.
  private let launches: AsyncStream<WebhookRunner>
  private let launch: AsyncStream<WebhookRunner>.Continuation

  /// Reads the webhooks from the journal.
  ///
  /// - Parameters:
  ///   - journal: the journal, which holds the events and the delivery state.
  ///   - told: the hub that publishes new events of the journal.
  ///   - stream: the name of the stream, which events carry as source.
  ///   - ownPorts: the TCP ports that the server listens on, which no webhook may post to.
  ///   - allows: returns whether an event may still be sent to the webhooks of an application, or, for nil, to those
  ///     that belong to no application; called before each attempt, so that a withdrawal stops waiting events at
  ///     once.
  ///   - sender: the sender of requests.
  ///   - clock: the time.
  ///   - settings: times and bounds.
  ///   - jitter: random numbers from 0 up to 1, for the waits between attempts.
  ///   - logger: the logger for messages to the operator.
  /// - Throws: ``WebhookError/journal(_:)`` if the webhooks cannot be read.
  package init(
    journal: Journal,
    told: ToldHub,
    stream: String,
    ownPorts: Set<Int> = [],
    allows: @escaping @Sendable (_ event: Event, _ application: String?) -> Bool = { _, _ in true },
    sender: any WebhookSender = HTTPWebhookSender(),
    clock: any DeliveryClock = MachineClock(),
    settings: DeliverySettings = DeliverySettings(),
    jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    logger: Logger
  ) throws(WebhookError) {
    parts = WebhookParts(
      journal: journal,
      stream: stream,
      allows: allows,
      sender: sender,
      clock: clock,
      settings: settings,
      jitter: jitter,
      logger: logger
    )
    self.told = told
    self.ownPorts = ownPorts
    (launches, launch) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    let (documents, receivers) = try WebhookError.journal { () throws(JournalError) in
      (try journal.documents(kind: Webhooks.documentKind), try journal.receivers())
    }
    for document in documents {
      var reader = FieldReader(document.document[...])
      do {
        start(try WebhookDefinition(from: &reader))
      } catch {
        logger.error(
          "a webhook in the journal cannot be read and is left alone",
          metadata: ["webhook": "\(document.key)", "reason": "\(error)"]
        )
      }
    }
    // What was deleted while nothing ran holds the journal's events no longer.
    for receiver in receivers where !documents.contains(where: { $0.key == receiver }) {
      try WebhookError.journal { () throws(JournalError) in try journal.forgetDeliveries(to: receiver) }
    }
  }

  /// Delivers events until a graceful shutdown begins or the task is cancelled.
  ///
  /// Requests that are in flight then have a few seconds to finish.
  package func run() async {
    let tap = told.tap { [weak self] _ in self?.ring() }
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withTaskExecutorPreference(executor) {
          await withDiscardingTaskGroup { group in
            for await runner in launches { group.addTask { await runner.run() } }
          }
        }
      } onGracefulShutdown: {
        self.stop()
      }
    } onCancel: {
      stop()
    }
    tap.cancel()
    await parts.sender.shutdown()
  }

  /// Ends deliveries: nothing new is sent, and how far each webhook has come is written down.
  package func stop() {
    let runners = state.withLock { state in
      state.isClosed = true
      return Array(state.runners.values)
    }
    for runner in runners { runner.stop() }
    launch.finish()
  }

  /// There may be more in the journal.
  package func ring() {
    for runner in state.withLock({ Array($0.runners.values) }) { runner.bell.ring() }
  }

  /// Has a webhook delivered from now on.
  @discardableResult
  func start(_ definition: WebhookDefinition) -> WebhookRunner {
    let runner = WebhookRunner(definition, parts) { [weak self] id, reason in
      self?.disable(id, because: reason)
    }
    let isOpen = state.withLock { state in
      state.runners[definition.id] = runner
      return !state.isClosed
    }
    if isOpen { launch.yield(runner) }
    return runner
  }
}

/// What all webhooks share.
struct WebhookParts: Sendable {
  let journal: Journal
  let stream: String
  let allows: @Sendable (Event, String?) -> Bool
  let sender: any WebhookSender
  let clock: any DeliveryClock
  let settings: DeliverySettings
  let jitter: @Sendable () -> Double
  let logger: Logger
}

extension WebhookError {
  /// Does something with the journal and gives its error the words of this module.
  @discardableResult
  static func journal<Result>(_ body: () throws(JournalError) -> Result) throws(WebhookError) -> Result {
    do {
      return try body()
    } catch {
      throw .journal("\(error)")
    }
  }
}
