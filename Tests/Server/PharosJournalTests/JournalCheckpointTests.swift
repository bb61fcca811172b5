import GRDB
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("Checkpoints and documents in the journal")
struct JournalCheckpointTests {
  private func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test(
    "a checkpoint of any length comes back as it was, the newest first, and two are kept",
    arguments: [0, 1, 7, 8, 9, 524_287, 524_288, 524_289, 1_600_000]
  )
  func checkpoint(length: Int) throws {
    let folder = ScratchFolder()
    let checkpoint = bytes(length, seed: UInt64(length))
    do {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      #expect(try journal.latestCheckpoint() == nil)
      for round in 1...4 {
        try journal.save(
          checkpoint: bytes(900, seed: 1),
          instant: Timestamp(seconds: Int64(round)),
          through: 1
        )
      }
      try journal.save(checkpoint: checkpoint, instant: Timestamp(seconds: 99), through: 42)
      #expect(journal.statistics().lastCheckpoint == Timestamp(seconds: 99))
      let rows = try journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM checkpoints") }
      #expect(rows == 2)
    }
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
    let expected = StoredCheckpoint(bytes: checkpoint, instant: Timestamp(seconds: 99), through: 42)
    #expect(try journal.latestCheckpoint() == expected)
  }

  @Test("one that was cut short or damaged is passed over for the one before it")
  func passedOver() throws {
    let folder = ScratchFolder()
    let whole = bytes(600_000, seed: 1)
    do {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      try journal.save(checkpoint: whole, instant: Timestamp(seconds: 1), through: 1)
      try journal.save(checkpoint: bytes(600_000, seed: 2), instant: Timestamp(seconds: 2), through: 2)
      try journal.write { database in
        try database.execute(
          sql: """
            UPDATE checkpoint_parts SET bytes = zeroblob(length(bytes))
            WHERE part = 1 AND checkpoint = (SELECT max(id) FROM checkpoints)
            """
        )
        // As a process leaves it that is killed between two parts.
        try database.execute(
          sql: "INSERT INTO checkpoints (instant, through, parts, digest, complete) VALUES (3, 3, 2, 0, 0)"
        )
        try database.execute(
          sql: "INSERT INTO checkpoint_parts VALUES ((SELECT max(id) FROM checkpoints), 0, x'00')"
        )
      }
      #expect(try journal.latestCheckpoint()?.bytes == whole)
    }
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
    #expect(try journal.latestCheckpoint()?.bytes == whole)
    let unfinished = try journal.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM checkpoints WHERE NOT complete")
    }
    #expect(unfinished == 0)
  }

  @Test("a checkpoint that fails leaves the one before it")
  func failing() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    try journal.save(checkpoint: [1, 2, 3], instant: Timestamp(seconds: 1), through: 1)
    try journal.write { database in
      let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + 150)")
    }
    #expect(throws: JournalError.self) {
      try journal.save(checkpoint: bytes(1_600_000, seed: 2), instant: Timestamp(seconds: 2), through: 2)
    }
    #expect(try journal.latestCheckpoint()?.bytes == [1, 2, 3])
    let parts = try journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM checkpoint_parts") }
    #expect(parts == 1)
  }

  @Test("documents are put, replaced, listed in order and dropped, whatever their keys are made of")
  func documents() throws {
    let folder = ScratchFolder()
    let keys = ["b", "a", "", "caf\u{E9}", "cafe\u{301}", "with\u{0}null", "'; DROP TABLE documents; --"]
    do {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      for key in keys { try journal.put(Array("old \(key)".utf8), kind: "token", key: key) }
      for key in keys { try journal.put(Array("new \(key)".utf8), kind: "token", key: key) }
      try journal.put([], kind: "rule", key: "a")
    }
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
    for key in keys {
      #expect(try journal.document(kind: "token", key: key) == Array("new \(key)".utf8))
    }
    #expect(try journal.document(kind: "rule", key: "a") == [])
    #expect(try journal.document(kind: "rule", key: "b") == nil)
    let listed = try journal.documents(kind: "token")
    let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(listed.map { Array($0.key.utf8) } == sorted.map { Array($0.utf8) })
    #expect(try journal.delete(kind: "token", key: "a"))
    #expect(try !journal.delete(kind: "token", key: "a"))
    #expect(try journal.documents(kind: "token").count == keys.count - 1)
    #expect(try journal.documents(kind: "nothing").isEmpty)
  }
}
