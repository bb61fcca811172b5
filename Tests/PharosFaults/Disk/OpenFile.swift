import GRDBSQLite

/// A file that a connection has opened on a simulated disk: SQLite's operations on it, as long as its process lives.
package final class OpenFile {
  private let disk: SimulatedDisk
  private let content: FileContent
  private let generation: Int
  private let path: String
  private let isDeletedOnClose: Bool
  private var shared: Set<Int> = []

  package init(_ content: FileContent, on disk: SimulatedDisk, path: String, isDeletedOnClose: Bool) {
    self.content = content
    self.disk = disk
    self.path = path
    self.isDeletedOnClose = isDeletedOnClose
    generation = disk.generation
  }

  /// Whether the process that opened it lives.
  private var isAlive: Bool { disk.generation == generation }
  private var name: ObjectIdentifier { ObjectIdentifier(self) }

  func close() {
    guard isAlive else { return }
    content.unlock(to: 0, for: name)
    if isDeletedOnClose { disk.remove(path) }
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int32 {
    guard isAlive, disk.admitsRead() else { return DiskResult.read }
    return content.read(into: buffer, at: offset) ? SQLITE_OK : DiskResult.shortRead
  }

  package func write(_ buffer: UnsafeRawBufferPointer, _ offset: Int) -> Int32 {
    guard isAlive else { return DiskResult.write }
    let verdict = disk.admitsWrite(growth: content.growth(writing: buffer.count, at: offset))
    // The kill may have come with this very write.
    guard isAlive else { return DiskResult.write }
    switch verdict {
    case .admitted:
      content.write(buffer, at: offset)
      return SQLITE_OK
    case .refused: return DiskResult.write
    case .full: return SQLITE_FULL
    }
  }

  func truncate(_ count: Int) -> Int32 {
    guard isAlive else { return DiskResult.truncate }
    content.truncate(to: count)
    return SQLITE_OK
  }

  func sync() -> Int32 {
    guard isAlive, disk.admitsSync(), isAlive else { return DiskResult.sync }
    content.sync()
    return SQLITE_OK
  }

  func size() -> Int { content.bytes.count }

  package func lock(_ level: Int32) -> Int32 {
    guard isAlive else { return DiskResult.lock }
    return content.lock(level, for: name) ? SQLITE_OK : SQLITE_BUSY
  }

  func unlock(_ level: Int32) -> Int32 {
    if isAlive { content.unlock(to: level, for: name) }
    return SQLITE_OK
  }

  func isReserved() -> Bool { content.levels.values.contains { $0 >= 2 } }

  func region(_ index: Int, size: Int, creating: Bool) -> (Int32, UnsafeMutableRawPointer?) {
    guard isAlive else { return (DiskResult.sharedMap, nil) }
    return (SQLITE_OK, content.region(index, size: size, creating: creating))
  }

  package func shareLock(_ slots: Range<Int>, flags: Int32) -> Int32 {
    guard isAlive else { return SQLITE_OK }
    let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
    if flags & SQLITE_SHM_UNLOCK != 0 {
      if isExclusive {
        content.disown(slots)
      } else {
        for slot in slots where shared.remove(slot) != nil { content.unshare(slot) }
      }
      return SQLITE_OK
    }
    if isExclusive { return content.own(slots, for: name, reading: shared) ? SQLITE_OK : SQLITE_BUSY }
    let wanted = slots.filter { !shared.contains($0) }
    guard let slot = wanted.first else { return SQLITE_OK }
    guard content.share(slot..<slot + 1, for: name) else { return SQLITE_BUSY }
    shared.insert(slot)
    return SQLITE_OK
  }
}

/// SQLite's codes for what a disk refuses, which are macros that Swift cannot read.
///
/// - Source: sqlite3.h, SQLITE_IOERR and its extended codes: 10, and a number in the bits above.
package enum DiskResult {
  static let read = code(1)
  static let shortRead = code(2)
  package static let write = code(3)
  static let sync = code(4)
  static let truncate = code(6)
  static let delete = code(10)
  static let access = code(13)
  static let lock = code(15)
  static let sharedLock = code(20)
  static let sharedMap = code(21)

  private static func code(_ number: Int32) -> Int32 { 10 | number << 8 }
}
