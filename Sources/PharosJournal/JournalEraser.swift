import Foundation
import GRDB
import PharosEvents
package import PharosReports
import Synchronization

extension Journal {
  /// What stands for an observer that was erased.
  package static let erasedObserver = ObserverID.name("erased")
  /// What stands for a beacon that was erased: no beacon advertises a UUID of zeros.
  package static let erasedBeacon = BeaconID.proximity(UUID128(high: 0, low: 0), major: 0, minor: 0)

  /// How many events one transaction looks through.
  ///
  /// 16,384, which are looked through in some tens of milliseconds: events that wait to be written wait no longer than for a
  /// group of their own.
  static let eraseSlice: Int64 = 16_384

  /// Removes every trace of a subject, and overwrites the bytes that held it.
  ///
  /// Events about it become empty places in the sequence, so that who resumes behind any number finds what follows, and learns
  /// nothing of what was there; their numbers are never given again. Events about others that named it name
  /// ``erasedObserver`` or ``erasedBeacon`` in its place. Events may be appended meanwhile; who wants none of them to be about the
  /// subject has the engine forget it first.
  ///
  /// - Parameters:
  ///   - traces: whom.
  ///   - instant: checkpoints from then on do not know of the subject and stay; nil drops all.
  /// - Returns: what was removed.
  /// - Throws: ``JournalError``; what was removed so far stays removed, and the call may be repeated.
  package func erase(
    _ traces: SubjectTraces,
    keepingCheckpointsFrom instant: Timestamp? = nil
  ) throws(JournalError) -> Erased {
    var erased = Erased()
    try setSecureDelete("ON")
    defer { try? setSecureDelete("FAST") }
    erased.checkpoints = try dropCheckpoints(before: instant)
    let keys = try write { database in try JournalEraser.keys(of: traces, in: database) }
    var next = oldest
    if !keys.isEmpty {
      while next <= head {
        let last = min(next + Journal.eraseSlice - 1, head)
        let range = next...last
        try write { database in
          var eraser = JournalEraser(traces: traces, keys: keys)
          try eraser.events(range, in: database)
          erased.events += eraser.erased.events
          erased.mentions += eraser.erased.mentions
        }
        next = last + 1
      }
    }
    let rest = try write { database in
      var eraser = JournalEraser(traces: traces, keys: keys)
      // What was appended since the last slice is looked through together with dropping the names: nothing may be
      // left that has the number of a name which is gone.
      let head = head
      if !keys.isEmpty, next <= head { try eraser.events(next...head, in: database) }
      try eraser.finish(in: database)
      writer.forgetNames()
      return eraser.erased
    }
    erased.events += rest.events
    erased.mentions += rest.mentions
    erased.rows = rest.rows
    erased.names = rest.names
    erased.postings = rest.postings
    erased.deliveries = rest.deliveries
    erased.deadLetters = rest.deadLetters
    shared.withLock { shared in
      shared.names.removeAll()
      shared.tail.forget(names: keys)
    }
    try overwriteFreePages()
    try emptyLog()
    return erased
  }

  private func setSecureDelete(_ mode: String) throws(JournalError) {
    do {
      try database.writeWithoutTransaction { database in
        _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = \(mode)")
      }
    } catch {
      throw JournalError(error, at: place)
    }
  }

  /// Overwrites the pages that were freed and not used again, which hold what they held.
  ///
  /// They are taken for a table of zeros, some at a time, and freed again as zeros.
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
        let taken = min(free, 1_024)
        try database.execute(
          sql: "INSERT INTO scrub (zeros) VALUES (zeroblob(?))",
          arguments: [max(1, taken * (size - 4) - 64)]
        )
        return try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      }
      guard left > 0 else { break }
    }
    try write { database in try database.execute(sql: "DROP TABLE scrub") }
  }

  /// Copies the log into the file and cuts it to nothing, so that what it held of older pages is gone.
  private func emptyLog() throws(JournalError) {
    guard !isInMemory else { return }
    do {
      try database.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    } catch {
      throw JournalError(error, at: place)
    }
  }

  /// Rewrites the file from its rows alone, so that it contains no remains of deleted rows.
  ///
  /// Nothing else may use the journal meanwhile. The call takes as long as copying the file, and as much free space.
  ///
  /// - Throws: ``JournalError``, with the file as it was.
  package func rewrite() throws(JournalError) {
    do {
      try database.writeWithoutTransaction { database in try database.execute(sql: "VACUUM") }
    } catch {
      throw JournalError(error, at: place)
    }
    try emptyLog()
  }
}

/// What was removed of a subject, by sort.
package struct Erased: Hashable, Sendable {
  /// Events about it: nothing is left of them but their places in the sequence.
  package var events = 0
  /// Events about others that named it, and now name ``Journal/erasedObserver`` or ``Journal/erasedBeacon`` instead.
  package var mentions = 0
  /// Rows that said where it stands, and those of others that named it as the reason.
  package var rows = 0
  /// Its entries in the list of names.
  package var names = 0
  /// Lists of the places of events that mention it.
  package var postings = 0
  /// Deliveries to webhooks that were waiting for it.
  package var deliveries = 0
  /// Deliveries to webhooks that had been given up.
  package var deadLetters = 0
  /// Checkpoints that were taken before it was forgotten, dropped as a whole.
  package var checkpoints = 0

  /// Starts with nothing removed.
  package init() {}

  /// Whether there was nothing to remove but checkpoints, which are dropped unread.
  package var isEmpty: Bool {
    events + mentions + rows + names + postings + deliveries + deadLetters == 0
  }
}

/// Removes a subject inside a transaction.
struct JournalEraser {
  let traces: SubjectTraces
  /// The numbers of the names that mean the subject.
  let keys: Set<Int64>
  private(set) var erased = Erased()
  /// The number of what stands for an erased observer or beacon, once it is needed.
  private var observerKey: Int64?
  private var beaconKey: Int64?

  init(traces: SubjectTraces, keys: Set<Int64>) {
    self.traces = traces
    self.keys = keys
  }

  /// The numbers of the names that mean a subject.
  static func keys(of traces: SubjectTraces, in database: Database) throws -> Set<Int64> {
    let names = try PreparedStatement(database, "SELECT key, name FROM names")
    var keys: Set<Int64> = []
    while try names.next() {
      guard let name = try? EventName(encoded: names.bytes(1)), traces.contain(name) else { continue }
      keys.insert(names.number(0))
    }
    return keys
  }

  /// Empties the events of a run that are about the subject, and replaces it in those that mention it.
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

  /// What is left of an event: nothing of one about the subject.
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

  private mutating func placeholder(for name: EventName, in database: Database) throws -> Int64 {
    switch name {
    case .observer:
      let key = try observerKey ?? JournalEraser.key(of: .observer(Journal.erasedObserver), in: database)
      observerKey = key
      return key
    case .beacon, .text:
      let key = try beaconKey ?? JournalEraser.key(of: .beacon(Journal.erasedBeacon), in: database)
      beaconKey = key
      return key
    }
  }

  /// The number of a name, which is given one that lasts if it has none.
  private static func key(of name: EventName, in database: Database) throws -> Int64 {
    if let key = try name.key(in: database) { return key }
    try database.execute(
      sql: "INSERT INTO names (name, last_block) VALUES (?, ?)",
      arguments: [Data(name.encoded), Int64.max]
    )
    return database.lastInsertedRowID
  }

  /// Removes all but events: rows, the lists by which events are found, deliveries, and at last the names.
  mutating func finish(in database: Database) throws {
    try letters(in: database)
    try lanes(in: database)
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
      guard traces.contains(try Deliveries.subject(row)) else { continue }
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
      let bytes: [UInt8] = Array(row["event"] as Data)
      var reader = FieldReader(bytes[...])
      let record = try EventRecord(from: &reader)
      guard record.names.contains(where: traces.contain) else { continue }
      guard !traces.contains(try record.event().subject) else {
        changes.append((row["receiver"], row["sequence"], nil))
        continue
      }
      let names = record.names.map { traces.contain($0) ? $0.erased : $0 }
      let replaced = EventRecord(names: names, body: record.body)
      changes.append((row["receiver"], row["sequence"], Deliveries.bytes { replaced.write(to: &$0) }))
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
  /// Whether a name means the subject.
  fileprivate func contain(_ name: EventName) -> Bool {
    switch name {
    case .text: false
    case .observer(let observer): contains(observer)
    case .beacon(let beacon): contains(beacon)
    }
  }
}

extension EventName {
  /// What stands in the place of an erased name.
  fileprivate var erased: EventName {
    switch self {
    case .text: self
    case .observer: .observer(Journal.erasedObserver)
    case .beacon: .beacon(Journal.erasedBeacon)
    }
  }
}
