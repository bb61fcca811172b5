/// A place on the Earth: latitude and longitude on the ellipsoid WGS 84, as satellites and maps give them.
///
/// - Units: degrees, north and east positive.
public struct Coordinate: Hashable, Sendable {
  /// Degrees north of the equator, −90 to 90.
  public let latitude: Double
  /// Degrees east of Greenwich, −180 to 180.
  public let longitude: Double

  /// Makes a coordinate, or nil where one of the numbers is none or out of bounds.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Makes a coordinate of angles that were computed, brought back into bounds where rounding led out of them.
  init(wrappingLatitude latitude: Double, longitude: Double) {
    self.latitude = min(90, max(-90, latitude))
    let turned = longitude - 360 * (longitude / 360).rounded()
    self.longitude = min(180, max(-180, turned))
  }
}

extension Coordinate: CustomStringConvertible {
  /// Latitude and longitude in degrees, as in `52.5208, 13.2945`.
  public var description: String { "\(latitude), \(longitude)" }
}
