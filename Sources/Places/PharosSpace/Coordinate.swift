import PharosModel

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

extension Coordinate {
  /// The length of the shortest way over the ellipsoid to another place.
  ///
  /// Exact to a tenth of a millimetre, except between places almost opposite each other on the Earth, where it is the
  /// length of the great circle of a sphere and up to 0.6 % wrong.
  ///
  /// - Units: metres.
  /// - Source: T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid", Survey Review 23 (1975).
  public func distance(to other: Coordinate) -> Double {
    let ratio = 1 - Ellipsoid.flattening
    let here = Coordinate.reduced(latitude, ratio)
    let there = Coordinate.reduced(other.latitude, ratio)
    let difference = Trigonometry.radians(other.longitude - longitude)
    var lambda = difference
    for _ in 0..<Coordinate.maximumRounds {
      let (sineLambda, cosineLambda) = Trigonometry.sineAndCosine(lambda)
      let across = there.cosine * sineLambda
      let along = here.cosine * there.sine - here.sine * there.cosine * cosineLambda
      let sineSigma = (across * across + along * along).squareRoot()
      guard sineSigma > 0 else { return 0 }
      let cosineSigma = here.sine * there.sine + here.cosine * there.cosine * cosineLambda
      let sigma = Trigonometry.angle(y: sineSigma, x: cosineSigma)
      let sineAlpha = here.cosine * there.cosine * sineLambda / sineSigma
      let squaredCosine = 1 - sineAlpha * sineAlpha
      let middle = squaredCosine > 1e-14 ? cosineSigma - 2 * here.sine * there.sine / squaredCosine : 0
      let c = Ellipsoid.flattening / 16 * squaredCosine * (4 + Ellipsoid.flattening * (4 - 3 * squaredCosine))
      let inner = middle + c * cosineSigma * (2 * middle * middle - 1)
      let next = difference + (1 - c) * Ellipsoid.flattening * sineAlpha * (sigma + c * sineSigma * inner)
      guard (next - lambda).magnitude > 1e-13 else {
        return Coordinate.arc(sigma, sineSigma, cosineSigma, middle: middle, squaredCosine: squaredCosine)
      }
      lambda = next
    }
    return greatCircle(to: other)
  }

  /// After how many rounds places count as opposite each other; all others take at most ten.
  private static let maximumRounds = 50

  /// Sine and cosine of the reduced latitude.
  private static func reduced(_ latitude: Double, _ ratio: Double) -> (sine: Double, cosine: Double) {
    let (sine, cosine) = Trigonometry.sineAndCosine(Trigonometry.radians(latitude))
    let length = (cosine * cosine + ratio * ratio * sine * sine).squareRoot()
    return (ratio * sine / length, cosine / length)
  }

  /// The length of an arc of the geodesic, from its angle on the auxiliary sphere.
  private static func arc(
    _ sigma: Double,
    _ sine: Double,
    _ cosine: Double,
    middle: Double,
    squaredCosine: Double
  ) -> Double {
    let polar = Ellipsoid.polarRadius * Ellipsoid.polarRadius
    let equatorial = Ellipsoid.equatorialRadius * Ellipsoid.equatorialRadius
    let u = squaredCosine * (equatorial - polar) / polar
    let a = 1 + u / 16_384 * (4_096 + u * (-768 + u * (320 - 175 * u)))
    let b = u / 1_024 * (256 + u * (-128 + u * (74 - 47 * u)))
    let square = middle * middle
    let outer = b / 6 * middle * (4 * sine * sine - 3) * (4 * square - 3)
    let correction = b * sine * (middle + b / 4 * (cosine * (2 * square - 1) - outer))
    return Ellipsoid.polarRadius * a * (sigma - correction)
  }

  /// The length of the way on a sphere of the Earth's mean radius.
  private func greatCircle(to other: Coordinate) -> Double {
    let (sine, cosine) = Trigonometry.sineAndCosine(Trigonometry.radians(latitude))
    let (otherSine, otherCosine) = Trigonometry.sineAndCosine(Trigonometry.radians(other.latitude))
    let (east, towards) = Trigonometry.sineAndCosine(Trigonometry.radians(other.longitude - longitude))
    let x = cosine * otherSine - sine * otherCosine * towards
    let y = otherCosine * east
    let angle = Trigonometry.angle(
      y: (x * x + y * y).squareRoot(),
      x: sine * otherSine + cosine * otherCosine * towards
    )
    return angle * (2 * Ellipsoid.equatorialRadius + Ellipsoid.polarRadius) / 3
  }
}

/// The ellipsoid that coordinates are measured on.
///
/// - Source: WGS 84, NGA.STND.0036 (2014), table 3.1.
enum Ellipsoid {
  /// The radius of the equator in metres.
  static let equatorialRadius = 6_378_137.0
  /// The flattening of the poles.
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
