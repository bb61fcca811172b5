import Foundation
import GRDB
import PharosEvents
package import PharosReports

extension Journal {
  /// How far the deliveries to a receiver have come, or nil if nothing was written down yet.
  package func deliveries(to receiver: String) throws(JournalError) -> DeliveryLedger? {
    try read { database in
      let row = try Row.fetchOne(
        database,
        sql: "SELECT * FROM receivers WHERE name = ?",
        arguments: [receiver]
      )
      guard let row else { return nil }
      var ledger = DeliveryLedger(cursor: row["cursor"])
      ledger.delivered = row["delivered"]
      ledger.failingSince = (row["failing_since"] as Int64?).map(Timestamp.init(nanoseconds:))
      ledger.isPaused = row["paused"]
      ledger.lanes = try Row.fetchAll(
        database,
        sql: "SELECT * FROM receiver_lanes WHERE receiver = ?",
        arguments: [receiver]
      ).map(Deliveries.lane)
      ledger.lanes.sort { $0.subject < $1.subject }
      return ledger
    }
  }

  /// The receivers that something is written down about.
  package func receivers() throws(JournalError) -> [String] {
    try read { try String.fetchAll($0, sql: "SELECT name FROM receivers ORDER BY name") }
  }

  /// Writes down what has changed in deliveries: all of it or nothing.
  ///
  /// - Parameters:
  ///   - updates: what has changed.
  ///   - deadLimit: how many dead letters a receiver keeps; the oldest give way.
  /// - Throws: ``JournalError`` if nothing could be written.
  package func save(_ updates: [DeliveryUpdate], deadLimit: Int) throws(JournalError) {
    try write { database in
      for update in updates { try Deliveries.save(update, deadLimit: deadLimit, in: database) }
    }
  }

  /// Forgets all that is written down about a receiver, its dead letters too.
  package func forgetDeliveries(to receiver: String) throws(JournalError) {
    try write { database in
      for table in ["receiver_lanes", "dead_letters"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE receiver = ?", arguments: [receiver])
      }
      try database.execute(sql: "DELETE FROM receivers WHERE name = ?", arguments: [receiver])
    }
  }

  /// What was given up for a receiver, the newest first.
  ///
  /// - Parameters:
  ///   - receiver: the receiver.
  ///   - before: the sequence below which to begin, or nil for the newest.
  ///   - limit: how many at most.
  /// - Returns: dead letters.
  /// - Throws: ``JournalError`` if they cannot be read.
  package func deadLetters(
    of receiver: String,
    before: Int64? = nil,
    limit: Int
  ) throws(JournalError) -> [DeadLetter] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT * FROM dead_letters WHERE receiver = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?
          """,
        arguments: [receiver, before ?? .max, limit]
      ).map(Deliveries.letter)
    }
  }

  /// How many dead letters a receiver has.
  package func deadLetterCount(of receiver: String) throws(JournalError) -> Int {
    try read { database in
      try Int.fetchOne(
        database,
        sql: "SELECT count(*) FROM dead_letters WHERE receiver = ?",
        arguments: [receiver]
      ) ?? 0
    }
  }

  /// Marks dead letters to be delivered once more.
  ///
  /// - Parameters:
  ///   - receiver: the receiver.
  ///   - sequences: which, or nil for all.
  /// - Returns: how many there are, and the subjects they are about.
  /// - Throws: ``JournalError`` if they cannot be marked.
  package func replayDeadLetters(
    of receiver: String,
    sequences: [Int64]? = nil
  ) throws(JournalError) -> (count: Int, subjects: [SubjectID]) {
    try write { database in
      var count = 0
      if let sequences {
        for sequence in sequences {
          try database.execute(
            sql: "UPDATE dead_letters SET replayed = 1 WHERE receiver = ? AND sequence = ? AND replayed = 0",
            arguments: [receiver, sequence]
          )
          count += database.changesCount
        }
      } else {
        try database.execute(
          sql: "UPDATE dead_letters SET replayed = 1 WHERE receiver = ? AND replayed = 0",
          arguments: [receiver]
        )
        count = database.changesCount
      }
      return (count, try Deliveries.replayedSubjects(of: receiver, in: database))
    }
  }

  /// The subjects whose dead letters are to be delivered once more.
  package func replayedSubjects(of receiver: String) throws(JournalError) -> [SubjectID] {
    try read { try Deliveries.replayedSubjects(of: receiver, in: $0) }
  }

  /// The dead letters of a subject that are to be delivered once more, in order.
  package func replayedLetters(
    of receiver: String,
    subject: SubjectID,
    limit: Int
  ) throws(JournalError) -> [JournaledEvent] {
    let key = Data(Deliveries.key(subject))
    return try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT * FROM dead_letters WHERE receiver = ? AND subject = ? AND replayed = 1
          ORDER BY sequence LIMIT ?
          """,
        arguments: [receiver, key, limit]
      ).map { row in
        let letter = try Deliveries.letter(row)
        return JournaledEvent(sequence: letter.sequence, event: letter.event)
      }
    }
  }
}

extension Deliveries {
  fileprivate static func replayedSubjects(of receiver: String, in database: Database) throws -> [SubjectID] {
    try Row.fetchAll(
      database,
      sql: "SELECT DISTINCT subject FROM dead_letters WHERE receiver = ? AND replayed = 1",
      arguments: [receiver]
    ).map(subject).sorted()
  }

  fileprivate static func save(_ update: DeliveryUpdate, deadLimit: Int, in database: Database) throws {
    try database.cachedStatement(
      sql:
        "INSERT OR REPLACE INTO receivers (name, cursor, delivered, failing_since, paused) VALUES (?, ?, ?, ?, ?)"
    ).execute(arguments: [
      update.receiver, update.cursor, update.delivered, update.failingSince?.nanoseconds, update.isPaused,
    ])
    for lane in update.lanes {
      try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO receiver_lanes
          (receiver, subject, after, head, attempts, first_tried, next_attempt) VALUES (?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(arguments: [
        update.receiver, Data(key(lane.subject)), lane.after, lane.head, lane.attempts,
        lane.firstTried?.nanoseconds, lane.nextAttempt.nanoseconds,
      ])
    }
    for subject in update.caughtUp {
      try database.cachedStatement(sql: "DELETE FROM receiver_lanes WHERE receiver = ? AND subject = ?")
        .execute(arguments: [update.receiver, Data(key(subject))])
    }
    for sequence in update.revived {
      try database.cachedStatement(sql: "DELETE FROM dead_letters WHERE receiver = ? AND sequence = ?")
        .execute(arguments: [update.receiver, sequence])
    }
    guard !update.dead.isEmpty else { return }
    for letter in update.dead {
      try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO dead_letters
          (receiver, sequence, subject, replayed, died, attempts, reason, event) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(arguments: [
        update.receiver, letter.sequence, Data(key(letter.event.subject)), letter.isReplayed,
        letter.diedAt.nanoseconds, letter.attempts, letter.reason,
        Data(bytes { letter.event.write(to: &$0) }),
      ])
    }
    try database.execute(
      sql: """
        DELETE FROM dead_letters WHERE receiver = ?1 AND sequence <= (
          SELECT sequence FROM dead_letters WHERE receiver = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2)
        """,
      arguments: [update.receiver, deadLimit]
    )
  }
}
