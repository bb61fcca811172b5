package import PharosSimulation

/// What a file holds, what of it would survive the power, and who has locked it.
package final class FileContent {
  /// One write that was not synced yet.
  private struct Unsynced {
    var offset: Int
    /// What stood there before; shorter than the write where the file ended.
    var before: [UInt8]
    var count: Int
  }

  package private(set) var bytes: [UInt8] = []
  private var unsynced: [Unsynced] = []

  // MARK: Bytes

  /// Copies bytes out; what lies behind the end reads as zero.
  ///
  /// - Returns: whether all of them were there.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    let count = max(0, min(buffer.count, bytes.count - offset))
    if count > 0 {
      bytes.withUnsafeBytes { source in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset..<offset + count]))
      }
    }
    for index in count..<buffer.count { buffer[index] = 0 }
    return count == buffer.count
  }

  /// How much longer a write makes the file.
  func growth(writing count: Int, at offset: Int) -> Int { max(0, offset + count - bytes.count) }

  /// Writes bytes, which are durable once ``sync()`` was called.
  package func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) {
    let end = min(bytes.count, offset + buffer.count)
    let before = offset < end ? Array(bytes[offset..<end]) : []
    unsynced.append(Unsynced(offset: offset, before: before, count: buffer.count))
    let needed = offset + buffer.count
    if bytes.count < needed { bytes.append(contentsOf: repeatElement(0, count: needed - bytes.count)) }
    bytes.withUnsafeMutableBytes { target in
      UnsafeMutableRawBufferPointer(rebasing: target[offset..<needed]).copyMemory(from: buffer)
    }
  }

  /// Cuts the file off; durable at once, as file systems order it.
  func truncate(to count: Int) {
    guard count < bytes.count else { return }
    bytes.removeSubrange(count...)
    unsynced.removeAll { $0.offset + $0.count > count }
  }

  /// Makes what was written durable.
  package func sync() { unsynced.removeAll(keepingCapacity: true) }

  /// What a disk writes at once: the part of a write that is there as a whole or not at all.
  private static let sector = 512

  /// Of the writes that were not synced a drawn part is undone, the newest first.
  ///
  /// - Parameters:
  ///   - random: the draws.
  ///   - tears: whether a write may be there in part: each of its sectors or none.
  /// - Returns: the number of writes that are there in part.
  @discardableResult
  package func losePower(_ random: inout RandomStream, tears: Bool = false) -> Int {
    var torn = 0
    for write in unsynced.reversed() where random.chance(0.5) {
      let end = min(bytes.count, write.offset + write.count)
      guard write.offset < end else { continue }
      let isTorn = tears && write.count > FileContent.sector && random.chance(0.5)
      torn += isTorn ? 1 : 0
      var (sector, isKept) = (-1, false)
      for index in write.offset..<end {
        if isTorn, index / FileContent.sector != sector {
          (sector, isKept) = (index / FileContent.sector, random.chance(0.5))
        }
        if isKept { continue }
        let place = index - write.offset
        bytes[index] = place < write.before.count ? write.before[place] : 0
      }
    }
    unsynced.removeAll()
    return torn
  }

  // MARK: Locks

  /// Who has the file's locks: SQLite's five levels.
  private(set) var levels: [ObjectIdentifier: Int32] = [:]
  /// The regions of shared memory in which connections find what the log holds.
  private(set) var regions: [UnsafeMutableRawPointer] = []
  private var readers: [Int] = Array(repeating: 0, count: FileContent.slots)
  private var owners: [ObjectIdentifier?] = Array(repeating: nil, count: FileContent.slots)

  /// How many locks the shared memory has.
  ///
  /// - Source: SQLITE_SHM_NLOCK.
  static let slots = 8

  /// Those of processes that were killed, which their connections still look at while they are closed.
  private var retired: [UnsafeMutableRawPointer] = []

  package init() {}

  deinit { for region in regions + retired { region.deallocate() } }

  /// Raises a holder's lock, unless another one's is in the way.
  func lock(_ level: Int32, for holder: ObjectIdentifier) -> Bool {
    let others = levels.filter { $0.key != holder }.values
    let isFree =
      switch level {
      case 1: others.allSatisfy { $0 < 3 }
      case 2: others.allSatisfy { $0 < 2 }
      default: others.allSatisfy { $0 == 0 }
      }
    if isFree { levels[holder] = level }
    return isFree
  }

  /// Lowers a holder's lock.
  func unlock(to level: Int32, for holder: ObjectIdentifier) {
    levels[holder] = level == 0 ? nil : level
  }

  /// A region of the shared memory, made if it is missing.
  func region(_ index: Int, size: Int, creating: Bool) -> UnsafeMutableRawPointer? {
    while creating, regions.count <= index {
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      regions.append(region)
    }
    return index < regions.count ? regions[index] : nil
  }

  /// Takes locks of the shared memory for one.
  func own(_ slots: Range<Int>, for holder: ObjectIdentifier, reading held: Set<Int>) -> Bool {
    for slot in slots {
      if let owner = owners[slot], owner != holder { return false }
      if readers[slot] - (held.contains(slot) ? 1 : 0) > 0 { return false }
    }
    for slot in slots { owners[slot] = holder }
    return true
  }

  /// Takes locks of the shared memory for several.
  func share(_ slots: Range<Int>, for holder: ObjectIdentifier) -> Bool {
    for slot in slots { if let owner = owners[slot], owner != holder { return false } }
    for slot in slots { readers[slot] += 1 }
    return true
  }

  /// Gives shared locks back.
  func unshare(_ slot: Int) { readers[slot] -= 1 }

  /// Gives locks back.
  func disown(_ slots: Range<Int>) { for slot in slots { owners[slot] = nil } }

  /// Removes the locks of all holders.
  func forgetLocks() {
    levels = [:]
    readers = Array(repeating: 0, count: FileContent.slots)
    owners = Array(repeating: nil, count: FileContent.slots)
    retired += regions
    regions = []
  }
}
