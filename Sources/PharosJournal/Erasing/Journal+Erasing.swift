package import PharosReports
import GRDB
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
