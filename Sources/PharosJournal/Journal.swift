package import PharosEvents
import Foundation
package import GRDB
import PharosReports
import Synchronization

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
