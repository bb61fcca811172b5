import GRDBSQLite
import PharosFaults
import PharosSimulation
import Testing

@Suite("A disk in memory")
struct SimulatedDiskTests {
  private static let path = "/pharos-disk/file"

  private func written(_ file: FileContent, _ bytes: [UInt8], at offset: Int) {
    bytes.withUnsafeBytes { file.write($0, at: offset) }
  }

  @Test("reads what was written, and zeros behind the end")
  func readBack() {
    let file = FileContent()
    written(file, [1, 2, 3], at: 2)
    var bytes: [UInt8] = Array(repeating: 9, count: 8)
    let isWhole = bytes.withUnsafeMutableBytes { file.read(into: $0, at: 0) }
    #expect(bytes == [0, 0, 1, 2, 3, 0, 0, 0])
    #expect(!isWhole)
  }

  @Test("synced writes survive a power failure, others may be lost as a whole")
  func power() {
    var outcomes: Set<[UInt8]> = []
    for seed in 0..<64 as Range<UInt64> {
      let file = FileContent()
      written(file, [1, 1, 1, 1], at: 0)
      file.sync()
      written(file, [2, 2], at: 0)
      written(file, [3, 3], at: 2)
      var random = RandomStream(seed: seed)
      file.losePower(&random)
      outcomes.insert(file.bytes)
    }
    #expect(outcomes == [[1, 1, 1, 1], [2, 2, 1, 1], [1, 1, 3, 3], [2, 2, 3, 3]])
  }

  @Test("a killed process writes nothing further, and its locks are gone")
  func kill() {
    let disk = SimulatedDisk()
    guard let content = disk.file(Self.path, creating: true) else {
      Issue.record("no file was made")
      return
    }
    let old = OpenFile(content, on: disk, path: Self.path, isDeletedOnClose: false)
    #expect(old.lock(4) == SQLITE_OK)
    let next = OpenFile(content, on: disk, path: Self.path, isDeletedOnClose: false)
    #expect(next.lock(1) == SQLITE_BUSY)
    disk.kill()
    let later = OpenFile(content, on: disk, path: Self.path, isDeletedOnClose: false)
    #expect(later.lock(4) == SQLITE_OK)
    let bytes: [UInt8] = [7]
    #expect(bytes.withUnsafeBytes { old.write($0, 0) } == DiskResult.write)
    #expect(bytes.withUnsafeBytes { later.write($0, 0) } == SQLITE_OK)
  }

  @Test("refuses, is full, and kills at the specified write")
  func troubles() {
    let disk = SimulatedDisk()
    disk.troubles.capacity = 4
    #expect(disk.admitsWrite(growth: 5) == .full)
    #expect(disk.admitsWrite(growth: 4) == .admitted)
    disk.troubles.failsWrites = true
    #expect(disk.admitsWrite(growth: 0) == .refused)
    disk.troubles = SimulatedDisk.Troubles()
    disk.troubles.writesUntilKill = 2
    var kills = 0
    disk.onKill = { kills += 1 }
    for _ in 0..<2 { _ = disk.admitsWrite(growth: 0) }
    #expect(kills == 0)
    _ = disk.admitsSync()
    #expect(kills == 1)
    #expect(disk.refusals == 2)
  }

  @Test("shared memory has one writer or many readers for each lock")
  func sharedLocks() {
    let disk = SimulatedDisk()
    let content = FileContent()
    let files = (0..<2).map { _ in
      OpenFile(content, on: disk, path: Self.path, isDeletedOnClose: false)
    }
    let (lock, unlock) = (SQLITE_SHM_LOCK, SQLITE_SHM_UNLOCK)
    #expect(files[0].shareLock(3..<4, flags: lock | SQLITE_SHM_SHARED) == SQLITE_OK)
    #expect(files[1].shareLock(3..<4, flags: lock | SQLITE_SHM_SHARED) == SQLITE_OK)
    #expect(files[1].shareLock(3..<4, flags: lock | SQLITE_SHM_EXCLUSIVE) == SQLITE_BUSY)
    #expect(files[0].shareLock(3..<4, flags: unlock | SQLITE_SHM_SHARED) == SQLITE_OK)
    #expect(files[1].shareLock(3..<4, flags: unlock | SQLITE_SHM_SHARED) == SQLITE_OK)
    #expect(files[1].shareLock(0..<8, flags: lock | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK)
    #expect(files[0].shareLock(5..<6, flags: lock | SQLITE_SHM_SHARED) == SQLITE_BUSY)
  }
}
