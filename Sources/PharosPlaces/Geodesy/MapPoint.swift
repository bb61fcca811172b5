import PharosReports

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

  /// How long a map point is on the ground at a latitude: the correction for Mercator's stretching.
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
