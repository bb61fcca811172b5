// How decisions are kept:
//
// - One writer appends groups of events. A group is one transaction of SQLite: each published event gets the next sequence
//   and is stored as a record; each event, published or withheld, also changes the row of its region, zone or observer. The
//   log is synced before `append` returns, and only then may the group be published: what a client has seen survives a crash.
// - Names of subjects, applications and regions are stored once, and records refer to them by number.
// - Sequences are grouped into blocks. The index of the last block is in memory (`TailIndex`); when a block is full, a posting
//   for each name in it, a set of places, is written with the block's first and last time. A search intersects the postings.
// - Readers see snapshots of whole groups, never block the writer, and follow by sequence.
// - Retention drops the oldest events, in slices between appends, except those that a webhook still needs, and the names and
//   rows that nothing refers to afterwards.
// - Two checkpoints of the engine are kept in the same file. After a restart the rows changed since the one that is read
//   tell the engine what was published after it.

import Foundation
import Glibc
package import GRDB
import GRDBSQLite
import PharosDocuments
package import PharosModel
import Synchronization

/// The journal of decisions on disk: events with a gapless sequence, and rows with the state that results from them.
///
/// Events are appended in groups. When ``append(_:)`` returns, the whole group is on the disk, together with the rows
/// that its events changed; if it throws, nothing of the group is. Readers are not blocked meanwhile and see whole
/// groups only.
package final class Journal: Sendable {
  /// The location of a journal.
  package enum Location: Hashable, Sendable {
    /// The file `journal.sqlite` in this folder, which is created if it is missing.
    case folder(String)
    /// Memory: works like a file, and ends with the process.
    case memory
  }

  /// An entry to append.
  package struct Entry: Hashable, Sendable {
    /// The event.
    package var event: Event
    /// A Boolean value that is true if the event is published; a withheld event changes rows and gets no sequence.
    package var isPublished: Bool

    /// Makes an entry.
    package init(event: Event, isPublished: Bool = true) {
      self.event = event
      self.isPublished = isPublished
    }
  }

  /// The stream of the events.
  package let stream: String
  /// The limits of the journal.
  package let settings: JournalSettings

  let place: String
  let blocks: Blocks
  package let database: any DatabaseWriter
  let writer: JournalWriter
  let shared: Mutex<Shared>
  private let lock: JournalLock?

  /// Indicates whether the journal is in memory and ends with the process.
  var isInMemory: Bool { lock == nil }

  /// The state that readers and the writer share.
  struct Shared {
    var statistics = JournalStatistics()
    var removals: UInt64 = 0
    var changes: UInt64 = 0
    /// Makes changes of documents on all servers, where several have the same.
    var replicate: (@Sendable ([DocumentChange]) throws -> Void)?
    /// Tells the other servers of deliveries.
    var announce: (@Sendable ([DocumentChange]) -> Void)?
    var tail = TailIndex(block: 0)
    var names = NameCache()
    /// The block before which all names that only older blocks used were dropped.
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

  /// Opens a journal, and creates it if there is none.
  ///
  /// - Parameters:
  ///   - location: the location.
  ///   - stream: the stream of the events, which is part of their ids. A journal without events takes it over.
  ///   - settings: the limits of the journal.
  /// - Returns: the journal.
  /// - Throws: ``JournalError`` if the folder cannot be used, another process uses it, or the file is damaged, of a
  ///   newer version or of another stream.
  package static func open(
    _ location: Location,
    stream: String,
    settings: JournalSettings? = nil
  ) throws(JournalError) -> Journal {
    try open(location, stream: stream, settings: settings, blocks: .usual)
  }

  /// Opens a journal with blocks of another length.
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
        let hadNoHashes = try JournalFile.prepare(path)
        let pool = try DatabasePool(path: path, configuration: configuration(patience: settings.patience))
        try makeDurable(pool, path)
        try synchronize(pool)
        try JournalFile.restrict(path)
        let journal = try open(pool, stream, settings, blocks, place: path, lock: lock)
        journal.shared.withLock { $0.statistics.hadNoHashes = hadNoHashes }
        return journal
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
      guard !kept.utf8.elementsEqual(stream.utf8) else { return }
      guard try isUntouched(database) else {
        throw JournalError(.otherStream(found: kept, expected: stream), at: place)
      }
      try database.execute(sql: "UPDATE facts SET value = ? WHERE name = 'stream'", arguments: [stream])
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

  /// Returns whether a journal holds documents at most, such as tokens that were created before the first start.
  ///
  /// The name of a stream is part of its events' ids: as long as there are none, it may change.
  private static func isUntouched(_ database: Database) throws -> Bool {
    let used = ["events", "blocks", "region_rows", "zone_rows", "observer_rows", "checkpoints"]
      .map { "EXISTS(SELECT 1 FROM \($0))" }
      .joined(separator: " OR ")
    return try Bool.fetchOne(database, sql: "SELECT \(used)") == false
  }

  /// Releases the folder for another process, or for another journal of this one.
  ///
  /// Call it after the last append; the end of the process has the same effect.
  package func leave() { lock?.release() }

  static func make(_ folder: String) throws(JournalError) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw JournalError(.folder(reason: error.localizedDescription), at: folder)
    }
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 else {
      return
    }
    // Where others may write, they can put another file in the place of the journal.
    guard chmod(folder, status.st_mode & 0o7755) == 0 else {
      throw JournalError(.folder(reason: "others may write to it"), at: folder)
    }
  }
}

extension Journal {
  /// Returns the configuration of connections.
  static func configuration(patience: TimeSpan) -> Configuration {
    var configuration = Configuration()
    configuration.label = "pharos.journal"
    configuration.busyMode = .timeout(patience.seconds)
    // Streams, pages and webhooks read at the same time; each connection costs a descriptor and some cache.
    configuration.maximumReaderCount = 4
    configuration.prepareDatabase { database in
      // The writer keeps 8 MiB of pages: the rows of 100,000 subjects and the names of a busy day. Readers want the newest
      // events most, which the system has at hand: caches that fill as long as a reader reads on are memory that
      // grows for hours.
      let kibibytes = database.configuration.readonly ? 1_024 : 8_192
      try database.execute(sql: "PRAGMA cache_size = -\(kibibytes)")
      // What is dropped is overwritten where that costs no write of its own.
      _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = FAST")
    }
    return configuration
  }

  /// Makes every commit reach the disk before it returns, and verifies the settings.
  ///
  /// A pool sets `synchronous` to NORMAL when it enables the log, after the connection was prepared. NORMAL can lose
  /// the last commits in a power failure.
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
  static func synchronize(_ pool: DatabasePool) throws {
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
    do { return try database.read(body) } catch { throw failure(error) }
  }

  /// Runs a function in a transaction.
  package func write<Value>(_ body: (Database) throws -> Value) throws(JournalError) -> Value {
    do { return try database.write(body) } catch { throw failure(error) }
  }

  /// Runs a function outside of a transaction, as pragmas and `VACUUM` demand.
  func writeWithoutTransaction(_ body: (Database) throws -> Void) throws(JournalError) {
    do { try database.writeWithoutTransaction(body) } catch { throw failure(error) }
  }

  /// Converts an error of an access, and counts it if it shows that the files are damaged.
  private func failure(_ error: any Error) -> JournalError {
    let error = JournalError(error, at: place)
    if error.isDamage {
      shared.withLock { shared in
        shared.statistics.damages += 1
        shared.statistics.damage = shared.statistics.damage ?? error
      }
    }
    return error
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
      throw failure(error)
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

  /// The number of transactions that changed documents.
  package var changes: UInt64 { shared.withLock { $0.changes } }

  /// A number that changes whenever events have been removed or replaced.
  package var removals: UInt64 { shared.withLock { $0.removals } }

  /// The sequence of the first event that is still kept; one more than the head if none is.
  package var oldest: Int64 { shared.withLock { $0.statistics.oldest } }

  /// Returns the counters of the journal.
  package func statistics() -> JournalStatistics { shared.withLock { $0.statistics } }

  /// Returns the size of the database in bytes, without free pages.
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

/// An event and its sequence in the journal.
package struct JournaledEvent: Hashable, Sendable {
  /// The sequence: 1 for the first event ever journalled, then without gaps.
  package let sequence: Int64
  /// The event as it was published.
  package let event: Event

  /// Pairs an event with its sequence.
  package init(sequence: Int64, event: Event) {
    self.sequence = sequence
    self.event = event
  }
}

/// The limits of a journal.
package struct JournalSettings: Hashable, Sendable {
  /// The maximum age of events; nil keeps them for as long as there is room.
  package var maximumAge: TimeSpan?
  /// The size of the database above which the oldest events are dropped.
  ///
  /// - Units: bytes.
  package var maximumBytes: Int64
  /// The time that a write waits for another program that has locked the file.
  package var patience: TimeSpan

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - maximumAge: the maximum age of events; by default 30 days, within which a month's bill or quarrel is looked up.
  ///   - maximumBytes: the maximum size of the database; by default 4 GiB, about 27 million events.
  ///   - patience: the time that a write waits for a lock; by default 1 s, the queue in front of it holds far more.
  package init(
    maximumAge: TimeSpan? = .seconds(30 * 86_400),
    maximumBytes: Int64 = 4 << 30,
    patience: TimeSpan = .seconds(1)
  ) {
    self.maximumAge = maximumAge
    self.maximumBytes = maximumBytes
    self.patience = patience
  }

  /// The settings of a journal in memory: 64 MiB, about 400,000 events.
  package static let inMemory = JournalSettings(maximumBytes: 64 << 20)
}

/// The counters of a journal.
package struct JournalStatistics: Hashable, Sendable {
  /// Indicates whether the file was there and its hashes were not, so that damage from before is not found.
  package var hadNoHashes = false
  /// The last assigned sequence; 0 before the first event.
  package var head: Int64 = 0
  /// The first sequence still kept; one more than the head if none is.
  package var oldest: Int64 = 1
  /// The size of the database without free pages.
  ///
  /// - Units: bytes.
  package var bytes: Int64 = 0
  /// The number of written groups of events.
  package var commits: UInt64 = 0
  /// The number of groups that could not be written.
  package var failures: UInt64 = 0
  /// The number of events written since the journal was opened.
  package var appended: UInt64 = 0
  /// The number of events dropped for their age or for the size, since the journal was opened.
  package var pruned: UInt64 = 0
  /// The time that the last group took to write and to reach the disk.
  package var lastCommit: TimeSpan = .zero
  /// The time of the newest checkpoint.
  package var lastCheckpoint: Timestamp?
  /// The number of accesses that found the files damaged.
  package var damages: UInt64 = 0
  /// The first damage that was found since the journal was opened; only another copy of the files ends it.
  package var damage: JournalError?

  /// The number of events in the journal.
  package var events: Int64 { max(0, head - oldest + 1) }
}

/// The lock by which one process uses a journal; it ends with the process, however that ends.
final class JournalLock: Sendable {
  /// The descriptor of the locked file, until the lock is released.
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
    fchmod(descriptor, 0o600)
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    held = Mutex(descriptor)
  }

  deinit { release() }

  /// Releases the lock; a second call does nothing.
  func release() {
    if let descriptor = held.withLock({ $0.take() }) { close(descriptor) }
  }
}
