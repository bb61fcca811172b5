public import PharosSpace

/// A rectangle of the map, its sides along the map's axes.
public struct MapRect: Hashable, Sendable {
  /// The north-western corner; its x lies on the map, the rectangle may reach over the map's eastern edge.
  public var origin: MapPoint
  /// From west to east in map points.
  public var width: Double
  /// From north to south in map points.
  public var height: Double

  /// Makes a rectangle.
  public init(origin: MapPoint, width: Double, height: Double) {
    self.origin = origin
    self.width = width
    self.height = height
  }

  /// The smallest rectangle around some points, which lie less than half the Earth from each other; nil without any.
  public init?(around points: some Sequence<MapPoint>) {
    var iterator = points.makeIterator()
    guard let first = iterator.next() else { return nil }
    var (west, east, north, south) = (0.0, 0.0, 0.0, 0.0)
    while let point = iterator.next() {
      let way = point.offset(from: first)
      (west, east) = (min(west, way.east), max(east, way.east))
      (north, south) = (min(north, way.south), max(south, way.south))
    }
    origin = MapPoint(x: first.x + west, y: first.y + north)
    if origin.x < 0 { origin.x += MapPoint.worldSize }
    width = east - west
    height = south - north
  }

  /// The south-eastern corner.
  public var end: MapPoint { MapPoint(x: origin.x + width, y: origin.y + height) }
}

/// A square of the map at a zoom: at zoom 0 there is one tile, and each further zoom halves its side.
///
/// Columns are counted from 180° W towards the east, rows from the north, as web maps do.
///
/// - Source: OpenStreetMap's "slippy map tilenames"; for rows from the south, OSGeo's Tile Map Service 1.0.
public struct MapTile: Hashable, Sendable {
  /// The zoom: 2^zoom tiles lie on each side of the map.
  public let zoom: Int
  /// The column from the west.
  public let x: Int
  /// The row from the north.
  public let y: Int

  /// The zooms that tiles may have.
  ///
  /// At the largest one a tile of 256 pixels shows 9 mm a pixel at the equator.
  public static let zooms = 0...24

  /// Makes a tile of its numbers; nil where there is no such tile.
  public init?(zoom: Int, x: Int, y: Int) {
    guard MapTile.zooms.contains(zoom) else { return nil }
    let count = 1 << zoom
    guard (0..<count).contains(x), (0..<count).contains(y) else { return nil }
    self.init(checked: zoom, x, y)
  }

  /// The tile in which a point of the map lies; nil beyond the map's edges.
  public init?(containing point: MapPoint, zoom: Int) {
    guard MapTile.zooms.contains(zoom), point.x.isFinite, point.y.isFinite else { return nil }
    let side = MapTile.side(at: zoom)
    self.init(zoom: zoom, x: Int((point.x / side).rounded(.down)), y: Int((point.y / side).rounded(.down)))
  }

  private init(checked zoom: Int, _ x: Int, _ y: Int) {
    self.zoom = zoom
    self.x = x
    self.y = y
  }

  /// The side of the tiles of a zoom in map points.
  public static func side(at zoom: Int) -> Double { MapPoint.worldSize / Double(1 << zoom) }

  /// Its side in map points.
  public var side: Double { MapTile.side(at: zoom) }

  /// Its north-western corner.
  public var origin: MapPoint { MapPoint(x: Double(x) * side, y: Double(y) * side) }

  /// The part of the map that it shows.
  public var rect: MapRect { MapRect(origin: origin, width: side, height: side) }

  /// Its row counted from the south, as MBTiles and the Tile Map Service have it.
  public var rowFromSouth: Int { (1 << zoom) - 1 - y }

  /// The tile at a row counted from the south; nil where there is no such tile.
  public init?(zoom: Int, x: Int, rowFromSouth row: Int) {
    guard MapTile.zooms.contains(zoom) else { return nil }
    self.init(zoom: zoom, x: x, y: (1 << zoom) - 1 - row)
  }

  /// The tiles that a rectangle touches, row by row from the north-west.
  ///
  /// Where the rectangle crosses 180°, the row goes on with the first column.
  public static func covering(_ rect: MapRect, zoom: Int) -> [MapTile] {
    guard zooms.contains(zoom) else { return [] }
    let (columns, rows) = numbers(covering: rect, zoom: zoom)
    let count = 1 << zoom
    return rows.flatMap { row in columns.map { MapTile(checked: zoom, $0 % count, row) } }
  }

  /// The number of tiles that a rectangle touches.
  public static func count(covering rect: MapRect, zoom: Int) -> Int {
    guard zooms.contains(zoom) else { return 0 }
    let (columns, rows) = numbers(covering: rect, zoom: zoom)
    return columns.count * rows.count
  }

  private static func numbers(
    covering rect: MapRect,
    zoom: Int
  ) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
    let side = side(at: zoom)
    let count = 1 << zoom
    let west = Int((rect.origin.x / side).rounded(.down))
    let east = Int((rect.end.x / side).rounded(.down))
    let north = Int((rect.origin.y / side).rounded(.down))
    let south = Int((rect.end.y / side).rounded(.down))
    let first = min(max(0, north), count - 1)
    return (west...max(west, min(east, west + count - 1)), first...max(first, min(south, count - 1)))
  }
}

extension MapTile: Comparable {
  /// Orders tiles by zoom, then column, then row.
  public static func < (left: MapTile, right: MapTile) -> Bool {
    (left.zoom, left.x, left.y) < (right.zoom, right.x, right.y)
  }
}

extension MapTile: CustomStringConvertible {
  /// Zoom, column and row, as in `16/32023/21524`.
  public var description: String { "\(zoom)/\(x)/\(y)" }
}
