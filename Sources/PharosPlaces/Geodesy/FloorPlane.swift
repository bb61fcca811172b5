/// The plane that a floor is measured on: x metres east and y metres north of its origin.
public enum FloorPlane: Hashable, Sendable {
  /// Metres on the ground: the usual one.
  case ground(GroundPlane)
  /// Metres on Mercator's map, for floors that were surveyed on it.
  case mercator(MercatorPlane)

  /// Where a coordinate lies on the plane, or nil beyond its reach.
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
