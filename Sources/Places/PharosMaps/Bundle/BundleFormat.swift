import Foundation
import GRDB
import PharosDocuments
import PharosSecurity

/// The tables of a venue bundle, and the version of its content.
enum BundleFormat {
  /// The version of the format, which SQLite's `user_version` holds as well.
  static let version = 2
  /// What SQLite's `application_id` is in every MBTiles file: `MPBX`.
  static let bundleID: Int64 = 0x4D50_4258
  /// What it is in a delta: `PHBD`.
  static let deltaID: Int64 = 0x5048_4244

  /// A table of the content.
  struct Table {
    /// The name.
    let name: String
    /// The columns of the primary key.
    let key: [String]
    /// All columns, the key's first.
    let columns: [String]
    /// The definition.
    let sql: String

    init(_ name: String, key: [String], _ columns: [(name: String, type: String)]) {
      self.name = name
      self.key = key
      self.columns = columns.map(\.name)
      let definitions = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
      sql =
        "CREATE TABLE \(name) (\(definitions), PRIMARY KEY (\(key.joined(separator: ", ")))) WITHOUT ROWID"
    }
  }

  private static let floorKey = ["building", "level"]
  private static let tileKey = floorKey + ["zoom_level", "tile_column", "tile_row"]
  private static let tileColumns = [
    (name: "building", type: "TEXT NOT NULL"), ("level", "INTEGER NOT NULL"),
    ("zoom_level", "INTEGER NOT NULL"),
    ("tile_column", "INTEGER NOT NULL"), ("tile_row", "INTEGER NOT NULL"),
  ]

  /// The tables of the content, in the order in which the content's version takes them.
  static let tables = [
    Table("metadata", key: ["name"], [("name", "TEXT NOT NULL"), ("value", "TEXT NOT NULL")]),
    Table(
      "floors",
      key: floorKey,
      [
        ("building", "TEXT NOT NULL"), ("level", "INTEGER NOT NULL"), ("name", "TEXT NOT NULL"),
        ("west", "REAL NOT NULL"), ("south", "REAL NOT NULL"), ("east", "REAL NOT NULL"),
        ("north", "REAL NOT NULL"),
        ("is_default", "INTEGER NOT NULL"),
      ]
    ),
    Table("images", key: ["image_id"], [("image_id", "BLOB NOT NULL"), ("image", "BLOB NOT NULL")]),
    Table("floor_map", key: tileKey, tileColumns + [("image_id", "BLOB NOT NULL")]),
    Table("vector_tiles", key: tileKey, tileColumns + [("tile_data", "BLOB NOT NULL")]),
    Table(
      "places",
      key: ["id"],
      [
        ("id", "TEXT NOT NULL"), ("building", "TEXT NOT NULL"), ("level", "INTEGER NOT NULL"),
        ("name", "TEXT NOT NULL"), ("category", "TEXT NOT NULL"), ("latitude", "REAL NOT NULL"),
        ("longitude", "REAL NOT NULL"), ("accessible", "INTEGER NOT NULL"), ("caption", "TEXT NOT NULL"),
      ]
    ),
    Table(
      "routes",
      key: ["origin", "destination"],
      [
        ("origin", "TEXT NOT NULL"), ("destination", "TEXT NOT NULL"), ("distance", "REAL NOT NULL"),
        ("duration", "REAL NOT NULL"), ("document", "TEXT NOT NULL"),
      ]
    ),
    Table("graph", key: ["part"], [("part", "INTEGER NOT NULL"), ("data", "BLOB NOT NULL")]),
  ]

  /// The views: the tiles of all floors, and those of the default floor as MBTiles has them.
  static let views = [
    """
    CREATE VIEW floor_tiles AS
    SELECT building, level, zoom_level, tile_column, tile_row, image AS tile_data
    FROM floor_map JOIN images USING (image_id)
    """,
    """
    CREATE VIEW tiles AS
    SELECT zoom_level, tile_column, tile_row, tile_data
    FROM floor_tiles JOIN floors USING (building, level) WHERE is_default = 1
    """,
  ]

  /// Makes the empty tables.
  static func create(in database: Database) throws {
    for table in tables { try database.execute(sql: table.sql) }
    for view in views { try database.execute(sql: view) }
    try database.execute(
      sql: "CREATE TABLE bundle (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
    )
  }

  /// The version of the content: a hash over the rows of all tables in the order of their keys.
  static func contentVersion(of database: Database) throws -> String {
    var digest = Digest()
    for table in tables {
      digest.add(text: table.name)
      let columns = table.columns.joined(separator: ", ")
      let order = table.key.joined(separator: ", ")
      let rows = try Row.fetchCursor(database, sql: "SELECT \(columns) FROM \(table.name) ORDER BY \(order)")
      while let row = try rows.next() {
        for value in row.databaseValues { digest.add(value) }
      }
    }
    return digest.text
  }
}

/// SHA-256 over the values of a bundle.
struct Digest {
  private var hash = SHA256()

  private mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes.bytes) }

  private mutating func add(kind: UInt8, number: UInt64) {
    withUnsafeBytes(of: kind) { add($0) }
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  mutating func add(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      add(kind: 3, number: UInt64(utf8.count))
      add(UnsafeRawBufferPointer(utf8))
    }
  }

  mutating func add(_ value: DatabaseValue) {
    switch value.storage {
    case .null: add(kind: 0, number: 0)
    case .int64(let number): add(kind: 1, number: UInt64(bitPattern: number))
    case .double(let number): add(kind: 2, number: number.bitPattern)
    case .string(let text): add(text: text)
    case .blob(let data):
      add(kind: 4, number: UInt64(data.count))
      data.withUnsafeBytes { add($0) }
    }
  }

  /// The hash of some bytes, shortened to 16: what names an image.
  static func short(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(bytes).prefix(16)) }

  /// The hash as 32 hexadecimal digits: its first half.
  var text: String { Hex.text(hash.finalize().array.prefix(16)) }
}
