import Foundation
import GRDB

/// A SQLite file of ours, checked before SQLite opens it.
enum BundleFile {
  /// Checks that a file is whole, and a bundle or a delta of a version that is understood.
  ///
  /// - Source: "Database File Format", sqlite.org, 1.3.
  static func check(_ path: String, isDelta: Bool) throws(MapFailure) {
    let what = isDelta ? "a delta of venue bundles" : "a venue bundle"
    let (head, size) = try read(path)
    guard head.count == 100, head.starts(with: Array("SQLite format 3".utf8) + [0]) else {
      throw MapFailure("\(path) is not \(what): it is no SQLite file")
    }
    func number(_ place: Int, _ count: Int) -> Int64 {
      head[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
    }
    guard number(68, 4) == (isDelta ? BundleFormat.deltaID : BundleFormat.bundleID), number(60, 4) != 0 else {
      throw MapFailure(
        "\(path) is not \(what): expected a file that `pharos venue \(isDelta ? "delta" : "bundle")` wrote"
      )
    }
    guard number(60, 4) == BundleFormat.version else {
      throw MapFailure(
        "\(path) has version \(number(60, 4)) of the format, expected \(BundleFormat.version): make it again with this "
          + "pharos, or read it with the one that wrote it"
      )
    }
    let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
    let expected = pageSize * number(28, 4)
    guard size >= expected else {
      throw MapFailure("\(path) is cut short: \(size) of \(expected) bytes; copy or download it again")
    }
  }

  private static func read(_ path: String) throws(MapFailure) -> (head: [UInt8], size: Int64) {
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      let head = try file.read(upToCount: 100) ?? Data()
      return (Array(head), Int64(try file.seekToEnd()))
    } catch {
      throw MapFailure("\(path) cannot be read: is there such a file?")
    }
  }

  /// Opens a file to read it.
  static func open(_ path: String, isDelta: Bool = false) throws(MapFailure) -> DatabaseQueue {
    try check(path, isDelta: isDelta)
    return try translate(path) {
      var configuration = Configuration()
      configuration.readonly = true
      return try DatabaseQueue(path: path, configuration: configuration)
    }
  }

  /// Writes a file under another name first and puts it in its place once it is whole.
  ///
  /// - Parameters:
  ///   - path: The file; what is there is replaced at the end, and kept if `write` throws.
  ///   - seed: A file whose content it begins with.
  ///   - pageSize: The bytes of a page of a file without a seed.
  ///   - write: Writes the content.
  /// - Throws: what `write` throws, or the reason why the file cannot be written.
  static func write(
    _ path: String,
    from seed: String? = nil,
    pageSize: Int = 4_096,
    _ write: (Database) throws -> Void
  ) throws(MapFailure) {
    let part = path + ".part"
    try? FileManager.default.removeItem(atPath: part)
    defer { try? FileManager.default.removeItem(atPath: part) }
    try translate(path) {
      if let seed { try FileManager.default.copyItem(atPath: seed, toPath: part) }
      var configuration = Configuration()
      configuration.prepareDatabase { database in
        if seed == nil { try database.execute(sql: "PRAGMA page_size = \(pageSize)") }
        // Nothing reads the part, and it is thrown away unless it is whole.
        try database.execute(sql: "PRAGMA journal_mode = OFF")
      }
      let queue = try DatabaseQueue(path: part, configuration: configuration)
      try queue.writeWithoutTransaction { database in
        try write(database)
        try database.execute(sql: "VACUUM")
      }
      try queue.close()
      guard rename(part, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
  }

  /// Runs an operation on a file, and names the file in what goes wrong.
  static func translate<Result>(_ path: String, _ operation: () throws -> Result) throws(MapFailure) -> Result
  {
    do {
      return try operation()
    } catch let failure as MapFailure {
      throw failure
    } catch let error as DatabaseError {
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB:
        throw MapFailure(
          "\(path) is damaged (\(error.message ?? "SQLite cannot read it")); copy or make it again"
        )
      case .SQLITE_FULL: throw MapFailure("\(path) cannot be written: the disk is full")
      case .SQLITE_CANTOPEN:
        throw MapFailure("\(path) cannot be opened: is there such a folder, and may it be used?")
      default: throw MapFailure("\(path): \(error.message ?? "SQLite failed with \(error.resultCode)")")
      }
    } catch {
      throw MapFailure("\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
