import PharosDocuments
package import PharosModel

/// The orientation of a handset in the world: the directions of north and up, in its own axes.
///
/// Axes as Android and iOS have them: x to the right of the screen, y to its top, z out of it.
package struct Orientation: Hashable, Sendable {
  /// The horizontal direction to north, a unit vector in the handset's axes.
  package private(set) var north = SIMD3<Float>(0, 1, 0)
  /// The direction up, a unit vector in the handset's axes.
  package private(set) var up = SIMD3<Float>(0, 0, 1)

  /// Lying on its back, its top to the north.
  init() {}

  /// The orientation of a rotation vector: the vector part of the unit quaternion that turns the handset's axes into the world's.
  ///
  /// The vector comes rounded, so that its square may exceed one by a little; it is then taken as half a turn.
  ///
  /// - Source: Android, Sensor.TYPE_ROTATION_VECTOR; the rows of the rotation matrix of a unit quaternion.
  package init(rotationVector q: SIMD3<Float>) {
    let square = q.square
    let scale = square > 1 ? 1 / square.squareRoot() : 1
    let v = q * scale
    let w = max(0, 1 - min(1, square)).squareRoot()
    north = SIMD3(2 * (v.x * v.y + w * v.z), 1 - 2 * (v.x * v.x + v.z * v.z), 2 * (v.y * v.z - w * v.x))
    up = SIMD3(2 * (v.x * v.z - w * v.y), 2 * (v.y * v.z + w * v.x), 1 - 2 * (v.x * v.x + v.y * v.y))
  }

  /// The orientation of a rotation from the handset's axes to east, north and up.
  package init(_ rotation: Rotation) {
    let sign: Float = rotation.w < 0 ? -1 : 1
    self.init(rotationVector: SIMD3(rotation.x, rotation.y, rotation.z) * sign)
  }

  /// The orientation in which gravity pushes against `up` and the magnetic field points north and down, or nil if
  /// these two are (nearly) the same direction.
  package init?(up direction: SIMD3<Float>, field: SIMD3<Float>) {
    guard let up = direction.normalized else { return nil }
    // A field within about 6° of the vertical tells no north.
    guard let east = field.cross(up).normalized(above: 0.1 * field.square.squareRoot()) else { return nil }
    self.up = up
    north = up.cross(east)
  }

  /// The rotation from the handset's axes to east, north and up, its real part not negative.
  ///
  /// - Source: Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1 (1978): of the four parts the largest is
  ///   found first, so that none is divided by a small one.
  package var rotation: Rotation {
    let (e, n, u) = (east, north, up)
    let squares = [1 + e.x + n.y + u.z, 1 + e.x - n.y - u.z, 1 - e.x + n.y - u.z, 1 - e.x - n.y + u.z]
    let largest = squares.indices.max { squares[$0] < squares[$1] } ?? 0
    let (wx, wy, wz) = (u.y - n.z, e.z - u.x, n.x - e.y)
    let (xy, xz, yz) = (e.y + n.x, e.z + u.x, n.z + u.y)
    let whole = squares[largest]
    let parts: SIMD4<Float> =
      switch largest {
      case 0: SIMD4(whole, wx, wy, wz)
      case 1: SIMD4(wx, whole, xy, xz)
      case 2: SIMD4(wy, xy, whole, yz)
      default: SIMD4(wz, xz, yz, whole)
      }
    let scale = (parts[0] < 0 ? -0.5 : 0.5) / max(whole, 1e-6).squareRoot()
    return Rotation(w: parts[0] * scale, x: parts[1] * scale, y: parts[2] * scale, z: parts[3] * scale)
  }

  /// The direction to the east.
  package var east: SIMD3<Float> { north.cross(up) }

  /// The heading of the handset's top, radians clockwise from north.
  package var bearing: Float { Bearing.of(east: pointing.east, north: pointing.north) }

  /// The direction of the handset, as shares of a metre east and north: its top, or its back the more it is held
  /// upright.
  ///
  /// If the handset is held flat or tilted, its top gives the direction. Upright, as for a photograph, the top points
  /// to the ceiling, and the back gives the direction.
  var pointing: (east: Float, north: Float) {
    let upright = min(1, max(0, 2 * (up.y - Orientation.uprightFrom)))
    let east = east
    return (east.y - upright * east.z, north.y - upright * north.z)
  }

  /// The sine of the tilt from which on the back counts too: 30°.
  private static let uprightFrom: Float = 0.5

  /// Turns with the handset, which turned so far about its own axes (radians).
  package mutating func turn(by angle: SIMD3<Float>) {
    north = Orientation.turned(north, by: angle)
    up = Orientation.turned(up, by: angle)
    straighten()
  }

  /// Tilts the orientation towards a measured upward direction, by a share of the angle between the two.
  package mutating func lean(to direction: SIMD3<Float>, share: Float) {
    guard let direction = direction.normalized else { return }
    // Turning both vectors by the same small angle keeps the heading, where moving `up` alone would shear it.
    let angle = up.cross(direction) * share
    north += angle.cross(north)
    up += angle.cross(up)
    straighten()
  }

  /// Turns about the vertical, clockwise as seen from above, by a small angle in radians.
  package mutating func veer(by angle: Float) {
    let (sine, cosine) = Bearing.eastAndNorth(angle)
    // The handset now points further clockwise: north lies further anticlockwise in its axes.
    north = north * cosine - east * sine
    straighten()
  }

  /// The world turns the other way in the handset's axes: to second order in a small angle, by Rodrigues' formula in a large one.
  private static func turned(_ vector: SIMD3<Float>, by angle: SIMD3<Float>) -> SIMD3<Float> {
    let first = vector.cross(angle)
    let square = angle.square
    guard square > 0.01 else { return vector + first + first.cross(angle) * 0.5 }
    let size = square.squareRoot()
    let (sine, cosine) = Bearing.eastAndNorth(size)
    return vector + first * (sine / size) + first.cross(angle) * ((1 - cosine) / square)
  }

  /// Makes the directions units at a right angle again.
  private mutating func straighten() {
    up = up.normalized ?? SIMD3(0, 0, 1)
    let flat = north - up * north.dot(up)
    north = flat.normalized ?? (abs(up.y) < 0.9 ? SIMD3(0, 1, 0) : SIMD3(1, 0, 0)).flattened(by: up)
  }
}

extension SIMD3<Float> {
  /// The scalar product.
  func dot(_ other: SIMD3<Float>) -> Float { x * other.x + y * other.y + z * other.z }

  /// The square of the length.
  var square: Float { dot(self) }

  /// The vector product.
  func cross(_ other: SIMD3<Float>) -> SIMD3<Float> {
    SIMD3(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  /// The same direction with a length of one, or nil where there is none.
  var normalized: SIMD3<Float>? { normalized(above: 1e-6) }

  /// The same direction with a length of one, or nil where the vector is shorter than that.
  func normalized(above minimum: Float) -> SIMD3<Float>? {
    let length = square.squareRoot()
    guard length > minimum, length.isFinite else { return nil }
    return self / length
  }

  /// The part at a right angle to a unit vector that it is not parallel to, as a unit vector.
  fileprivate func flattened(by up: SIMD3<Float>) -> SIMD3<Float> {
    (self - up * dot(up)).normalized ?? SIMD3(0, 0, 0)
  }
}

/// Directions on the plane in single precision, radians clockwise from north.
///
/// Made of exactly rounded operations only, so that a walk comes out the same on every machine.
package enum Bearing {
  /// Returns the direction of a way of some metres east and north: −π to π, 0 where there is no direction.
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

  /// Returns the sine and cosine of an angle of at most a few thousand turns: the shares of a metre east and north.
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

extension Orientation {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(vector: &north)
    try coder.code(vector: &up)
  }
}
