import Foundation
import GRDB
package import PharosModel
import Synchronization

extension Journal {
  /// The placeholder for an erased observer.
  package static let erasedObserver = ObserverID.name("erased")
  /// The placeholder for an erased beacon: no beacon advertises a UUID of zeros.
  package static let erasedBeacon = BeaconID.proximity(UUID128(high: 0, low: 0), major: 0, minor: 0)

  /// The number of events that one transaction examines.
  ///
  /// A transaction takes some tens of milliseconds for 16,384 events, so events that wait to be written wait no longer
  /// than for a group of their own.
  static let eraseSlice: Int64 = 16_384

  /// Removes every trace of a subject, and overwrites the bytes that held it.
  ///
  /// Events about the subject become empty places in the sequence; their numbers are never assigned again. So a reader
  /// that resumes after any number finds the next event, and learns nothing of the erased ones. Events about others
  /// that named the subject name ``erasedObserver`` or ``erasedBeacon`` instead. Events may be appended meanwhile; to
  /// keep new events from being about the subject, remove it from the engine first.
  ///
  /// - Parameters:
  ///   - traces: the subject.
  ///   - instant: the time from which checkpoints no longer contain the subject and are kept; nil drops all.
  /// - Returns: the counts of the removed traces.
  /// - Throws: ``JournalError``; the traces removed so far stay removed, and the call may be repeated.
  package func erase(
    _ traces: SubjectTraces,
    keepingCheckpointsFrom instant: Timestamp? = nil
  ) throws(JournalError) -> Erased {
    try setSecureDelete("ON")
    defer { try? setSecureDelete("FAST") }
    let checkpoints = try dropCheckpoints(before: instant)
    let keys = try write { database in try JournalEraser.keys(of: traces, in: database) }
    var eraser = JournalEraser(traces: traces, keys: keys)
    var next = oldest
    while !keys.isEmpty, next <= head {
      let last = min(next + Journal.eraseSlice - 1, head)
      try write { database in try eraser.events(next...last, in: database) }
      shared.withLock { $0.removals += 1 }
      next = last + 1
    }
    for hour in keys.isEmpty ? [] : try historyHours() {
      try write { database in try eraser.mentions(inHour: hour, database) }
    }
    try write { database in
      // What was appended since the last slice is looked through together with dropping the names: nothing may be
      // left that has the number of a name which is gone.
      let head = head
      if !keys.isEmpty, next <= head { try eraser.events(next...head, in: database) }
      if !keys.isEmpty, let hour = try Int64.fetchOne(database, sql: "SELECT max(hour) FROM history_hours") {
        try eraser.mentions(inHour: hour, database)
      }
      try eraser.finish(in: database)
      writer.forgetNames()
    }
    var erased = eraser.erased
    erased.checkpoints = checkpoints
    shared.withLock { shared in
      shared.removals += 1
      shared.names.removeAll()
      shared.tail.forget(names: keys)
    }
    try overwriteFreePages()
    try emptyLog()
    return erased
  }

  private func setSecureDelete(_ mode: String) throws(JournalError) {
    try writeWithoutTransaction { database in
      _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = \(mode)")
    }
  }

  /// Overwrites free pages, which still contain their old data.
  ///
  /// The pages are allocated to a table of zeros, some at a time, and freed again as zeros.
  private func overwriteFreePages() throws(JournalError) {
    try write { database in
      try database.execute(sql: "DROP TABLE IF EXISTS scrub")
      try database.execute(sql: "CREATE TABLE scrub (zeros BLOB)")
    }
    while true {
      let left = try write { database in
        let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        guard free > 0 else { return Int64(0) }
        let size = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
        // A row takes whole pages of overflow and a little of a leaf; what is left over goes in the next round.
        let pages = min(free, 1_024)
        try database.execute(
          sql: "INSERT INTO scrub (zeros) VALUES (zeroblob(?))",
          arguments: [max(1, pages * (size - 4) - 64)]
        )
        return try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      }
      guard left > 0 else { break }
    }
    try write { database in try database.execute(sql: "DROP TABLE scrub") }
  }

  /// Copies the log into the file and truncates it, so that no older page remains in it.
  private func emptyLog() throws(JournalError) {
    guard !isInMemory else { return }
    try writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
  }

  /// Rewrites the file from its rows alone, so that it contains no remains of deleted rows.
  ///
  /// Nothing else may use the journal meanwhile. The call takes as long as copying the file, and as much free space.
  ///
  /// - Throws: ``JournalError``, with the file as it was.
  package func rewrite() throws(JournalError) {
    try writeWithoutTransaction { database in try database.execute(sql: "VACUUM") }
    try emptyLog()
  }
}

/// The counts of the removed traces of a subject, by kind.
package struct Erased: Hashable, Sendable {
  /// Events about it, of which only the places in the sequence remain.
  package var events = 0
  /// Events about others that named it, and now name ``Journal/erasedObserver`` or ``Journal/erasedBeacon`` instead.
  package var mentions = 0
  /// Rows with its state, and rows of others that named it as the reason.
  package var rows = 0
  /// Its entries in the list of names.
  package var names = 0
  /// Lists of the places of events that mention it.
  package var postings = 0
  /// Hours of summaries about it, and hours of others that named it.
  package var history = 0
  /// Deliveries to webhooks that were waiting for it.
  package var deliveries = 0
  /// Deliveries to webhooks that had been given up.
  package var deadLetters = 0
  /// Checkpoints that may contain it, dropped as a whole.
  package var checkpoints = 0

  /// Creates counts of zero.
  package init() {}

  /// Indicates whether no trace was removed, except for checkpoints, which are dropped unread.
  package var isEmpty: Bool {
    events + mentions + rows + names + postings + history + deliveries + deadLetters == 0
  }
}

/// An eraser that removes a subject inside a transaction.
struct JournalEraser {
  let traces: SubjectTraces
  /// The numbers of the names that mean the subject.
  let keys: Set<Int64>
  var erased = Erased()
  /// The number of the placeholder for an observer, once it is needed; `beaconKey` is that for a beacon.
  private var observerKey: Int64?
  private var beaconKey: Int64?

  init(traces: SubjectTraces, keys: Set<Int64>) {
    self.traces = traces
    self.keys = keys
  }

  /// Returns the numbers of the names that mean a subject.
  static func keys(of traces: SubjectTraces, in database: Database) throws -> Set<Int64> {
    let names = try PreparedStatement(database, "SELECT key, name FROM names")
    var keys: Set<Int64> = []
    while try names.next() {
      guard let name = try? EventName(encoded: names.bytes(1)), traces.contain(name) else { continue }
      keys.insert(names.number(0))
    }
    return keys
  }

  /// Empties the events of a range that are about the subject, and replaces its name in those that mention it.
  mutating func events(_ range: ClosedRange<Int64>, in database: Database) throws {
    let rows = try PreparedStatement(
      database,
      "SELECT sequence, record FROM events WHERE sequence BETWEEN ? AND ? AND record <> x'' ORDER BY sequence"
    )
    rows.bind(range.lowerBound, at: 1)
    rows.bind(range.upperBound, at: 2)
    var found: [(sequence: Int64, record: [UInt8])] = []
    while try rows.next() {
      let record = rows.bytes(1)
      guard try StoredRecord.parts(record).keys.contains(where: keys.contains) else { continue }
      found.append((rows.number(0), record))
    }
    rows.reset()
    let update = try PreparedStatement(database, "UPDATE events SET record = ?1 WHERE sequence = ?2")
    for (sequence, record) in found {
      update.bind(sequence, at: 2)
      update.bind(bytes: try replacement(for: record, in: database), at: 1)
      try update.run()
    }
  }

  /// Returns the new record of an event: an empty one if the event is about the subject.
  private mutating func replacement(for record: [UInt8], in database: Database) throws -> [UInt8] {
    let (numbers, body) = try StoredRecord.parts(record)
    let names = try numbers.map { try EventName.named($0, in: database) }
    let event = try EventRecord(names: names, body: Array(body)).event()
    guard !traces.contains(event.subject) else {
      erased.events += 1
      return []
    }
    erased.mentions += 1
    let replaced = try zip(numbers, names).map { number, name in
      keys.contains(number) ? try placeholder(for: name, in: database) : number
    }
    var bytes: [UInt8] = []
    StoredRecord.fill(&bytes, keys: replaced, body: Array(body))
    return bytes
  }

  mutating func placeholder(for name: EventName, in database: Database) throws -> Int64 {
    switch name {
    case .observer:
      let key =
        try observerKey ?? EventName.observer(Journal.erasedObserver).number(in: database, isKept: true)
      observerKey = key
      return key
    case .beacon, .text:
      let key = try beaconKey ?? EventName.beacon(Journal.erasedBeacon).number(in: database, isKept: true)
      beaconKey = key
      return key
    }
  }

  /// Removes all other traces: rows, postings, deliveries, and finally the names.
  mutating func finish(in database: Database) throws {
    try letters(in: database)
    try lanes(in: database)
    try history(in: database)
    for key in keys.sorted() {
      let numbers = StatementArguments([key])
      for (table, column) in [
        ("region_rows", "subject"), ("zone_rows", "beacon"), ("observer_rows", "observer"),
      ] {
        try database.execute(sql: "DELETE FROM \(table) WHERE \(column) = ?", arguments: numbers)
        erased.rows += database.changesCount
      }
      for column in ["refinement", "observer"] {
        try database.execute(
          sql: "UPDATE region_rows SET \(column) = NULL WHERE \(column) = ?",
          arguments: numbers
        )
        erased.rows += database.changesCount
      }
      for dimension in [Dimension.subject, .mention] {
        try database.execute(
          sql: "DELETE FROM postings WHERE key = ?",
          arguments: [dimension.key(key)]
        )
        erased.postings += database.changesCount
      }
      try database.execute(sql: "DELETE FROM names WHERE key = ?", arguments: numbers)
      erased.names += database.changesCount
    }
  }

  private mutating func lanes(in database: Database) throws {
    let rows = try Row.fetchAll(database, sql: "SELECT DISTINCT subject FROM receiver_lanes")
    for row in rows {
      guard traces.contains(try Deliveries.topic(row).subject) else { continue }
      let subject: Data = row["subject"]
      try database.execute(sql: "DELETE FROM receiver_lanes WHERE subject = ?", arguments: [subject])
      erased.deliveries += database.changesCount
    }
  }

  private mutating func letters(in database: Database) throws {
    let rows = try Row.fetchCursor(
      database,
      sql: "SELECT receiver, sequence, subject, event FROM dead_letters"
    )
    var changes: [(receiver: String, sequence: Int64, event: [UInt8]?)] = []
    while let row = try rows.next() {
      let record = try EventRecord(encoded: Array(row["event"] as Data))
      guard record.names.contains(where: traces.contain) else { continue }
      guard !traces.contains(try record.event().subject) else {
        changes.append((row["receiver"], row["sequence"], nil))
        continue
      }
      let names = record.names.map { traces.contain($0) ? $0.erased : $0 }
      let replaced = EventRecord(names: names, body: record.body)
      changes.append((row["receiver"], row["sequence"], replaced.encoded))
    }
    for change in changes {
      if let event = change.event {
        try database.execute(
          sql: "UPDATE dead_letters SET event = ? WHERE receiver = ? AND sequence = ?",
          arguments: [Data(event), change.receiver, change.sequence]
        )
      } else {
        try database.execute(
          sql: "DELETE FROM dead_letters WHERE receiver = ? AND sequence = ?",
          arguments: [change.receiver, change.sequence]
        )
      }
      erased.deadLetters += 1
    }
  }
}

extension SubjectTraces {
  /// Returns whether a name means the subject.
  fileprivate func contain(_ name: EventName) -> Bool {
    switch name {
    case .text: false
    case .observer(let observer): contains(observer)
    case .beacon(let beacon): contains(beacon)
    }
  }
}

extension EventName {
  /// The placeholder for an erased name.
  fileprivate var erased: EventName {
    switch self {
    case .text: self
    case .observer: .observer(Journal.erasedObserver)
    case .beacon: .beacon(Journal.erasedBeacon)
    }
  }
}
