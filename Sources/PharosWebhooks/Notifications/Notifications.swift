package import Logging
package import PharosEvents
package import PharosJournal
package import PharosPublishing
package import PharosReports
import ServiceLifecycle
import Synchronization

/// The service that follows the journal and publishes the notifications that the applications' rules ask for.
///
/// A notification is an event like others: the service hands it to the publisher of events, which gives it a sequence
/// and sends it to streams and webhooks. The rules and the state of the service are documents of the journal. After a
/// restart the service continues where its saved state ends, so no notification is published twice or lost.
package final class Notifications: Service {
  /// The kind under which rules are kept in the journal.
  static let ruleKind = "notification rule"
  /// The kind under which is kept how far the journal was followed.
  static let stateKind = "notification state"
  /// How often what is remembered is written down: what a restart reads again takes milliseconds.
  static let saveInterval = TimeSpan.seconds(30)
  /// How many events are read at a time.
  static let readLimit = 512
  /// How long to wait after the journal could not be read or written.
  static let journalPause = TimeSpan.seconds(1)
  /// What rules look at.
  static let filter = EventFilter(kinds: [.regionEnter, .regionExit, .regionState, .notification])

  struct Shared {
    var rules: [String: [String: NotificationRule]] = [:]
    var areRulesChanged = true
    /// Who was erased.
    var forgotten: [SubjectTraces] = []
    var counters = NotificationCounters()
    var isStopping = false
  }

  let journal: Journal
  let told: ToldHub
  let stream: String
  let tell: @Sendable ([Event]) -> Void
  let names: @Sendable (SubjectID) -> String?
  let clock: any DeliveryClock
  let logger: Logger
  /// The sequence after which to begin if no state is saved; earlier events cause no notification.
  let beginning: Int64
  let shared = Mutex(Shared())
  let bell = Doorbell()
  private let executor = BlockingExecutor("pharos.notifications")

  /// Reads the rules from the journal.
  ///
  /// - Parameters:
  ///   - journal: what is followed, and where rules are kept.
  ///   - told: tells when there is more in the journal.
  ///   - stream: the name of the stream, which is part of the ids.
  ///   - tell: takes notifications to be journalled and told, and returns at once.
  ///   - names: the name that the directory has for a subject.
  ///   - clock: the time.
  ///   - logger: where to say what an operator should know.
  /// - Throws: ``WebhookError/journal(_:)`` if the rules cannot be read.
  package init(
    journal: Journal,
    told: ToldHub,
    stream: String,
    tell: @escaping @Sendable ([Event]) -> Void,
    names: @escaping @Sendable (SubjectID) -> String? = { _ in nil },
    clock: any DeliveryClock = MachineClock(),
    logger: Logger
  ) throws(WebhookError) {
    self.journal = journal
    self.told = told
    self.stream = stream
    self.tell = tell
    self.names = names
    self.clock = clock
    self.logger = logger
    beginning = journal.head
    let documents = try WebhookError.journal { () throws(JournalError) in
      try journal.documents(kind: Notifications.ruleKind)
    }
    for (key, document) in documents {
      var reader = FieldReader(document[...])
      do {
        let rule = try NotificationRule(from: &reader)
        shared.withLock { $0.rules[rule.application, default: [:]][rule.id] = rule }
      } catch {
        logger.error(
          "a notification rule in the journal cannot be read and is left alone",
          metadata: ["rule": "\(key)", "reason": "\(error)"]
        )
      }
    }
  }

  /// What was decided since the server started.
  package var counters: NotificationCounters { shared.withLock { $0.counters } }

  /// Follows the journal until a graceful shutdown begins or the task is cancelled.
  package func run() async {
    let tap = told.tap { [bell] _ in bell.ring() }
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withTaskExecutorPreference(executor) { await follow() }
      } onGracefulShutdown: {
        self.stop()
      }
    } onCancel: {
      stop()
    }
    tap.cancel()
  }

  /// Ends following; what is remembered is written down.
  package func stop() {
    shared.withLock { $0.isStopping = true }
    bell.ring()
  }

  private func follow() async {
    var work: NotificationWork?
    while true {
      let (isStopping, rules, forgotten) = shared.withLock { shared in
        defer { shared.areRulesChanged = false }
        let rules = shared.areRulesChanged ? shared.rules.values.flatMap(\.values) : nil
        return (shared.isStopping, rules, shared.forgotten)
      }
      var wake: Timestamp?
      do throws(JournalError) {
        if work == nil { work = try NotificationWork(self) }
        if let rules { work?.adopt(rules) }
        if !forgotten.isEmpty {
          try work?.forget(forgotten, at: clock.now)
          shared.withLock { $0.forgotten.removeFirst(forgotten.count) }
        }
        let events = try work?.proceed(at: clock.now, isStopping: isStopping) ?? []
        if !events.isEmpty { tell(events) }
        wake = work?.wakeTime
      } catch {
        if rules != nil { shared.withLock { $0.areRulesChanged = true } }
        logger.error("notifications wait for the journal", metadata: ["reason": "\(error)"])
        wake = clock.now + Notifications.journalPause
      }
      if let counters = work?.counters { shared.withLock { $0.counters = counters } }
      if isStopping { return }
      let cancel = wake.map { clock.alarm(at: $0, ring: bell.ring) }
      await bell.wait()
      cancel?()
    }
  }
}

/// What was decided since the server started.
package struct NotificationCounters: Hashable, Sendable {
  /// The number of notifications that were handed over for publishing.
  package var told: UInt64 = 0
  /// How many were not told because of quiet hours.
  package var quieted: UInt64 = 0
  /// How many were not told because the subject had been the cause of one before.
  package var repeated: UInt64 = 0
  /// How many came too late, or were too many, to be told.
  package var late: UInt64 = 0
}
