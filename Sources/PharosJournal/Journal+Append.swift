import PharosEvents
import PharosReports
import GRDB
import Synchronization

extension Journal {
  /// Writes a group of entries and the rows that they change, and returns when all of it is on the disk.
  ///
  /// Only one thread at a time may append. A group that fails leaves nothing behind and may be appended again.
  ///
  /// - Returns: the sequence of each published entry, ascending without a gap; nil for each withheld entry.
  /// - Throws: ``JournalError``; nothing was written then.
  package func append(_ entries: [Entry]) throws(JournalError) -> [Int64?] {
    guard !entries.isEmpty else { return [] }
    let start = ContinuousClock.now
    do {
      let sequences = try database.writeWithoutTransaction { database in
        try append(entries, to: database)
      }
      let duration = start.duration(to: .now)
      shared.withLock { shared in
        shared.statistics.commits += 1
        shared.statistics.lastCommit = TimeSpan(duration)
      }
      makeRoom(for: entries.count)
      return sequences
    } catch {
      shared.withLock { $0.statistics.failures += 1 }
      throw JournalError(error, at: place)
    }
  }

  private func append(_ entries: [Entry], to database: Database) throws -> [Int64?] {
    let (head, block) = shared.withLock { ($0.statistics.head, $0.tail.block) }
    var result: Appended?
    do {
      try database.inTransaction(.immediate) {
        result = try writer.append(
          entries,
          head: head,
          tail: { shared.withLock { $0.tail } },
          to: database
        )
        return .commit
      }
    } catch {
      writer.rollBack(to: block)
      throw error
    }
    guard let result else { return [] }
    let bytes = try? Journal.bytes(of: database)
    shared.withLock { shared in
      shared.statistics.head = result.head
      shared.statistics.appended += UInt64(result.head - head)
      if let bytes { shared.statistics.bytes = bytes }
      if result.closedBlock { shared.tail = result.pending } else { shared.tail.add(result.pending) }
    }
    return result.sequences
  }

  /// The sequence of the last event; 0 before the first.
  package var head: Int64 { shared.withLock { $0.statistics.head } }

  /// The sequence of the first event that is still kept; one more than the head if none is.
  package var oldest: Int64 { shared.withLock { $0.statistics.oldest } }

  /// How the journal is doing.
  package func statistics() -> JournalStatistics { shared.withLock { $0.statistics } }

  /// How large the database is, free pages left out.
  static func bytes(of database: Database) throws -> Int64 {
    let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
    let size = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
    return (pages - free) * size
  }
}

extension TimeSpan {
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
