import Foundation
package import GRDB
import GRDBSQLite
package import PharosEvents
package import PharosReports
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What was decided, kept on disk: events with a sequence that has no gaps, and where everything stands by them.
///
/// Events are appended in groups; a group is on the disk when ``append(_:)`` returns, together with the rows that its events
/// changed, or nothing of it is. Reading goes on meanwhile and sees whole groups only.
package final class Journal: Sendable {
  /// Where a journal lives.
  package enum Location: Hashable, Sendable {
    /// In `journal.sqlite` in this folder, which is made if it is missing.
    case folder(String)
    /// In memory: all is as on disk, and gone with the process.
    case memory
  }

  /// What is to be journalled.
  package struct Entry: Hashable, Sendable {
    /// The event.
    package var event: Event
    /// A Boolean value that is true if the event is published; a withheld event changes rows and gets no sequence.
    package var isTold: Bool

    /// Makes an entry.
    package init(event: Event, isTold: Bool = true) {
      self.event = event
      self.isTold = isTold
    }
  }

  /// The stream whose events these are.
  package let stream: String
  /// How much is kept.
  package let settings: JournalSettings

  let place: String
  let blocks: Blocks
  package let database: any DatabaseWriter
  let writer: JournalWriter
  let shared: Mutex<Shared>
  private let lock: JournalLock?

  /// Whether it is gone with the process.
  var isInMemory: Bool { lock == nil }

  /// What readers and the writer both know.
  struct Shared {
    var statistics = JournalStatistics()
    var tail = TailIndex(block: 0)
    var names = NameCache()
    /// The block before which no name is left that only older ones used.
    var namesPrunedBefore: Int64 = 0
  }

  private init(
    stream: String,
    settings: JournalSettings,
    place: String,
    blocks: Blocks,
    database: any DatabaseWriter,
    lock: JournalLock?
  ) throws {
    self.blocks = blocks
    self.stream = stream
    self.settings = settings
    self.place = place
    self.database = database
    self.lock = lock
    var shared = Shared()
    writer = try database.writeWithoutTransaction { database in
      try JournalWriter(opening: database, blocks: blocks, shared: &shared)
    }
    let read = shared
    self.shared = Mutex(read)
  }

  /// Opens a journal, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - location: where it lives.
  ///   - stream: the stream whose events it keeps, which is part of their ids.
  ///   - settings: how much it keeps.
  /// - Returns: the journal.
  /// - Throws: ``JournalError`` if the folder cannot be used, another process uses it, or the file is damaged, of a newer
  ///   version or of another stream.
  package static func open(
    _ location: Location,
    stream: String,
    settings: JournalSettings? = nil
  ) throws(JournalError) -> Journal {
    try open(location, stream: stream, settings: settings, blocks: .usual)
  }

  /// The same with blocks of another length.
  package static func open(
    _ location: Location,
    stream: String,
    settings: JournalSettings? = nil,
    blocks: Blocks
  ) throws(JournalError) -> Journal {
    switch location {
    case .memory:
      do {
        let database = try DatabaseQueue(configuration: configuration(patience: .zero))
        let settings = settings ?? .inMemory
        return try open(database, stream, settings, blocks, place: "memory", lock: nil)
      } catch {
        throw JournalError(error, at: "memory")
      }
    case .folder(let folder):
      try make(folder)
      let lock = try JournalLock(folder: folder)
      let path = folder + "/journal.sqlite"
      do {
        let settings = settings ?? JournalSettings()
        let pool = try DatabasePool(path: path, configuration: configuration(patience: settings.patience))
        try makeDurable(pool, path)
        try settle(pool)
        return try open(pool, stream, settings, blocks, place: path, lock: lock)
      } catch {
        throw JournalError(error, at: path)
      }
    }
  }

  private static func open(
    _ database: any DatabaseWriter,
    _ stream: String,
    _ settings: JournalSettings,
    _ blocks: Blocks,
    place: String,
    lock: JournalLock?
  ) throws -> Journal {
    try JournalSchema.prepare(database, at: place)
    try database.write { database in
      let find = try PreparedStatement(
        database,
        "SELECT CAST(value AS BLOB) FROM facts WHERE name = 'stream'"
      )
      let kept = try find.next() ? String(decoding: find.bytes(0), as: UTF8.self) : nil
      find.reset()
      guard let kept else {
        return try database.execute(
          sql: "INSERT INTO facts (name, value) VALUES ('stream', ?)",
          arguments: [stream]
        )
      }
      guard kept.utf8.elementsEqual(stream.utf8) else {
        throw JournalError(.otherStream(found: kept, expected: stream), at: place)
      }
    }
    let journal = try Journal(
      stream: stream,
      settings: settings,
      place: place,
      blocks: blocks,
      database: database,
      lock: lock
    )
    try journal.dropUnfinishedCheckpoints()
    return journal
  }

  /// Gives the folder free for another process, or for another journal of this one.
  ///
  /// To be called once nothing is appended any more; the end of the process does the same.
  package func leave() { lock?.release() }

  private static func make(_ folder: String) throws(JournalError) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw JournalError(.folder(reason: error.localizedDescription), at: folder)
    }
  }
}

extension Journal {
  /// How connections are set up.
  static func configuration(patience: TimeSpan) -> Configuration {
    var configuration = Configuration()
    configuration.label = "pharos.journal"
    configuration.busyMode = .timeout(patience.seconds)
    // Streams, pages and webhooks read at the same time; each connection costs a descriptor and some cache.
    configuration.maximumReaderCount = 4
    configuration.prepareDatabase { database in
      // The writer keeps 8 MiB of pages: the rows of 100,000 subjects and the names of a busy day. Readers want the newest
      // events most, which the system has at hand: caches that fill as long as somebody reads on are memory that grows for hours.
      let kibibytes = database.configuration.readonly ? 1_024 : 8_192
      try database.execute(sql: "PRAGMA cache_size = -\(kibibytes)")
      // What is dropped is overwritten where that costs no write of its own.
      _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = FAST")
    }
    return configuration
  }

  /// Has every commit reach the disk before it returns, and makes sure of it.
  ///
  /// A pool sets NORMAL when it turns the log on, after the connection was prepared; NORMAL loses the last commits with the
  /// power.
  static func makeDurable(_ pool: DatabasePool, _ path: String) throws {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      // The log is copied back every 16 MiB instead of every 4: pages of rows that change again and again are copied once.
      _ = try Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint = 4096")
      _ = try Int.fetchOne(database, sql: "PRAGMA journal_size_limit = 67108864")
      let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      guard synchronous == 2, mode == "wal" else {
        let found = "synchronous \(synchronous.map(String.init) ?? "?"), log \(mode ?? "?")"
        throw JournalError(.refused(detail: "it cannot be made durable: \(found)"), at: path)
      }
    }
  }

  /// Makes the commits in the log durable before any of them is published.
  ///
  /// A commit whose process was killed, or whose sync the disk refused, may be in the log without being on the disk.
  /// The next process that opens the journal sees it as committed, but a power failure could still undo it. So the
  /// log is copied back into the database, which syncs both files. If the disk has no room for that, the log alone is
  /// synced.
  static func settle(_ pool: DatabasePool) throws {
    try pool.writeWithoutTransaction { database in
      do {
        _ = try database.checkpoint(.truncate)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
        try syncLog(database)
      }
    }
  }

  private static func syncLog(_ database: Database) throws {
    var log: UnsafeMutablePointer<sqlite3_file>?
    var code = withUnsafeMutablePointer(to: &log) {
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, $0)
    }
    // A log without a file holds nothing.
    if code == SQLITE_OK, let log, let methods = log.pointee.pMethods {
      code = methods.pointee.xSync(log, SQLITE_SYNC_NORMAL)
    }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Reads in a snapshot that later groups do not change.
  package func read<Value>(_ body: (Database) throws -> Value) throws(JournalError) -> Value {
    do { return try database.read(body) } catch { throw JournalError(error, at: place) }
  }

  /// Writes all of it or nothing.
  package func write<Value>(_ body: (Database) throws -> Value) throws(JournalError) -> Value {
    do { return try database.write(body) } catch { throw JournalError(error, at: place) }
  }
}

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

/// An event and its place in the journal.
package struct JournaledEvent: Hashable, Sendable {
  /// Its place: 1 for the first event ever journalled, and no number left out behind it.
  package let sequence: Int64
  /// The event as it was published.
  package let event: Event

  /// Pairs an event with its place.
  package init(sequence: Int64, event: Event) {
    self.sequence = sequence
    self.event = event
  }
}

/// How much a journal keeps.
package struct JournalSettings: Hashable, Sendable {
  /// How long events are kept; nil means for as long as there is room.
  package var longest: TimeSpan?
  /// How large the database may grow before the oldest events make room.
  ///
  /// - Units: bytes.
  package var mostBytes: Int64
  /// How long a write waits for another program that has locked the file.
  package var patience: TimeSpan

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - longest: how long events are kept; by default 30 days, within which a month's bill or quarrel is looked up.
  ///   - mostBytes: how large the database may grow; by default 4 GiB, about 27 million events.
  ///   - patience: how long a write waits for a lock; by default 1 s, the queue in front of it holds far more.
  package init(
    longest: TimeSpan? = .seconds(30 * 86_400),
    mostBytes: Int64 = 4 << 30,
    patience: TimeSpan = .seconds(1)
  ) {
    self.longest = longest
    self.mostBytes = mostBytes
    self.patience = patience
  }

  /// The settings of a journal in memory: 64 MiB, about 400,000 events.
  package static let inMemory = JournalSettings(mostBytes: 64 << 20)
}

/// How a journal is doing.
package struct JournalStatistics: Hashable, Sendable {
  /// The last sequence given; 0 before the first event.
  package var head: Int64 = 0
  /// The first sequence still kept; one more than the head if none is.
  package var oldest: Int64 = 1
  /// How large the database is, without what is free to be used again.
  ///
  /// - Units: bytes.
  package var bytes: Int64 = 0
  /// How many groups of events were written.
  package var commits: UInt64 = 0
  /// How many groups could not be written.
  package var failures: UInt64 = 0
  /// How many events were written since the journal was opened.
  package var appended: UInt64 = 0
  /// How many events made room for new ones or had grown too old, since the journal was opened.
  package var pruned: UInt64 = 0
  /// How long the last group took to write and to reach the disk.
  package var lastCommit: TimeSpan = .zero
  /// When the newest checkpoint was taken.
  package var lastCheckpoint: Timestamp?

  /// How many events are kept.
  package var events: Int64 { max(0, head - oldest + 1) }
}

/// The mark that one process uses a journal; it goes when the process does, however that ends.
final class JournalLock: Sendable {
  /// The locked file, until the lock is given up.
  private let held: Mutex<Int32?>

  /// Locks a folder's journal.
  ///
  /// - Throws: ``JournalError`` with the number of the process that holds the lock, which it wrote into the file.
  init(folder: String) throws(JournalError) {
    let path = folder + "/journal.lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw JournalError(.folder(reason: reason), at: path)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      var text = [UInt8](repeating: 0, count: 32)
      let count = pread(descriptor, &text, text.count, 0)
      close(descriptor)
      let process = Int(String(decoding: text.prefix(max(0, count)), as: UTF8.self).prefix { $0.isNumber })
      throw JournalError(.inUse(process: process), at: folder)
    }
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    held = Mutex(descriptor)
  }

  deinit { release() }

  /// Gives the lock up; a second time does nothing.
  func release() {
    if let descriptor = held.withLock({ $0.take() }) { close(descriptor) }
  }
}
