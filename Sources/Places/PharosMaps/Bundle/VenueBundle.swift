import Foundation
import GRDB
import PharosDocuments
public import PharosSpace
public import PharosWays

/// A venue in one file: the tiles of its floors, its places, stored routes and the walkable graph.
///
/// The file is MBTiles 1.3, which readers of that format show with its default floor, and holds further tables, which
/// <doc:TheVenueBundle> describes.
public final class VenueBundle: Sendable {
  /// A floor of the bundle.
  public struct Floor: Hashable, Sendable {
    /// The floor's identifier.
    public let id: FloorID
    /// The display name.
    public let name: String
    /// Indicates whether readers of MBTiles show it.
    public let isDefault: Bool
  }

  /// A point of interest of the bundle.
  public struct Place: Hashable, Sendable {
    /// The identifier.
    public let identifier: String
    /// The display name.
    public let name: String
    /// The category, or an empty text.
    public let category: String
    /// The floor.
    public let floor: FloorID
    /// The coordinate.
    public let coordinate: Coordinate
    /// Indicates whether a wheelchair can use it.
    public let isAccessible: Bool
    /// The words about it.
    public let caption: Caption
  }

  /// The identifier of the venue.
  public let venue: String
  /// The version of the content: equal content has an equal version.
  public let contentVersion: String
  /// The floors, building by building.
  public let floors: [Floor]

  private let path: String
  private let database: DatabaseQueue

  /// Opens a bundle.
  ///
  /// - Throws: the reason why the file is none, or cannot be read.
  public init(path: String) throws(MapFailure) {
    let database = try BundleFile.open(path)
    let (facts, floors) = try BundleFile.translate(path) {
      try database.read { database in
        guard try database.tableExists("bundle") else {
          throw MapFailure("\(path) is not a venue bundle: it is an MBTiles file without the table bundle")
        }
        let facts = try Row.fetchAll(database, sql: "SELECT key, value FROM bundle")
          .map {
            (try $0.decode(String.self, forColumn: "key"), try $0.decode(String.self, forColumn: "value"))
          }
        let floors = try Row.fetchAll(
          database,
          sql: "SELECT building, level, name, is_default FROM floors ORDER BY building, level"
        ).map { row in
          Floor(
            id: FloorID(
              building: try row.decode(forColumn: "building"),
              level: try row.decode(forColumn: "level")
            ),
            name: try row.decode(forColumn: "name"),
            isDefault: try row.decode(Int.self, forColumn: "is_default") == 1
          )
        }
        return (Dictionary(facts) { first, _ in first }, floors)
      }
    }
    guard let venue = facts["venue"], let version = facts["content_version"] else {
      throw MapFailure(
        "\(path) is damaged: its table bundle names no venue and no version; copy or make it again"
      )
    }
    self.path = path
    self.database = database
    self.venue = venue
    self.floors = floors
    contentVersion = version
  }

  /// Reads the whole content and compares its version with the one that the bundle states.
  public func verify() throws(MapFailure) {
    let version = try BundleFile.translate(path) { try database.read(BundleFormat.contentVersion) }
    guard version == contentVersion else {
      throw MapFailure(
        "\(path) is damaged: its content has version \(version), expected \(contentVersion); copy or make it again"
      )
    }
  }

  /// The picture of a tile of a floor as PNG; nil if there is none.
  public func picture(_ tile: MapTile, of floor: FloorID) throws(MapFailure) -> [UInt8]? {
    try data(tile, of: floor, in: "floor_tiles")
  }

  /// The vector tile of a floor, empty of any compression; nil if there is none.
  public func vectorTile(_ tile: MapTile, of floor: FloorID) throws(MapFailure) -> [UInt8]? {
    try data(tile, of: floor, in: "vector_tiles")
  }

  private func data(_ tile: MapTile, of floor: FloorID, in table: String) throws(MapFailure) -> [UInt8]? {
    try BundleFile.translate(path) {
      try database.read { database in
        try Data.fetchOne(
          database,
          sql: """
            SELECT tile_data FROM \(table)
            WHERE building = ? AND level = ? AND zoom_level = ? AND tile_column = ? AND tile_row = ?
            """,
          arguments: [floor.building, floor.level, tile.zoom, tile.x, tile.rowFromSouth]
        ).map(Array.init)
      }
    }
  }

  /// The points of interest in the order of their identifiers.
  public func places() throws(MapFailure) -> [Place] {
    try BundleFile.translate(path) {
      try database.read { database in
        try Row.fetchAll(database, sql: "SELECT * FROM places ORDER BY id").compactMap { row in
          let (latitude, longitude): (Double, Double) = (
            try row.decode(forColumn: "latitude"), try row.decode(forColumn: "longitude")
          )
          guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else { return nil }
          let identifier: String = try row.decode(forColumn: "id")
          let caption: String = try row.decode(forColumn: "caption")
          return Place(
            identifier: identifier,
            name: try row.decode(forColumn: "name"),
            category: try row.decode(forColumn: "category"),
            floor: FloorID(
              building: try row.decode(forColumn: "building"),
              level: try row.decode(forColumn: "level")
            ),
            coordinate: coordinate,
            isAccessible: try row.decode(Int.self, forColumn: "accessible") == 1,
            caption: try VenueBundle.caption(caption, of: identifier)
          )
        }
      }
    }
  }

  private static func caption(_ json: String, of place: String) throws(MapFailure) -> Caption {
    do throws(DocumentError) {
      return try Caption(json: Array(json.utf8), of: place)
    } catch {
      throw MapFailure(
        "the caption of place \"\(place)\" is damaged (\(error)); copy or make the bundle again"
      )
    }
  }

  /// The router of the venue, which finds ways without server and network.
  public func router() throws(MapFailure) -> Router {
    let bytes = try BundleFile.translate(path) {
      try database.read {
        try Data.fetchAll($0, sql: "SELECT data FROM graph ORDER BY part").flatMap { Array($0) }
      }
    }
    do throws(WalkableGraphError) {
      return Router(try WalkableGraph(decoding: bytes))
    } catch {
      throw MapFailure("\(path): \(error)")
    }
  }

  /// The stored route between two places as JSON; nil if there is none.
  public func route(from origin: String, to destination: String) throws(MapFailure) -> String? {
    try BundleFile.translate(path) {
      try database.read { database in
        try String.fetchOne(
          database,
          sql: "SELECT document FROM routes WHERE origin = ? AND destination = ?",
          arguments: [origin, destination]
        )
      }
    }
  }
}
