import PharosDocuments
package import PharosModel
import PharosSpace

/// The visual positioning of a handset: scans, and the movements of its odometry.
///
/// Odometry drifts by a few percent, jumps when it finds itself again, pauses when it sees nothing, and begins a new
/// frame after a relocalisation. The source finds jumps and pauses and says how uncertain they leave the movement; the
/// drift is for the particles to carry along.
package struct VisualSource: LocationSource {
  /// What is known of the direction of the session's frame.
  struct FrameDirection: Hashable, Sendable {
    /// The clockwise angle that is added to a direction in the frame to make it one from north.
    ///
    /// - Units: radians.
    var turn: Float
    /// One standard deviation of it.
    ///
    /// - Units: radians.
    var deviation: Float
  }

  /// The numbers of movements that were left out, by reason.
  struct Counters: Hashable, Sendable {
    /// Jumps.
    var jumps: UInt64 = 0
    /// Changes of the frame.
    var resets: UInt64 = 0
  }

  private(set) var counters = Counters()
  /// The direction of the present frame, or nil while nothing tells it.
  private(set) var direction: FrameDirection?
  /// The latest state that the handset reported, and when.
  private(set) var status: (value: VisualStatus, time: Timestamp)?
  /// The time of the last report of any kind.
  private(set) var reported = Timestamp.distantPast
  /// The time of the last scan.
  private(set) var scanned = Timestamp.distantPast
  /// The end of the last movement.
  private(set) var latest = Timestamp.distantPast
  /// The quality of the last movement.
  private(set) var quality = RelativePose.Quality.lost
  private var session: UInt32?
  private var rotation: Rotation?
  /// The mean velocity of the last moments in the frame, and the number of movements behind it.
  private var velocity: (x: Float, y: Float) = (0, 0)
  private var steady = 0
  /// The number of movements in a row that were taken for jumps.
  private var suspected = 0
  /// The sums of the sines and cosines between the directions of steps and those of movements, and their number.
  private var compared: (sine: Float, cosine: Float, count: Int) = (0, 0, 0)

  /// The greatest speed that is accepted: beyond it a pose is no movement of a person or of what carries one.
  ///
  /// - Units: m/s.
  static let fastest: Float = 100
  /// The longest way and the longest time of a pose.
  static let maximumWay: Float = 100
  static let maximumInterval = TimeSpan.seconds(10)
  /// The time after a movement for which the odometry counts as running.
  static let life = TimeSpan.seconds(1)
  /// The change of velocity beyond which a movement is a jump: no walker accelerates by it within a moment.
  ///
  /// - Units: m/s.
  private static let jumpSpeed: Float = 2.5
  /// The way by which a jump differs at least from what was expected.
  ///
  /// - Units: metres.
  private static let minimumJump: Float = 0.25
  /// The number of jumps in a row that are a movement after all.
  private static let maximumSuspected = 3
  /// The speed that is accepted without a velocity to compare it with, and after several jumps.
  ///
  /// - Units: m/s. That of a sprint.
  private static let fastestWalk: Float = 8
  /// The time over which the velocity is averaged.
  ///
  /// - Units: seconds.
  private static let smoothing: Float = 0.4
  /// The time without a movement that is a pause.
  private static let pause = TimeSpan.milliseconds(300)
  /// The deviation that a jump leaves, a second of a pause, and each metre of poor tracking.
  ///
  /// - Units: metres.
  private static let jumpDeviation: Float = 0.15
  private static let pauseDeviation: Float = 1.2
  private static let limitedDeviation: Float = 0.1
  /// The least deviation of a scan.
  ///
  /// - Units: metres.
  private static let minimumDeviation: Float = 0.1
  /// The deviation of a direction from one scan's attitude, and from a comparison with steps.
  ///
  /// - Units: radians. That of steps is the error of compasses in ``FusionRules/headingBias``.
  static let scanDirection: Float = 0.02
  private static let stepDirection: Float = 0.2
  /// The number of steps that are compared, and the speed that a comparison needs.
  private static let comparedSteps = 6
  private static let comparedSpeed: Float = 0.5
  /// The time for which a fix's or a status's word counts.
  private static let statusLife = TimeSpan.seconds(30)

  /// Makes a source that has given nothing.
  package init() {}

  /// Returns whether a pose can be one at all.
  static func isSensible(_ pose: RelativePose) -> Bool {
    let square = pose.x * pose.x + pose.y * pose.y + pose.z * pose.z
    guard square.isFinite, pose.rotation?.isUnit != false, pose.interval > .zero,
      pose.interval <= maximumInterval
    else { return false }
    let seconds = Float(pose.interval.seconds)
    return square <= maximumWay * maximumWay && square <= fastest * fastest * seconds * seconds
  }

  /// Returns whether the odometry tracks at a time.
  func isTracking(at time: Timestamp) -> Bool {
    quality != .lost && latest != .distantPast && time - latest <= VisualSource.life
  }

  /// The speed of the last moments.
  ///
  /// - Units: m/s.
  var speed: Float { (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot() }

  /// Takes a fix of visual positioning.
  package mutating func receive(_ fix: OutsideFix, at time: Timestamp) -> PoseScan? {
    guard fix.source == .vps, let coordinate = Coordinate(latitude: fix.latitude, longitude: fix.longitude)
    else { return nil }
    (scanned, reported) = (max(scanned, time), max(reported, time))
    return PoseScan(
      coordinate: coordinate,
      deviation: max(
        VisualSource.minimumDeviation,
        Float(fix.horizontalAccuracy.value) / PoseScan.radius
      ),
      turn: fix.attitude.flatMap { turn(of: $0, at: time) }
    )
  }

  /// Takes what the handset says of its state.
  package mutating func receive(_ status: VisualStatus, at time: Timestamp) {
    self.status = (status, time)
    reported = max(reported, time)
  }

  /// Returns the state that the handset reported, if that is not too long ago.
  func status(at time: Timestamp) -> VisualStatus? {
    status.flatMap { time - $0.time <= VisualSource.statusLife ? $0.value : nil }
  }

  /// Takes a relative pose.
  package mutating func receive(_ pose: RelativePose, at time: Timestamp) -> PoseMovement? {
    guard VisualSource.isSensible(pose), time > latest else { return nil }
    reported = max(reported, time)
    let startsFrame = session != pose.session
    if startsFrame { restart(pose.session) }
    let before = quality
    let gap = max(.zero, time - pose.interval - latest)
    let hasPaused = !startsFrame && (gap > VisualSource.pause || before == .lost)
    (latest, quality, rotation) = (time, pose.quality, pose.rotation)
    guard pose.quality != .lost else {
      forgetVelocity()
      return nil
    }
    let seconds = Float(pose.interval.seconds)
    var movement = PoseMovement(
      time: time,
      interval: pose.interval,
      x: pose.x,
      y: pose.y,
      up: pose.z,
      deviation: 0,
      startsFrame: startsFrame
    )
    if hasPaused {
      forgetVelocity()
      movement.deviation = VisualSource.pauseDeviation * Float(min(gap, VisualSource.life).seconds)
    }
    if isJump(pose, seconds) {
      counters.jumps += 1
      suspected += 1
      (movement.x, movement.y, movement.up) = (velocity.x * seconds, velocity.y * seconds, 0)
      movement.deviation += VisualSource.jumpDeviation
    } else {
      learn(x: pose.x / seconds, y: pose.y / seconds, seconds)
    }
    if pose.quality == .limited {
      let way = (movement.x * movement.x + movement.y * movement.y).squareRoot()
      movement.deviation += VisualSource.limitedDeviation * way
    }
    return movement
  }

  private mutating func restart(_ session: UInt32) {
    if self.session != nil { counters.resets += 1 }
    self.session = session
    direction = nil
    compared = (0, 0, 0)
    forgetVelocity()
  }

  private mutating func forgetVelocity() {
    velocity = (0, 0)
    (steady, suspected) = (0, 0)
  }

  private func isJump(_ pose: RelativePose, _ seconds: Float) -> Bool {
    let speed = (pose.x * pose.x + pose.y * pose.y).squareRoot() / seconds
    guard steady >= 3, suspected < VisualSource.maximumSuspected else {
      return speed > VisualSource.fastestWalk
    }
    let (east, north) = (pose.x - velocity.x * seconds, pose.y - velocity.y * seconds)
    let way = (east * east + north * north).squareRoot()
    return way > VisualSource.minimumJump && way > VisualSource.jumpSpeed * seconds
  }

  private mutating func learn(x: Float, y: Float, _ seconds: Float) {
    let share = steady == 0 ? 1 : seconds / (VisualSource.smoothing + seconds)
    velocity.x += share * (x - velocity.x)
    velocity.y += share * (y - velocity.y)
    steady += 1
    suspected = 0
  }

  // MARK: The direction of the frame

  /// The clockwise turn of the frame by a scan's attitude; nil if there is no rotation of the same moment.
  private func turn(of attitude: Rotation, at time: Timestamp) -> Float? {
    guard let rotation, attitude.isUnit, (time - latest).nanoseconds.magnitude <= UInt64(300_000_000) else {
      return nil
    }
    // The attitude times the inverse of the rotation turns the frame to east, north and up: about the upright only.
    let (a, b) = (attitude, rotation)
    let w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    let x = -a.w * b.x + a.x * b.w - a.y * b.z + a.z * b.y
    let y = -a.w * b.y + a.y * b.w - a.z * b.x + a.x * b.z
    let z = -a.w * b.z + a.z * b.w - a.x * b.y + a.y * b.x
    guard x * x + y * y < 0.03, w * w + z * z > 0.5 else { return nil }
    return Bearing.wrapped(-2 * Bearing.of(east: z, north: w))
  }

  /// Returns the rotation from the handset's axes to east, north and up, with one standard deviation of its direction in
  /// radians, while the odometry tracks and the direction of its frame is known.
  func attitude(at time: Timestamp) -> (rotation: Rotation, deviation: Float)? {
    guard let rotation, let direction, isTracking(at: time) else { return nil }
    // A turn about the upright by so much clockwise, behind the rotation to the frame.
    let (sine, cosine) = Bearing.eastAndNorth(-direction.turn / 2)
    let turned = Rotation(
      w: cosine * rotation.w - sine * rotation.z,
      x: cosine * rotation.x - sine * rotation.y,
      y: cosine * rotation.y + sine * rotation.x,
      z: cosine * rotation.z + sine * rotation.w
    )
    return (turned, direction.deviation)
  }

  /// Sets the direction of the frame as a scan tells it.
  mutating func align(_ turn: Float) {
    direction = FrameDirection(turn: turn, deviation: VisualSource.scanDirection)
  }

  /// Sets the direction of the frame as the particles have learned it.
  mutating func align(_ learned: FrameDirection) { direction = learned }

  /// Compares the direction of a step with that of the movement, and learns the direction of the frame.
  mutating func compare(_ heading: Heading?, at time: Timestamp) {
    guard direction == nil, isTracking(at: time), speed > VisualSource.comparedSpeed, let heading,
      heading.reference == .north
    else { return }
    // The frame's axes are those of the plane: the first to the right of the second.
    let own = Bearing.of(east: velocity.x, north: velocity.y)
    let difference = Bearing.eastAndNorth(Bearing.wrapped(heading.radians - own))
    compared.sine += difference.east
    compared.cosine += difference.north
    compared.count += 1
    guard compared.count >= VisualSource.comparedSteps else { return }
    direction = FrameDirection(
      turn: Bearing.of(east: compared.sine, north: compared.cosine),
      deviation: VisualSource.stepDirection
    )
  }

  // MARK: State

  /// Returns the state by what the handset says and does.
  package func state(at time: Timestamp) -> PositioningState {
    if let status = status(at: time) { return status.state }
    if isTracking(at: time) { return .accuratePositioning }
    return time - scanned <= VisualSource.life * 10 ? .degradedPositioning : .notPositioning
  }
}

extension VisualSource {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&direction)
    try coder.code(optional: &status, (VisualStatus(state: .notPositioning), .distantPast)) {
      (status, coder) throws(C.Failure) in
      try coder.code(&status.value)
      try coder.code(&status.time)
    }
    try coder.code(&reported)
    try coder.code(&scanned)
    try coder.code(&latest)
    try coder.code(&quality)
    try coder.code(&session)
    try coder.code(&rotation)
    try coder.code(&velocity.x)
    try coder.code(&velocity.y)
    try coder.code(&steady)
    try coder.code(&suspected)
    try coder.code(&compared.sine)
    try coder.code(&compared.cosine)
    try coder.code(&compared.count)
  }
}

extension VisualSource.FrameDirection: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(turn: try coder.field(value().turn), deviation: try coder.field(value().deviation))
  }
}
