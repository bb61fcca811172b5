import Foundation
import GRDB
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("When the journal cannot")
struct JournalFailureTests {
  private func entries(_ timeline: inout Timeline, _ count: Int) -> [Journal.Entry] {
    timeline.events(count).map { .init(event: $0) }
  }

  private func problem(_ body: () throws -> Void) -> JournalError.Problem? {
    do {
      try body()
      return nil
    } catch {
      return (error as? JournalError)?.problem
    }
  }

  @Test("every commit reaches the disk before it returns")
  func durable() throws {
    let folder = ScratchFolder()
    for _ in 0..<2 {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      let (synchronous, mode) = try journal.database.writeWithoutTransaction { database in
        let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
        return (synchronous, try String.fetchOne(database, sql: "PRAGMA journal_mode"))
      }
      #expect(synchronous == 2)
      #expect(mode == "wal")
    }
  }

  @Test("the log of a killed process is checkpointed and synced before it is read")
  func synchronizes() throws {
    let (killed, next) = (ScratchFolder(), ScratchFolder())
    let journal = try Journal.open(.folder(killed.path), stream: Timeline.stream)
    var timeline = Timeline(seed: 3)
    var model = ModelJournal()
    let entries = entries(&timeline, 300)
    model.append(entries)
    _ = try journal.append(entries)
    func log(_ folder: ScratchFolder) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: folder.path + "/journal.sqlite-wal"
      )
      return try #require(attributes[.size] as? Int)
    }
    #expect(try log(killed) > 0, "or there is nothing to copy back")
    // The files as a process leaves them that is killed now.
    try FileManager.default.createDirectory(atPath: next.path, withIntermediateDirectories: true)
    for name in ["journal.sqlite", "journal.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: killed.path + "/" + name, toPath: next.path + "/" + name)
    }
    let opened = try Journal.open(.folder(next.path), stream: Timeline.stream)
    #expect(try log(next) == 0)
    #expect(try opened.events(after: 0, limit: .max).lines == model.committed.lines)
  }

  @Test("a full disk takes nothing of a group, says so, and the group goes in later", arguments: 1...3)
  func full(seed: Int) throws {
    let folder = ScratchFolder()
    let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream, blocks: Blocks(bits: 4))
    var timeline = Timeline(seed: UInt64(seed))
    var model = ModelJournal()
    let first = entries(&timeline, 200)
    model.append(first)
    _ = try journal.append(first)
    try journal.database.writeWithoutTransaction { database in
      let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + 3)")
    }
    let second = entries(&timeline, 2_000)
    #expect(problem { _ = try journal.append(second) } == .full)
    #expect(journal.statistics().failures == 1)
    #expect(journal.head == 200)
    #expect(try journal.publishedState() == model.rows)
    #expect(try journal.events(after: 0, limit: .max).lines == model.committed.lines)
    _ = try journal.database.writeWithoutTransaction { database in
      try Int.fetchOne(database, sql: "PRAGMA max_page_count = 1000000")
    }
    model.append(second)
    #expect(try journal.append(second).compactMap { $0 } == Array(201...2_200))
    #expect(try journal.publishedState() == model.rows)
    for _ in 0..<20 {
      let filter = timeline.filter(over: 2_200)
      let expected = model.committed.filter { filter.matches($0.event) }
      #expect(try journal.events(after: 0, matching: filter, limit: .max).lines == expected.lines)
    }
  }

  @Test("a read-only file is reported as such")
  func readOnly() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    var timeline = Timeline(seed: 1)
    try journal.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
    #expect(problem { _ = try journal.append(entries(&timeline, 1)) } == .readOnly)
    #expect(problem { try journal.put([1], kind: "a", key: "b") } == .readOnly)
    try journal.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
    #expect(try journal.append(entries(&timeline, 1)) == [1])
  }

  @Test("a lock that another program holds on the file is reported, and appending goes on when it is gone")
  func locked() throws {
    let folder = ScratchFolder()
    let journal = try Journal.open(
      .folder(folder.path),
      stream: Timeline.stream,
      settings: JournalSettings(patience: .zero)
    )
    var timeline = Timeline(seed: 1)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: folder.database, configuration: configuration)
    try other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
    #expect(problem { _ = try journal.append(entries(&timeline, 3)) } == .locked)
    #expect(try journal.events(after: 0, limit: 5).isEmpty)
    try other.writeWithoutTransaction { try $0.rollback() }
    #expect(try journal.append(entries(&timeline, 3)) == [1, 2, 3])
  }

  @Test("the journal and its log are for their owner alone, in a folder where others may not write")
  func rights() throws {
    let folder = ScratchFolder()
    func mode(_ path: String) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for _ in 0..<2 {
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
      let journal = try Journal.open(.folder(folder.path), stream: "a")
      try journal.put([1], kind: "a", key: "b")
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        #expect(try mode(folder.path + "/" + name) == 0o600, "\(name)")
        // As an earlier version made them.
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o644],
          ofItemAtPath: folder.path + "/" + name
        )
      }
      #expect(try mode(folder.path) == 0o755)
      journal.leave()
    }
  }

  @Test("an empty file and the database of another program are refused with words, and stay as they are")
  func foreign() throws {
    let folder = ScratchFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: folder.database, contents: Data()))
    func found() -> JournalError.Problem? {
      problem { _ = try Journal.open(.folder(folder.path), stream: "a") }
    }
    guard case .foreign(let empty)? = found() else {
      Issue.record("an empty file was taken")
      return
    }
    #expect(empty == "is empty")
    try FileManager.default.removeItem(atPath: folder.database)
    try DatabaseQueue(path: folder.database).write { try $0.execute(sql: "CREATE TABLE recipes (name TEXT)") }
    let before = try Data(contentsOf: URL(filePath: folder.database))
    guard case .foreign? = found() else {
      Issue.record("the file of another program was taken")
      return
    }
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    let words = JournalError(.foreign(what: empty), at: folder.database).description
    #expect(words.contains(folder.database) && words.contains("--data"))
  }

  @Test("an unfinished new journal of a killed process is removed")
  func draft() throws {
    let folder = ScratchFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: folder.database + ".new", contents: Data([1])))
    try Journal.open(.folder(folder.path), stream: "a").put([1], kind: "a", key: "b")
    #expect(!FileManager.default.fileExists(atPath: folder.database + ".new"))
  }

  @Test("a journal that is in use is refused with the number of the process")
  func inUse() throws {
    let folder = ScratchFolder()
    do {
      let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream)
      let process = Int(ProcessInfo.processInfo.processIdentifier)
      let found = problem { _ = try Journal.open(.folder(folder.path), stream: Timeline.stream) }
      #expect(found == .inUse(process: process))
      #expect(JournalError(.inUse(process: process), at: "x").description.contains("process \(process) "))
      #expect(journal.head == 0)
    }
    #expect(problem { _ = try Journal.open(.folder(folder.path), stream: Timeline.stream) } == nil)
  }

  @Test("a journal of another stream, of a newer version, in a folder that cannot be, is refused with words")
  func refused() throws {
    let folder = ScratchFolder()
    try Journal.open(.folder(folder.path), stream: "z").put([1], kind: "a", key: "b")
    do {
      let journal = try Journal.open(.folder(folder.path), stream: "a")
      #expect(try journal.documents(kind: "a").map(\.key) == ["b"], "without events the stream may change")
      var timeline = Timeline(seed: 1)
      _ = try journal.append([Journal.Entry(event: timeline.next())])
    }
    #expect(
      problem { _ = try Journal.open(.folder(folder.path), stream: "b") }
        == .otherStream(found: "a", expected: "b")
    )
    try DatabaseQueue(path: folder.database).write { database in
      try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('journal 99')")
    }
    #expect(
      problem { _ = try Journal.open(.folder(folder.path), stream: "a") } == .newer(steps: ["journal 99"])
    )
    let words = JournalError(.newer(steps: ["journal 99"]), at: folder.database).description
    #expect(words.contains("newer version") && words.contains(folder.database))
    let inFile = folder.database + "/folder"
    guard case .folder = problem({ _ = try Journal.open(.folder(inFile), stream: "a") }) else {
      Issue.record("a folder inside a file was taken")
      return
    }
  }

  @Test("a file that is no journal is refused and left alone")
  func noJournal() throws {
    let folder = ScratchFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let bytes = Data(String(repeating: "no database ", count: 1_000).utf8)
    try bytes.write(to: URL(filePath: folder.database))
    guard case .damaged = problem({ _ = try Journal.open(.folder(folder.path), stream: "a") }) else {
      Issue.record("a text was taken for a journal")
      return
    }
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
  }

  @Test("a file damaged or cut anywhere gives events or an error, never more", arguments: 1...4)
  func damaged(seed: Int) throws {
    let whole = ScratchFolder()
    var timeline = Timeline(seed: UInt64(seed))
    do {
      let journal = try Journal.open(.folder(whole.path), stream: Timeline.stream, blocks: Blocks(bits: 6))
      for _ in 0..<10 { _ = try journal.append(entries(&timeline, 60)) }
      try journal.save(
        checkpoint: Array(repeating: 7, count: 20_000),
        instant: Timestamp(seconds: 1),
        through: 5
      )
      _ = try journal.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
    let bytes = try Data(contentsOf: URL(filePath: whole.database))
    var random = SeededGenerator(seed: UInt64(seed))
    var (sound, broken) = (0, 0)
    for round in 0..<25 {
      let folder = ScratchFolder()
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      var damaged = bytes
      if round % 5 == 0 {
        damaged.removeLast(Int.random(in: 1..<damaged.count, using: &random))
      } else {
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
            in: 0...255,
            using: &random
          )
        }
      }
      try damaged.write(to: URL(filePath: folder.database))
      do {
        let journal = try Journal.open(.folder(folder.path), stream: Timeline.stream, blocks: Blocks(bits: 6))
        let all = try journal.events(after: 0, limit: .max)
        #expect(all.lines.count == all.count)
        _ = try journal.events(after: 0, matching: timeline.filter(over: 600), limit: .max)
        _ = try journal.publishedState()
        if let checkpoint = try journal.latestCheckpoint() {
          #expect(checkpoint.bytes == Array(repeating: 7, count: 20_000))
        }
        _ = try journal.append(entries(&timeline, 20))
        sound += 1
      } catch {
        #expect(error.description.contains(folder.database))
        broken += 1
      }
    }
    #expect(broken > 0)
    #expect(sound + broken == 25)
  }
}
