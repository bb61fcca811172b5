import PharosDocuments
import PharosModel

/// The direction of the handset while it is carried, from its own rotation vector, or else from turn rate, field and
/// gravity.
///
/// If the handset provides a rotation vector, it determines the tilt, and also the heading; where there is a turn
/// rate, it only pulls the heading. Otherwise the turn rate updates the orientation, gravity corrects the tilt, and
/// the magnetic field pulls the heading to north by a Kalman filter over one number, the heading's error. A field that
/// is weaker, stronger or steeper than usual comes from iron nearby and pulls less. Without a field the reference
/// stays unknown. Without a turn rate, each sample of the field gives an orientation of its own.
struct Compass: Hashable, Sendable {
  private var orientation = Orientation()
  private var reference: Heading.Reference?
  private var references: UInt32 = 0
  /// The variance of the heading's lasting error, in square radians.
  private var variance: Float = 0
  /// The time for which measured headings have differed from the own one by more than the errors of both allow.
  ///
  /// - Units: seconds.
  private var astray: Float = 0
  private var gravity = SIMD3<Float>.zero
  /// The reading of the turn rate when nothing turns.
  private var zeroRate = SIMD3<Float>.zero
  private var field = FieldWatch()
  private var rotationAt = Timestamp.distantPast
  private var turnAt = Timestamp.distantPast
  private var gravityAt = Timestamp.distantPast
  private var fieldAt = Timestamp.distantPast
  private var pointing = Pointing()

  /// Takes the handset's own orientation.
  ///
  /// Its tilt is better than that from gravity alone. Its heading follows the field, and therefore its distortions,
  /// within seconds. So where there is a turn rate, the rotation vector only pulls the heading.
  mutating func update(rotationVector: SIMD3<Float>, at time: Timestamp) {
    let reported = Orientation(rotationVector: rotationVector)
    let passed = isAlive(rotationAt, at: time) ? Float((time - rotationAt).seconds) : 0
    rotationAt = time
    if isAlive(turnAt, at: time), reference == .north {
      let white = MotionRules.rotationNoise * MotionRules.rotationNoise
      let noise = white * max(1, MotionRules.rotationMemory / max(0.02, passed))
      // The own heading over the reported tilt.
      let error = Bearing.wrapped(reported.bearing - orientation.bearing)
      orientation = reported
      doubt(error, white: white, over: passed)
      orientation.veer(by: -error * (1 - pull(by: noise)))
    } else {
      orientation = reported
      reference = .north
      variance = MotionRules.headingBias * MotionRules.headingBias
    }
    pointing.add(orientation.pointing, at: time, window: MotionRules.headingWindow)
  }

  /// Takes a turn rate.
  ///
  /// - Units: rad/s about the handset's axes.
  mutating func update(turnRate: SIMD3<Float>, at time: Timestamp, isResting: Bool) {
    let isContinued = isAlive(turnAt, at: time)
    let passed = Float((time - turnAt).seconds)
    turnAt = time
    // No sensor has recorded how the handset turned meanwhile.
    if !isContinued, !isAlive(rotationAt, at: time) { reference = nil }
    guard isAlive(gravityAt, at: time) else { return }
    if reference == nil {
      // Gravity is known; which way north lies is not.
      orientation = Orientation(up: gravity, field: orientation.north) ?? orientation
      lose()
    } else if isContinued {
      if isResting { learn(zeroRate: turnRate, over: passed) }
      orientation.turn(by: (turnRate - zeroRate) * passed)
      variance += MotionRules.turnDrift * MotionRules.turnDrift * passed
      // Where samples are missing the last one stands for them, right or wrong.
      if passed > Compass.gap { variance += (turnRate - zeroRate).square * passed * passed }
    }
    pointing.add(orientation.pointing, at: time, window: MotionRules.headingWindow)
  }

  /// Takes an acceleration with gravity.
  ///
  /// - Units: m/s² along the handset's axes.
  mutating func update(acceleration: SIMD3<Float>, at time: Timestamp) {
    let passed = Float((time - gravityAt).seconds)
    let isContinued = isAlive(gravityAt, at: time)
    gravityAt = time
    gravity = isContinued ? gravity + (acceleration - gravity) * (passed / (0.5 + passed)) : acceleration
    guard isContinued, isAlive(turnAt, at: time), !isAlive(rotationAt, at: time) else { return }
    orientation.lean(to: acceleration, share: passed / (MotionRules.leanTime + passed))
  }

  /// Takes a magnetic field.
  ///
  /// - Units: µT along the handset's axes.
  mutating func update(field sample: SIMD3<Float>, at time: Timestamp) {
    let passed = isAlive(fieldAt, at: time) ? Float((time - fieldAt).seconds) : 0
    fieldAt = time
    guard isAlive(gravityAt, at: time) else { return }
    let isTurning = isAlive(turnAt, at: time)
    guard !isAlive(rotationAt, at: time) else { return }
    let up = isTurning ? orientation.up : gravity.normalized ?? SIMD3(0, 0, 1)
    let oddity = field.oddity(of: sample, up: up, after: passed)
    guard let bare = Orientation(up: up, field: sample) else { return }
    let white = MotionRules.fieldNoise * MotionRules.fieldNoise * (1 + oddity * oddity)
    guard isTurning, reference == .north else {
      orientation = bare
      reference = .north
      variance = max(white, MotionRules.headingBias * MotionRules.headingBias)
      pointing.add(orientation.pointing, at: time, window: MotionRules.headingWindow)
      return
    }
    guard passed > 0 else { return }
    // The field's error lasts for metres: many samples of it count as one.
    let noise = white * max(1, MotionRules.fieldMemory / passed)
    let error = Bearing.wrapped(bare.bearing - orientation.bearing)
    doubt(error, white: MotionRules.rotationNoise * MotionRules.rotationNoise, over: passed)
    orientation.veer(by: error * pull(by: noise))
  }

  /// Learns the turn rate at rest.
  ///
  /// A slow turn of the hand is not at rest.
  private mutating func learn(zeroRate sample: SIMD3<Float>, over passed: Float) {
    guard (sample - zeroRate).square < MotionRules.restTurn * MotionRules.restTurn else { return }
    zeroRate += (sample - zeroRate) * (passed / (MotionRules.zeroRateTime + passed))
    let limit = SIMD3<Float>(repeating: MotionRules.maximumZeroRate)
    zeroRate.clamp(lowerBound: -limit, upperBound: limit)
  }

  /// Records the difference of a measured heading from the own one.
  ///
  /// Iron along the way bends the field for some seconds, and then the turn rate is right. A difference that lasts
  /// longer comes from a turn that was missed, and then the field is right.
  private mutating func doubt(_ error: Float, white: Float, over passed: Float) {
    guard error * error > 9 * (variance + white) else {
      astray = 0
      return
    }
    astray += passed
    guard astray > MotionRules.astrayTime else { return }
    variance = error * error
    astray = 0
  }

  /// Returns the share by which a measured heading corrects the own one: the gain of a Kalman filter over the
  /// heading's error.
  private mutating func pull(by noise: Float) -> Float {
    let gain = variance / (variance + noise)
    variance *= 1 - gain
    return gain
  }

  /// Returns the heading of the step that ends now, from the directions since the last step, or nil if no sensor gives
  /// it.
  mutating func heading(at time: Timestamp) -> Heading? {
    defer { pointing = Pointing() }
    guard let reference else { return nil }
    if !isAlive(pointing.time, at: time) {
      guard isAlive(rotationAt, at: time) || isAlive(turnAt, at: time) else { return nil }
      pointing.add(orientation.pointing, at: time, window: MotionRules.headingWindow)
    }
    let spread = pointing.spread
    let lasting: Float
    switch reference {
    // Grip and declination are part of every heading, however sure the compass is.
    case .north: lasting = variance + MotionRules.headingBias * MotionRules.headingBias
    case .unknown: lasting = Compass.anyDirection * Compass.anyDirection
    }
    return Heading(
      radians: pointing.bearing,
      deviation: (MotionRules.headingNoise * MotionRules.headingNoise + spread * spread).squareRoot(),
      biasDeviation: min(Compass.anyDirection, lasting.squareRoot()),
      reference: reference
    )
  }

  /// Returns the orientation of the handset, with one standard deviation of its heading in radians, or nil if no sensor gives
  /// it, or none of them knows north.
  func orientation(at time: Timestamp) -> (orientation: Orientation, deviation: Float)? {
    guard reference == .north,
      isAlive(rotationAt, at: time) || isAlive(turnAt, at: time) || isAlive(fieldAt, at: time)
    else { return nil }
    return (orientation, (variance + MotionRules.headingBias * MotionRules.headingBias).squareRoot())
  }

  /// The time between two turn rates from which on some are missing: phones send 50 a second, and at least ten.
  ///
  /// - Units: seconds.
  private static let gap: Float = 0.11

  /// The deviation of a direction that may be any: that of an even spread over a turn, π ÷ √3.
  static let anyDirection: Float = 1.813_8

  /// Drops the reference: from here on headings are measured from a new, unknown direction.
  private mutating func lose() {
    references &+= 1
    reference = .unknown(references)
    variance = 0
  }

  private func isAlive(_ last: Timestamp, at time: Timestamp) -> Bool {
    last != .distantPast && time - last <= MotionRules.sampleLife
  }
}

/// A measure of how usual a magnetic field is at its place: iron in walls, escalators and cars bends it.
struct FieldWatch: Hashable, Sendable {
  /// The mean strength, and the mean part that points down, of the fields of the last half minute.
  ///
  /// - Units: µT.
  private var strength: Float = 0
  private var down: Float = 0

  /// The time over which the means are taken.
  ///
  /// - Units: seconds.
  private static let memory: Float = 30
  /// The weakest and the strongest field of the Earth, with a margin for a case of steel.
  ///
  /// - Units: µT.
  /// - Source: World Magnetic Model 2020: 22 to 67 µT at the surface.
  private static let natural: ClosedRange<Float> = 18...80
  /// The difference of a field, as a share of its strength, at which its heading has twice the usual uncertainty.
  private static let usual: Float = 0.1

  /// Returns the oddity of a field: 0 for a usual one, 1 where its heading is twice as uncertain, and so on.
  mutating func oddity(of field: SIMD3<Float>, up: SIMD3<Float>, after passed: Float) -> Float {
    let size = field.square.squareRoot()
    let depth = -field.dot(up)
    guard strength > 0 else {
      (strength, down) = (size, depth)
      return FieldWatch.natural.contains(size) ? 0 : 10
    }
    let difference = (size - strength).magnitude + (depth - down).magnitude
    let oddity = difference / max(1, strength) / FieldWatch.usual
    let share = passed / (FieldWatch.memory + passed)
    strength += share * (size - strength)
    down += share * (depth - down)
    return FieldWatch.natural.contains(size) ? min(10, oddity) : 10
  }
}

/// The directions of the handset since the last step, with the last moments weighted most.
struct Pointing: Hashable, Sendable {
  private var east: Float = 0
  private var north: Float = 0
  private var looks: Float = 0
  /// The time of the last look.
  private(set) var time = Timestamp.distantPast

  /// Adds a direction.
  ///
  /// A direction straight up or down has no horizontal length and therefore no weight.
  mutating func add(_ look: (east: Float, north: Float), at time: Timestamp, window: Float) {
    // Who stood and turned before the step walks where the turn ended.
    let kept = looks > 0 ? window / (window + Float((time - self.time).seconds)) : 0
    east *= kept
    north *= kept
    looks *= kept
    self.time = time
    let length = (look.east * look.east + look.north * look.north).squareRoot()
    guard length > 0.05 else { return }
    east += look.east / length
    north += look.north / length
    looks += 1
  }

  /// The mean direction.
  var bearing: Float { Bearing.of(east: east, north: north) }

  /// The difference among the directions in radians: the deviation of the wrapped normal distribution with their
  /// mean's length, to second order.
  var spread: Float {
    guard looks > 0 else { return Compass.anyDirection }
    let share = min(1, (east * east + north * north).squareRoot() / looks)
    return min(Compass.anyDirection, (2 * (1 - share)).squareRoot())
  }
}

extension Compass {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try orientation.visitFields(&coder)
    try coder.code(&reference)
    try coder.code(&references)
    try coder.code(&variance)
    try coder.code(&astray)
    try coder.code(vector: &gravity)
    try coder.code(vector: &zeroRate)
    try field.visitFields(&coder)
    try coder.code(&rotationAt)
    try coder.code(&turnAt)
    try coder.code(&gravityAt)
    try coder.code(&fieldAt)
    try pointing.visitFields(&coder)
  }
}

extension FieldWatch {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&strength)
    try coder.code(&down)
  }
}

extension Pointing {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&east)
    try coder.code(&north)
    try coder.code(&looks)
    try coder.code(&time)
  }
}
