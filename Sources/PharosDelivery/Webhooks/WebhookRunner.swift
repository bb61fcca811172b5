import Logging
import PharosJournal
import PharosModel
import Synchronization

/// The runner of one webhook's schedule: it reads the journal, sends events and saves the delivery state.
///
/// One task owns the schedule. Other threads pass messages to it through the mail and ring the bell.
final class WebhookRunner: Sendable {
  /// The time that requests in flight have to finish once the server shuts down.
  static let grace = TimeSpan.seconds(1)
  /// The wait after a failed read or write of the journal.
  static let journalPause = TimeSpan.seconds(1)
  /// The interval at which a cursor is saved that has only moved over events that the receiver does not want.
  static let cursorInterval = TimeSpan.seconds(5)

  /// The messages to the task.
  struct Mail {
    /// The outcomes of attempts; nil for cancelled ones.
    var outcomes: [(attempt: DeliveryAttempt, outcome: DeliveryOutcome?)] = []
    var replays: [SubjectID] = []
    /// The erased subjects, whose events the task still has to remove from the schedule.
    var forgotten: [SubjectTraces] = []
    var isStopping = false
    var isForgetting = false
  }

  struct Shared {
    var definition: WebhookDefinition
    var standing: WebhookStanding
    var mail = Mail()
  }

  let bell = AsyncSignal()
  let parts: WebhookParts
  let shared: Mutex<Shared>
  /// Called when the receiver answers 410 and accepts no further events.
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

  /// The current definition.
  var definition: WebhookDefinition { shared.withLock { $0.definition } }

  /// The webhook and its delivery state.
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

  /// Replaces the definition.
  func update(_ definition: WebhookDefinition) {
    shared.withLock { $0.definition = definition }
    bell.ring()
  }

  /// Delivers the dead letters of these subjects once more.
  func replay(_ subjects: [SubjectID]) {
    shared.withLock { $0.mail.replays += subjects }
    bell.ring()
  }

  /// Stops the task once the requests in flight have finished.
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
        if work.isGone { onGone(definition.id, "the receiver answered 410: it accepts no further events") }
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

  /// Reads the delivery state from the journal; waits while the journal cannot be read.
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

/// The work of the task of one webhook: its schedule and its unsaved changes.
struct WebhookWork {
  var definition: WebhookDefinition
  var schedule: DeliverySchedule
  var standing: WebhookStanding
  let parts: WebhookParts

  /// The maximum number of journal reads before the events found are sent.
  static let longestPass = 16
  /// The backward step of the wall clock that ends all waits, which would last that much longer otherwise.
  static let clockStep = TimeSpan.seconds(10)

  /// Indicates whether the caller should call ``proceed(at:)`` again at once.
  private(set) var hasMore = false
  /// The update that the journal has not accepted yet.
  private var unsaved: DeliveryUpdate?
  private var savedAt: Timestamp
  /// The time until which the journal is not accessed, because it failed.
  private var journalHeldUntil = Timestamp.distantPast
  private var isJournalFailing = false
  private var stoppingSince: Timestamp?
  private var latest = Timestamp.distantPast
  private var isForgetting = false
  private var isPauseSaved: Bool

  /// Reads the delivery state from the journal.
  init(_ definition: WebhookDefinition, _ parts: WebhookParts) throws(JournalError) {
    let kept = try parts.journal.deliveries(to: definition.id)
    let ledger = kept ?? DeliveryLedger(cursor: definition.startsAfter)
    self.definition = definition
    self.parts = parts
    schedule = DeliverySchedule(
      ledger,
      replays: try parts.journal.replayedSubjects(of: definition.id),
      concurrency: definition.concurrency,
      settings: parts.settings
    )
    standing = WebhookStanding(definition, cursor: ledger.cursor)
    savedAt = parts.clock.now
    isPauseSaved = ledger.isPaused
    // The journal keeps what a webhook needs from the moment it is known.
    if kept == nil {
      let update = DeliveryUpdate(receiver: definition.id, cursor: ledger.cursor, delivered: 0)
      try parts.journal.save([update], deadLimit: parts.settings.deadLimit)
    }
  }

  /// A Boolean value that is true if the receiver has answered 410 and the webhook is still enabled.
  var isGone: Bool { schedule.isStopped && definition.isEnabled }

  /// Indicates whether the task stops and no request is in flight.
  var isDone: Bool { stoppingSince != nil && schedule.inFlight == 0 }

  /// Returns whether the requests in flight have had their time to finish.
  func isOverdue(at now: Timestamp) -> Bool {
    stoppingSince.map { now - $0 >= WebhookRunner.grace } ?? false
  }

  private var isSending: Bool { stoppingSince == nil && definition.isEnabled && !schedule.isStopped }

  /// Applies the current definition.
  mutating func adopt(_ new: WebhookDefinition) {
    if new.isEnabled, !definition.isEnabled { schedule.isStopped = false }
    if new.url != definition.url || new.isEnabled != definition.isEnabled { schedule.hurry() }
    definition = new
    schedule.concurrency = new.concurrency
  }

  /// Processes the messages to the task.
  mutating func take(_ mail: WebhookRunner.Mail, at now: Timestamp) {
    if mail.isStopping { stoppingSince = stoppingSince ?? now }
    isForgetting = isForgetting || mail.isForgetting
    for subject in mail.replays { schedule.addReplay(of: subject) }
    for traces in mail.forgotten { schedule.forget(traces) }
    for (attempt, outcome) in mail.outcomes {
      guard let outcome else {
        schedule.abandon(attempt)
        continue
      }
      let verdict = schedule.finish(attempt, outcome, at: now, jitter: parts.jitter())
      note(outcome, verdict, attempt, at: now)
    }
  }

  /// Does all work that is due and returns the attempts to send.
  mutating func proceed(at now: Timestamp) -> [DeliveryAttempt] {
    var attempts: [DeliveryAttempt] = []
    hasMore = false
    if now < latest - WebhookWork.clockStep {
      schedule.hurry()
      savedAt = now
      journalHeldUntil = .distantPast
    }
    latest = now
    if isSending {
      schedule.advance(to: now)
      // A long journal is read in portions, so that what is found is sent meanwhile.
      var loads = 0
      while true {
        while let step = schedule.next(at: now) {
          guard case .send(var attempt) = step else { continue }
          // No event of a subject that has withdrawn since is sent, however long it has waited.
          let gate = parts.gate(definition.application)
          if let event = gate.passed(attempt.entry.event, matching: definition.boundFilter) {
            attempt.entry = JournaledEvent(sequence: attempt.entry.sequence, event: event)
            attempts.append(attempt)
          } else {
            schedule.discard(attempt)
          }
        }
        if schedule.changeCount >= parts.settings.saveLimit { save(at: now) }
        guard load(at: now) else { break }
        loads += 1
        hasMore = loads >= WebhookWork.longestPass
        if hasMore { break }
      }
    }
    if isDone {
      finish(at: now)
    } else if let due = saveTime, due <= now {
      save(at: now)
    }
    standing.cursor = schedule.cursor
    standing.delivered = schedule.delivered
    standing.inFlight = schedule.inFlight
    standing.subjectsBehind = schedule.behindCount
    standing.failingSince = schedule.failingSince
    standing.nextAttempt = isSending ? schedule.wakeTime.flatMap { $0 == .distantPast ? nil : $0 } : nil
    return attempts
  }

  /// Returns the time of the next work, if no message comes before.
  func wakeTime(at now: Timestamp) -> Timestamp? {
    var times: [Timestamp] = []
    if isSending, let wake = schedule.wakeTime { times.append(wake) }
    if let saveTime { times.append(saveTime) }
    if journalHeldUntil > now { times.append(journalHeldUntil) }
    if let stoppingSince { times.append(stoppingSince + WebhookRunner.grace) }
    return times.filter { $0 > now || stoppingSince == nil }.min()
  }

  /// Returns the signed request that posts the event.
  func request(for attempt: DeliveryAttempt, at now: Timestamp) -> WebhookRequest {
    var json = JSONText()
    attempt.entry.event.write(to: &json, stream: parts.stream)
    return WebhookRequest(
      url: definition.url,
      id: attempt.entry.event.id.description,
      body: json.utf8,
      secrets: definition.secrets(at: now),
      at: now,
      timeout: parts.settings.timeout
    )
  }

  private mutating func note(
    _ outcome: DeliveryOutcome,
    _ verdict: DeliveryVerdict,
    _ attempt: DeliveryAttempt,
    at now: Timestamp
  ) {
    switch outcome {
    case .delivered: standing.lastDelivery = now
    case .gone: standing.lastFailure = now
    case .failed(let reason, _):
      standing.failures += 1
      standing.lastFailure = now
      standing.lastFailureReason = reason
      parts.logger.debug(
        "a delivery failed",
        metadata: [
          "webhook": "\(definition.id)", "sequence": "\(attempt.entry.sequence)",
          "attempt": "\(attempt.number)", "reason": "\(reason)",
        ]
      )
    }
    guard case .dead(let reason) = verdict else { return }
    parts.logger.warning(
      "an event was given up and is a dead letter now",
      metadata: [
        "webhook": "\(definition.id)", "sequence": "\(attempt.entry.sequence)", "reason": "\(reason)",
      ]
    )
  }

  // MARK: - The journal

  /// Reads the events that the schedule asks for; returns false if there are none to read or the journal fails.
  private mutating func load(at now: Timestamp) -> Bool {
    guard now >= journalHeldUntil, let load = schedule.nextLoad() else { return false }
    do {
      switch load {
      case .onward(let after, let limit):
        let head = parts.journal.head
        guard head > after else { return false }
        noteMissing(after: after)
        let events = try parts.journal.events(after: after, matching: definition.boundFilter, limit: limit)
        // Events may have been committed since the head was read: they are loaded already, and must not be loaded again.
        let last = events.last?.sequence ?? head
        let through = events.count == limit ? last : max(head, last)
        schedule.loadOnward(events, through: through)
      case .lane(let lane, let after, let limit):
        if lane.isReplay {
          // What was delivered must have left the dead letters before they are read again.
          guard save(at: now) else { return false }
          schedule.load(
            lane,
            try parts.journal.replayedLetters(of: definition.id, subject: lane.subject, limit: limit)
          )
        } else {
          var filter = definition.boundFilter
          filter.subjects = [lane.subject]
          schedule.load(lane, try parts.journal.events(after: after, matching: filter, limit: limit))
        }
      }
      noteJournal(nil, at: now)
      return true
    } catch {
      noteJournal(error, at: now)
      return false
    }
  }

  /// Counts the events that the journal dropped before the webhook read them.
  private mutating func noteMissing(after: Int64) {
    let oldest = parts.journal.oldest
    guard oldest > after + 1 else { return }
    let missed = oldest - after - 1
    standing.missed += missed
    schedule.skip(to: oldest - 1)
    parts.logger.warning(
      "the journal's retention took events before a webhook came to them",
      metadata: ["webhook": "\(definition.id)", "events": "\(missed)"]
    )
  }

  private var saveTime: Timestamp? {
    if unsaved != nil { return max(journalHeldUntil, savedAt + parts.settings.saveInterval) }
    if schedule.isChanged || definition.isEnabled == isPauseSaved {
      return max(journalHeldUntil, savedAt + parts.settings.saveInterval)
    }
    return schedule.isCursorMoved ? max(journalHeldUntil, savedAt + WebhookRunner.cursorInterval) : nil
  }

  /// Saves the changes; returns false if the journal fails.
  @discardableResult
  private mutating func save(at now: Timestamp) -> Bool {
    guard now >= journalHeldUntil || stoppingSince != nil else { return false }
    savedAt = now
    do {
      if let unsaved { try parts.journal.save([unsaved], deadLimit: parts.settings.deadLimit) }
      unsaved = nil
      var update = schedule.takeUpdate(receiver: definition.id)
      if update == nil, definition.isEnabled == isPauseSaved {
        update = DeliveryUpdate(
          receiver: definition.id,
          cursor: schedule.cursor,
          delivered: schedule.delivered,
          failingSince: schedule.failingSince
        )
      }
      update?.isPaused = !definition.isEnabled
      unsaved = update
      if let update { try parts.journal.save([update], deadLimit: parts.settings.deadLimit) }
      unsaved = nil
      isPauseSaved = !definition.isEnabled
      noteJournal(nil, at: now)
      return true
    } catch {
      noteJournal(error, at: now)
      return false
    }
  }

  /// Saves the delivery state at the end, or deletes it if the webhook was deleted.
  private mutating func finish(at now: Timestamp) {
    guard isForgetting else {
      save(at: now)
      return
    }
    do {
      try parts.journal.forgetDeliveries(to: definition.id)
    } catch {
      noteJournal(error, at: now)
    }
  }

  /// Logs once that the journal fails, and once that it works again.
  private mutating func noteJournal(_ error: JournalError?, at now: Timestamp) {
    if let error {
      journalHeldUntil = now + WebhookRunner.journalPause
      guard !isJournalFailing else { return }
      isJournalFailing = true
      parts.logger.error(
        "a webhook waits for the journal",
        metadata: ["webhook": "\(definition.id)", "reason": "\(error)"]
      )
    } else if isJournalFailing {
      isJournalFailing = false
      parts.logger.notice("a webhook goes on", metadata: ["webhook": "\(definition.id)"])
    }
  }
}
