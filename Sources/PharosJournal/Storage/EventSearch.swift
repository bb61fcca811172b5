import GRDB
import PharosEvents
import PharosReports

/// One search through a snapshot, block by block.
struct EventSearch {
  let query: JournalQuery
  let filter: EventFilter
  let tail: TailView
  let head: Int64
  let limit: Int
  let journal: Journal
  private var blocks: Blocks { journal.blocks }
  let database: Database
  private(set) var found: [JournaledEvent] = []

  init(
    query: JournalQuery,
    filter: EventFilter,
    tail: TailView,
    head: Int64,
    limit: Int,
    journal: Journal,
    database: Database
  ) {
    self.query = query
    self.filter = filter
    self.tail = tail
    self.head = head
    self.limit = limit
    self.journal = journal
    self.database = database
  }

  /// Searches from a sequence on, the oldest first.
  mutating func upwards(from first: Int64) throws {
    guard first <= head else { return }
    guard !query.isAll else {
      let sql = "SELECT sequence, record FROM events WHERE sequence >= ? AND record <> x'' ORDER BY sequence"
      return try takeAll(sql, first)
    }
    var from = first
    let full = try fullBlocks(
      "SELECT block, earliest, latest FROM blocks WHERE block >= ? AND block < ? ORDER BY block",
      blocks.containing(first)
    )
    for block in full {
      from = max(from, blocks.first(of: block))
      try take(from...(blocks.last(of: block)), of: block, isUp: true)
      guard found.count < limit else { return }
    }
    from = max(first, blocks.first(of: tail.block))
    guard tail.isPossible, blocks.containing(from) == tail.block, from <= head else { return }
    try take(from...head, of: tail.block, isUp: true)
  }

  /// Searches from a sequence back, the newest first.
  mutating func downwards(from last: Int64) throws {
    let last = min(last, head)
    guard !query.isAll else {
      let sql =
        "SELECT sequence, record FROM events WHERE sequence <= ? AND record <> x'' ORDER BY sequence DESC"
      return try takeAll(sql, last)
    }
    if tail.isPossible, blocks.containing(last) == tail.block {
      try take(blocks.first(of: tail.block)...last, of: tail.block, isUp: false)
      guard found.count < limit else { return }
    }
    let full = try fullBlocks(
      "SELECT block, earliest, latest FROM blocks WHERE block <= ? AND block BETWEEN 0 AND ? - 1 ORDER BY block DESC",
      blocks.containing(last)
    )
    for block in full {
      let end = min(last, blocks.last(of: block))
      try take(blocks.first(of: block)...end, of: block, isUp: false)
      guard found.count < limit else { return }
    }
  }

  private mutating func take(_ range: ClosedRange<Int64>, of block: Int64, isUp: Bool) throws {
    guard !query.members.isEmpty else { return try take(range, isUp: isUp) }
    let bits = block == tail.block ? tail.places : try query.places(in: block, database)
    let bound = blocks.place(of: range.upperBound)
    let places = bits.places(from: blocks.place(of: range.lowerBound)).prefix { $0 <= bound }
    try take(isUp ? Array(places) : places.reversed(), of: block)
  }

  /// The full blocks in which there can be an event of the times wanted.
  private func fullBlocks(_ sql: String, _ first: Int64) throws -> [Int64] {
    let statement = try PreparedStatement(cachedBy: database, sql)
    defer { statement.reset() }
    statement.bind(first, at: 1)
    statement.bind(tail.block, at: 2)
    var full: [Int64] = []
    while try statement.next() {
      let earliest = Timestamp(nanoseconds: statement.number(1))
      let latest = Timestamp(nanoseconds: statement.number(2))
      if query.allows(from: earliest, through: latest) { full.append(statement.number(0)) }
    }
    return full
  }

  private mutating func takeAll(_ sql: String, _ from: Int64) throws {
    let statement = try PreparedStatement(cachedBy: database, sql + " LIMIT ?")
    defer { statement.reset() }
    statement.bind(from, at: 1)
    statement.bind(Int64(limit), at: 2)
    while try statement.next() {
      let sequence = statement.number(0)
      let event = try journal.event(of: statement.bytes(1), sequence: sequence, database)
      found.append(JournaledEvent(sequence: sequence, event: event))
    }
  }

  private mutating func take(_ places: [Int], of block: Int64) throws {
    let statement = try PreparedStatement(cachedBy: database, "SELECT record FROM events WHERE sequence = ?")
    defer { statement.reset() }
    for place in places {
      let sequence = blocks.first(of: block) + Int64(place)
      guard sequence <= head else { continue }
      statement.reset()
      statement.bind(sequence, at: 1)
      guard try statement.next() else { continue }
      try take(statement, 0, sequence)
      guard found.count < limit else { return }
    }
  }

  /// Takes what a block has of the times wanted, where nothing else is asked for.
  private mutating func take(_ range: ClosedRange<Int64>, isUp: Bool) throws {
    let statement = try PreparedStatement(
      cachedBy: database,
      """
      SELECT sequence, record FROM events WHERE sequence BETWEEN ? AND ?
      ORDER BY sequence \(isUp ? "ASC" : "DESC")
      """
    )
    defer { statement.reset() }
    statement.bind(range.lowerBound, at: 1)
    statement.bind(range.upperBound, at: 2)
    while try statement.next() {
      try take(statement, 1, statement.number(0))
      guard found.count < limit else { return }
    }
  }

  private mutating func take(_ row: PreparedStatement, _ column: Int32, _ sequence: Int64) throws {
    // Nothing is left of an event that was erased but its place.
    guard row.withBytes(column, { !$0.isEmpty }) else { return }
    if query.since != nil || query.until != nil {
      // A row that is cut off has no time; reading it says what is wrong with it.
      guard row.withBytes(column, { StoredRecord.time($0).map(query.allows) ?? true }) else { return }
    }
    let event = try journal.event(of: row.bytes(column), sequence: sequence, database)
    guard filter.matches(event) else { return }
    found.append(JournaledEvent(sequence: sequence, event: event))
  }
}

extension JournalQuery {
  /// Whether a time within bounds can fulfil it.
  func allows(from earliest: Timestamp, through latest: Timestamp) -> Bool {
    if let since, latest < since { return false }
    if let until, earliest >= until { return false }
    return true
  }
}
