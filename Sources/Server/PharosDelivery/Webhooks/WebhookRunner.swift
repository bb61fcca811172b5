import Logging
import PharosDocuments
import PharosJournal
import PharosModel
import PharosPublishing
import Synchronization

/// One webhook: its definition, and the follower of the journal that delivers to it.
final class WebhookRunner: Sendable {
  let follower: JournalFollower<WebhookWork>
  private let journal: Journal
  private let current: Mutex<WebhookDefinition>
  private let movement = MovementWatch()

  init(
    _ definition: WebhookDefinition,
    _ parts: WebhookParts,
    hub: CommittedEventHub,
    onGone: @escaping @Sendable (_ id: String, _ reason: String) -> Void
  ) {
    journal = parts.journal
    current = Mutex(definition)
    var pages = JournalPages(
      parts.journal,
      logger: parts.logger,
      name: "webhook \(definition.id)",
      duty: parts.duty
    )
    pages.recent = parts.recent
    follower = JournalFollower(
      pages,
      hub: hub,
      clock: parts.clock,
      report: WebhookStanding(definition, cursor: definition.startsAfter)
    ) { pages in
      try WebhookWork(definition, parts, pages, onGone: onGone)
    }
    movement.follow(definition.deferral?.distance)
  }

  /// Makes the events about the subjects due that have moved far enough by fixes that were published.
  func receive(_ fixes: [Event]) {
    let moved = movement.moved(by: fixes)
    if !moved.isEmpty { follower.post { $0.moved.formUnion(moved) } }
  }

  /// The current definition.
  var definition: WebhookDefinition { current.withLock { $0 } }

  /// The webhook and its delivery state.
  var standing: WebhookStanding {
    var standing = follower.report
    standing.definition = definition
    // The follower logs that the journal cannot be read; a listing shows what is known without it then.
    let lowest = (try? journal.lowestLane(of: standing.definition.id)) ?? nil
    let finishedThrough = min(standing.cursor, lowest ?? .max)
    standing.lag = max(journal.head - finishedThrough, 0)
    let oldest = standing.lag > 0 ? (try? journal.events(after: finishedThrough, limit: 1))?.first : nil
    standing.waitingSince = oldest?.event.decidedAt
    standing.dead = (try? journal.deadLetterCount(of: standing.definition.id)) ?? 0
    return standing
  }

  /// Replaces the definition.
  func update(_ definition: WebhookDefinition) {
    current.withLock { current in
      current = definition
      movement.follow(definition.deferral?.distance)
      follower.post { $0.definition = definition }
    }
  }

  /// Delivers the dead letters of these subjects once more.
  func replay(_ subjects: [SubjectID]) { follower.post { $0.replays += subjects } }

  /// Removes the undelivered events of a subject.
  func forget(_ traces: SubjectTraces) {
    movement.forget(traces)
    follower.post { $0.forgotten.append(traces) }
  }

  /// Stops the deliveries and deletes their saved state, because the webhook was deleted.
  func delete() {
    follower.post { $0.isDeleted = true }
    follower.stop()
  }
}

/// The deliveries of one webhook: the schedule and its unsaved changes.
struct WebhookWork: JournalConsumer {
  struct Mail {
    /// The new definition.
    var definition: WebhookDefinition?
    /// The outcomes of attempts; nil for cancelled ones.
    var outcomes: [(attempt: DeliveryAttempt, outcome: DeliveryOutcome?)] = []
    var replays: [SubjectID] = []
    /// The subjects that have moved as far as the deferral says.
    var moved: Set<SubjectID> = []
    /// The erased subjects.
    var forgotten: [SubjectTraces] = []
    var isDeleted = false
  }

  /// The time that requests in flight have to finish once the server shuts down.
  static let grace = TimeSpan.seconds(1)
  /// The interval at which a cursor is saved that has only moved over events that the receiver does not want.
  static let cursorInterval = TimeSpan.seconds(5)
  static var emptyMail: Mail { Mail() }

  private var definition: WebhookDefinition
  private var schedule: DeliverySchedule
  private var standing: WebhookStanding
  private let parts: WebhookParts
  /// Called when the receiver answers 410 and accepts no further events.
  private let onGone: @Sendable (_ id: String, _ reason: String) -> Void
  /// The update that the journal has not accepted yet.
  private var unsaved: DeliveryUpdate?
  private var isPauseSaved: Bool
  private var isDeleted = false
  private var stoppingSince: Timestamp?

  /// Reads the delivery state from the journal.
  init(
    _ definition: WebhookDefinition,
    _ parts: WebhookParts,
    _ pages: JournalPages,
    onGone: @escaping @Sendable (String, String) -> Void
  ) throws(JournalError) {
    let saved = try parts.journal.deliveries(to: definition.id)
    var ledger = saved ?? DeliveryLedger(cursor: definition.startsAfter)
    ledger.rewind(to: pages.resume(ledger.cursor))
    self.definition = definition
    self.parts = parts
    self.onGone = onGone
    schedule = DeliverySchedule(
      ledger,
      replays: try parts.journal.replayedSubjects(of: definition.id),
      concurrency: definition.concurrency,
      deferral: definition.deferral,
      settings: parts.settings
    )
    standing = WebhookStanding(definition, cursor: ledger.cursor)
    isPauseSaved = ledger.isPaused
    // The journal keeps what a webhook needs from the moment it is known.
    if saved == nil {
      let update = DeliveryUpdate(receiver: definition.id, cursor: ledger.cursor, delivered: 0)
      try parts.journal.save([update], deadLimit: parts.settings.deadLimit)
    }
  }

  var report: WebhookStanding {
    var standing = standing
    standing.cursor = schedule.cursor
    standing.delivered = schedule.delivered
    standing.inFlight = schedule.inFlight
    standing.subjectsBehind = schedule.behindCount
    standing.failingSince = schedule.failingSince
    standing.nextAttempt = isSending ? schedule.wakeTime.flatMap { $0 == .distantPast ? nil : $0 } : nil
    return standing
  }

  func isDone(at _: Timestamp) -> Bool { stoppingSince != nil && schedule.inFlight == 0 }

  func isOverdue(at now: Timestamp) -> Bool {
    stoppingSince.map { now - $0 >= WebhookWork.grace } ?? false
  }

  private var isSending: Bool { stoppingSince == nil && definition.isEnabled && !schedule.isStopped }

  mutating func clockWasSetBack() { schedule.expedite() }

  mutating func process(_ mail: Mail, at now: Timestamp, stoppingSince: Timestamp?) {
    self.stoppingSince = stoppingSince
    isDeleted = isDeleted || mail.isDeleted
    if let new = mail.definition { adopt(new) }
    for subject in mail.replays { schedule.addReplay(of: subject) }
    for traces in mail.forgotten { schedule.forget(traces) }
    for subject in mail.moved { schedule.release(subject, at: now) }
    for (attempt, outcome) in mail.outcomes {
      guard let outcome else {
        schedule.abandon(attempt)
        continue
      }
      let verdict = schedule.finish(attempt, outcome, at: now, jitter: parts.jitter())
      record(outcome, verdict, attempt, at: now)
    }
    if isSending { schedule.advance(to: now) }
  }

  private mutating func adopt(_ new: WebhookDefinition) {
    if new.isEnabled, !definition.isEnabled { schedule.isStopped = false }
    if new.url != definition.url || new.isEnabled != definition.isEnabled { schedule.expedite() }
    definition = new
    schedule.concurrency = new.concurrency
    schedule.deferral = new.deferral
  }

  /// Reads the events that the schedule asks for.
  mutating func read(from pages: JournalPages) throws -> Bool {
    guard isSending, let load = schedule.nextLoad() else { return false }
    switch load {
    case .onward(let after, let limit):
      guard let page = try pages.next(after: after, matching: definition.boundFilter, limit: limit) else {
        return false
      }
      standing.missed += page.missed
      schedule.loadOnward(page.events, through: page.through)
    case .lane(let lane, let after, let limit):
      if lane.isReplay {
        // What was delivered must have left the dead letters before they are read again.
        try save(to: pages.journal)
        let letters = try pages.journal.replayedLetters(
          of: definition.id,
          subject: lane.topic.subject,
          limit: limit
        )
        schedule.load(lane, letters)
      } else {
        let filter = lane.topic.narrowing(definition.boundFilter)
        schedule.load(lane, try pages.journal.events(after: after, matching: filter, limit: limit))
      }
    }
    return true
  }

  /// Sends the events that are due.
  mutating func act(at now: Timestamp, isCaughtUp _: Bool) -> [Action] {
    if schedule.isStopped, definition.isEnabled {
      onGone(definition.id, "the receiver answered 410: it accepts no further events")
    }
    var actions: [Action] = []
    while isSending, let step = schedule.next(at: now) {
      guard case .send(var attempt) = step else { continue }
      // No event of a subject that has withdrawn since is sent, however long it has waited.
      let gate = parts.gate(definition.application)
      guard let event = gate.passed(attempt.entry.event, matching: definition.boundFilter) else {
        schedule.discard(attempt)
        continue
      }
      attempt.entry = JournaledEvent(sequence: attempt.entry.sequence, event: event)
      actions.append(action(for: attempt, at: now))
    }
    return actions
  }

  private func action(for attempt: DeliveryAttempt, at now: Timestamp) -> Action {
    let request = request(for: attempt, at: now)
    return { [sender = parts.sender] in
      let outcome = await sender.send(request)
      // What was broken off at shutdown says nothing about the receiver.
      let isBrokenOff = Task.isCancelled && outcome != .delivered
      return { $0.outcomes.append((attempt, isBrokenOff ? nil : outcome)) }
    }
  }

  func wakeTime(at now: Timestamp) -> Timestamp? {
    guard let stoppingSince else { return isSending ? schedule.wakeTime : nil }
    return isOverdue(at: now) ? nil : stoppingSince + WebhookWork.grace
  }

  /// Returns the signed request that posts the event, or brings it to a mailbox or a browser.
  func request(for attempt: DeliveryAttempt, at now: Timestamp) -> WebhookRequest {
    if let push = definition.push {
      let message = PushMessage(of: attempt.entry.event)
      return WebhookRequest(message, to: definition.url, push, from: parts.push, at: now, parts.settings)
    }
    var json = JSONText()
    json.names = parts.names()
    attempt.entry.event.write(to: &json, stream: parts.stream)
    var request = WebhookRequest(
      url: definition.url,
      id: attempt.entry.event.id.description,
      body: json.utf8,
      secrets: definition.secrets(at: now),
      at: now,
      timeout: parts.settings.timeout
    )
    if let receiver = definition.receiver, let relay = parts.relay {
      request.mail = MailMessage(of: attempt.entry.event, from: relay.sender, to: receiver, at: now)
    }
    return request
  }

  private mutating func record(
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
        "A delivery failed.",
        metadata: [
          "webhook": "\(definition.id)", "sequence": "\(attempt.entry.sequence)",
          "attempt": "\(attempt.number)", "reason": "\(reason)",
        ]
      )
    }
    guard case .dead(let reason) = verdict else { return }
    parts.logger.warning(
      "An event was given up and is a dead letter now.",
      metadata: [
        "webhook": "\(definition.id)", "sequence": "\(attempt.entry.sequence)", "reason": "\(reason)",
      ]
    )
  }

  // MARK: - The journal

  var saveDelay: TimeSpan? {
    if schedule.changeCount >= parts.settings.saveLimit { return .zero }
    if unsaved != nil || schedule.isChanged || definition.isEnabled == isPauseSaved || isDeleted {
      return parts.settings.saveInterval
    }
    return schedule.isCursorMoved ? WebhookWork.cursorInterval : nil
  }

  /// Saves the changes, or deletes the delivery state if the webhook was deleted.
  mutating func save(to journal: Journal) throws {
    guard !isDeleted else { return try journal.forgetDeliveries(to: definition.id) }
    // What the journal refused before goes first: the schedule counts it as saved.
    if let unsaved { try journal.save([unsaved], deadLimit: parts.settings.deadLimit) }
    if stoppingSince != nil { schedule.separateLanes() }
    unsaved = schedule.drainUpdate(receiver: definition.id)
    if unsaved == nil, definition.isEnabled == isPauseSaved {
      unsaved = DeliveryUpdate(
        receiver: definition.id,
        cursor: schedule.cursor,
        delivered: schedule.delivered,
        failingSince: schedule.failingSince
      )
    }
    unsaved?.isPaused = !definition.isEnabled
    guard let unsaved else { return }
    try journal.save([unsaved], deadLimit: parts.settings.deadLimit)
    self.unsaved = nil
    isPauseSaved = !definition.isEnabled
  }
}
