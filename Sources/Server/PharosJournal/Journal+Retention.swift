import GRDB
package import PharosModel
import Synchronization

/// The counts of the data that was dropped to keep the journal within its limits.
package struct Pruned: Hashable, Sendable {
  /// The number of dropped events.
  package var events: Int64 = 0
  /// The number of dropped rows of subjects, beacons and observers whose last change was published before the oldest
  /// time kept.
  package var rows = 0
  /// The number of dropped hours of summaries.
  package var hours = 0
  /// The number of dropped names that no event or row mentions.
  package var names = 0
  /// The number of dropped dead letters that were given up before the oldest time kept.
  package var letters = 0
  /// The number of dropped checkpoints from before then, left by a server that was stopped for long.
  package var checkpoints = 0
  /// The number of events that are due to be dropped but that a webhook still needs.
  package var heldBack: Int64 = 0

  /// Creates counts of zero.
  package init() {}
}

extension Journal {
  /// The number of events or rows that one transaction drops.
  ///
  /// 4,096: about 150 pages, which the disk writes in some milliseconds; events that wait to be written wait no longer.
  static let slice: Int64 = 4_096

  /// Drops events that exceed the limits on age or size, the oldest first, except those that a webhook still needs.
  ///
  /// A journal in memory drops those as well once it has grown to twice its limit.
  ///
  /// New events use the freed pages, so the file keeps its largest size: a full journal keeps its size, and no page has
  /// to be moved for it.
  ///
  /// - Parameter now: the present time.
  /// - Returns: the counts of the dropped data.
  /// - Throws: ``JournalError``; the data dropped so far stays dropped.
  package func prune(now: Timestamp) throws(JournalError) -> Pruned {
    var pruned = Pruned()
    let cutoff = settings.maximumAge.map { now - $0 }
    // Summaries first: what they take beyond their share is no reason to drop events.
    pruned.hours = try pruneHistory(before: cutoff)
    while try pruneSlice(cutoff, into: &pruned) {}
    if let cutoff {
      // Rows that say "gone" and changed long ago; rows that say "inside" or "up" stay.
      for (table, key, isGone) in [
        ("region_rows", "(application, region, subject)", "known <> 1"),
        ("zone_rows", "beacon", "zone IS NULL"), ("observer_rows", "observer", "up = 0"),
      ] {
        pruned.rows += try prune(table, key: key, where: "decided < ? AND \(isGone)", cutoff)
      }
      // Dead letters that were given up long ago, since they hold whole events.
      pruned.letters = try prune("dead_letters", key: "(receiver, sequence)", where: "died < ?", cutoff)
      pruned.checkpoints = try dropCheckpoints(before: cutoff)
    }
    let block = blocks.containing(oldest)
    if pruned.rows + pruned.hours > 0 || shared.withLock({ $0.namesPrunedBefore }) < block {
      while true {
        let names = try pruneNames(before: block)
        pruned.names += names
        if names < Int(Journal.slice) { break }
      }
      shared.withLock { $0.namesPrunedBefore = block }
    }
    let dropped = pruned.events
    shared.withLock { $0.statistics.pruned += UInt64(dropped) }
    return pruned
  }

  /// Returns a time before which neither an event nor a summary is kept; nil if there are none.
  ///
  /// It may lie earlier than all of them, by as much as the events of a block of the index do.
  ///
  /// - Throws: ``JournalError``.
  package func earliestTime() throws(JournalError) -> Timestamp? {
    let tail = shared.withLock { $0.tail.earliest }
    return try read { database in
      let block = try Int64.fetchOne(database, sql: "SELECT min(earliest) FROM blocks")
      let hour = try Int64.fetchOne(database, sql: "SELECT min(hour) FROM history_hours")
      let times = [
        block.map(Timestamp.init(nanoseconds:)), hour.map { HistoryMinute(hour: $0, minute: 0).start },
        tail == .distantFuture ? nil : tail,
      ]
      return times.compactMap(\.self).min()
    }
  }

  /// Drops about twice as many events as were appended if the journal exceeds its size limit, so that a full journal
  /// does not grow.
  ///
  /// Events that cannot be dropped now are tried again with the next group; that group is not at risk.
  func makeRoom(for count: Int) {
    guard shared.withLock({ $0.statistics.bytes }) > settings.maximumBytes else { return }
    var pruned = Pruned()
    var left = Int64(count) * 2
    while left > 0, (try? pruneSlice(nil, into: &pruned)) == true { left -= Journal.slice }
    let dropped = pruned.events
    shared.withLock { $0.statistics.pruned += UInt64(dropped) }
  }

  /// Drops the next slice of events, if they are due.
  ///
  /// - Returns: true if there may be more.
  private func pruneSlice(_ cutoff: Timestamp?, into pruned: inout Pruned) throws(JournalError) -> Bool {
    var before: Int64?
    let dropped: Int64
    let held: Int64
    do {
      (dropped, held) = try write { database in
        let (first, head) = shared.withLock { ($0.statistics.oldest, $0.statistics.head) }
        let wanted = try wantedSlice(first...max(first, head), before: cutoff, database)
        guard first <= head, wanted > 0 else { return (0, 0) }
        var last = first + wanted - 1
        if let floor = try floor(database) { last = min(last, floor - 1) }
        guard last >= first else { return (0, wanted) }
        try drop(through: last, database)
        // Set before the commit: a reader that finds an event gone must know that it existed.
        before = first
        let next = last + 1
        shared.withLock { $0.statistics.oldest = next }
        return (next - first, wanted - (next - first))
      }
    } catch {
      if let before { shared.withLock { $0.statistics.oldest = before } }
      throw error
    }
    if dropped > 0 { shared.withLock { $0.removals += 1 } }
    pruned.events += dropped
    pruned.heldBack = held
    let bytes = try read { try Journal.bytes(of: $0) }
    shared.withLock { $0.statistics.bytes = bytes }
    return held == 0 && dropped == Journal.slice
  }

  /// Returns the number of the oldest events that are due to be dropped next, needed or not.
  private func wantedSlice(
    _ events: ClosedRange<Int64>,
    before cutoff: Timestamp?,
    _ database: Database
  ) throws -> Int64 {
    let (first, last) = (events.lowerBound, min(events.lowerBound + Journal.slice - 1, events.upperBound))
    if try Journal.bytes(of: database) > settings.maximumBytes { return last - first + 1 }
    guard let cutoff else { return 0 }
    return try lastEvent(from: first, through: last, before: cutoff, database) - first + 1
  }

  /// Returns the sequence of the first event that a webhook still needs.
  ///
  /// Memory is limited, and its content ends with the process anyway: there, events are not retained beyond twice the
  /// limit.
  private func floor(_ database: Database) throws -> Int64? {
    if isInMemory, try Journal.bytes(of: database) / 2 > settings.maximumBytes { return nil }
    return try Deliveries.floor(database)
  }

  private func drop(through last: Int64, _ database: Database) throws {
    try database.execute(sql: "DELETE FROM events WHERE sequence <= ?", arguments: [last])
    try database.execute(
      sql: "INSERT OR REPLACE INTO facts (name, value) VALUES ('pruned', ?)",
      arguments: [last]
    )
    let block = blocks.containing(last + 1)
    try database.execute(sql: "DELETE FROM postings WHERE block < ?", arguments: [block])
    try database.execute(sql: "DELETE FROM blocks WHERE block < ?", arguments: [block])
  }

  /// Returns the last event of a range before the first recent one; one less than the first event if that is recent.
  private func lastEvent(
    from first: Int64,
    through last: Int64,
    before cutoff: Timestamp,
    _ database: Database
  ) throws -> Int64 {
    let rows = try PreparedStatement(
      cachedBy: database,
      "SELECT sequence, record FROM events WHERE sequence BETWEEN ? AND ? ORDER BY sequence"
    )
    defer { rows.reset() }
    rows.bind(first, at: 1)
    rows.bind(last, at: 2)
    while try rows.next() {
      // What cannot be read goes with what is around it.
      guard let time = rows.withBytes(1, StoredRecord.time), time >= cutoff else { continue }
      return max(first, rows.number(0)) - 1
    }
    return last
  }

  /// Drops the rows of a table that are older than an instant, a slice with each transaction.
  private func prune(
    _ table: String,
    key: String,
    where isOld: String,
    _ cutoff: Timestamp
  ) throws(JournalError) -> Int {
    let columns = key.filter { $0 != "(" && $0 != ")" }
    var count = 0
    while true {
      let dropped = try write { database in
        try database.execute(
          sql: """
            DELETE FROM \(table) WHERE \(key) IN (SELECT \(columns) FROM \(table) WHERE \(isOld) LIMIT ?)
            """,
          arguments: [cutoff.nanoseconds, Journal.slice]
        )
        return database.changesCount
      }
      count += dropped
      if dropped < Int(Journal.slice) { return count }
    }
  }

  /// Drops names that neither an event nor a row mentions, a slice at most.
  private func pruneNames(before block: Int64) throws(JournalError) -> Int {
    let dropped = try write { database in
      try writer.markNames()
      try database.execute(
        sql: """
          DELETE FROM names WHERE key IN (SELECT key FROM names WHERE last_block < ? AND key NOT IN (
            SELECT application FROM region_rows UNION SELECT region FROM region_rows
            UNION SELECT subject FROM region_rows
            UNION SELECT refinement FROM region_rows WHERE refinement IS NOT NULL
            UNION SELECT observer FROM region_rows WHERE observer IS NOT NULL
            UNION SELECT beacon FROM zone_rows UNION SELECT zone FROM zone_rows WHERE zone IS NOT NULL
            UNION SELECT observer FROM observer_rows
            UNION SELECT owner FROM history_series UNION SELECT name FROM history_series) LIMIT ?)
          """,
        arguments: [block, Journal.slice]
      )
      let dropped = database.changesCount
      if dropped > 0 { writer.forgetNames() }
      return dropped
    }
    if dropped > 0 { shared.withLock { $0.names.removeAll() } }
    return dropped
  }
}
