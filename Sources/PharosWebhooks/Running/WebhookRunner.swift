import PharosEvents
import Logging
import PharosJournal
import PharosReports
import Synchronization

/// Runs the schedule of one webhook: reads the journal, sends, writes down how far it has come.
///
/// One task owns the schedule. Everything else puts a note into the mail and rings.
final class WebhookRunner: Sendable {
  /// How long what is being sent may take to end once the server shuts down.
  static let grace = TimeSpan.seconds(5)
  /// How long to wait after the journal could not be read or written.
  static let journalPause = TimeSpan.seconds(1)
  /// How often a cursor is written down that has only moved over events which the receiver does not want.
  static let cursorInterval = TimeSpan.seconds(5)

  /// What others tell the task.
  struct Mail {
    /// How attempts ended; nil for those that were broken off.
    var outcomes: [(attempt: DeliveryAttempt, outcome: DeliveryOutcome?)] = []
    var replays: [SubjectID] = []
    /// Who was erased.
    var forgotten: [SubjectTraces] = []
    var isStopping = false
    var isForgetting = false
  }

  struct Shared {
    var definition: WebhookDefinition
    var standing: WebhookStanding
    var mail = Mail()
  }

  let bell = Doorbell()
  let parts: WebhookParts
  let shared: Mutex<Shared>
  /// Called when the receiver wants no more.
  let onGone: @Sendable (_ id: String, _ reason: String) -> Void

  init(
    _ definition: WebhookDefinition,
    _ parts: WebhookParts,
    onGone: @escaping @Sendable (String, String) -> Void
  ) {
    self.parts = parts
    self.onGone = onGone
    shared = Mutex(
      Shared(
        definition: definition,
        standing: WebhookStanding(definition, cursor: definition.startsAfter)
      )
    )
  }

  /// The webhook as it is now.
  var definition: WebhookDefinition { shared.withLock { $0.definition } }

  /// The webhook and how it fares.
  var standing: WebhookStanding {
    var standing = shared.withLock { shared in
      shared.standing.definition = shared.definition
      return shared.standing
    }
    standing.lag = max(parts.journal.head - standing.cursor, 0)
    // The runner's task logs that the journal cannot be read; a listing shows 0 then.
    standing.dead = (try? parts.journal.deadLetterCount(of: standing.definition.id)) ?? 0
    return standing
  }

  /// Changes what the webhook is.
  func update(_ definition: WebhookDefinition) {
    shared.withLock { $0.definition = definition }
    bell.ring()
  }

  /// Dead letters of these subjects are to be delivered once more.
  func replay(_ subjects: [SubjectID]) {
    shared.withLock { $0.mail.replays += subjects }
    bell.ring()
  }

  /// Ends the task once what is being sent has ended.
  func stop(forgetting: Bool = false) {
    shared.withLock { shared in
      shared.mail.isStopping = true
      if forgetting { shared.mail.isForgetting = true }
    }
    bell.ring()
  }

  /// Delivers until it is stopped.
  func run() async {
    guard var work = await begin() else { return }
    await withDiscardingTaskGroup { group in
      var cancelAlarm: (@Sendable () -> Void)?
      while true {
        let (mail, definition) = shared.withLock { shared in
          defer {
            shared.mail = Mail(isStopping: shared.mail.isStopping, isForgetting: shared.mail.isForgetting)
          }
          return (shared.mail, shared.definition)
        }
        cancelAlarm?()
        work.adopt(definition)
        work.take(mail, at: parts.clock.now)
        for attempt in work.proceed(at: parts.clock.now) {
          let request = work.request(for: attempt, at: parts.clock.now)
          group.addTask { await self.send(request, attempt) }
        }
        let standing = work.standing
        shared.withLock { $0.standing = standing }
        if work.isGone { onGone(definition.id, "the receiver answered 410: it wants no more events") }
        if work.isDone { break }
        if work.isOverdue(at: parts.clock.now) { group.cancelAll() }
        cancelAlarm = work.wakeTime(at: parts.clock.now).map { parts.clock.alarm(at: $0, ring: bell.ring) }
        if work.hasMore { bell.ring() }
        await bell.wait()
      }
      cancelAlarm?()
    }
  }

  private func send(_ request: WebhookRequest, _ attempt: DeliveryAttempt) async {
    let outcome = await parts.sender.send(request)
    // What was broken off at shutdown says nothing about the receiver.
    let isBrokenOff = Task.isCancelled && outcome != .delivered
    shared.withLock { $0.mail.outcomes.append((attempt, isBrokenOff ? nil : outcome)) }
    bell.ring()
  }

  /// Reads from the journal how far the webhook has come; waits while that is not possible.
  private func begin() async -> WebhookWork? {
    while true {
      do {
        return try WebhookWork(definition, parts)
      } catch {
        parts.logger.error(
          "a webhook waits for the journal",
          metadata: ["webhook": "\(definition.id)", "reason": "\(error)"]
        )
      }
      if shared.withLock({ $0.mail.isStopping }) { return nil }
      let cancel = parts.clock.alarm(at: parts.clock.now + WebhookRunner.journalPause, ring: bell.ring)
      await bell.wait()
      cancel()
    }
  }
}
