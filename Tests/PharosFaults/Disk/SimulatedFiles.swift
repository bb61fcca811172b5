import CJournalFiles
import GRDBSQLite

/// SQLite's way to files: those on simulated disks are kept in memory, all others go where they always did.
///
/// - Source: "The SQLite OS Interface or VFS", sqlite.org/vfs.html; shared memory as "WAL-mode File Format" needs it.
enum SimulatedFiles {
  /// A file as SQLite sees it: its own head, then what it refers to.
  struct Handle {
    var head: sqlite3_file
    var file: Unmanaged<OpenFile>?
  }

  /// SQLite's own files, and ours in front of them; set once, never changed, never freed.
  private struct Installed: @unchecked Sendable {
    let original: UnsafeMutablePointer<sqlite3_vfs>
    let methods: UnsafeMutablePointer<sqlite3_io_methods>
  }

  private static let installed: Installed? = makeInstalled()

  /// Puts itself in front of SQLite's own files; a second time does nothing.
  static func install() {
    precondition(installed != nil, "SQLite has no files to put others in front of")
  }

  private static func makeInstalled() -> Installed? {
    // The journal's hashes stay away where another file system than SQLite's own is the default: they come first.
    _ = pharos_journal_install()
    guard let original = sqlite3_vfs_find(nil) else { return nil }
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: makeMethods())
    let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    files.initialize(to: original.pointee)
    files.pointee.szOsFile = max(original.pointee.szOsFile, Int32(MemoryLayout<Handle>.size))
    files.pointee.pNext = nil
    let text = "pharos-simulated".utf8CString
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
    for (index, character) in text.enumerated() { (name + index).initialize(to: character) }
    files.pointee.zName = UnsafePointer(name)
    files.pointee.xOpen = { _, path, file, flags, out in
      SimulatedFiles.open(path, file, flags, out)
    }
    files.pointee.xDelete = { _, path, sync in
      guard let path, let original = SimulatedFiles.installed?.original else { return DiskResult.delete }
      let name = String(cString: path)
      guard let disk = SimulatedDisks.disk(of: name) else {
        return original.pointee.xDelete(original, path, sync)
      }
      disk.remove(name)
      return SQLITE_OK
    }
    files.pointee.xAccess = { _, path, flags, out in
      guard let path, let original = SimulatedFiles.installed?.original else { return DiskResult.access }
      let name = String(cString: path)
      guard let disk = SimulatedDisks.disk(of: name) else {
        return original.pointee.xAccess(original, path, flags, out)
      }
      disk.follow(name)
      out?.pointee = disk.files[name] == nil ? 0 : 1
      return SQLITE_OK
    }
    guard sqlite3_vfs_register(files, 1) == SQLITE_OK else { return nil }
    return Installed(original: original, methods: methods)
  }

  private static func open(
    _ path: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: Int32,
    _ out: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let installed, let file else { return SQLITE_CANTOPEN }
    guard let path, let disk = SimulatedDisks.disk(of: String(cString: path)) else {
      return installed.original.pointee.xOpen(installed.original, path, file, flags, out)
    }
    let name = String(cString: path)
    let handle = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Handle.self)
    handle.pointee.head.pMethods = nil
    disk.follow(name)
    guard let content = disk.file(name, creating: flags & SQLITE_OPEN_CREATE != 0) else {
      return SQLITE_CANTOPEN
    }
    let opened = OpenFile(
      content,
      on: disk,
      path: name,
      isDeletedOnClose: flags & SQLITE_OPEN_DELETEONCLOSE != 0
    )
    handle.pointee.head.pMethods = UnsafePointer(installed.methods)
    handle.pointee.file = Unmanaged.passRetained(opened)
    out?.pointee = flags
    return SQLITE_OK
  }

  private static func opened(_ file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile? {
    guard let file else { return nil }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: Handle.self).pointee.file?
      .takeUnretainedValue()
  }

  private static func makeMethods() -> sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    methods.xClose = { file in
      guard let file else { return SQLITE_OK }
      let handle = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Handle.self)
      handle.pointee.file?.takeUnretainedValue().close()
      handle.pointee.file?.release()
      handle.pointee.file = nil
      return SQLITE_OK
    }
    methods.xRead = { file, buffer, count, offset in
      let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      return SimulatedFiles.opened(file)?.read(bytes, Int(offset)) ?? DiskResult.read
    }
    methods.xWrite = { file, buffer, count, offset in
      let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
      return SimulatedFiles.opened(file)?.write(bytes, Int(offset)) ?? DiskResult.write
    }
    methods.xTruncate = { file, count in
      SimulatedFiles.opened(file)?.truncate(Int(count)) ?? DiskResult.truncate
    }
    methods.xSync = { file, _ in SimulatedFiles.opened(file)?.sync() ?? DiskResult.sync }
    methods.xFileSize = { file, size in
      size?.pointee = Int64(SimulatedFiles.opened(file)?.size() ?? 0)
      return SQLITE_OK
    }
    methods.xLock = { file, level in SimulatedFiles.opened(file)?.lock(level) ?? DiskResult.lock }
    methods.xUnlock = { file, level in SimulatedFiles.opened(file)?.unlock(level) ?? SQLITE_OK }
    methods.xCheckReservedLock = { file, out in
      out?.pointee = SimulatedFiles.opened(file)?.isReserved() == true ? 1 : 0
      return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    methods.xSectorSize = { _ in 4_096 }
    methods.xDeviceCharacteristics = { _ in 0 }
    methods.xShmMap = { file, index, size, creates, out in
      guard let opened = SimulatedFiles.opened(file) else { return DiskResult.sharedMap }
      let (result, region) = opened.region(Int(index), size: Int(size), creating: creates != 0)
      out?.pointee = region
      return result
    }
    methods.xShmLock = { file, first, count, flags in
      let slots = Int(first)..<Int(first) + Int(count)
      return SimulatedFiles.opened(file)?.shareLock(slots, flags: flags) ?? DiskResult.sharedLock
    }
    methods.xShmBarrier = { _ in }
    methods.xShmUnmap = { _, _ in SQLITE_OK }
    return methods
  }
}
