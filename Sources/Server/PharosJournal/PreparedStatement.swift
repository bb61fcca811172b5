import GRDB
import GRDBSQLite

/// A statement that is bound and stepped with SQLite's own functions, so that nothing is boxed at 100,000 events a
/// second.
struct PreparedStatement {
  private let statement: Statement
  private let raw: OpaquePointer

  /// Prepares a statement that lives as long as this value.
  init(_ database: Database, _ sql: String) throws {
    statement = try database.makeStatement(sql: sql)
    raw = statement.sqliteStatement
  }

  /// Takes a statement that the connection keeps for the next time.
  init(cachedBy database: Database, _ sql: String) throws {
    statement = try database.cachedStatement(sql: sql)
    raw = statement.sqliteStatement
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
  }

  /// Binds a number or null to a parameter, the first one being 1.
  func bind(_ value: Int64?, at place: Int32) {
    if let value { sqlite3_bind_int64(raw, place, value) } else { sqlite3_bind_null(raw, place) }
  }

  /// Binds bytes, which are copied.
  func bind(bytes: [UInt8], at place: Int32) {
    // The destructor that says "copy it" is a cast that C makes and Swift cannot import.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    guard !bytes.isEmpty else {
      sqlite3_bind_zeroblob(raw, place, 0)
      return
    }
    bytes.withUnsafeBytes { buffer in
      _ = sqlite3_bind_blob(raw, place, buffer.baseAddress, Int32(buffer.count), transient)
    }
  }

  /// Runs a statement that gives no rows, with bytes bound that are not copied.
  func run(binding bytes: [UInt8], at place: Int32) throws {
    try bytes.withUnsafeBytes { buffer in
      _ = sqlite3_bind_blob(raw, place, buffer.baseAddress, Int32(buffer.count), nil)
      try run()
    }
  }

  /// Runs a statement to its end and makes it ready for the next time.
  func run() throws {
    while try next() {}
    reset()
  }

  /// Steps to the next row.
  ///
  /// - Returns: true if there is one.
  func next() throws -> Bool {
    switch sqlite3_step(raw) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let connection = sqlite3_db_handle(raw)
      let code = ResultCode(rawValue: sqlite3_extended_errcode(connection))
      let message = String(cString: sqlite3_errmsg(connection))
      reset()
      throw DatabaseError(resultCode: code, message: message)
    }
  }

  /// Makes the statement ready for the next time.
  func reset() { sqlite3_reset(raw) }

  /// A number of the present row; null reads as 0.
  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

  /// A number of the present row, or nil for null.
  func optional(_ column: Int32) -> Int64? {
    sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, column)
  }

  /// Looks at bytes of the present row where they lie; null reads as none.
  func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    let count = Int(sqlite3_column_bytes(raw, column))
    return body(UnsafeRawBufferPointer(start: sqlite3_column_blob(raw, column), count: count))
  }

  /// Bytes of the present row; null reads as none.
  func bytes(_ column: Int32) -> [UInt8] {
    let count = Int(sqlite3_column_bytes(raw, column))
    guard count > 0, let start = sqlite3_column_blob(raw, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
