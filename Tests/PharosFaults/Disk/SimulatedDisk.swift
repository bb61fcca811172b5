import Glibc
import PharosSimulation
import Synchronization

/// A disk in memory whose mishaps are drawn: what SQLite writes to while a seed is played.
///
/// Writes are lost, kept, or torn between sectors; what was synced is never lost. A disk belongs to one world, whose one thread is the only
/// one to touch it, hence `@unchecked Sendable`.
package final class SimulatedDisk: @unchecked Sendable {
  /// What goes wrong at present.
  package struct Troubles {
    /// Writes are refused.
    package var failsWrites = false
    /// What was written is not known to be durable.
    var failsSyncs = false
    /// Reads are refused.
    var failsReads = false
    /// How many bytes there is room for; nil for as many as one likes.
    package var capacity: Int?
    /// After how many writes and syncs the process that writes is killed; nil for never.
    package var writesUntilKill: Int?

    package init() {}
  }

  package var troubles = Troubles()
  /// Called when ``Troubles/writesUntilKill`` has run out.
  package var onKill: () -> Void = {}
  /// How often a read, write or sync was refused.
  package private(set) var refusals = 0
  /// How many writes and syncs there were.
  private(set) var writes = 0
  /// Whose files may be touched: those opened before the last kill may not.
  private(set) var generation = 0
  private(set) var files: [String: FileContent] = [:]

  package init() {}

  /// How many bytes all files hold.
  var used: Int { files.values.reduce(0) { $0 + $1.bytes.count } }

  /// The file of a name, made if it is missing and may be made.
  package func file(_ path: String, creating: Bool) -> FileContent? {
    if let file = files[path] { return file }
    guard creating else { return nil }
    let file = FileContent()
    files[path] = file
    return file
  }

  /// Does to a file what the product did to the real one of that name, which it creates and renames itself.
  ///
  /// The real files hold no content: an empty one was just created, and any other holds one byte.
  func follow(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    if status.st_size == 0 {
      for suffix in ["", "-wal", "-shm", "-journal"] { files[path + suffix] = nil }
      truncate(path, 1)
    } else if files[path] == nil, access(path + ".new", F_OK) != 0 {
      files[path] = files.removeValue(forKey: path + ".new")
    }
  }

  /// Removes a file.
  func remove(_ path: String) { files[path] = nil }

  /// Whether a read may be made.
  func admitsRead() -> Bool {
    guard troubles.failsReads else { return true }
    refusals += 1
    return false
  }

  /// Whether a write may be made that leaves a file so much longer.
  package func admitsWrite(growth: Int) -> WriteVerdict {
    countDown()
    if troubles.failsWrites {
      refusals += 1
      return .refused
    }
    if let capacity = troubles.capacity, growth > 0, used + growth > capacity {
      refusals += 1
      return .full
    }
    return .admitted
  }

  /// Whether a sync succeeds.
  package func admitsSync() -> Bool {
    countDown()
    guard troubles.failsSyncs else { return true }
    refusals += 1
    return false
  }

  /// What becomes of a write.
  package enum WriteVerdict {
    case admitted, refused, full
  }

  /// The process is gone: its open files with their locks are; what it wrote is there.
  package func kill() {
    generation += 1
    for file in files.values { file.forgetLocks() }
    troubles.writesUntilKill = nil
  }

  /// The power is gone: of what was not synced, each write is there or not, or in part.
  ///
  /// - Returns: the number of writes that are there in part.
  func losePower(_ random: inout RandomStream, tears: Bool) -> Int {
    kill()
    return files.keys.sorted().reduce(0) { $0 + (files[$1]?.losePower(&random, tears: tears) ?? 0) }
  }

  private func countDown() {
    writes += 1
    guard let left = troubles.writesUntilKill else { return }
    guard left > 0 else {
      troubles.writesUntilKill = nil
      onKill()
      return
    }
    troubles.writesUntilKill = left - 1
  }
}

/// Which folders lie on simulated disks: what SQLite's calls are looked up in.
enum SimulatedDisks {
  private static let mounted = Mutex<[String: SimulatedDisk]>([:])

  /// Puts a disk under a folder, instead of the one that was there.
  static func mount(_ disk: SimulatedDisk, at folder: String) {
    SimulatedFiles.install()
    mounted.withLock { $0[folder] = disk }
  }

  /// Takes the disk away.
  static func unmount(_ folder: String) { mounted.withLock { $0[folder] = nil } }

  /// The disk that a file lies on, if it is a simulated one.
  static func disk(of path: String) -> SimulatedDisk? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return mounted.withLock { $0[String(path[..<slash])] }
  }
}
