package import PharosEvents
import GRDB
import Synchronization
import PharosReports

extension Journal {
  /// The events behind a sequence that a filter lets through, in order.
  ///
  /// - Parameters:
  ///   - sequence: where to begin: the sequence before the first one wanted.
  ///   - filter: which events.
  ///   - limit: how many at most.
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

  /// The events before a sequence that a filter lets through, the newest first.
  ///
  /// - Parameters:
  ///   - sequence: where to begin: the sequence behind the first one wanted; `.max` for the newest of all.
  ///   - filter: which events.
  ///   - limit: how many at most.
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

  /// The event with a sequence, or nil if there is none or it is kept no longer.
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

  /// Reads a row's event.
  func event(of row: [UInt8], sequence: Int64, _ database: Database) throws -> Event {
    do {
      let (keys, body) = try StoredRecord.parts(row)
      return try EventRecord(names: try names(keys, database), body: Array(body)).event()
    } catch {
      throw DamagedRecord(what: "event \(sequence): \(error)")
    }
  }

  /// The names behind numbers, remembered for the next time.
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

/// What a search needs to know of the unfinished block.
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
