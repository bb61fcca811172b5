import Foundation
package import Logging
package import PharosDocuments
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

  let journal: Journal
  private let site: @Sendable () -> NotificationSite
  private let timeZone: @Sendable () -> String
  private let clock: any DeliveryClock
  private let logger: Logger
  /// The rules of each application, by identifier.
  private let rules: Mutex<[String: [String: NotificationRule]]>
  private let follower: JournalFollower<NotificationWork>

  /// Reads the rules from the journal.
  ///
  /// - Parameters:
  ///   - journal: the journal to follow, which also holds the rules.
  ///   - committed: the hub that reports new events of the journal.
  ///   - stream: the name of the stream, which is part of the ids.
  ///   - publish: passes notifications on to be journalled and published, and returns at once.
  ///   - site: returns the site and its names.
  ///   - timeZone: returns the time zone of quiet hours that state none.
  ///   - walk: returns the walk from a fix to the place of an appointment; nil if there is no way.
  ///   - clock: the time.
  ///   - duty: whether this server decides on notifications.
  ///   - logger: the logger for messages to the operator.
  /// - Throws: ``WebhookError/journal(_:)`` if the rules cannot be read.
  package init(
    journal: Journal,
    committed: CommittedEventHub,
    stream: String,
    publish: @escaping @Sendable ([Event]) -> Void,
    site: @escaping @Sendable () -> NotificationSite = { NotificationSite() },
    timeZone: @escaping @Sendable () -> String = { TimeZone.current.identifier },
    walk: @escaping @Sendable (FixDetail, NotificationRule.Appointment) -> TimeSpan? = { _, _ in nil },
    clock: any DeliveryClock = MachineClock(),
    duty: Duty = .always,
    logger: Logger
  ) throws(WebhookError) {
    self.journal = journal
    self.site = site
    self.timeZone = timeZone
    self.clock = clock
    // Earlier events cause no notification if no state is saved.
    let beginning = journal.head
    follower = JournalFollower(
      JournalPages(journal, logger: logger, name: "notifications", duty: duty),
      hub: committed,
      clock: clock,
      report: NotificationCounters()
    ) { pages in
      try NotificationWork(
        stream: stream,
        beginning: beginning,
        pages,
        site: site,
        walk: walk,
        publish: publish
      )
    }
    self.logger = logger
    rules = Mutex(try Notifications.rules(in: journal, logger))
    change { _ in }
  }

  /// Reads the rules again that another server may have changed.
  package func reload() throws(WebhookError) {
    let read = try Notifications.rules(in: journal, logger)
    change { $0 = read }
  }

  /// Reads the rules; logs one that cannot be read.
  private static func rules(
    in journal: Journal,
    _ logger: Logger
  ) throws(WebhookError) -> [String: [String: NotificationRule]] {
    let documents = try WebhookError.journal { () throws(JournalError) in
      try journal.documents(kind: Notifications.ruleKind)
    }
    var rules: [String: [String: NotificationRule]] = [:]
    for (key, document) in documents {
      do {
        let rule = try NotificationRule(encoded: document)
        rules[rule.application, default: [:]][rule.id] = rule
      } catch {
        logger.error(
          "Cannot read a stored notification rule. It is skipped.",
          metadata: ["rule": "\(key)", "reason": "\(error)"]
        )
      }
    }
    return rules
  }

  /// The counters of the decisions since the server started.
  package var counters: NotificationCounters { follower.report }

  /// Follows the journal until a graceful shutdown begins or the task is cancelled.
  package func run() async { await follower.run() }

  /// Stops the service, which then saves its state.
  package func stop() { follower.stop() }

  /// Changes the rules and passes them on to the follower.
  private func change(_ body: (inout [String: [String: NotificationRule]]) -> Void) {
    rules.withLock { rules in
      body(&rules)
      let all = rules.values.flatMap(\.values)
      follower.post { $0.rules = all }
    }
  }
}

/// The counters of the decisions since the server started.
package struct NotificationCounters: Hashable, Sendable {
  /// The number of notifications that were handed over for publishing.
  package var committed: UInt64 = 0
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
    rules.withLock { Array(($0[application] ?? [:]).values) }.sorted { $0.id < $1.id }
  }

  /// One rule.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  /// - Returns: the rule.
  /// - Throws: ``WebhookError/unknownRule(_:application:)``.
  package func rule(_ id: String, application: String) throws(WebhookError) -> NotificationRule {
    guard let rule = rules.withLock({ $0[application]?[id] }) else {
      throw .unknownRule(id, application: application)
    }
    return rule
  }

  /// Creates a rule, or replaces the one with this identifier.
  ///
  /// A new rule applies to the events that are published from now on.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - json: the rule, as ``NotificationDocument`` reads it.
  ///   - application: its application.
  ///   - isOperator: indicates whether the client may learn of all that the site has, and not of an application's regions alone.
  /// - Returns: the rule, and true if it is new.
  /// - Throws: ``WebhookError``.
  package func put(
    _ id: String,
    json: [UInt8],
    application: String,
    isOperator: Bool = true
  ) throws(WebhookError) -> (rule: NotificationRule, isNew: Bool) {
    var rule = try NotificationDocument.rule(
      json: json,
      application: application,
      id: id,
      timeZone: timeZone()
    )
    if rule.occasion == .proximity, let problem = site().problem(with: rule) { throw .invalid([problem]) }
    try dropPastAppointments(of: application)
    let isAppointment = rule.appointment != nil
    let (before, count) = rules.withLock { rules in
      let all = rules[application] ?? [:]
      return (all[id], all.values.count { ($0.appointment != nil) == isAppointment })
    }
    guard isOperator || [rule, before].allSatisfy({ $0?.isForOperators != true }) else {
      throw .zonesAreForOperators
    }
    let limit = isAppointment ? NotificationRule.appointmentLimit : NotificationRule.limit
    let isNewOfKind = before.map { ($0.appointment != nil) != isAppointment } ?? true
    guard !isNewOfKind || count < limit else { throw .tooMany(limit: limit) }
    rule.startsAfter = before?.startsAfter ?? journal.head
    let bytes = rule.encoded
    try WebhookError.journal { () throws(JournalError) in
      try journal.put(bytes, kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    let kept = rule
    change { $0[application, default: [:]][id] = kept }
    return (rule, before == nil)
  }

  /// Deletes the rules of an application whose appointments are long past.
  private func dropPastAppointments(of application: String) throws(WebhookError) {
    let bound = clock.now - NotificationRule.appointmentAge
    let past = rules.withLock { rules in
      (rules[application] ?? [:]).values.filter { $0.appointment.map { $0.time < bound } ?? false }.map(\.id)
    }
    for id in past { try delete(id, application: application) }
  }

  /// Deletes a rule and the state that belongs to it.
  ///
  /// - Parameters:
  ///   - id: its identifier.
  ///   - application: its application.
  ///   - isOperator: indicates whether the client may learn of all that the site has, and not of an application's regions alone.
  /// - Throws: ``WebhookError``.
  package func delete(_ id: String, application: String, isOperator: Bool = true) throws(WebhookError) {
    let rule = try rule(id, application: application)
    guard isOperator || !rule.isForOperators else { throw .zonesAreForOperators }
    try WebhookError.journal { () throws(JournalError) in
      try journal.delete(kind: Notifications.ruleKind, key: Notifications.key(application, id))
    }
    change { $0[application]?[id] = nil }
  }

  /// Returns the change that deletes the rules of an application that no longer exists.
  package func deletingAll(of application: String) -> PendingChange {
    let rules = list(application: application)
    let keys = rules.map { Notifications.key(application, $0.id) }
    return PendingChange(
      documents: keys.map { DocumentChange(kind: Notifications.ruleKind, key: $0) }
    ) { [self] in
      change { all in for rule in rules { all[application]?[rule.id] = nil } }
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
    follower.post { $0.forgotten.append(traces) }
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
      guard let cursor = try? reader.number(Int64.self) else {
        // An unreadable state is of no use, and may name erased subjects: delete it.
        try journal.delete(kind: stateKind, key: "")
        return 1
      }
      if (try? machine.visitState(&reader)) == nil {
        // So is one without more than its cursor, which says where the reading goes on.
        machine = NotificationMachine(stream: journal.stream)
      } else if !machine.forget(traces) {
        return 0
      }
      var writer = FieldWriter()
      writer.write(cursor)
      machine.visitState(&writer)
      try journal.put(writer.bytes, kind: stateKind, key: "")
      return 1
    }
  }
}

/// The machine of the rules, as the consumer of the journal that a follower runs.
struct NotificationWork: JournalConsumer {
  struct Mail {
    /// All rules, if they have changed.
    var rules: [NotificationRule]?
    /// The erased subjects.
    var forgotten: [SubjectTraces] = []
    /// The events that the journal does not keep.
    var live: [Event] = []
  }

  /// The interval at which the state is saved; events that a restart reads again take milliseconds.
  private static let saveInterval = TimeSpan.seconds(30)
  /// The number of events that are read from the journal at a time.
  private static let readLimit = 512
  /// The filter of the events that rules depend on.
  private static let filter = EventFilter(
    kinds: [
      .regionEnter, .regionExit, .regionState, .regionReset, .zoneEnter, .zoneExit, .zoneUnmonitored,
      .zoneMonitored, .visitArrive, .visitDepart, .beaconBattery, .observerOnline, .observerOffline,
      .notification,
    ]
  )
  /// The maximum number of events that the journal does not keep and that wait for the task; more are dropped.
  private static let liveLimit = 65_536
  static var emptyMail: Mail { Mail() }

  private var machine: NotificationMachine
  private var cursor: Int64
  private var savedCursor: Int64
  private var count: UInt64 = 0
  private var isStopping = false
  /// Indicates whether the saved state still names an erased subject.
  private var isErasureUnsaved = false
  /// The events that the journal does not keep, until the journal was read to its end.
  private var live: [Event] = []
  /// Indicates whether some rule follows ranging or fixes.
  private var hasLiveRules = false
  private let site: @Sendable () -> NotificationSite
  private let walk: @Sendable (FixDetail, NotificationRule.Appointment) -> TimeSpan?
  private let publish: @Sendable ([Event]) -> Void

  /// Restores the state that the journal holds; without one, begins after a sequence.
  init(
    stream: String,
    beginning: Int64,
    _ pages: JournalPages,
    site: @escaping @Sendable () -> NotificationSite,
    walk: @escaping @Sendable (FixDetail, NotificationRule.Appointment) -> TimeSpan?,
    publish: @escaping @Sendable ([Event]) -> Void
  ) throws {
    self.site = site
    self.walk = walk
    self.publish = publish
    machine = NotificationMachine(stream: stream)
    cursor = beginning
    savedCursor = cursor
    if let document = try pages.journal.document(kind: Notifications.stateKind, key: "") {
      var reader = FieldReader(document[...])
      var restored = machine
      do throws(FieldError) {
        // The cursor holds for any state: what was published since is found in the journal again.
        cursor = pages.resume(try reader.number(Int64.self))
        try restored.visitState(&reader)
        machine = restored
      } catch {
        pages.logger.error(
          "Cannot read the saved state of the notifications. They start with an empty state where it ended.",
          metadata: ["reason": "\(error)"]
        )
      }
    }
    // Save the cursor at once. Otherwise a restart after a crash would begin at the journal's new head and skip the
    // events in between.
    try write(to: pages.journal)
  }

  var report: NotificationCounters {
    NotificationCounters(
      committed: count,
      quieted: machine.quieted,
      repeated: machine.repeated,
      late: machine.late
    )
  }

  /// Collects ranging and fixes, of subjects that an application may always learn of.
  static func collect(_ batch: [PublishedEvent], into mail: inout Mail) {
    let live = batch.filter { $0.sequence == nil && !$0.isLiveOnly && !$0.event.kind.isJournalled }
    mail.live += live.prefix(max(liveLimit - mail.live.count, 0)).map(\.event)
  }

  mutating func process(_ mail: Mail, at _: Timestamp, stoppingSince: Timestamp?) {
    isStopping = stoppingSince != nil
    if let rules = mail.rules {
      hasLiveRules = rules.contains { $0.occasion == .proximity || $0.occasion == .deadline }
      machine.adopt(rules.sorted { ($0.application, $0.id) < ($1.application, $1.id) })
    }
    for traces in mail.forgotten {
      machine.forget(traces)
      live.removeAll { traces.contains($0.subject) }
      isErasureUnsaved = true
    }
    guard hasLiveRules else { return live.removeAll() }
    live += mail.live.prefix(max(NotificationWork.liveLimit - live.count, 0))
  }

  mutating func read(from pages: JournalPages) throws -> Bool {
    guard
      let page = try pages.next(
        after: cursor,
        matching: NotificationWork.filter,
        limit: NotificationWork.readLimit
      )
    else { return false }
    let site = site()
    for entry in page.events { machine.record(entry.event, sequence: entry.sequence, site: site) }
    cursor = page.through
    return true
  }

  /// Publishes the notifications that are due, once every event up to now is known.
  ///
  /// What is due while the server stops is published after the restart: the restored machine decides it again or still has
  /// it in its outbox.
  mutating func act(at now: Timestamp, isCaughtUp: Bool) -> [Action] {
    guard isCaughtUp else { return [] }
    let site = site()
    for event in live { machine.receive(live: event, site: site, walk: walk) }
    live.removeAll(keepingCapacity: true)
    machine.advance(to: now, site: site)
    guard !isStopping else { return [] }
    let decided = machine.drainDecided(at: now)
    count += UInt64(decided.count)
    if !decided.isEmpty { publish(decided) }
    return []
  }

  func wakeTime(at _: Timestamp) -> Timestamp? { machine.wakeTime }

  func isDone(at _: Timestamp) -> Bool { isStopping }

  var saveDelay: TimeSpan? {
    isErasureUnsaved ? .zero : cursor > savedCursor ? NotificationWork.saveInterval : nil
  }

  mutating func save(to journal: Journal) throws {
    if saveDelay != nil { try write(to: journal) }
  }

  private mutating func write(to journal: Journal) throws(JournalError) {
    var writer = FieldWriter()
    writer.write(cursor)
    machine.visitState(&writer)
    try journal.put(writer.bytes, kind: Notifications.stateKind, key: "")
    savedCursor = cursor
    isErasureUnsaved = false
  }
}
