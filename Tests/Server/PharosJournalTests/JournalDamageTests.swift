import Foundation
import GRDB
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

/// Damage to the files that a killed process left: each is refused, repaired from an older checkpoint, or changes nothing.
@Suite("Damage to the files of a journal")
struct JournalDamageTests {
  private static let files = ["", "-wal", "-sums"]
  private static let rounds = 50
  private static let blocks = Blocks(bits: 6)
  private static let old = StoredCheckpoint(
    bytes: Array(repeating: 3, count: 20_000),
    instant: Timestamp(seconds: 1),
    through: 300
  )
  private static let new = StoredCheckpoint(
    bytes: Array(repeating: 7, count: 20_000),
    instant: Timestamp(seconds: 2),
    through: 600
  )

  @Test("a write that a kill cut off before there was a write-ahead log is rolled back")
  func hotRollbackJournal() throws {
    let (folder, copy) = (ScratchFolder(), ScratchFolder())
    var timeline = Timeline(seed: 9)
    let head: Int64
    do {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      _ = try journal.append(timeline.events(40).map { .init(event: $0) })
      head = journal.head
      journal.leave()
    }
    try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    let queue = try DatabaseQueue(path: folder.database)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; PRAGMA cache_spill = 1")
      try database.execute(sql: "BEGIN IMMEDIATE; CREATE TABLE cutOff (bytes BLOB)")
      for _ in 0..<40 { try database.execute(sql: "INSERT INTO cutOff VALUES (randomblob(9000))") }
      // The process is killed here.
      for suffix in ["", "-journal", "-sums"]
      where FileManager.default.fileExists(atPath: folder.database + suffix) {
        try FileManager.default.copyItem(atPath: folder.database + suffix, toPath: copy.database + suffix)
      }
      try database.execute(sql: "ROLLBACK")
    }
    let size = try Data(contentsOf: URL(filePath: copy.database + "-journal")).count
    #expect(size > 4_096, "there is something to roll back")
    let journal = try Journal.open(.folder(copy.path), stream: Timeline.stream)
    #expect(journal.head == head)
    #expect(try journal.events(after: 0, limit: 100).count == Int(head))
    #expect(!FileManager.default.fileExists(atPath: copy.database + "-journal"))
  }

  /// The files of a journal at the moment of a kill, and what they hold.
  private struct Image {
    var files: [String: [UInt8]] = [:]
    var model = ModelJournal()
    var timeline: Timeline

    init(seed: UInt64) throws {
      timeline = Timeline(seed: seed)
      let folder = ScratchFolder()
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream, blocks: blocks)
      for round in 0..<12 {
        let entries = timeline.events(60).map { Journal.Entry(event: $0) }
        model.append(entries)
        _ = try journal.append(entries)
        try journal.put([UInt8(round)], kind: "rule", key: "rule \(round)")
        if round == 5 { try save(old, in: journal) }
        // A part of the commits is in the database, and a part in the log alone.
        if round == 7 {
          _ = try journal.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        }
        if round == 6 { try save(new, in: journal) }
      }
      for suffix in JournalDamageTests.files {
        files[suffix] = try Array(Data(contentsOf: URL(filePath: folder.database + suffix)))
      }
    }

    private func save(_ checkpoint: StoredCheckpoint, in journal: Journal) throws {
      try journal.save(
        checkpoint: checkpoint.bytes,
        instant: checkpoint.instant,
        through: checkpoint.through
      )
    }

    /// Writes the files into a folder, one of them damaged.
    func write(to folder: ScratchFolder, _ damaged: String, _ damage: (inout [UInt8]) -> Void) throws {
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      for (suffix, whole) in files {
        var bytes = whole
        if suffix == damaged { damage(&bytes) }
        try Data(bytes).write(to: URL(filePath: folder.database + suffix))
      }
    }
  }

  private enum Outcome: Hashable {
    case detected, repaired, harmless
  }

  /// Opens a damaged journal, and compares everything that it says with the truth.
  private func outcome(_ folder: ScratchFolder, _ image: Image) throws -> Outcome {
    var timeline = image.timeline
    do {
      let journal = try Journal.open(
        .folder(folder.path),
        stream: Timeline.stream,
        blocks: JournalDamageTests.blocks
      )
      let truth = image.model.committed.lines
      let head = Int(journal.head)
      try #require(head == truth.count, "the journal ends at \(head)")
      for start in stride(from: 0, to: truth.count, by: 60) {
        let page = try journal.events(after: Int64(start), limit: 60)
        try #require(page.lines == Array(truth[start..<min(start + 60, truth.count)]))
      }
      let filter = timeline.filter(over: truth.count)
      let found = try journal.events(after: 0, matching: filter, limit: .max)
      try #require(found.lines == image.model.committed.filter { filter.matches($0.event) }.lines)
      try #require(try journal.publishedState() == image.model.rows)
      let documents = try journal.documents(kind: "rule")
      try #require(documents.count == 12)
      for round in 0..<12 {
        try #require(try journal.document(kind: "rule", key: "rule \(round)") == [UInt8(round)])
      }
      let checkpoint = try journal.latestCheckpoint()
      // Without either, a server resumes from the rows alone.
      try #require(
        checkpoint == nil || checkpoint == JournalDamageTests.new || checkpoint == JournalDamageTests.old
      )
      let entries = timeline.events(20).map { Journal.Entry(event: $0) }
      let sequences = try journal.append(entries).compactMap { $0 }
      try #require(sequences == (1...20).map { Int64(truth.count + $0) })
      try journal.save(checkpoint: [1], instant: Timestamp(seconds: 3), through: Int64(truth.count + 20))
      try #require(try journal.latestCheckpoint()?.bytes == [1])
      return checkpoint == JournalDamageTests.new ? .harmless : .repaired
    } catch let error as JournalError {
      #expect(error.description.contains(folder.database))
      return .detected
    }
  }

  @Test(
    "one flipped bit or torn sector never changes the past",
    arguments: Seeds.drawn(UInt64(0)..<200, first: 1)
  )
  func damage(seed: UInt64) throws {
    let image = try Image(seed: seed)
    try #require((image.files["-wal"] ?? []).count > 100_000, "or nothing is in the log alone")
    var random = SeededGenerator(seed: seed)
    var outcomes: [String: [Outcome: Int]] = [:]
    for _ in 0..<JournalDamageTests.rounds {
      let folder = ScratchFolder()
      let file = try #require(JournalDamageTests.files.randomElement(using: &random))
      try image.write(to: folder, file) { bytes in
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
          for index in JournalDamageTests.sector(place, bytes.count) { bytes[index] = 0 }
        case 1:
          // A write that reached another sector.
          let source = JournalDamageTests.sector(Int.random(in: 0..<bytes.count, using: &random), bytes.count)
          for (index, byte) in zip(JournalDamageTests.sector(place, bytes.count), Array(bytes[source])) {
            bytes[index] = byte
          }
        default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
      }
      outcomes[file, default: [:]][try outcome(folder, image), default: 0] += 1
    }
    for file in JournalDamageTests.files {
      let counts = [Outcome.detected, .repaired, .harmless].map { outcomes[file]?[$0] ?? 0 }
      print(
        "seed \(seed), journal.sqlite\(file): \(counts[0]) detected, \(counts[1]) repaired, \(counts[2]) harmless"
      )
    }
    // The log and the pages hold what was published; the hashes can be missing.
    #expect(outcomes["-wal"]?[.detected] != nil && outcomes["-wal"]?[.repaired] == nil)
    #expect(outcomes["-sums"]?[.detected] == nil && outcomes["-sums"]?[.repaired] == nil)
    // What the log replaces is harmless, and by chance that may be all; damage to each page is not.
    let folder = ScratchFolder()
    try image.write(to: folder, "") { bytes in
      for page in stride(from: 0, to: bytes.count, by: 4_096) {
        bytes[Int.random(in: page..<min(page + 4_096, bytes.count), using: &random)] ^= 1
      }
    }
    #expect(try outcome(folder, image) == .detected)
  }

  private static func sector(_ place: Int, _ count: Int) -> Range<Int> {
    let start = place & ~511
    return start..<min(start + 512, count)
  }

  @Test("files without damage are opened after a kill, after a stop and without their hashes")
  func sound() throws {
    let image = try Image(seed: 1)
    let folder = ScratchFolder()
    try image.write(to: folder, "") { _ in }
    #expect(try outcome(folder, image) == .harmless)
    let again = try Journal.open(
      .folder(folder.path),
      stream: Timeline.stream,
      blocks: JournalDamageTests.blocks
    )
    #expect(again.head == Int64(image.model.committed.count) + 20)
    #expect(!again.statistics().hadNoHashes)
    let older = ScratchFolder()
    try image.write(to: older, "-sums") { $0.removeAll() }
    #expect(try outcome(older, image) == .harmless)
    for change in [{ $0 = [] }, { $0 = [UInt8](repeating: 0, count: $0.count) }] as [(inout [UInt8]) -> Void]
    {
      let bare = ScratchFolder()
      try image.write(to: bare, "-sums", change)
      for isFirst in [true, false] {
        let journal = try Journal.open(
          .folder(bare.path),
          stream: Timeline.stream,
          blocks: JournalDamageTests.blocks
        )
        #expect(journal.statistics().hadNoHashes == isFirst)
        journal.leave()
      }
    }
  }

  @Test("a log that is missing or cut off is refused if its commits were published")
  func missing() throws {
    let image = try Image(seed: 2)
    for count in [0, 31, 5_000] {
      let folder = ScratchFolder()
      try image.write(to: folder, "-wal") { $0.removeLast($0.count - count) }
      #expect(try outcome(folder, image) == .detected)
    }
    let folder = ScratchFolder()
    try image.write(to: folder, "") { _ in }
    try FileManager.default.removeItem(atPath: folder.database + "-wal")
    #expect(try outcome(folder, image) == .detected)
  }

  @Test("a page that is damaged while the journal is open is refused when it is read")
  func running() throws {
    let folder = ScratchFolder()
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
    var timeline = Timeline(seed: 3)
    for _ in 0..<40 { _ = try journal.append(timeline.events(500).map { .init(event: $0) }) }
    for suffix in ["-wal", ""] {
      let path = folder.database + suffix
      let handle = try FileHandle(forUpdating: URL(filePath: path))
      let count = try handle.seekToEnd()
      // One bit in each page, so that the newest version of some page is among them.
      for place in stride(from: UInt64(700), to: count, by: 4_096) {
        try handle.seek(toOffset: place)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data([byte ^ 4]))
      }
      try handle.close()
    }
    do throws(JournalError) {
      _ = try journal.events(after: 0, limit: .max)
      Issue.record("damaged pages were read")
    } catch {
      guard case .damaged = error.problem else {
        Issue.record("\(error)")
        return
      }
      #expect(journal.statistics().damages == 1)
      #expect(journal.statistics().damage == error)
    }
  }
}
