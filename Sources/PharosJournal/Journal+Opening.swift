package import GRDB
import GRDBSQLite
import PharosReports

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
