import PharosDocuments
import PharosSpace

/// The belief about the location of a subject: particles, each with a place, a heading bias, a step scale, a floor and
/// a weight.
///
/// - Shape: one array for each quantity, particle by particle; 21 bytes a particle, 33 with odometry.
package struct ParticleCloud: Sendable, Hashable {
  /// Metres east on the particle's floor.
  package var east: [Float] = []
  /// Metres north on the particle's floor.
  package var north: [Float] = []
  /// The correction that is added to the heading from the sensors, in radians.
  var bias: [Float] = []
  /// The factor on the step length from the sensors.
  var scale: [Float] = []
  /// The logarithm of the weight, up to a number common to all.
  package var weight: [Float] = []
  /// The floor, as its place in `LocatableVenue.floors`.
  package var floor: [UInt8] = []
  /// The clockwise angle of the odometry's frame from north, in radians; empty unless odometry moves the particles.
  var turn: [Float] = []
  /// The factor on ways from the odometry; empty unless odometry moves the particles.
  var stretch: [Float] = []
  /// The change of that angle with the way, in radians a metre; empty unless odometry moves the particles.
  var bend: [Float] = []

  package init() {}

  /// The number of particles; 0 before the first evidence.
  package var count: Int { east.count }
  /// Indicates whether there are no particles yet.
  var isEmpty: Bool { east.isEmpty }

  /// Forgets all.
  package mutating func removeAll() {
    east.removeAll(keepingCapacity: true)
    north.removeAll(keepingCapacity: true)
    bias.removeAll(keepingCapacity: true)
    scale.removeAll(keepingCapacity: true)
    weight.removeAll(keepingCapacity: true)
    floor.removeAll(keepingCapacity: true)
    forgetFrame()
  }

  /// Makes room.
  mutating func reserve(_ count: Int) {
    east.reserveCapacity(count)
    north.reserveCapacity(count)
    bias.reserveCapacity(count)
    scale.reserveCapacity(count)
    weight.reserveCapacity(count)
    floor.reserveCapacity(count)
  }

  /// Adds a particle.
  package mutating func append(east: Float, north: Float, bias: Float, scale: Float, floor: UInt8) {
    self.east.append(east)
    self.north.append(north)
    self.bias.append(bias)
    self.scale.append(scale)
    self.floor.append(floor)
    weight.append(0)
  }

  /// The floors on which any are, in their order.
  func floors() -> [Int] {
    var isHeld = [Bool](repeating: false, count: 256)
    for number in floor { isHeld[Int(number)] = true }
    return isHeld.indices.filter { isHeld[$0] }
  }

  /// The weights themselves, with a sum of one.
  package func shares() -> [Float] {
    let best = weight.max() ?? 0
    // As after every draw.
    if weight.allSatisfy({ $0 == best }) { return [Float](repeating: 1 / Float(count), count: count) }
    let shares = weight.map { FusionMath.exponential($0 - best) }
    let factor = 1 / shares.reduce(0, +)
    return shares.map { $0 * factor }
  }

  /// Spreads all by a random walk that keeps to the floors and goes through no wall.
  ///
  /// - Parameters:
  ///   - deviation: one standard deviation along each axis, in metres.
  ///   - floors: the floors; without them nothing is in the way.
  ///   - noise: the source of random numbers.
  package mutating func spread(
    _ deviation: Float,
    on floors: [GroundFloor] = [],
    _ noise: inout FusionNoise
  ) {
    guard deviation > 0 else { return }
    for index in 0..<count { shift(index, by: deviation, on: floors, &noise) }
  }

  /// Moves a particle by a random way that is open; it stays where the first few are not.
  mutating func shift(
    _ index: Int,
    by deviation: Float,
    on floors: [GroundFloor],
    _ noise: inout FusionNoise
  ) {
    let number = Int(floor[index])
    for _ in 0..<ParticleCloud.shiftTries {
      let (toEast, toNorth) = (
        east[index] + deviation * noise.normal(), north[index] + deviation * noise.normal()
      )
      guard
        number >= floors.count
          || floors[number].isOpen(east[index], north[index], toEast: toEast, toNorth: toNorth)
      else { continue }
      (east[index], north[index]) = (toEast, toNorth)
      return
    }
  }

  /// The number of ways that are tried.
  ///
  /// 4: beside a straight wall, one particle in sixteen stays where it is.
  private static let shiftTries = 4

  /// Draws particles again, each with a frequency proportional to its weight, if few of them carry most of the weight,
  /// or if far more or fewer are needed than there are.
  ///
  /// Copies move apart on the floors; without floors nothing is in their way.
  ///
  /// - Source: systematic resampling, Kitagawa, J. Comput. Graph. Stat. 5 (1996).
  package mutating func resample(
    _ rules: FusionRules,
    on floors: [GroundFloor] = [],
    _ noise: inout FusionNoise
  ) {
    let shares = shares()
    var squares: Float = 0
    for share in shares { squares += share * share }
    let needed = needed(rules)
    let isFar = needed * 4 < count * 3 || needed * 3 > count * 4
    guard squares * Float(count) > 2 || isFar else { return }
    var copies = [Int32](repeating: 0, count: needed)
    let step = 1 / Float(needed)
    var pointer = noise.share() * step
    var sum: Float = 0
    var source = 0
    for index in copies.indices {
      while source < count - 1, sum + shares[source] <= pointer {
        sum += shares[source]
        source += 1
      }
      copies[index] = Int32(source)
      pointer += step
    }
    east = copies.map { east[Int($0)] }
    north = copies.map { north[Int($0)] }
    bias = copies.map { bias[Int($0)] }
    scale = copies.map { scale[Int($0)] }
    floor = copies.map { floor[Int($0)] }
    if !turn.isEmpty {
      turn = copies.map { turn[Int($0)] }
      stretch = copies.map { stretch[Int($0)] }
      bend = copies.map { bend[Int($0)] }
    }
    roughen(copies, on: floors, &noise)
    weight = [Float](repeating: 0, count: needed)
  }

  /// Returns the number of particles that the belief needs: a fixed number for each square of a floor that it covers.
  ///
  /// - Source: Fox, "Adapting the sample size in particle filters through KLD-sampling", Int. J. Robotics Research 22 (2003).
  package func needed(_ rules: FusionRules) -> Int {
    let maximum = rules.particles
    guard rules.minimumParticles < maximum else { return maximum }
    // A bit for each square; squares that share one, 192 m or some floors apart, count as one.
    var isCovered = [UInt64](repeating: 0, count: 64)
    for index in 0..<count {
      let row = ParticleCloud.squareNumber(north[index]) + 7 * Int(floor[index])
      isCovered[row & 63] |= 1 << UInt64(ParticleCloud.squareNumber(east[index]) & 63)
    }
    let covered = isCovered.reduce(0) { $0 + $1.nonzeroBitCount }
    let minimum = turn.isEmpty ? rules.minimumParticles : rules.minimumWithOdometry
    return min(maximum, max(minimum, covered * rules.particlesPerSquare))
  }

  /// Returns the number of a square along an axis; the same number beyond 90 km, and for NaN.
  private static func squareNumber(_ meters: Float) -> Int {
    Int(max(0, min(65_535, meters * (1 / ParticleCloud.squareSide) + 32_768)))
  }

  /// The side of the squares that are counted.
  ///
  /// - Units: metres. With 2 m, held-back walks are placed as well, by 180 particles in the mean instead of 135.
  private static let squareSide: Float = 3

  /// Moves copies of one particle apart a little, so that they do not count as one.
  private mutating func roughen(_ copies: [Int32], on floors: [GroundFloor], _ noise: inout FusionNoise) {
    let place = turn.isEmpty ? ParticleCloud.placeRoughness : ParticleCloud.finePlaceRoughness
    for index in 1..<count where copies[index] == copies[index - 1] {
      shift(index, by: place, on: floors, &noise)
      bias[index] += ParticleCloud.biasRoughness * noise.normal()
      scale[index] = ParticleCloud.held(scale[index] + ParticleCloud.scaleRoughness * noise.normal())
      guard !turn.isEmpty else { continue }
      turn[index] += ParticleCloud.turnRoughness * noise.normal()
      stretch[index] += ParticleCloud.stretchRoughness * noise.normal()
      bend[index] += ParticleCloud.bendRoughness * noise.normal()
    }
  }

  /// The distance by which copies are moved apart.
  ///
  /// - Units: metres.
  private static let placeRoughness: Float = 0.25
  /// The same where odometry moves the particles.
  ///
  /// - Units: metres. It adds little to the decimetres that a scan leaves.
  private static let finePlaceRoughness: Float = 0.05
  /// The amounts by which their frames' directions, scales and bends are moved apart.
  ///
  /// - Units: radians, a share, radians a metre.
  private static let turnRoughness: Float = 0.004
  private static let stretchRoughness: Float = 0.002
  private static let bendRoughness: Float = 0.000_03
  /// The amount by which their heading biases are moved apart.
  ///
  /// - Units: radians.
  private static let biasRoughness: Float = 0.02
  /// The amount by which their step scales are moved apart.
  private static let scaleRoughness: Float = 0.02

  /// Returns a step scale, clamped to that of people.
  static func held(_ scale: Float) -> Float { min(1.6, max(0.5, scale)) }
}

extension ParticleCloud {
  /// Moves all particles by a step, each in its own direction and by its own length.
  ///
  /// Steps with a cost reduce the weight.
  ///
  /// - Parameters:
  ///   - length: the length from the sensors, in metres.
  ///   - lengthDeviation: the uncertainty of that length for this step, in metres.
  ///   - heading: the heading from the sensors, in radians from north clockwise.
  ///   - headingDeviation: the uncertainty of that heading for this step.
  ///   - content: the floors.
  ///   - rules: the constants.
  ///   - noise: the source of random numbers.
  mutating func walk(
    length: Float,
    lengthDeviation: Float,
    heading: Float,
    headingDeviation: Float,
    _ content: LocatableVenue.Content,
    _ rules: FusionRules,
    _ noise: inout FusionNoise
  ) {
    for index in 0..<count {
      bias[index] += rules.biasWander * noise.normal()
      let way = max(0, (length + lengthDeviation * noise.normal()) * scale[index])
      let direction = Bearing.eastAndNorth(heading + bias[index] + headingDeviation * noise.normal())
      let (fromEast, fromNorth) = (east[index], north[index])
      let (toEast, toNorth) = (fromEast + way * direction.east, fromNorth + way * direction.north)
      let cost = content.floors[Int(floor[index])].cost(
        east: fromEast,
        north: fromNorth,
        toEast: toEast,
        toNorth: toNorth,
        rules
      )
      weight[index] -= cost
      east[index] = toEast
      north[index] = toNorth
    }
  }
}

extension GroundFloor {
  /// Returns whether a straight way of a particle keeps to the floor and goes through no wall.
  ///
  /// A particle that steps or satellites have brought off the floor is free to come back.
  func isOpen(_ east: Float, _ north: Float, toEast: Float, toNorth: Float) -> Bool {
    let start = Point(x: Double(east), y: Double(north))
    guard isFloor(start) else { return true }
    let end = Point(x: Double(toEast), y: Double(toNorth))
    return isFloor(end) && space.canWalk(from: start, to: end)
  }

  /// Returns whether a place belongs to the floor: it is walkable, and not far beyond what is drawn.
  func isFloor(_ point: Point) -> Bool {
    space.isWalkable(point) && (extent == nil || holds(point, margin: WalkRaster.margin))
  }

  /// Returns the place on the floor that is nearest to a place.
  func nearest(to point: Point) -> Point {
    guard !isFloor(point), let extent else { return point }
    let (low, high) = (extent.southWest, extent.northEast)
    let held = Point(x: min(max(point.x, low.x), high.x), y: min(max(point.y, low.y), high.y))
    return space.nearestWalkable(to: held) ?? held
  }

  /// Returns the cost of a straight step, in nats.
  @inline(__always)
  func cost(
    east: Float,
    north: Float,
    toEast: Float,
    toNorth: Float,
    _ rules: FusionRules
  ) -> Float {
    let start = raster.cell(east: east, north: north)
    let end = raster.cell(east: toEast, north: toNorth)
    var cost: Float = 0
    if !end.contains(.walkable) { cost += start.contains(.walkable) ? rules.obstacleCost : rules.insideCost }
    if start.contains(.walled) || end.contains(.walled),
      space.crossesWall(
        from: Point(x: Double(east), y: Double(north)),
        to: Point(x: Double(toEast), y: Double(toNorth))
      )
    {
      cost += rules.wallCost
    }
    return cost
  }
}

/// Random numbers for particles: the same ones for the same seed, on every machine.
///
/// - Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
package struct FusionNoise: Sendable, Hashable {
  private var state: UInt64

  /// Starts from a seed.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 up to but not including 1.
  mutating func share() -> Float { Float(next() >> 40) * 0x1p-24 }

  /// A number of about a normal distribution: the sum of four evenly distributed ones.
  ///
  /// Its tails end at ±3.46; none of what it is used for has tails that are known better.
  mutating func normal() -> Float {
    let bits = next()
    let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48)
    return (Float(sum) - 131_070) * (1 / 37_837.2)
  }
}

/// Exponentials of weights.
enum FusionMath {
  /// e to the power of a number of at most 80; 0 below −80.
  ///
  /// - Source: 2 to the power of the whole part is an exponent; for the rest, at most ½, Taylor's series, whose first term left
  ///   out is below 10⁻⁷.
  @inline(__always)
  static func exponential(_ number: Float) -> Float {
    guard number > -80 else { return 0 }
    let power = min(number, 80) * 1.442_695_04
    let whole = power.nearestWhole
    let rest = (power - whole) * 0.693_147_18
    let sum =
      1 + rest
      * (1 + rest * (0.5 + rest * (1.0 / 6 + rest * (1.0 / 24 + rest * (1.0 / 120 + rest / 720)))))
    return sum * Float(bitPattern: UInt32(Int32(whole) + 127) << 23)
  }
}

extension ParticleCloud {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&east)
    try coder.code(&north)
    try coder.code(&bias)
    try coder.code(&scale)
    try coder.code(&weight)
    try coder.code(&floor)
    try coder.code(&turn)
    try coder.code(&stretch)
    try coder.code(&bend)
    let (count, framed) = (count, turn.count)
    let lengths = [north.count, bias.count, scale.count, weight.count, floor.count]
    try coder.check(lengths.allSatisfy { $0 == count }, "particles")
    try coder.check(
      (framed == 0 || framed == count) && stretch.count == framed && bend.count == framed,
      "particles"
    )
  }
}

extension FusionNoise {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&state)
  }
}
