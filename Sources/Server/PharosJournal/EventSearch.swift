import GRDB
package import PharosModel
import Synchronization

extension Journal {
  /// Returns the events after a sequence that match a filter, in order.
  ///
  /// - Parameters:
  ///   - sequence: the sequence before the first event wanted.
  ///   - filter: the filter.
  ///   - limit: the maximum number of events.
  /// - Returns: the events, the oldest first.
  /// - Complexity: some microseconds for each event given, and for each block of 65,536 events that has none.
  /// - Throws: ``JournalError``.
  package func events(
    after sequence: Int64,
    matching filter: EventFilter = .all,
    limit: Int
  ) throws(JournalError) -> [JournaledEvent] {
    let first = max(1, sequence == .max ? .max : sequence + 1)
    return try find(filter, limit, from: first) { search throws in try search.upwards(from: first) }
  }

  /// Returns the events before a sequence that match a filter, the newest first.
  ///
  /// - Parameters:
  ///   - sequence: the sequence after the first event wanted; `.max` for the newest of all.
  ///   - filter: the filter.
  ///   - limit: the maximum number of events.
  /// - Returns: the events, the newest first.
  /// - Throws: ``JournalError``.
  package func events(
    before sequence: Int64,
    matching filter: EventFilter = .all,
    limit: Int
  ) throws(JournalError) -> [JournaledEvent] {
    guard sequence > 1 else { return [] }
    return try find(filter, limit, from: 1) { search throws in try search.downwards(from: sequence - 1) }
  }

  /// Returns the event with a sequence, or nil if there is none or the journal no longer has it.
  package func event(_ sequence: Int64) throws(JournalError) -> JournaledEvent? {
    guard sequence > 0 else { return nil }
    return try events(after: sequence - 1, limit: 1).first { $0.sequence == sequence }
  }

  private func find(
    _ filter: EventFilter,
    _ limit: Int,
    from first: Int64,
    _ run: (inout EventSearch) throws -> Void
  ) throws(JournalError) -> [JournaledEvent] {
    guard limit > 0 else { return [] }
    // Names first, then what the unfinished block mentions, then a snapshot that is newer than both.
    let query = try read { database in try JournalQuery(filter, in: database) }
    guard !query.isHopeless else { return [] }
    let (head, tail) = shared.withLock { shared in
      let isInTail = blocks.containing(first) == shared.tail.block
      let tail = TailView(shared.tail, query, from: isInTail ? blocks.place(of: first) : 0)
      return (shared.statistics.head, tail)
    }
    guard head > 0, first <= head else { return [] }
    return try read { database in
      var search = EventSearch(
        query: query,
        filter: filter,
        tail: tail,
        head: head,
        limit: limit,
        journal: self,
        database: database
      )
      try run(&search)
      return search.found
    }
  }

  /// Decodes the event of a row.
  func event(of row: [UInt8], sequence: Int64, _ database: Database) throws -> Event {
    do {
      let (keys, body) = try StoredRecord.parts(row)
      return try EventRecord(names: try names(keys, database), body: Array(body)).event()
    } catch {
      throw DamagedRecord(what: "event \(sequence): \(error)")
    }
  }

  /// Returns the names with some numbers, and caches them.
  func names(_ keys: [Int64], _ database: Database) throws -> [EventName] {
    let known = shared.withLock { shared in keys.map { shared.names[$0] } }
    var found: [Int64: EventName] = [:]
    var names: [EventName] = []
    for (key, name) in zip(keys, known) {
      if let name = name ?? found[key] {
        names.append(name)
      } else {
        let name = try EventName.named(key, in: database)
        found[key] = name
        names.append(name)
      }
    }
    if !found.isEmpty {
      let found = found
      shared.withLock { $0.names.keep(found) }
    }
    return names
  }
}

/// The part of the unfinished block's index that a search needs.
struct TailView {
  let block: Int64
  let places: BlockBits
  let isPossible: Bool

  init(_ tail: TailIndex, _ query: JournalQuery, from first: Int) {
    block = tail.block
    isPossible = query.allows(from: tail.earliest, through: tail.latest)
    places = isPossible && !query.isAll ? query.places(in: tail, from: first) : BlockBits()
  }
}

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

  /// Searches from a sequence on, the oldest first.
  mutating func upwards(from first: Int64) throws {
    guard first <= head else { return }
    guard !query.isAll else {
      let sql = "SELECT sequence, record FROM events WHERE sequence >= ? AND record <> x'' ORDER BY sequence"
      return try collectAll(sql, first)
    }
    var from = first
    let full = try fullBlocks(
      "SELECT block, earliest, latest FROM blocks WHERE block >= ? AND block < ? ORDER BY block",
      blocks.containing(first)
    )
    for block in full {
      from = max(from, blocks.first(of: block))
      try collect(from...(blocks.last(of: block)), of: block, isUp: true)
      guard found.count < limit else { return }
    }
    from = max(first, blocks.first(of: tail.block))
    guard tail.isPossible, blocks.containing(from) == tail.block, from <= head else { return }
    try collect(from...head, of: tail.block, isUp: true)
  }

  /// Searches from a sequence back, the newest first.
  mutating func downwards(from last: Int64) throws {
    let last = min(last, head)
    guard !query.isAll else {
      let sql =
        "SELECT sequence, record FROM events WHERE sequence <= ? AND record <> x'' ORDER BY sequence DESC"
      return try collectAll(sql, last)
    }
    if tail.isPossible, blocks.containing(last) == tail.block {
      try collect(blocks.first(of: tail.block)...last, of: tail.block, isUp: false)
      guard found.count < limit else { return }
    }
    let full = try fullBlocks(
      "SELECT block, earliest, latest FROM blocks WHERE block <= ? AND block BETWEEN 0 AND ? - 1 ORDER BY block DESC",
      blocks.containing(last)
    )
    for block in full {
      let end = min(last, blocks.last(of: block))
      try collect(blocks.first(of: block)...end, of: block, isUp: false)
      guard found.count < limit else { return }
    }
  }

  private mutating func collect(_ range: ClosedRange<Int64>, of block: Int64, isUp: Bool) throws {
    guard !query.members.isEmpty else { return try receive(range, isUp: isUp) }
    let bits = block == tail.block ? tail.places : try query.places(in: block, database)
    let bound = blocks.place(of: range.upperBound)
    let places = bits.places(from: blocks.place(of: range.lowerBound)).prefix { $0 <= bound }
    try collect(isUp ? Array(places) : places.reversed(), of: block)
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

  private mutating func collectAll(_ sql: String, _ from: Int64) throws {
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

  private mutating func collect(_ places: [Int], of block: Int64) throws {
    let statement = try PreparedStatement(cachedBy: database, "SELECT record FROM events WHERE sequence = ?")
    defer { statement.reset() }
    for place in places {
      let sequence = blocks.first(of: block) + Int64(place)
      guard sequence <= head else { continue }
      statement.reset()
      statement.bind(sequence, at: 1)
      guard try statement.next() else { continue }
      try collect(statement, 0, sequence)
      guard found.count < limit else { return }
    }
  }

  /// Takes what a block has of the times wanted, where nothing else is asked for.
  private mutating func receive(_ range: ClosedRange<Int64>, isUp: Bool) throws {
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
      try collect(statement, 1, statement.number(0))
      guard found.count < limit else { return }
    }
  }

  private mutating func collect(_ row: PreparedStatement, _ column: Int32, _ sequence: Int64) throws {
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
  /// Returns whether an event with a time within bounds can match the filter.
  func allows(from earliest: Timestamp, through latest: Timestamp) -> Bool {
    if let since, latest < since { return false }
    if let until, earliest >= until { return false }
    return true
  }
}

/// A filter in the numbers of the journal: for each member that asks for something, the keys that fulfil it.
struct JournalQuery {
  /// All of these must be fulfilled, each by one of its keys.
  private(set) var members: [Set<Int64>] = []
  let since: Timestamp?
  let until: Timestamp?

  /// Indicates whether no event can match, since the journal has no name of a member or the times exclude each other.
  var isHopeless: Bool {
    if members.contains(where: \.isEmpty) { return true }
    if let since, let until { return since >= until }
    return false
  }

  /// Indicates whether all events match.
  var isAll: Bool { members.isEmpty && since == nil && until == nil }

  init(_ filter: EventFilter, in database: Database) throws {
    since = filter.since
    until = filter.until
    if let kinds = filter.kinds {
      members.append(Set(kinds.map { Dimension.kind.key(Int64($0.rawValue)) }))
    }
    if let texts = filter.applications {
      members.append(try JournalQuery.keys(of: texts, .application, database))
    }
    if let texts = filter.regions { members.append(try JournalQuery.keys(of: texts, .region, database)) }
    if let subjects = filter.subjects {
      var keys: Set<Int64> = []
      for subject in subjects {
        switch subject {
        case .none: keys.insert(Dimension.subject.key(0))
        case .observer(let observer):
          if let key = try EventName.observer(observer).key(in: database) {
            keys.insert(Dimension.subject.key(key))
          }
        case .beacon(let beacon):
          if let key = try EventName.beacon(beacon).key(in: database) {
            keys.insert(Dimension.subject.key(key))
          }
        }
      }
      members.append(keys)
    }
    if let observers = filter.observers {
      var keys: Set<Int64> = []
      for observer in observers {
        guard let key = try EventName.observer(observer).key(in: database) else { continue }
        keys.insert(Dimension.subject.key(key))
        keys.insert(Dimension.mention.key(key))
      }
      members.append(keys)
    }
  }

  private static func keys(
    of texts: Set<String>,
    _ dimension: Dimension,
    _ database: Database
  ) throws -> Set<Int64> {
    var keys: Set<Int64> = []
    for text in texts {
      if text.isEmpty {
        keys.insert(dimension.key(0))
      } else if let key = try EventName.text(text).key(in: database) {
        keys.insert(dimension.key(key))
      }
    }
    return keys
  }

  /// Returns whether an event with a time can match.
  func allows(_ time: Timestamp) -> Bool {
    if let since, time < since { return false }
    if let until, time >= until { return false }
    return true
  }

  /// The places in the unfinished block, from one on, that fulfil it, times left aside.
  func places(in tail: TailIndex, from first: Int) -> BlockBits {
    var bits = BlockBits(all: true)
    for member in members { bits.formIntersection(tail.places(of: member, from: first)) }
    return bits
  }

  /// The places in a block that is full.
  func places(in block: Int64, _ database: Database) throws -> BlockBits {
    var bits = BlockBits(all: true)
    let statement = try PreparedStatement(
      cachedBy: database,
      "SELECT places FROM postings WHERE block = ? AND key = ?"
    )
    defer { statement.reset() }
    for member in members {
      var found = BlockBits()
      for key in member {
        statement.reset()
        statement.bind(block, at: 1)
        statement.bind(key, at: 2)
        if try statement.next() { try found.formUnion(encoded: statement.bytes(0)) }
      }
      bits.formIntersection(found)
      if bits.isEmpty { break }
    }
    return bits
  }
}
