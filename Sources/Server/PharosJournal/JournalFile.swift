import CJournalFiles
import Foundation
import Glibc
import GRDB

/// The file of a journal before it is opened: made whole where there is none, and readable by its owner alone.
enum JournalFile {
  /// What SQLite and this program add to the name of the file.
  static let suffixes = ["", "-wal", "-shm", "-sums", "-journal"]

  /// Makes the file if there is none; refuses one that is not a journal's.
  ///
  /// A new file gets its tables under another name first, so that a killed process leaves a journal or none.
  ///
  /// Then gives the pages hashes and verifies that the log holds every commit that was durable; see `CJournalFiles.c`.
  ///
  /// - Returns: true if an older journal had no hashes that can be used.
  /// - Throws: ``JournalError`` for an empty file, for the database of another program and for a damaged log.
  static func prepare(_ path: String) throws -> Bool {
    let isHashed = pharos_journal_install() == 1
    let isNew = access(path, F_OK) != 0
    try makeOrVerify(path, isHashed: isHashed)
    return isHashed && pharos_journal_prepare(path) == 1 && !isNew
  }

  private static func makeOrVerify(_ path: String, isHashed: Bool) throws {
    let draft = path + ".new"
    for suffix in suffixes { unlink(draft + suffix) }
    var status = stat()
    guard stat(path, &status) == 0 else { return try make(path, draft) }
    try restrict(path)
    guard status.st_size > 0 || hasContent(path + "-wal") else {
      throw JournalError(.foreign(what: "is empty"), at: path)
    }
    if isHashed { try verifyLog(path) }
    var configuration = Configuration()
    // A write that a kill cut off before the file had a write-ahead log is rolled back by a connection that may write.
    configuration.readonly = !hasContent(path + "-journal")
    let tables = try DatabaseQueue(path: path, configuration: configuration).read { database in
      try Set(String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
    }
    guard tables.isSuperset(of: ["grdb_migrations", "facts", "events"]) else {
      throw JournalError(.foreign(what: "is a database without the tables of a journal"), at: path)
    }
  }

  /// Lets the owner alone read and write the file and its log, whatever the folder and the mask of the process allow.
  static func restrict(_ path: String) throws {
    for suffix in suffixes where access(path + suffix, F_OK) == 0 {
      guard chmod(path + suffix, 0o600) == 0 else {
        let reason = String(cString: strerror(errno))
        throw JournalError(
          .folder(reason: "the rights of \(path + suffix) cannot be changed: \(reason)"),
          at: path
        )
      }
    }
  }

  private static func verifyLog(_ path: String) throws {
    let state = pharos_journal_verify(path)
    guard state == PHAROS_JOURNAL_LOG_DAMAGED || state == PHAROS_JOURNAL_LOG_MISSING else { return }
    throw JournalError(ofLog: path, isMissing: state == PHAROS_JOURNAL_LOG_MISSING)
  }

  private static func make(_ path: String, _ draft: String) throws {
    let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw JournalError(.folder(reason: String(cString: strerror(errno))), at: path)
    }
    close(descriptor)
    let queue = try DatabaseQueue(path: draft)
    try JournalSchema.prepare(queue, at: path)
    // From here on no write needs a rollback journal, which a kill would leave behind.
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    try queue.close()
    // The hashes of a journal that was removed do not fit a new one.
    unlink(path + "-sums")
    guard rename(draft, path) == 0 else {
      throw JournalError(.folder(reason: String(cString: strerror(errno))), at: path)
    }
  }

  private static func hasContent(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }
}
