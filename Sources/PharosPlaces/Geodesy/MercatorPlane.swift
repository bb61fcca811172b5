/// Metres east and north on Mercator's map, with the scale of one place: what floor plans drawn on web maps have.
///
/// Near its origin it agrees with a ``GroundPlane`` to 0.7 %, since Mercator's map is one of a sphere. A floor that was
/// surveyed on it keeps its numbers.
public struct MercatorPlane: Hashable, Sendable {
  /// The place that has x = 0 and y = 0.
  public let origin: MapPoint
  /// How long a map point is towards the east.
  ///
  /// - Units: metres a point.
  public let metersPerPointEast: Double
  /// How long a map point is towards the north.
  ///
  /// - Units: metres a point.
  public let metersPerPointNorth: Double

  /// Lays the plane at a place, with the scale of its latitude; nil beyond the edges of the map.
  public init?(origin: Coordinate) {
    guard let point = MapPoint(origin) else { return nil }
    self.origin = point
    metersPerPointEast = MapPoint.metersPerPoint(atLatitude: origin.latitude)
    metersPerPointNorth = metersPerPointEast
  }

  /// Lays the plane into a rectangle of the map whose width and height in metres are known.
  ///
  /// - Returns: nil where the corners are not south-west and north-east of each other on the map, or a length is not
  ///   above zero.
  public init?(southWest: Coordinate, northEast: Coordinate, width: Double, height: Double) {
    guard let corner = MapPoint(southWest), let opposite = MapPoint(northEast) else { return nil }
    let (east, south) = opposite.offset(from: corner)
    guard east > 0, south < 0, width > 0, height > 0, width.isFinite, height.isFinite else { return nil }
    origin = corner
    metersPerPointEast = width / east
    metersPerPointNorth = height / -south
  }

  /// Where a coordinate lies on the plane, or nil beyond its reach or the edges of the map.
  public func point(of coordinate: Coordinate) -> Point? {
    guard let mapPoint = MapPoint(coordinate) else { return nil }
    let point = point(of: mapPoint)
    return point.length <= GroundPlane.reach ? point : nil
  }

  /// Where a point of the map lies on the plane.
  public func point(of mapPoint: MapPoint) -> Point {
    let (east, south) = mapPoint.offset(from: origin)
    return Point(x: east * metersPerPointEast, y: -south * metersPerPointNorth)
  }

  /// The point of the map at a place on the plane.
  public func mapPoint(of point: Point) -> MapPoint {
    MapPoint(x: origin.x + point.x / metersPerPointEast, y: origin.y - point.y / metersPerPointNorth)
  }

  /// The coordinate of a place on the plane, or nil beyond its reach.
  public func coordinate(of point: Point) -> Coordinate? {
    point.length <= GroundPlane.reach ? mapPoint(of: point).coordinate : nil
  }
}
