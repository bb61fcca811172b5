/// Directions on the plane in single precision, radians clockwise from north.
///
/// Made of exactly rounded operations only, so that a walk comes out the same on every machine.
package enum Bearing {
  /// The direction of a way that many metres east and north: −π to π, 0 where there is no direction.
  ///
  /// - Source: the series of the arc tangent after halving the angle once; with t ≤ tan(π/8) the first term left out is below
  ///   10⁻⁸.
  package static func of(east: Float, north: Float) -> Float {
    let across = east.magnitude
    let along = north.magnitude
    guard across > 0 || along > 0 else { return 0 }
    let isWide = across > along
    let slope = isWide ? along / across : across / along
    let t = slope / (1 + (1 + slope * slope).squareRoot())
    let square = t * t
    var sum: Float = 1.0 / 15
    sum = 1.0 / 13 - square * sum
    sum = 1.0 / 11 - square * sum
    sum = 1.0 / 9 - square * sum
    sum = 1.0 / 7 - square * sum
    sum = 1.0 / 5 - square * sum
    sum = 1.0 / 3 - square * sum
    sum = 1 - square * sum
    var angle = 2 * t * sum
    if isWide { angle = .pi / 2 - angle }
    if north < 0 { angle = .pi - angle }
    return east < 0 ? -angle : angle
  }

  /// The sine and cosine of an angle of at most a few thousand turns: how far east and north a metre leads.
  ///
  /// - Source: Taylor's series after taking out quarter turns; with an angle of at most π/4 the first term left out is below
  ///   10⁻⁹.
  @inlinable
  package static func eastAndNorth(_ angle: Float) -> (east: Float, north: Float) {
    let quarters = (angle * (2 / .pi)).nearestWhole
    guard quarters.magnitude < 10_000 else { return (0, 1) }
    // π/2 in two parts, the first exact in few bits, so that the rest keeps its own.
    let rest = (angle - quarters * 1.570_312_5) - quarters * 4.838_267_94e-4
    let square = rest * rest
    let sine =
      rest * (1 - square * (1.0 / 6 - square * (1.0 / 120 - square * (1.0 / 5_040 - square / 362_880))))
    let cosine =
      1 - square * (0.5 - square * (1.0 / 24 - square * (1.0 / 720 - square * (1.0 / 40_320))))
    switch Int(quarters) & 3 {
    case 0: return (sine, cosine)
    case 1: return (cosine, -sine)
    case 2: return (-sine, -cosine)
    default: return (-cosine, sine)
    }
  }

  /// The same direction within −π to π.
  @inlinable
  package static func wrapped(_ angle: Float) -> Float {
    guard angle.magnitude > .pi else { return angle }
    return angle - (angle / (2 * .pi)).rounded() * (2 * .pi)
  }
}

extension Float {
  /// The nearest whole number, of two the even one, of a number of at most four million.
  ///
  /// A sum so large that it has no bits left for parts. `rounded()` calls the C library where the processor is not known to
  /// have an instruction for it, which takes as long as the rest of an exponential.
  @inlinable
  var nearestWhole: Float { (self + 0x1.8p23) - 0x1.8p23 }
}
