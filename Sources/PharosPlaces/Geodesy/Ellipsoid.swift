/// The ellipsoid that coordinates are measured on.
///
/// - Source: WGS 84, NGA.STND.0036 (2014), table 3.1.
enum Ellipsoid {
  /// The radius of the equator in metres.
  static let equatorialRadius = 6_378_137.0
  /// How much the poles are flattened.
  static let flattening = 1 / 298.257223563
  /// The distance of the poles from the centre in metres.
  static let polarRadius = equatorialRadius * (1 - flattening)
  /// The square of the first eccentricity.
  static let squaredEccentricity = flattening * (2 - flattening)

  /// A place on the surface in metres from the centre: towards (0°, 0°), (0°, 90° E) and the north pole.
  static func position(of coordinate: Coordinate) -> (x: Double, y: Double, z: Double) {
    let (sine, cosine) = Trigonometry.sineAndCosine(Trigonometry.radians(coordinate.latitude))
    let (sineEast, cosineEast) = Trigonometry.sineAndCosine(Trigonometry.radians(coordinate.longitude))
    let normal = equatorialRadius / (1 - squaredEccentricity * sine * sine).squareRoot()
    return (
      normal * cosine * cosineEast, normal * cosine * sineEast, normal * (1 - squaredEccentricity) * sine
    )
  }

  /// The coordinate of a place on the surface.
  static func coordinate(of position: (x: Double, y: Double, z: Double)) -> Coordinate {
    let fromAxis = (position.x * position.x + position.y * position.y).squareRoot()
    let latitude = Trigonometry.angle(y: position.z, x: (1 - squaredEccentricity) * fromAxis)
    let longitude = Trigonometry.angle(y: position.y, x: position.x)
    return Coordinate(
      wrappingLatitude: Trigonometry.degrees(latitude),
      longitude: Trigonometry.degrees(longitude)
    )
  }
}
