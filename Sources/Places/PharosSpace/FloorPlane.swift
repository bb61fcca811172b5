public import PharosModel

/// The plane that a floor is measured on: x metres east and y metres north of its origin.
public enum FloorPlane: Hashable, Sendable {
  /// Metres on the ground: the usual one.
  case ground(GroundPlane)
  /// Metres on Mercator's map, for floors that were surveyed on it.
  case mercator(MercatorPlane)

  /// Returns the place of a coordinate on the plane, or nil beyond its reach.
  public func point(of coordinate: Coordinate) -> Point? {
    switch self {
    case .ground(let plane): plane.point(of: coordinate)
    case .mercator(let plane): plane.point(of: coordinate)
    }
  }

  /// The coordinate of a place on the plane, or nil beyond its reach.
  public func coordinate(of point: Point) -> Coordinate? {
    switch self {
    case .ground(let plane): plane.coordinate(of: point)
    case .mercator(let plane): plane.coordinate(of: point)
    }
  }

  /// The coordinate of x = 0 and y = 0.
  public var origin: Coordinate {
    switch self {
    case .ground(let plane): plane.origin
    case .mercator(let plane): plane.origin.coordinate
    }
  }
}

/// Metres east and north of a place on the ground: the plane that touches the Earth there.
///
/// Lengths on it are lengths on the ground: over 1 km they differ by less than a thousandth of a millimetre, at
/// ``reach`` by 8 cm. It knows no height: what stands 1,000 m above the ellipsoid is 0.016 % longer than it says.
public struct GroundPlane: Hashable, Sendable {
  /// The place that has x = 0 and y = 0.
  public let origin: Coordinate
  private let sine, cosine: Double
  private let sineEast, cosineEast: Double
  private let centerX, centerY, centerZ: Double

  /// The distance from its origin up to which a plane is used.
  ///
  /// - Units: metres. A campus has a few kilometres; the error of a plane grows with the distance from its origin.
  public static let reach = 30_000.0

  /// Lays the plane at a place.
  public init(origin: Coordinate) {
    self.origin = origin
    (sine, cosine) = Trigonometry.sineAndCosine(Trigonometry.radians(origin.latitude))
    (sineEast, cosineEast) = Trigonometry.sineAndCosine(Trigonometry.radians(origin.longitude))
    let position = Ellipsoid.position(of: origin)
    (centerX, centerY, centerZ) = position
  }

  /// Returns the place of a coordinate on the plane, or nil beyond its reach.
  public func point(of coordinate: Coordinate) -> Point? {
    let position = Ellipsoid.position(of: coordinate)
    let dx = position.x - centerX
    let dy = position.y - centerY
    let dz = position.z - centerZ
    guard (dx * dx + dy * dy + dz * dz).squareRoot() <= GroundPlane.reach else { return nil }
    let outwards = cosineEast * dx + sineEast * dy
    return Point(x: cosineEast * dy - sineEast * dx, y: cosine * dz - sine * outwards)
  }

  /// The coordinate of a place on the plane, or nil beyond its reach.
  ///
  /// From the place one goes straight down, or up, to the ellipsoid.
  public func coordinate(of point: Point) -> Coordinate? {
    guard point.length <= GroundPlane.reach else { return nil }
    let x = centerX - sineEast * point.x - sine * cosineEast * point.y
    let y = centerY + cosineEast * point.x - sine * sineEast * point.y
    let z = centerZ + cosine * point.y
    let up = (x: cosine * cosineEast, y: cosine * sineEast, z: sine)
    // The height h of the surface above the plane: (p + h·up) lies on it, a quadratic equation for h.
    let wide = 1 / (Ellipsoid.equatorialRadius * Ellipsoid.equatorialRadius)
    let high = 1 / (Ellipsoid.polarRadius * Ellipsoid.polarRadius)
    let a = wide * (up.x * up.x + up.y * up.y) + high * up.z * up.z
    let b = wide * (up.x * x + up.y * y) + high * up.z * z
    let c = wide * (x * x + y * y) + high * z * z - 1
    let height = -c / (b + (b * b - a * c).squareRoot())
    return Ellipsoid.coordinate(of: (x + height * up.x, y + height * up.y, z + height * up.z))
  }
}
