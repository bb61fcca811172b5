import Foundation
import GRDB
import PharosEvents
import PharosReports

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
