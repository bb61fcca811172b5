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
