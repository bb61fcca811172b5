import GRDB
package import PharosModel
import Synchronization

/// A checkpoint from the journal.
package struct StoredCheckpoint: Hashable, Sendable {
  /// The saved bytes.
  package let bytes: [UInt8]
  /// The time at which it was taken.
  package let instant: Timestamp
  /// The last sequence whose event it covers.
  package let through: Int64

  /// Makes a checkpoint.
  package init(bytes: [UInt8], instant: Timestamp, through: Int64) {
    self.bytes = bytes
    self.instant = instant
    self.through = through
  }
}

extension Journal {
  /// The length of the parts in which a checkpoint is written.
  ///
  /// 512 KiB: a part takes a disk a few milliseconds, for which a group of events may have to wait.
  static let checkpointPart = 512 << 10

  /// Saves a checkpoint part by part, so that events can be written in between; the previous one is kept as well.
  ///
  /// - Parameters:
  ///   - bytes: the bytes to save.
  ///   - instant: the time at which it was taken.
  ///   - sequence: the last sequence whose event it covers.
  /// - Throws: ``JournalError``; the previous checkpoints are unchanged.
  package func save(
    checkpoint bytes: [UInt8],
    instant: Timestamp,
    through sequence: Int64
  ) throws(JournalError) {
    let parts = (bytes.count + Journal.checkpointPart - 1) / Journal.checkpointPart
    let id = try write { database in
      try database.execute(
        sql: """
          INSERT INTO checkpoints (instant, through, parts, digest, complete) VALUES (?, ?, ?, ?, 0)
          """,
        arguments: [instant.nanoseconds, sequence, parts, Journal.digest(bytes)]
      )
      return database.lastInsertedRowID
    }
    do {
      for part in 0..<parts {
        let start = part * Journal.checkpointPart
        let piece = Array(bytes[start..<min(start + Journal.checkpointPart, bytes.count)])
        try write { database in
          let insert = try PreparedStatement(
            cachedBy: database,
            "INSERT INTO checkpoint_parts (checkpoint, part, bytes) VALUES (?, ?, ?)"
          )
          insert.bind(id, at: 1)
          insert.bind(Int64(part), at: 2)
          try insert.run(binding: piece, at: 3)
        }
      }
      try write { database in
        try database.execute(sql: "UPDATE checkpoints SET complete = 1 WHERE id = ?", arguments: [id])
      }
    } catch {
      try? dropCheckpoints("id = \(id)")
      throw error
    }
    shared.withLock { $0.statistics.lastCheckpoint = instant }
    try leavingDamage { () throws(JournalError) in
      try dropCheckpoints("id NOT IN (SELECT id FROM checkpoints WHERE complete ORDER BY id DESC LIMIT 2)")
    }
  }

  /// Returns the newest checkpoint that is complete and undamaged, or nil if there is none.
  ///
  /// A checkpoint that was damaged on the disk is skipped in favour of the previous one.
  ///
  /// - Throws: ``JournalError``.
  package func latestCheckpoint() throws(JournalError) -> StoredCheckpoint? {
    let ids = try read { database in
      try Int64.fetchAll(database, sql: "SELECT id FROM checkpoints WHERE complete ORDER BY id DESC")
    }
    for id in ids {
      do {
        if let checkpoint = try checkpoint(id) { return checkpoint }
      } catch  where error.isDamage {
        continue
      }
    }
    return nil
  }

  /// Returns a checkpoint, or nil if it is incomplete or differs from its digest.
  private func checkpoint(_ id: Int64) throws(JournalError) -> StoredCheckpoint? {
    try read { database in
      let row = try PreparedStatement(
        cachedBy: database,
        "SELECT instant, through, parts, digest FROM checkpoints WHERE id = ?"
      )
      defer { row.reset() }
      row.bind(id, at: 1)
      guard try row.next() else { return nil }
      let pieces = try PreparedStatement(
        cachedBy: database,
        "SELECT bytes FROM checkpoint_parts WHERE checkpoint = ? ORDER BY part"
      )
      defer { pieces.reset() }
      pieces.bind(id, at: 1)
      var bytes: [UInt8] = []
      var count: Int64 = 0
      while try pieces.next() {
        bytes.append(contentsOf: pieces.bytes(0))
        count += 1
      }
      guard count == row.number(2), Journal.digest(bytes) == row.number(3) else { return nil }
      return StoredCheckpoint(
        bytes: bytes,
        instant: Timestamp(nanoseconds: row.number(0)),
        through: row.number(1)
      )
    }
  }

  /// Drops checkpoints and their parts, a few parts at a time.
  private func dropCheckpoints(_ condition: String) throws(JournalError) {
    let ids = try write { database in
      let ids = try Int64.fetchAll(database, sql: "SELECT id FROM checkpoints WHERE \(condition)")
      try database.execute(sql: "DELETE FROM checkpoints WHERE \(condition)")
      return ids
    }
    for id in ids { try dropParts("checkpoint = \(id)") }
  }

  /// Drops checkpoints that were taken before an instant; nil drops all.
  ///
  /// - Returns: the number of dropped checkpoints.
  func dropCheckpoints(before instant: Timestamp?) throws(JournalError) -> Int {
    let condition = instant.map { "instant < \($0.nanoseconds)" } ?? "1"
    let count = try read { database in
      try Int.fetchOne(database, sql: "SELECT count(*) FROM checkpoints WHERE \(condition)") ?? 0
    }
    try dropCheckpoints(condition)
    return count
  }

  /// Drops the remains of interrupted saves.
  func dropUnfinishedCheckpoints() throws(JournalError) {
    try leavingDamage { () throws(JournalError) in
      try dropCheckpoints("NOT complete")
      try dropParts("checkpoint NOT IN (SELECT id FROM checkpoints)")
    }
  }

  /// Runs a function that drops old checkpoints; damaged pages of theirs stay where they are, because nothing reads them.
  private func leavingDamage(_ drop: () throws(JournalError) -> Void) throws(JournalError) {
    do { try drop() } catch  where error.isDamage {}
  }

  private func dropParts(_ condition: String) throws(JournalError) {
    while try write({ database in
      try database.execute(
        sql: """
          DELETE FROM checkpoint_parts WHERE rowid IN
            (SELECT rowid FROM checkpoint_parts WHERE \(condition) LIMIT 16)
          """
      )
      return database.changesCount
    }) > 0 {}
  }

  /// Computes a digest that detects damaged bytes.
  ///
  /// - Source: FNV-1a with 64 bits (Fowler, Noll, Vo), over words of 8 bytes, then over the remaining bytes.
  package static func digest(_ bytes: [UInt8]) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    let whole = bytes.count & ~7
    bytes.withUnsafeBytes { buffer in
      for offset in stride(from: 0, to: whole, by: 8) {
        let word = UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        hash = (hash ^ word) &* 0x100_0000_01B3
        hash ^= hash >> 29
      }
      for offset in whole..<bytes.count { hash = (hash ^ UInt64(buffer[offset])) &* 0x100_0000_01B3 }
    }
    return Int64(bitPattern: hash)
  }
}
