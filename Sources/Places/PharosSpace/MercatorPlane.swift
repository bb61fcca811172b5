public import PharosModel

/// Metres east and north on Mercator's map, with the scale of one place: what floor plans drawn on web maps have.
///
/// Near its origin it agrees with a ``GroundPlane`` to 0.7 %, since Mercator's map is one of a sphere. A floor that was
/// surveyed on it keeps its numbers.
public struct MercatorPlane: Hashable, Sendable {
  /// The place that has x = 0 and y = 0.
  public let origin: MapPoint
  /// The length of a map point towards the east.
  ///
  /// - Units: metres a point.
  public let metersPerPointEast: Double
  /// The length of a map point towards the north.
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

  /// Lays the plane at a point of the map with the scales that it had.
  package init(origin: MapPoint, metersPerPointEast: Double, metersPerPointNorth: Double) {
    self.origin = origin
    self.metersPerPointEast = metersPerPointEast
    self.metersPerPointNorth = metersPerPointNorth
  }

  /// Returns the place of a coordinate on the plane, or nil beyond its reach or the edges of the map.
  public func point(of coordinate: Coordinate) -> Point? {
    guard let mapPoint = MapPoint(coordinate) else { return nil }
    let point = point(of: mapPoint)
    return point.length <= GroundPlane.reach ? point : nil
  }

  /// Returns the place of a point of the map on the plane.
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

/// A place on the map of the whole Earth that MapKit draws: Mercator's projection on a square.
///
/// The square has 2²⁸ points on a side; x grows towards the east from 180° W, y towards the south from 85.05° N.
///
/// - Units: map points, of 0.149 m at the equator and of 0.149 m × cos(latitude) elsewhere.
/// - Source: the spherical Mercator projection of EPSG:3857, on the sphere of the equator's radius; MapKit's
///   `MKMapPoint` names the same places.
public struct MapPoint: Hashable, Sendable {
  /// Points east of 180° W.
  public var x: Double
  /// Points south of the map's northern edge.
  public var y: Double

  /// Points on each side of the map.
  public static let worldSize = 268_435_456.0
  /// The latitude of the map's northern edge; the southern one lies as far south.
  ///
  /// - Units: degrees.
  public static let largestLatitude = 85.05112877980659

  /// Makes a point of its parts.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// The point of a coordinate, or nil beyond the edges of the map.
  public init?(_ coordinate: Coordinate) {
    guard coordinate.latitude.magnitude <= MapPoint.largestLatitude else { return nil }
    let sine = Trigonometry.sineAndCosine(Trigonometry.radians(coordinate.latitude)).sine
    let stretched = RadioMath.naturalLog((1 + sine) / (1 - sine)) / 2
    x = (coordinate.longitude / 360 + 0.5) * MapPoint.worldSize
    y = (0.5 - stretched / (2 * .pi)) * MapPoint.worldSize
  }

  /// The coordinate of the point.
  public var coordinate: Coordinate {
    let stretched = (0.5 - y / MapPoint.worldSize) * 2 * .pi
    let grown = RadioMath.exponential(stretched)
    let latitude = Trigonometry.angle(y: (grown - 1 / grown) / 2, x: 1)
    return Coordinate(
      wrappingLatitude: Trigonometry.degrees(latitude),
      longitude: (x / MapPoint.worldSize - 0.5) * 360
    )
  }

  /// Returns the length of a map point on the ground at a latitude: the correction for Mercator's stretching.
  ///
  /// - Units: metres a point.
  public static func metersPerPoint(atLatitude latitude: Double) -> Double {
    let cosine = Trigonometry.sineAndCosine(Trigonometry.radians(latitude)).cosine
    return 2 * .pi * Ellipsoid.equatorialRadius / worldSize * cosine
  }

  /// Points to the east and to the south from another point, the short way around the Earth.
  public func offset(from other: MapPoint) -> (east: Double, south: Double) {
    let east = x - other.x
    return (east - MapPoint.worldSize * (east / MapPoint.worldSize).rounded(), y - other.y)
  }
}
