import Foundation
import GRDB
public import PharosSpace
import PharosWays

/// Writes venue bundles.
public struct BundleWriter {
  /// The venue.
  public var venue: Venue
  /// The zooms of the pictures; nil chooses from the zoom at which the venue fills a tile up to a few centimetres a
  /// pixel.
  public var zooms: ClosedRange<Int>?
  /// The routes to store beside those between places: pairs of ids or names of places and entrances.
  public var askedRoutes: [(from: String, to: String)] = []
  /// Indicates whether to end without a bundle; asked between routes and tiles.
  public var isCancelled: () -> Bool = { false }
  private let image: (String) throws -> [UInt8]

  /// The largest zoom that is chosen by default: about 5 cm a pixel.
  static let usualZoom = 21
  /// The largest zoom of vector tiles: clients draw them at larger ones as well, with 2 cm a unit.
  static let vectorZoom = 18
  /// The tiles of all floors up to which a zoom is chosen by default.
  static let usualTiles = 20_000
  /// The most tiles of a bundle.
  static let maximumTiles = 500_000

  /// Makes the writer of a venue's bundle.
  ///
  /// - Parameters:
  ///   - venue: The venue.
  ///   - image: Reads the image of a floor plan by its name.
  public init(_ venue: Venue, image: @escaping (String) throws -> [UInt8]) {
    self.venue = venue
    self.image = image
  }

  /// Writes the bundle; a file that is there is replaced only by a whole one.
  ///
  /// - Returns: the version of its content.
  @discardableResult
  public func write(to path: String) throws(MapFailure) -> String {
    let floors = venue.floors.compactMap { MappedFloor($0.id, of: venue) }
    guard let area = VenueArea(floors) else {
      throw MapFailure(
        "venue \"\(venue.identifier)\" has nothing to draw: no floor has a plan, an area, a wall or a place"
      )
    }
    let zooms = try zooms(of: floors, area)
    let graph = WalkableGraph(venue)
    let routes = try StoredRoutes(of: venue, Router(graph), asked: askedRoutes, isCancelled: isCancelled)
    var version = ""
    try BundleFile.write(path) { database in
      try database.execute(sql: "PRAGMA application_id = \(BundleFormat.bundleID)")
      try database.execute(sql: "PRAGMA user_version = \(BundleFormat.version)")
      try BundleFormat.create(in: database)
      try database.inTransaction {
        for (key, value) in metadata(of: area, zooms) {
          try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [key, value])
        }
        try write(floors, to: database)
        try writePlaces(to: database)
        for floor in floors { try writeTiles(of: floor, zooms, to: database) }
        for route in routes.all {
          try database.execute(
            sql: "INSERT INTO routes VALUES (?, ?, ?, ?, ?)",
            arguments: [route.origin, route.destination, route.distance, route.duration, route.document]
          )
        }
        try database.execute(sql: "INSERT INTO graph VALUES (?, ?)", arguments: [0, Data(graph.encoded())])
        version = try BundleFormat.contentVersion(of: database)
        let facts = [
          "content_version": version, "format_version": "\(BundleFormat.version)", "venue": venue.identifier,
        ]
        for (key, value) in facts.sorted(by: { $0.key < $1.key }) {
          try database.execute(sql: "INSERT INTO bundle VALUES (?, ?)", arguments: [key, value])
        }
        return .commit
      }
    }
    return version
  }

  private func zooms(of floors: [MappedFloor], _ area: VenueArea) throws(MapFailure) -> ClosedRange<Int> {
    func count(_ zooms: ClosedRange<Int>) -> Int {
      zooms.reduce(0) { sum, zoom in
        floors.reduce(sum) { $0 + MapTile.count(covering: $1.rect, zoom: zoom) }
      }
    }
    if let zooms {
      guard MapTile.zooms.contains(zooms.lowerBound), MapTile.zooms.contains(zooms.upperBound) else {
        throw MapFailure(
          "zooms \(zooms.lowerBound) to \(zooms.upperBound) are not within 0 to \(MapTile.zooms.upperBound)"
        )
      }
      let tiles = count(zooms)
      guard tiles <= BundleWriter.maximumTiles else {
        throw MapFailure(
          "zooms \(zooms.lowerBound) to \(zooms.upperBound) take \(tiles) tiles, more than \(BundleWriter.maximumTiles): "
            + "choose a smaller zoom"
        )
      }
      return zooms
    }
    var low = 0
    while low < BundleWriter.usualZoom, MapTile.side(at: low + 1) >= max(area.rect.width, area.rect.height) {
      low += 1
    }
    var high = max(low, BundleWriter.usualZoom)
    while high > low, count(low...high) > BundleWriter.usualTiles { high -= 1 }
    return low...high
  }

  private func metadata(of area: VenueArea, _ zooms: ClosedRange<Int>) -> [(String, String)] {
    let middle = MapPoint(
      x: area.rect.origin.x + area.rect.width / 2,
      y: area.rect.origin.y + area.rect.height / 2
    ).coordinate
    let bounds = [area.west, area.south, area.east, area.north].map { "\($0)" }.joined(separator: ",")
    let name = venue.name.isEmpty ? venue.identifier : venue.name
    return [
      ("bounds", bounds),
      ("center", "\(middle.longitude),\(middle.latitude),\(zooms.lowerBound)"),
      (
        "description",
        "Floor plans of \(name); the table floor_tiles holds every floor, tiles the default one"
      ),
      ("format", "png"),
      ("maxzoom", "\(zooms.upperBound)"),
      ("minzoom", "\(zooms.lowerBound)"),
      ("name", name),
      ("type", "overlay"),
      ("version", "1"),
    ]
  }

  /// The floor that readers of MBTiles see: that of the first building nearest to the ground.
  private var defaultFloor: FloorID? {
    venue.buildings.first.flatMap { building in
      building.floors.min { abs($0.level) < abs($1.level) }.map {
        FloorID(building: building.identifier, level: $0.level)
      }
    }
  }

  private func write(_ floors: [MappedFloor], to database: Database) throws {
    let drawn = Set(floors.map(\.id))
    let shown = defaultFloor.flatMap { drawn.contains($0) ? $0 : nil } ?? floors.first?.id
    for floor in floors {
      guard let area = VenueArea([floor]) else { continue }
      try database.execute(
        sql: "INSERT INTO floors VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        arguments: [
          floor.id.building, floor.id.level, venue.floor(floor.id)?.name ?? "", area.west, area.south,
          area.east,
          area.north, floor.id == shown ? 1 : 0,
        ]
      )
    }
  }

  private func writePlaces(to database: Database) throws {
    for (id, floor) in venue.floors {
      for place in floor.pointsOfInterest {
        guard let coordinate = floor.plane.coordinate(of: place.point) else { continue }
        try database.execute(
          sql: "INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            place.identifier, id.building, id.level, place.name, place.category, coordinate.latitude,
            coordinate.longitude, place.isAccessible ? 1 : 0, place.caption.json,
          ]
        )
      }
    }
  }

  private func writeTiles(of floor: MappedFloor, _ zooms: ClosedRange<Int>, to database: Database) throws {
    let renderer = try FloorRenderer(floor, image: try floor.picture.map { try readImage($0.plan.image) })
    let insertTile = try database.makeStatement(sql: "INSERT INTO floor_map VALUES (?, ?, ?, ?, ?, ?)")
    let insertImage = try database.makeStatement(sql: "INSERT OR IGNORE INTO images VALUES (?, ?)")
    let insertVector = try database.makeStatement(sql: "INSERT INTO vector_tiles VALUES (?, ?, ?, ?, ?, ?)")
    let vectorZoom = max(zooms.lowerBound, min(zooms.upperBound, BundleWriter.vectorZoom))
    for zoom in zooms {
      for tile in MapTile.covering(floor.rect, zoom: zoom) {
        guard !isCancelled() else { throw MapFailure.cancelled }
        let key: [any DatabaseValueConvertible] = [
          floor.id.building, floor.id.level, zoom, tile.x, tile.rowFromSouth,
        ]
        if let png = try renderer.png(tile) {
          let id = Data(Digest.short(of: png))
          try insertImage.execute(arguments: [id, Data(png)])
          try insertTile.execute(arguments: StatementArguments(key + [id]))
        }
        guard zoom <= vectorZoom else { continue }
        let vector = VectorTile(tile, of: floor).bytes
        if !vector.isEmpty { try insertVector.execute(arguments: StatementArguments(key + [Data(vector)])) }
      }
    }
  }

  private func readImage(_ name: String) throws(MapFailure) -> [UInt8] {
    do {
      return try image(name)
    } catch {
      throw MapFailure("the floor plan \(name) cannot be read: \(error)")
    }
  }
}

/// The rectangle around floors, on the map and in degrees.
private struct VenueArea {
  let rect: MapRect
  let west, south, east, north: Double

  init?(_ floors: [MappedFloor]) {
    let corners = floors.flatMap { floor in
      [floor.extent.southWest, floor.extent.northEast].map(floor.mapPoint)
    }
    guard let rect = MapRect(around: corners) else { return nil }
    self.rect = rect
    let (first, last) = (rect.origin.coordinate, rect.end.coordinate)
    (west, north) = (first.longitude, first.latitude)
    (east, south) = (last.longitude, last.latitude)
  }
}
