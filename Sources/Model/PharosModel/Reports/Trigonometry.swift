/// Sine, cosine and arc tangent, made of exactly rounded operations only.
///
/// Not the C library's, for the reasons that `RadioMath` gives: a place must come out the same on every
/// machine. Against a correctly rounded library they differ by at most two units in the last place, on the Earth's
/// surface a few nanometres.
package enum Trigonometry {
  /// π/2 in two parts, the second being what the first leaves out.
  private static let halfPi = (high: 1.5707963267948966, low: 6.123233995736766e-17)

  /// An angle in radians.
  package static func radians(_ degrees: Double) -> Double { degrees * (.pi / 180) }

  /// An angle in degrees.
  package static func degrees(_ radians: Double) -> Double { radians * (180 / .pi) }

  /// The sine and the cosine of an angle in radians, for angles of at most a few turns.
  package static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
    let quarters = (angle / halfPi.high).rounded()
    guard quarters.magnitude < 1e6 else { return (.nan, .nan) }
    let rest = angle.addingProduct(-quarters, halfPi.high).addingProduct(-quarters, halfPi.low)
    let sine = reducedSine(rest)
    let cosine = reducedCosine(rest)
    switch Int(quarters) & 3 {
    case 0: return (sine, cosine)
    case 1: return (cosine, -sine)
    case 2: return (-sine, -cosine)
    default: return (-cosine, sine)
    }
  }

  /// The angle of the direction (x, y), counter-clockwise from x: −π to π; 0 where there is no direction.
  package static func angle(y: Double, x: Double) -> Double {
    guard x != 0 || y != 0 else { return 0 }
    let isSteep = y.magnitude > x.magnitude
    let slope = isSteep ? x.magnitude / y.magnitude : y.magnitude / x.magnitude
    var angle = arcTangent(slope)
    if isSteep { angle = halfPi.high - angle }
    if x < 0 { angle = .pi - angle }
    return y < 0 ? -angle : angle
  }

  /// The arc tangent of a number from 0 to 1.
  ///
  /// - Source: Gregory's series after halving the angle twice; with t ≤ tan(π/16) the first term left out is below
  ///   10⁻¹⁸.
  private static func arcTangent(_ tangent: Double) -> Double {
    var t = tangent
    for _ in 0..<2 { t /= 1 + (1 + t * t).squareRoot() }
    let square = t * t
    var sum = 0.0
    var odd = 23.0
    while odd >= 1 {
      sum = 1 / odd - square * sum
      odd -= 2
    }
    return 4 * t * sum
  }

  /// The sine of an angle of at most π/4.
  ///
  /// - Source: Taylor's series; the first term left out is below 10⁻¹⁹.
  private static func reducedSine(_ angle: Double) -> Double {
    let square = angle * angle
    var sum = 1.0
    var term = 18.0
    while term >= 2 {
      sum = 1 - sum * square / (term * (term + 1))
      term -= 2
    }
    return angle * sum
  }

  /// The cosine of an angle of at most π/4.
  private static func reducedCosine(_ angle: Double) -> Double {
    let square = angle * angle
    var sum = 1.0
    var term = 17.0
    while term >= 1 {
      sum = 1 - sum * square / (term * (term + 1))
      term -= 2
    }
    return sum
  }
}
