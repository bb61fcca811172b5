import Foundation
import GRDB
package import PharosDocuments
package import PharosModel
import Synchronization

/// The saved delivery state of one receiver, from which deliveries continue after a restart.
///
/// The journal is the only queue. A receiver has a cursor, up to which every event is settled. A topic that is behind
/// has a cursor of its own, so that its later events need not be listed.
package struct DeliveryLedger: Hashable, Sendable {
  /// The sequence up to which every event is settled, except those of ``lanes``.
  package var cursor: Int64
  /// The number of delivered events.
  package var delivered: Int64 = 0
  /// The time since which every attempt has failed, or nil while the receiver answers.
  package var failingSince: Timestamp?
  /// Indicates whether the webhook is disabled, so that the journal retains no events for it.
  package var isPaused = false
  /// The topics that are behind.
  package var lanes: [Lane] = []

  /// Makes a ledger that begins after a sequence.
  package init(cursor: Int64) { self.cursor = cursor }

  /// Continues after a lower sequence, because the journal has lost its newest events.
  package mutating func rewind(to sequence: Int64) {
    cursor = min(cursor, sequence)
    for index in lanes.indices where max(lanes[index].after, lanes[index].head) > sequence {
      let lane = lanes[index]
      lanes[index] = Lane(
        topic: lane.topic,
        after: min(lane.after, sequence),
        nextAttempt: lane.nextAttempt
      )
    }
  }

  /// A topic that is behind the others, because its next event could not be delivered yet.
  package struct Lane: Hashable, Sendable {
    /// The topic.
    package var topic: DeliveryTopic
    /// The sequence up to which the events of this topic are settled.
    package var after: Int64
    /// The sequence of the next event to deliver, or 0 if it has not been looked up yet.
    package var head: Int64
    /// The number of attempts to deliver that event.
    package var attempts: Int
    /// The time of the first attempt.
    package var firstTried: Timestamp?
    /// The time of the next attempt.
    package var nextAttempt: Timestamp

    /// Makes a lane.
    package init(
      topic: DeliveryTopic,
      after: Int64,
      head: Int64 = 0,
      attempts: Int = 0,
      firstTried: Timestamp? = nil,
      nextAttempt: Timestamp = .distantPast
    ) {
      self.topic = topic
      self.after = after
      self.head = head
      self.attempts = attempts
      self.firstTried = firstTried
      self.nextAttempt = nextAttempt
    }
  }
}

/// An event that was given up, kept so that it can be delivered after all.
package struct DeadLetter: Hashable, Sendable {
  /// The sequence of the event.
  package var sequence: Int64
  /// The event, which the journal itself may have dropped by now.
  package var event: Event
  /// The time at which it was given up.
  package var diedAt: Timestamp
  /// The number of attempts.
  package var attempts: Int
  /// The reason of the last failure.
  package var reason: String
  /// Indicates whether it is being delivered once more.
  package var isReplayed: Bool

  /// Makes a dead letter.
  package init(
    sequence: Int64,
    event: Event,
    diedAt: Timestamp,
    attempts: Int,
    reason: String,
    isReplayed: Bool = false
  ) {
    self.sequence = sequence
    self.event = event
    self.diedAt = diedAt
    self.attempts = attempts
    self.reason = reason
    self.isReplayed = isReplayed
  }
}

/// The changes in one receiver's deliveries since the last save.
package struct DeliveryUpdate: Hashable, Sendable {
  /// The receiver.
  package var receiver: String
  /// The sequence up to which every event is settled, except those of the lanes.
  package var cursor: Int64
  /// The number of delivered events in all.
  package var delivered: Int64
  /// The time since which every attempt has failed.
  package var failingSince: Timestamp?
  /// Indicates whether the webhook is disabled, so that the journal retains no events for it.
  package var isPaused = false
  /// The changed lanes of topics that are behind.
  package var lanes: [DeliveryLedger.Lane] = []
  /// The topics that are no longer behind.
  package var caughtUp: [DeliveryTopic] = []
  /// The events that were given up.
  package var dead: [DeadLetter] = []
  /// The dead letters that were delivered after all, by sequence.
  package var revived: [Int64] = []

  /// Makes an update of the cursor and the counters alone.
  package init(receiver: String, cursor: Int64, delivered: Int64, failingSince: Timestamp? = nil) {
    self.receiver = receiver
    self.cursor = cursor
    self.delivered = delivered
    self.failingSince = failingSince
  }
}

extension DeliveryUpdate: FieldStruct {
  /// Makes one to read into.
  package init() { self.init(receiver: "", cursor: 0, delivered: 0) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&receiver)
    try coder.code(&cursor)
    try coder.code(&delivered)
    try coder.code(&failingSince)
    try coder.code(&isPaused)
    try coder.code(&lanes)
    var topics = caughtUp.map { TopicBytes(topic: $0) }
    try coder.code(&topics)
    caughtUp = topics.map(\.topic)
    try coder.code(&dead)
    try coder.code(&revived)
  }
}

/// A topic as its bytes behind their length.
private struct TopicBytes: FieldForm {
  let topic: DeliveryTopic

  init(topic: DeliveryTopic) { self.topic = topic }

  init?(form: [UInt8]) {
    guard let topic = try? DeliveryTopic(encoded: form) else { return nil }
    self.topic = topic
  }

  var form: [UInt8] { topic.encoded }
}

extension DeliveryLedger.Lane: FieldRecord {
  /// Codes the fields.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    var lane = Self(
      topic: try coder.field(TopicBytes(topic: value().topic)).topic,
      after: try coder.field(value().after)
    )
    lane.head = try coder.field(value().head)
    lane.attempts = Int(try coder.field(Int64(value().attempts)))
    lane.firstTried = try coder.field(value().firstTried)
    lane.nextAttempt = try coder.field(value().nextAttempt)
    return lane
  }
}

extension DeadLetter: FieldRecord {
  /// Codes the fields.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    DeadLetter(
      sequence: try coder.field(value().sequence),
      event: try coder.field(value().event),
      diedAt: try coder.field(value().diedAt),
      attempts: Int(try coder.field(Int64(value().attempts))),
      reason: try coder.field(value().reason),
      isReplayed: try coder.field(value().isReplayed)
    )
  }
}

extension Journal {
  /// Returns the saved delivery state of a receiver, or nil if there is none.
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
      ledger.lanes.sort { $0.topic < $1.topic }
      // All events without a subject once were one topic: what it had not delivered yet is delivered by the others.
      if let former = ledger.lanes.firstIndex(where: { $0.topic == DeliveryTopic(.none) }) {
        ledger.cursor = min(ledger.cursor, ledger.lanes.remove(at: former).after)
      }
      return ledger
    }
  }

  /// Returns the receivers that have a saved state.
  package func receivers() throws(JournalError) -> [String] {
    try read { try String.fetchAll($0, sql: "SELECT name FROM receivers ORDER BY name") }
  }

  /// Saves changes of deliveries: all of them or none.
  ///
  /// - Parameters:
  ///   - updates: the changes.
  ///   - deadLimit: the maximum number of dead letters of a receiver; the oldest are deleted.
  /// - Throws: ``JournalError`` if nothing could be written.
  package func save(_ updates: [DeliveryUpdate], deadLimit: Int) throws(JournalError) {
    try saveHere(updates, deadLimit: deadLimit)
    guard let announce = shared.withLock({ $0.announce }) else { return }
    announce(
      updates.map { update in
        var writer = FieldWriter()
        writer.write(UInt32(clamping: deadLimit))
        writer.write(update)
        return DocumentChange(kind: Journal.deliveryKind, key: update.receiver, document: writer.bytes)
      }
    )
  }

  /// The kind of the documents that tell other servers of deliveries; no journal stores them as documents.
  package static let deliveryKind = "cluster.delivery"

  /// Saves the deliveries that another server has made.
  ///
  /// - Throws: ``JournalError`` if it could not be written; `FieldError` if it cannot be read.
  package func saveDeliveries(_ document: [UInt8]) throws {
    var reader = FieldReader(document[...])
    let deadLimit = Int(try reader.number(UInt32.self))
    let update = try DeliveryUpdate(from: &reader)
    try reader.finish()
    try saveHere([update], deadLimit: deadLimit)
  }

  private func saveHere(_ updates: [DeliveryUpdate], deadLimit: Int) throws(JournalError) {
    try write { database in
      for update in updates { try Deliveries.save(update, deadLimit: deadLimit, in: database) }
    }
  }

  /// Deletes the saved state of a receiver, including its dead letters.
  package func forgetDeliveries(to receiver: String) throws(JournalError) {
    try write { database in
      for table in ["receiver_lanes", "dead_letters"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE receiver = ?", arguments: [receiver])
      }
      try database.execute(sql: "DELETE FROM receivers WHERE name = ?", arguments: [receiver])
    }
  }

  /// Returns the dead letters of a receiver, the newest first.
  ///
  /// - Parameters:
  ///   - receiver: the receiver.
  ///   - before: the sequence below which to begin, or nil for the newest.
  ///   - limit: the maximum number of dead letters.
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

  /// Returns the number of dead letters of a receiver.
  package func deadLetterCount(of receiver: String) throws(JournalError) -> Int {
    try read { database in
      try Int.fetchOne(
        database,
        sql: "SELECT count(*) FROM dead_letters WHERE receiver = ?",
        arguments: [receiver]
      ) ?? 0
    }
  }

  /// Returns the sequence before the oldest event of all topics that are behind, as it was saved last; nil if none is.
  package func lowestLane(of receiver: String) throws(JournalError) -> Int64? {
    try read { database in
      try Int64.fetchOne(
        database,
        sql: "SELECT min(after) FROM receiver_lanes WHERE receiver = ?",
        arguments: [receiver]
      )
    }
  }

  /// Marks dead letters to be delivered once more.
  ///
  /// - Parameters:
  ///   - receiver: the receiver.
  ///   - sequences: the sequences of the dead letters, or nil for all.
  /// - Returns: the number of newly marked dead letters, and the subjects of all marked ones.
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

  /// Returns the subjects whose dead letters are to be delivered once more.
  package func replayedSubjects(of receiver: String) throws(JournalError) -> [SubjectID] {
    try read { try Deliveries.replayedSubjects(of: receiver, in: $0) }
  }

  /// Returns the dead letters of a subject that are to be delivered once more, in order.
  package func replayedLetters(
    of receiver: String,
    subject: SubjectID,
    limit: Int
  ) throws(JournalError) -> [JournaledEvent] {
    let key = Data(subject.encoded)
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
        update.receiver, Data(lane.topic.encoded), lane.after, lane.head, lane.attempts,
        lane.firstTried?.nanoseconds, lane.nextAttempt.nanoseconds,
      ])
    }
    for topic in update.caughtUp {
      try database.cachedStatement(sql: "DELETE FROM receiver_lanes WHERE receiver = ? AND subject = ?")
        .execute(arguments: [update.receiver, Data(topic.encoded)])
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
        update.receiver, letter.sequence, Data(letter.event.subject.encoded), letter.isReplayed,
        letter.diedAt.nanoseconds, letter.attempts, letter.reason,
        Data(EventRecord(letter.event).encoded),
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

/// The tables of deliveries: the state of each receiver, the topics that are behind, and the dead letters.
enum Deliveries {
  /// Registers the migrations of these tables after those of the journal; a migration never changes.
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

  /// Returns the lowest sequence that a receiver still needs, or nil if none needs any; pruning stays below it.
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
    return lowest.map { $0 == .max ? $0 : $0 + 1 }
  }

  static func subject(_ row: Row) throws -> SubjectID {
    try SubjectID(encoded: Array(row["subject"] as Data))
  }

  static func topic(_ row: Row) throws -> DeliveryTopic {
    try DeliveryTopic(encoded: Array(row["subject"] as Data))
  }

  static func letter(_ row: Row) throws -> DeadLetter {
    DeadLetter(
      sequence: row["sequence"],
      event: try EventRecord(encoded: Array(row["event"] as Data)).event(),
      diedAt: Timestamp(nanoseconds: row["died"]),
      attempts: row["attempts"],
      reason: row["reason"],
      isReplayed: row["replayed"]
    )
  }

  static func lane(_ row: Row) throws -> DeliveryLedger.Lane {
    DeliveryLedger.Lane(
      topic: try topic(row),
      after: row["after"],
      head: row["head"],
      attempts: row["attempts"],
      firstTried: (row["first_tried"] as Int64?).map(Timestamp.init(nanoseconds:)),
      nextAttempt: Timestamp(nanoseconds: row["next_attempt"])
    )
  }
}
