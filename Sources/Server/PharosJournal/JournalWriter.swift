import GRDB
import PharosModel

/// The state that the only writer keeps between groups: prepared statements, and the numbers of names.
///
/// It is not synchronised: it is only used on the database's writing queue, which runs one task at a time.
final class JournalWriter: @unchecked Sendable {
  /// The maximum number of cached keys of names; at this size the cache is cleared, and keys are looked up again.
  static let maximumNames = 1 << 18

  private var names: [EventName: Known] = [:]
  /// The numbers of the names used in the unfinished block that the table of names does not record yet.
  private var used: [Int64] = []
  /// The numbers of the names used in blocks that this group has filled; they are used again if the group fails.
  private var closing: [Int64] = []
  private var record = EventRecord()
  private var keys: [Int64] = []
  private var mentioned: [Int64] = []
  private var bytes: [UInt8] = []
  private(set) var tailBlock: Int64
  private let blocks: Blocks
  let insertEvent: PreparedStatement
  let rows: RowStatements
  private let findName: PreparedStatement
  private let insertName: PreparedStatement
  private let insertPosting: PreparedStatement
  private let insertBlock: PreparedStatement
  private let markName: PreparedStatement

  private struct Known {
    var key: Int64
    /// The last block that is known to use it.
    var block: Int64
  }

  /// Prepares the statements and restores the state from the journal.
  init(opening database: Database, blocks: Blocks, shared: inout Journal.Shared) throws {
    self.blocks = blocks
    insertEvent = try PreparedStatement(database, "INSERT INTO events (sequence, record) VALUES (?, ?)")
    rows = try RowStatements(database)
    findName = try PreparedStatement(database, "SELECT key FROM names WHERE name = ?")
    insertName = try PreparedStatement(
      database,
      "INSERT INTO names (name, last_block) VALUES (?, ?) RETURNING key"
    )
    insertPosting = try PreparedStatement(
      database,
      "INSERT OR REPLACE INTO postings (block, key, places) VALUES (?, ?, ?)"
    )
    insertBlock = try PreparedStatement(
      database,
      "INSERT OR REPLACE INTO blocks (block, earliest, latest) VALUES (?, ?, ?)"
    )
    markName = try PreparedStatement(database, "UPDATE names SET last_block = ? WHERE key = ?")
    tailBlock = 0
    try resume(database, &shared)
  }

  private func resume(_ database: Database, _ shared: inout Journal.Shared) throws {
    let bounds = try PreparedStatement(
      database,
      """
      SELECT (SELECT min(sequence) FROM events), (SELECT max(sequence) FROM events),
        (SELECT value FROM facts WHERE name = 'pruned'), (SELECT instant FROM checkpoints WHERE complete
        ORDER BY id DESC LIMIT 1)
      """
    )
    guard try bounds.next() else { throw DamagedRecord(what: "no bounds") }
    let head = max(bounds.number(1), bounds.number(2))
    let oldest = bounds.optional(0) ?? head + 1
    // No journal ever gives so many: a number beyond comes from a damaged page.
    guard head < 1 << 47, oldest > 0, oldest <= head + 1 else {
      throw DamagedRecord(what: "events from \(oldest) to \(head)")
    }
    shared.statistics.head = head
    shared.statistics.oldest = oldest
    shared.statistics.lastCheckpoint = bounds.optional(3).map { Timestamp(nanoseconds: $0) }
    bounds.reset()
    shared.statistics.bytes = try Journal.bytes(of: database)
    tailBlock = blocks.containing(shared.statistics.head + 1)
    shared.tail = TailIndex(block: tailBlock)
    let rows = try PreparedStatement(
      database,
      "SELECT sequence, record FROM events WHERE sequence >= ? AND record <> x'' ORDER BY sequence"
    )
    rows.bind(blocks.first(of: tailBlock), at: 1)
    var found: [Int64: EventName] = [:]
    while try rows.next() {
      let (numbers, body) = try StoredRecord.parts(rows.bytes(1))
      keys = numbers
      used.append(contentsOf: numbers)
      let names = try numbers.map { key in
        if let name = found[key] { return name }
        let name = try EventName.named(key, in: database)
        found[key] = name
        return name
      }
      record = EventRecord(names: names, body: Array(body))
      let event = try record.event()
      mention(event)
      shared.tail.add(mentioned, place: blocks.place(of: rows.number(0)), time: event.time)
    }
    used = Array(Set(used))
  }

  /// Writes a group inside a transaction; the caller publishes the result to readers after the commit.
  ///
  /// - Parameters:
  ///   - entries: the group.
  ///   - head: the last sequence so far.
  ///   - tail: returns the index of the unfinished block; called when the block is full.
  ///   - database: the connection, in a transaction.
  /// - Returns: the result of the group.
  /// - Throws: an error of the database.
  func append(
    _ entries: [Journal.Entry],
    head: Int64,
    tail: () -> TailIndex,
    to database: Database
  ) throws -> Appended {
    var appended = Appended(head: head, block: tailBlock)
    appended.sequences.reserveCapacity(entries.count)
    closing.removeAll(keepingCapacity: true)
    for entry in entries {
      record.fill(with: entry.event)
      keys.removeAll(keepingCapacity: true)
      for name in record.names { keys.append(try key(of: name)) }
      if entry.isPublished {
        appended.head += 1
        let sequence = appended.head
        StoredRecord.fill(&bytes, keys: keys, body: record.body)
        insertEvent.bind(sequence, at: 1)
        try insertEvent.run(binding: bytes, at: 2)
        mention(entry.event)
        appended.pending.add(mentioned, place: blocks.place(of: sequence), time: entry.event.time)
        appended.sequences.append(sequence)
        if blocks.isLast(sequence) { try close(&appended, tail) }
      } else {
        appended.sequences.append(nil)
      }
      // An unpublished event belongs to the next sequence: a checkpoint through the last one need not know it.
      let changed = entry.isPublished ? appended.head : appended.head + 1
      try rows.record(entry.event, keys: keys, changed: changed)
    }
    return appended
  }

  /// Discards the state that a failed group has added.
  func rollBack(to block: Int64) {
    names.removeAll()
    used.append(contentsOf: closing)
    closing.removeAll()
    tailBlock = block
  }

  /// Records in the table of names which of them the unfinished block uses.
  func markNames() throws {
    for key in used {
      markName.bind(tailBlock, at: 1)
      markName.bind(key, at: 2)
      try markName.run()
    }
  }

  /// Clears the cached numbers of names, because some of the names were dropped.
  func forgetNames() { names.removeAll() }

  private func close(_ appended: inout Appended, _ tail: () -> TailIndex) throws {
    var full = appended.pending
    if !appended.closedBlock { full.add(tail()) }
    for posting in full.postings() {
      insertPosting.bind(full.block, at: 1)
      insertPosting.bind(posting.key, at: 2)
      try insertPosting.run(binding: posting.places, at: 3)
    }
    insertBlock.bind(full.block, at: 1)
    insertBlock.bind(full.earliest.nanoseconds, at: 2)
    insertBlock.bind(full.latest.nanoseconds, at: 3)
    try insertBlock.run()
    try markNames()
    closing.append(contentsOf: used)
    used.removeAll(keepingCapacity: true)
    tailBlock += 1
    appended.pending = TailIndex(block: tailBlock)
    appended.closedBlock = true
  }

  private func key(of name: EventName) throws -> Int64 {
    if let known = names[name] {
      if known.block != tailBlock {
        names[name] = Known(key: known.key, block: tailBlock)
        used.append(known.key)
      }
      return known.key
    }
    if names.count >= JournalWriter.maximumNames { names.removeAll() }
    let encoded = name.encoded
    findName.bind(bytes: encoded, at: 1)
    var key = try findName.next() ? findName.number(0) : nil
    findName.reset()
    if key == nil {
      insertName.bind(bytes: encoded, at: 1)
      insertName.bind(tailBlock, at: 2)
      key = try insertName.next() ? insertName.number(0) : nil
      insertName.reset()
    }
    guard let key else { throw DamagedRecord(what: "a name got no number") }
    names[name] = Known(key: key, block: tailBlock)
    used.append(key)
    return key
  }

  /// Fills `mentioned` with the keys by which an event can be found; `record` and `keys` hold its names.
  private func mention(_ event: Event) {
    mentioned.removeAll(keepingCapacity: true)
    mentioned.append(Dimension.kind.key(Int64(event.kind.rawValue)))
    var next = 0
    func add(_ dimension: Dimension, isThere: Bool) {
      mentioned.append(dimension.key(isThere ? keys[next] : 0))
      if isThere { next += 1 }
    }
    add(.subject, isThere: event.subject != .none)
    add(.application, isThere: !event.application.isEmpty)
    add(.region, isThere: !event.region.isEmpty)
    for index in next..<keys.count {
      if case .observer = record.names[index] { mentioned.append(Dimension.mention.key(keys[index])) }
    }
  }
}

/// The result of a group.
struct Appended {
  /// The last assigned sequence.
  var head: Int64
  /// The index of the group's events in the block that is now unfinished.
  var pending: TailIndex
  /// The assigned sequences, nil for withheld entries.
  var sequences: [Int64?] = []
  /// Indicates whether the group has filled a block.
  var closedBlock = false

  init(head: Int64, block: Int64) {
    self.head = head
    pending = TailIndex(block: block)
  }
}

/// The encoding of a record in a row: the number of names, their numbers, then the body.
enum StoredRecord {
  /// Encodes a row; numbers take seven bits a byte, the lowest first.
  static func fill(_ bytes: inout [UInt8], keys: [Int64], body: [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    append(UInt64(keys.count), to: &bytes)
    for key in keys { append(UInt64(key), to: &bytes) }
    bytes.append(contentsOf: body)
  }

  /// Decodes a row.
  static func parts(_ bytes: [UInt8]) throws -> (keys: [Int64], body: ArraySlice<UInt8>) {
    var position = 0
    let count = try number(bytes, &position)
    guard count <= UInt64(bytes.count) else { throw DamagedRecord(what: "an event is cut off") }
    var keys: [Int64] = []
    for _ in 0..<count { keys.append(Int64(truncatingIfNeeded: try number(bytes, &position))) }
    return (keys, bytes[position...])
  }

  /// Returns the time of a row's event without decoding the row; nil if the row is cut off.
  static func time(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
    var position = 0
    guard let count = try? number(bytes, &position), count <= UInt64(bytes.count) else { return nil }
    for _ in 0..<count where (try? number(bytes, &position)) == nil { return nil }
    return EventRecord.time(inBody: bytes[position...])
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private static func number<Bytes: RandomAccessCollection>(
    _ bytes: Bytes,
    _ position: inout Int
  ) throws -> UInt64 where Bytes.Element == UInt8, Bytes.Index == Int {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 56, by: 7) {
      guard position < bytes.count else { throw DamagedRecord(what: "an event is cut off") }
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    throw DamagedRecord(what: "an event holds a number that is none")
  }
}

/// A cache of names by their numbers.
struct NameCache {
  /// The maximum number of cached names: the subjects of a large site.
  ///
  /// Beyond it the cache is cleared, and names are read from the database again.
  static let capacity = 1 << 16

  private var names: [Int64: EventName] = [:]

  subscript(key: Int64) -> EventName? { names[key] }

  mutating func keep(_ found: [Int64: EventName]) {
    if names.count + found.count > NameCache.capacity { names.removeAll() }
    names.merge(found) { _, new in new }
  }

  mutating func removeAll() { names.removeAll() }
}

extension EventName {
  /// Returns the number of the name, if it has one.
  func key(in database: Database) throws -> Int64? {
    let statement = try PreparedStatement(cachedBy: database, "SELECT key FROM names WHERE name = ?")
    defer { statement.reset() }
    statement.bind(bytes: encoded, at: 1)
    return try statement.next() ? statement.number(0) : nil
  }

  /// Returns the number of the name, which gets one if it has none.
  ///
  /// - Parameters:
  ///   - database: the connection, in a transaction.
  ///   - isKept: true if a new name stays forever; false if it goes as soon as nothing refers to it.
  /// - Returns: the number.
  /// - Throws: an error of the database.
  func number(in database: Database, isKept: Bool = false) throws -> Int64 {
    if let key = try key(in: database) { return key }
    let insert = try PreparedStatement(
      cachedBy: database,
      "INSERT INTO names (name, last_block) VALUES (?, ?)"
    )
    insert.bind(bytes: encoded, at: 1)
    insert.bind(isKept ? Int64.max : -1, at: 2)
    try insert.run()
    return database.lastInsertedRowID
  }

  /// Returns the name with a number.
  static func named(_ key: Int64, in database: Database) throws -> EventName {
    let statement = try PreparedStatement(cachedBy: database, "SELECT name FROM names WHERE key = ?")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.next() else { throw DamagedRecord(what: "name \(key) is missing") }
    return try EventName(encoded: statement.bytes(0))
  }
}
