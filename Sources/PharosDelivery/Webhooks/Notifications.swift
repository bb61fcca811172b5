package import Logging
package import PharosJournal
package import PharosModel
package import PharosPublishing
import ServiceLifecycle
import Synchronization

/// The service that follows the journal and publishes the notifications that the applications' rules ask for.
///
/// A notification is an event like others: the service hands it to the publisher of events, which gives it a sequence
/// and sends it to streams and webhooks. The rules and the state of the service are documents of the journal. After a
/// restart the service continues where its saved state ends, so no notification is published twice or lost.
package final class Notifications: Service {
  /// The kind of the journal documents that hold the rules.
  static let ruleKind = "notification rule"
  /// The kind of the journal document that holds the cursor and the state of the machine.
  static let stateKind = "notification state"
  /// The interval at which the state is saved; events that a restart reads again take milliseconds.
  static let saveInterval = TimeSpan.seconds(30)
  /// The number of events that are read from the journal at a time.
  static let readLimit = 512
  /// The wait after a failed read or write of the journal.
  static let journalPause = TimeSpan.seconds(1)
  /// The filter of the events that rules depend on.
  static let filter = EventFilter(kinds: [.regionEnter, .regionExit, .regionState, .notification])

  struct Shared {
    var rules: [String: [String: NotificationRule]] = [:]
    var areRulesChanged = true
    /// The erased subjects that the task has not removed from its state yet.
    var forgotten: [SubjectTraces] = []
    var counters = NotificationCounters()
    var isStopping = false
  }

  let journal: Journal
  let told: CommittedEventHub
  let stream: String
  let tell: @Sendable ([Event]) -> Void
  let names: @Sendable (SubjectID) -> String?
  let clock: any DeliveryClock
  let logger: Logger
  /// The sequence after which to begin if no state is saved; earlier events cause no notification.
  let beginning: Int64
  let shared = Mutex(Shared())
  let bell = AsyncSignal()
  private let executor = BlockingExecutor("pharos.notifications")

  /// Reads the rules from the journal.
  ///
  /// - Parameters:
  ///   - journal: the journal to follow, which also holds the rules.
  ///   - told: the hub that reports new events of the journal.
  ///   - stream: the name of the stream, which is part of the ids.
  ///   - tell: passes notifications on to be journalled and published, and returns at once.
  ///   - names: the name that the directory has for a subject.
  ///   - clock: the time.
  ///   - logger: the logger for messages to the operator.
  /// - Throws: ``WebhookError/journal(_:)`` if the rules cannot be read.
  package init(
    journal: Journal,
    told: CommittedEventHub,
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
      do {
        let rule = try NotificationRule(encoded: document)
        shared.withLock { $0.rules[rule.application, default: [:]][rule.id] = rule }
      } catch {
        logger.error(
          "a notification rule in the journal cannot be read and is left alone",
          metadata: ["rule": "\(key)", "reason": "\(error)"]
        )
      }
    }
  }

  /// The counters of the decisions since the server started.
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

  /// Stops the service, which then saves its state.
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

/// The counters of the decisions since the server started.
package struct NotificationCounters: Hashable, Sendable {
  /// The number of notifications that were handed over for publishing.
  package var told: UInt64 = 0
  /// The number of notifications that quiet hours suppressed.
  package var quieted: UInt64 = 0
  /// The number of notifications that `atMostOncePer` suppressed.
  package var repeated: UInt64 = 0
  /// The number of notifications that were dropped because they came too late or exceeded a limit.
  package var late: UInt64 = 0
}

extension Notifications {
  /// The rules of an application, by identifier.
  package func list(application: String) -> [NotificationRule] {
    shared.withLock { Array(($0.rules[application] ?? [:]).values) }.sorted { $0.id < $1.id }
  }

  /// One rule.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  /// - Returns: the rule.
  /// - Throws: ``WebhookError/unknown(_:)``.
  package func rule(_ id: String, application: String) throws(WebhookError) -> NotificationRule {
    guard let rule = shared.withLock({ $0.rules[application]?[id] }) else { throw .unknown(id) }
    return rule
  }

  /// Creates a rule, or replaces the one with this identifier.
  ///
  /// A new rule applies to the events that are published from now on.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - json: the rule: `region`, `on`, `text`, and optionally `atMostOncePer`, `quietHours` {`from`, `to`,
  ///     `timeZone`}, `onlyIfStillInsideAfter`.
  ///   - application: its application.
  /// - Returns: the rule, and true if it is new.
  /// - Throws: ``WebhookError``.
  package func put(
    _ id: String,
    json: [UInt8],
    application: String
  ) throws(WebhookError) -> (rule: NotificationRule, isNew: Bool) {
    var rule = try NotificationDocument.rule(json: json, application: application, id: id)
    let (before, count) = shared.withLock { ($0.rules[application]?[id], $0.rules[application]?.count ?? 0) }
    guard before != nil || count < NotificationRule.limit else {
      throw .tooMany(limit: NotificationRule.limit)
    }
    rule.startsAfter = before?.startsAfter ?? journal.head
    let bytes = rule.encoded
    try WebhookError.journal { () throws(JournalError) in
      try journal.put(bytes, kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    let kept = rule
    shared.withLock { shared in
      shared.rules[application, default: [:]][id] = kept
      shared.areRulesChanged = true
    }
    bell.ring()
    return (rule, before == nil)
  }

  /// Deletes a rule and the state that belongs to it.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  /// - Throws: ``WebhookError``.
  package func delete(_ id: String, application: String) throws(WebhookError) {
    _ = try rule(id, application: application)
    try WebhookError.journal { () throws(JournalError) in
      try journal.delete(kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    shared.withLock { shared in
      shared.rules[application]?[id] = nil
      shared.areRulesChanged = true
    }
    bell.ring()
  }

  /// Returns the change that deletes the rules of an application that no longer exists.
  package func deletingAll(of application: String) -> PendingChange {
    let rules = list(application: application)
    let keys = rules.map { Notifications.key(application, $0.id) }
    return PendingChange(
      documents: keys.map { DocumentChange(kind: Notifications.ruleKind, key: $0) },
      former: zip(rules, keys).map { rule, key in
        DocumentChange(kind: Notifications.ruleKind, key: key, document: rule.encoded)
      }
    ) { [self] in
      shared.withLock { shared in
        for rule in rules { shared.rules[application]?[rule.id] = nil }
        shared.areRulesChanged = true
      }
      bell.ring()
    }
  }

  /// The key of a rule's document; the length keeps any two pairs apart.
  private static func key(_ application: String, _ id: String) -> String {
    "\(application.utf8.count):\(application)/\(id)"
  }
}

extension Notifications {
  /// Removes a subject from the state in memory and from the saved state.
  ///
  /// - Returns: the number of saved states that named it, 1 or 0.
  /// - Throws: ``WebhookError/journal(_:)``.
  package func forget(_ traces: SubjectTraces) throws(WebhookError) -> Int {
    shared.withLock { $0.forgotten.append(traces) }
    bell.ring()
    return try Notifications.forget(traces, keptIn: journal)
  }

  /// Removes a subject from the saved state of a server that does not run.
  ///
  /// - Returns: the number of saved states that named it, 1 or 0.
  /// - Throws: ``WebhookError/journal(_:)``.
  package static func forget(_ traces: SubjectTraces, keptIn journal: Journal) throws(WebhookError) -> Int {
    try WebhookError.journal { () throws(JournalError) in
      guard let document = try journal.document(kind: stateKind, key: "") else { return 0 }
      var machine = NotificationMachine(stream: journal.stream)
      var reader = FieldReader(document[...])
      guard let cursor = try? reader.number(Int64.self), (try? machine.restoreState(from: &reader)) != nil
      else {
        // An unreadable state is of no use, and may name erased subjects: delete it.
        try journal.delete(kind: stateKind, key: "")
        return 1
      }
      guard machine.forget(traces) else { return 0 }
      var writer = FieldWriter()
      writer.write(cursor)
      machine.writeState(to: &writer)
      try journal.put(writer.bytes, kind: stateKind, key: "")
      return 1
    }
  }
}

/// The work of the task: the machine and the cursor in the journal.
struct NotificationWork {
  private var machine: NotificationMachine
  private var cursor: Int64
  private var savedCursor: Int64
  private var savedAt: Timestamp
  private var told: UInt64 = 0
  private let journal: Journal
  private let names: @Sendable (SubjectID) -> String?

  /// Restores the state that the journal holds; without one, begins where the service began.
  init(_ service: Notifications) throws(JournalError) {
    journal = service.journal
    names = service.names
    machine = NotificationMachine(stream: service.stream)
    cursor = service.beginning
    savedAt = service.clock.now
    savedCursor = cursor
    if let document = try journal.document(kind: Notifications.stateKind, key: "") {
      var reader = FieldReader(document[...])
      var restored = machine
      do throws(FieldError) {
        let through = try reader.number(Int64.self)
        try restored.restoreState(from: &reader)
        machine = restored
        cursor = min(through, journal.head)
      } catch {
        service.logger.error(
          "the saved state of the notifications cannot be read; they start with an empty state",
          metadata: ["reason": "\(error)"]
        )
      }
    }
    // Save the cursor at once. Otherwise a restart after a crash would begin at the journal's new head and skip the
    // events in between.
    try save(at: service.clock.now)
  }

  var counters: NotificationCounters {
    NotificationCounters(
      told: told,
      quieted: machine.quieted,
      repeated: machine.repeated,
      late: machine.late
    )
  }

  mutating func adopt(_ rules: [NotificationRule]) {
    machine.adopt(rules.sorted { ($0.application, $0.id) < ($1.application, $1.id) })
  }

  /// Removes erased subjects from the state and saves it at once.
  mutating func forget(_ erased: [SubjectTraces], at now: Timestamp) throws(JournalError) {
    for traces in erased { machine.forget(traces) }
    try save(at: now)
  }

  /// The time at which to call ``proceed(at:isStopping:)`` if no event comes before.
  var wakeTime: Timestamp? {
    let save = cursor > savedCursor ? savedAt + Notifications.saveInterval : nil
    return [machine.wakeTime, save].compactMap { $0 }.min()
  }

  /// Follows the journal to its end and returns the notifications to publish.
  mutating func proceed(at now: Timestamp, isStopping: Bool) throws(JournalError) -> [Event] {
    while true {
      let head = journal.head
      guard head > cursor else { break }
      let events = try journal.events(
        after: cursor,
        matching: Notifications.filter,
        limit: Notifications.readLimit
      )
      for entry in events { machine.note(entry.event, sequence: entry.sequence, name: names) }
      cursor = events.count == Notifications.readLimit ? events.last?.sequence ?? head : head
    }
    machine.advance(to: now, name: names)
    // The notifications that are due while the server stops are published after the restart: the restored machine
    // decides them again or still has them in its outbox.
    let decided = isStopping ? [] : machine.takeDecided(at: now)
    told += UInt64(decided.count)
    if isStopping || now - savedAt >= Notifications.saveInterval, cursor > savedCursor { try save(at: now) }
    return decided
  }

  private mutating func save(at now: Timestamp) throws(JournalError) {
    var writer = FieldWriter()
    writer.write(cursor)
    machine.writeState(to: &writer)
    try journal.put(writer.bytes, kind: Notifications.stateKind, key: "")
    savedCursor = cursor
    savedAt = now
  }
}
