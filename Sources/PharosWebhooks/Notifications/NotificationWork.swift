import Logging
import PharosEvents
import PharosJournal
import PharosReports

/// What the task of the notifications has in hand: the machine, and how far it has followed the journal.
struct NotificationWork {
  private var machine: NotificationMachine
  private var cursor: Int64
  private var savedCursor: Int64
  private var savedAt: Timestamp
  private var told: UInt64 = 0
  private let journal: Journal
  private let names: @Sendable (SubjectID) -> String?

  /// Goes on where the journal says; without a word there, where the service began.
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

  /// Forgets who was erased, and writes down at once that nothing is known of them.
  mutating func forget(_ erased: [SubjectTraces], at now: Timestamp) throws(JournalError) {
    for traces in erased { machine.forget(traces) }
    try save(at: now)
  }

  /// When there is something to do, if nothing happens before.
  var wakeTime: Timestamp? {
    let save = cursor > savedCursor ? savedAt + Notifications.saveInterval : nil
    return [machine.wakeTime, save].compactMap { $0 }.min()
  }

  /// Follows the journal to its end and gives what is to be told.
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
