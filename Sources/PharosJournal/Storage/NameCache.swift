import GRDB
import PharosEvents
import PharosReports

/// Names by their numbers, as far as they were asked for lately.
struct NameCache {
  /// The maximum number of cached names: the subjects of a large site.
  ///
  /// Beyond it the cache is cleared, and names are read from the database again.
  static let most = 1 << 16

  private var names: [Int64: EventName] = [:]

  subscript(key: Int64) -> EventName? { names[key] }

  mutating func keep(_ found: [Int64: EventName]) {
    if names.count + found.count > NameCache.most { names.removeAll() }
    names.merge(found) { _, new in new }
  }

  mutating func removeAll() { names.removeAll() }
}

extension EventName {
  /// The name in bytes, as the table of names keeps it.
  var encoded: [UInt8] {
    var writer = FieldWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// The name that bytes stand for.
  init(encoded bytes: [UInt8]) throws {
    var reader = FieldReader(bytes[...])
    try self.init(from: &reader)
    try reader.finish()
  }

  /// The number of the name, if it has one.
  func key(in database: Database) throws -> Int64? {
    let statement = try PreparedStatement(cachedBy: database, "SELECT key FROM names WHERE name = ?")
    defer { statement.reset() }
    statement.bind(bytes: encoded, at: 1)
    return try statement.next() ? statement.number(0) : nil
  }

  /// The name with a number.
  static func named(_ key: Int64, in database: Database) throws -> EventName {
    let statement = try PreparedStatement(cachedBy: database, "SELECT name FROM names WHERE key = ?")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.next() else { throw DamagedRecord(what: "name \(key) is missing") }
    return try EventName(encoded: statement.bytes(0))
  }
}
