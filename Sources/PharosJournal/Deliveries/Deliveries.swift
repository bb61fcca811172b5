import Foundation
import GRDB
import PharosEvents
package import PharosReports

/// The tables of deliveries: how far each receiver has come, which subjects are behind, what was given up.
package enum Deliveries {
  /// Registers the steps of these tables, after those of the journal; each stays as it is for ever.
  static func migrate(_ migrator: inout DatabaseMigrator) {
    migrator.registerMigration("deliveries 1") { database in
      for table in first { try database.execute(sql: table) }
    }
  }

  private static let first = [
    """
    CREATE TABLE receivers (
      name TEXT PRIMARY KEY NOT NULL, cursor INTEGER NOT NULL, delivered INTEGER NOT NULL,
      failing_since INTEGER, paused INTEGER NOT NULL) WITHOUT ROWID
    """,
    """
    CREATE TABLE receiver_lanes (
      receiver TEXT NOT NULL, subject BLOB NOT NULL, after INTEGER NOT NULL, head INTEGER NOT NULL,
      attempts INTEGER NOT NULL, first_tried INTEGER, next_attempt INTEGER NOT NULL,
      PRIMARY KEY (receiver, subject)) WITHOUT ROWID
    """,
    """
    CREATE TABLE dead_letters (
      receiver TEXT NOT NULL, sequence INTEGER NOT NULL, subject BLOB NOT NULL, replayed INTEGER NOT NULL,
      died INTEGER NOT NULL, attempts INTEGER NOT NULL, reason TEXT NOT NULL, event BLOB NOT NULL,
      PRIMARY KEY (receiver, sequence)) WITHOUT ROWID
    """,
    """
    CREATE INDEX replayed_letters ON dead_letters (receiver, subject, sequence) WHERE replayed = 1
    """,
  ]

  /// The lowest sequence that a receiver still needs, or nil if none needs any: what is pruned stays below it.
  static func floor(_ database: Database) throws -> Int64? {
    let lowest = try Int64.fetchOne(
      database,
      sql: """
        SELECT min(cursor) FROM (
          SELECT cursor FROM receivers WHERE paused = 0
          UNION ALL
          SELECT after FROM receiver_lanes JOIN receivers ON name = receiver WHERE paused = 0)
        """
    )
    return lowest.map { $0 + 1 }
  }

  /// The key of a subject: its bytes.
  static func key(_ subject: SubjectID) -> [UInt8] { bytes { subject.write(to: &$0) } }

  package static func bytes(_ write: (inout FieldWriter) -> Void) -> [UInt8] {
    var writer = FieldWriter()
    write(&writer)
    return writer.bytes
  }

  static func subject(_ row: Row) throws -> SubjectID {
    let bytes: [UInt8] = Array(row["subject"] as Data)
    var reader = FieldReader(bytes[...])
    return try SubjectID(from: &reader)
  }

  static func letter(_ row: Row) throws -> DeadLetter {
    let bytes: [UInt8] = Array(row["event"] as Data)
    var reader = FieldReader(bytes[...])
    return DeadLetter(
      sequence: row["sequence"],
      event: try Event(from: &reader),
      diedAt: Timestamp(nanoseconds: row["died"]),
      attempts: row["attempts"],
      reason: row["reason"],
      isReplayed: row["replayed"]
    )
  }

  static func lane(_ row: Row) throws -> DeliveryLedger.Lane {
    DeliveryLedger.Lane(
      subject: try subject(row),
      after: row["after"],
      head: row["head"],
      attempts: row["attempts"],
      firstTried: (row["first_tried"] as Int64?).map(Timestamp.init(nanoseconds:)),
      nextAttempt: Timestamp(nanoseconds: row["next_attempt"])
    )
  }
}
