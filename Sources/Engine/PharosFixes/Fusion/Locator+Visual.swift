import PharosDocuments
import PharosModel
import PharosSpace

/// The movement of odometry that has not moved the belief yet, and the role of odometry.
struct LocatorCarriage: Sendable {
  /// The way in the frame, and up, since the belief was last moved.
  private(set) var x: Float = 0
  private(set) var y: Float = 0
  private(set) var up: Float = 0
  /// The time for which it was gathered.
  private(set) var gathered = TimeSpan.zero
  private var variance: Float = 0
  private(set) var time = Timestamp.distantPast
  /// Indicates whether odometry, not steps, moves the belief.
  var leads = false
  /// The beginning of the present frame.
  var framed = Timestamp.distantPast
  /// The last scan, if it contradicted the belief and was not used.
  var doubted: DoubtedScan?
  /// The time of the last scan that was used, and of the last one that was not.
  var scanned = Timestamp.distantPast
  var refused = Timestamp.distantPast
  /// The way since the last scan that was used.
  ///
  /// - Units: metres.
  var wayed: Float = 0
  /// The climb that the odometry sees, while it lasts.
  var rise = OdometryRise()
  /// The time of the last climb that changed the floor.
  var climbed = Timestamp.distantPast

  /// The time for which movements are gathered before they move the belief: a step or so.
  static let maximumTime = TimeSpan.milliseconds(400)

  /// Adds a movement.
  mutating func add(_ movement: PoseMovement) {
    x += movement.x
    y += movement.y
    up += movement.up
    variance += movement.deviation * movement.deviation
    gathered = gathered + movement.interval
    time = movement.time
  }

  /// Removes and returns what was gathered.
  mutating func unload() -> (x: Float, y: Float, up: Float, seconds: Float, deviation: Float)? {
    guard gathered > .zero else { return nil }
    defer { (x, y, up, variance, gathered) = (0, 0, 0, 0, .zero) }
    return (x, y, up, Float(gathered.seconds), variance.squareRoot())
  }
}

/// A scan that contradicted the belief.
struct DoubtedScan: Sendable {
  /// The way from the middle of the belief to the scan.
  var offset: Point
  /// The deviation of the scan.
  var deviation: Float
  /// The way since the last scan that was used.
  var way: Float
  /// The time of the scan.
  var time: Timestamp
}

/// A climb as odometry sees it: a way up or down between two times on the level.
struct OdometryRise: Hashable, Sendable {
  private var meters: Float = 0
  private var began = Timestamp.distantPast
  private var moved = Timestamp.distantPast

  /// The vertical speed from which the subject climbs; odometry of who walks on the level bobs by less in the mean.
  ///
  /// - Units: m/s.
  private static let minimumSpeed: Float = 0.12
  /// The time on the level that ends a climb.
  private static let level = TimeSpan.milliseconds(1_500)
  /// The least climb.
  ///
  /// - Units: metres.
  private static let minimumClimb: Float = 2

  /// Takes a movement upwards, and returns a climb that has ended.
  mutating func update(_ up: Float, _ interval: TimeSpan, at time: Timestamp) -> Climb? {
    if up.magnitude > OdometryRise.minimumSpeed * Float(interval.seconds) {
      if meters == 0 { began = time - interval }
      meters += up
      moved = time
      return nil
    }
    guard meters != 0, time - moved >= OdometryRise.level else { return nil }
    defer { meters = 0 }
    guard meters.magnitude >= OdometryRise.minimumClimb else { return nil }
    return Climb(began: began, time: time, meters: meters)
  }
}

/// The movements of odometry.
extension Locator {
  /// Returns whether odometry moves the belief at a time.
  func isCarried(at time: Timestamp) -> Bool { carriage.leads && visual.isTracking(at: time) }

  /// Takes a movement of the odometry.
  mutating func receive(_ pose: RelativePose, _ time: Timestamp) {
    guard let movement = visual.receive(pose, at: time) else { return }
    counters.jumps = visual.counters.jumps
    if movement.startsFrame {
      unload()
      cloud.forgetFrame()
      if carriage.leads { trail.removeAll() }
      carriage.leads = false
      carriage.framed = time
    }
    carriage.add(movement)
    if carriage.gathered >= LocatorCarriage.maximumTime { unload() }
    if let climb = carriage.rise.update(movement.up, movement.interval, at: time) { change(floorsBy: climb) }
  }

  /// Moves the belief by the gathered movements, unless steps do it.
  ///
  /// Steps lead while they come and nothing tells the direction of the frame: they have a compass.
  mutating func unload() {
    guard let load = carriage.unload() else { return }
    let time = carriage.time
    let hasNoCompass = time - gait.step > Locator.stepsLead || time - carriage.framed > Locator.compassTime
    let mayLead = carriage.leads || visual.direction != nil || hasNoCompass
    guard mayLead else { return }
    if !carriage.leads {
      carriage.leads = true
      trail.removeAll()
    }
    let way = (load.x * load.x + load.y * load.y).squareRoot()
    carriage.wayed += way
    conveyances.move(
      way: way,
      up: load.up,
      seconds: load.seconds,
      at: time,
      isSensed: time - (tracker.sensedThrough ?? .distantPast) <= rules.motionSilence
    )
    trail.walk(east: load.x, north: load.y, at: time)
    gait.carry(east: load.x, north: load.y, seconds: load.seconds, at: time)
    guard !cloud.isEmpty else { return }
    align()
    cloud.carry(x: load.x, y: load.y, way: way, deviation: load.deviation, content, rules, &noise)
    constrain(way: way)
    evidence.sources.insert(.motion)
  }

  /// The time since the last step after which odometry leads even in a frame of unknown direction.
  private static let stepsLead = TimeSpan.seconds(3)
  /// The time within which steps tell the direction of a frame if they ever do.
  private static let compassTime = TimeSpan.seconds(8)

  /// Gives every particle a direction of the frame, if it has none.
  mutating func align() {
    guard cloud.turn.count != cloud.count else { return }
    cloud.forgetFrame()
    for _ in 0..<cloud.count {
      cloud.turn.append(drawTurn())
      cloud.stretch.append(1 + rules.odometryScale * noise.normal())
      cloud.bend.append(rules.odometryBend * noise.normal())
    }
  }

  /// Draws a direction of the frame from what is known of it.
  mutating func drawTurn() -> Float {
    guard let direction = visual.direction else { return (noise.share() - 0.5) * 2 * .pi }
    return direction.turn + direction.deviation * noise.normal()
  }

  /// The directions and scales by which each particle turns and stretches the trail.
  var carried: (turns: [Float], scales: [Float]) {
    carriage.leads && cloud.turn.count == cloud.count
      ? (cloud.turn, cloud.stretch) : (cloud.bias, cloud.scale)
  }
}

/// The state of visual positioning.
extension Locator {
  /// Asks the machine, at the time of a fix, for the state and for requests.
  mutating func lookAtPositioning(_ fix: FixEstimate?, at time: Timestamp) {
    guard visual.reported != .distantPast else { return }
    let status = visual.status(at: time)
    let look = PositioningMachine.Look(
      time: time,
      reportedAt: visual.reported,
      status: status,
      isTracking: visual.isTracking(at: time),
      scanned: carriage.scanned,
      refused: carriage.refused,
      distance: carriage.wayed,
      surroundings: fix.map { fix in
        fix.floor.flatMap { id in content.floors.firstIndex { $0.id == id } } ?? -1
      },
      conveyance: conveyances.conveyance
    )
    let action = positioning.look(look)
    let hasScan = carriage.scanned != .distantPast
    let evidence = PositioningEvidence(
      venue: content.venue.identifier,
      reported: status?.state,
      scanAge: hasScan ? time - carriage.scanned : nil,
      distance: hasScan ? Double(carriage.wayed) : nil,
      horizontalAccuracy: fix?.horizontalAccuracy,
      isTracking: look.isTracking
    )
    if let change = action.change {
      let transition = PositioningTransition(
        state: change.standing.state,
        previous: change.previous,
        reasons: change.standing.reasons,
        advice: change.standing.advice,
        conveyance: change.standing.conveyance,
        evidence: evidence
      )
      emit(PositioningNote(time: change.since, decided: time, body: .state(transition)))
    }
    if let request = action.request {
      let wanted = ScanRequest(reason: request.reason, attempt: request.attempt, evidence: evidence)
      emit(PositioningNote(time: time, decided: time, body: .scan(wanted)))
    }
  }
}

/// Scans.
extension Locator {
  /// Weighs a scan of visual positioning, unless it contradicts all else.
  ///
  /// No particle lies within the centimetres that a scan allows, so that weights alone would leave one of them. The
  /// particles move instead, each by what the covariance of all says; those of direction and scale with it.
  ///
  /// - Source: Evensen, "The Ensemble Kalman Filter: theoretical formulation and practical implementation", Ocean Dynamics
  ///   53 (2003).
  mutating func fuse(_ scan: PoseScan, _ places: [Point?], at time: Timestamp) {
    unload()
    guard let middle = middle(), let place = places[middle.floor] else { return }
    let gate = Locator.scanGate * (middle.spread + scan.deviation) + Locator.scanSlack
    guard Float(middle.point.distance(to: place)) <= gate else {
      return doubt(scan, by: place - middle.point, places, at: time)
    }
    carriage.doubted = nil
    for number in cloud.floors() {
      guard let place = places[number] else { continue }
      pull(number, to: place, scan.deviation)
    }
    if let turn = scan.turn {
      visual.align(turn)
      pull(toTurn: turn)
    }
    cloud.resample(rules, on: content.floors, &noise)
    record(scan, at: time)
  }

  /// The distance from the middle of the belief, in its spread, beyond which a scan is doubted, and the metres that are
  /// always allowed.
  private static let scanGate: Float = 3
  private static let scanSlack: Float = 2.5
  /// The deviation of a belief along an axis beyond which a scan first chooses among the particles.
  ///
  /// - Units: metres.
  private static let wideBelief: Float = 5
  /// The share of the spread that a particle's own distribution has then: Silverman's rule for some hundred particles in
  /// two dimensions.
  private static let kernel: Float = 0.35
  /// The least log-weight of a particle by one scan.
  private static let minimumScanWeight: Float = -30
  /// The deviation that is added to the belief's, since jumps and drift leave more than the particles know.
  ///
  /// - Units: metres.
  private static let scanInflation: Float = 0.25

  /// Moves the particles of a floor to what a scan leaves of them.
  private mutating func pull(_ number: Int, to place: Point, _ deviation: Float) {
    let members = (0..<cloud.count).filter { Int(cloud.floor[$0]) == number }
    let error = deviation * deviation
    if ScanMoments(of: cloud, members, weighted: nil).deviation > Locator.wideBelief {
      let own = Locator.kernel * ScanMoments(of: cloud, members, weighted: nil).deviation
      for index in members {
        let (east, north) = (Float(place.x) - cloud.east[index], Float(place.y) - cloud.north[index])
        cloud.weight[index] += max(
          Locator.minimumScanWeight,
          -0.5 * (east * east + north * north) / (own * own + error)
        )
      }
    }
    let knowsFrame = cloud.turn.count == cloud.count && learnedDirection().deviation < Locator.knownDirection
    let moments = ScanMoments(of: cloud, members, weighted: cloud.shares(), knowsFrame: knowsFrame)
    let extra = Locator.scanInflation * Locator.scanInflation
    // The sum of the belief's and the scan's covariances, inverted.
    let (a, b, c) = (moments.ee + extra + error, moments.en, moments.nn + extra + error)
    let determinant = a * c - b * b
    guard determinant > 0 else { return }
    for index in members {
      let east = Float(place.x) + deviation * noise.normal() - cloud.east[index]
      let north = Float(place.y) + deviation * noise.normal() - cloud.north[index]
      let (along, aside) = ((c * east - b * north) / determinant, (a * north - b * east) / determinant)
      cloud.east[index] += (moments.ee + extra) * along + moments.en * aside
      cloud.north[index] += moments.en * along + (moments.nn + extra) * aside
      guard knowsFrame else { continue }
      cloud.turn[index] += moments.te * along + moments.tn * aside
      cloud.stretch[index] += moments.se * along + moments.sn * aside
      cloud.bend[index] += moments.be * along + moments.bn * aside
    }
  }

  /// Pulls the directions of the frame to the one that a scan tells; those that know nothing yet are drawn from it.
  private mutating func pull(toTurn turn: Float) {
    guard cloud.turn.count == cloud.count, !cloud.isEmpty else { return }
    let learned = learnedDirection()
    let (own, error) = (
      learned.deviation * learned.deviation, VisualSource.scanDirection * VisualSource.scanDirection
    )
    guard learned.deviation < Locator.knownDirection else {
      for index in 0..<cloud.count { cloud.turn[index] = drawTurn() }
      return
    }
    // The bend since the last scan shows in the direction, too.
    let mean = cloud.bend.reduce(0, +) / Float(cloud.count)
    var common: Float = 0
    for index in 0..<cloud.count {
      common += (cloud.bend[index] - mean) * Bearing.wrapped(cloud.turn[index] - learned.turn)
    }
    common /= Float(cloud.count)
    for index in 0..<cloud.count {
      let measured = turn + VisualSource.scanDirection * noise.normal()
      let rest = Bearing.wrapped(measured - cloud.turn[index]) / (own + error)
      cloud.turn[index] += own * rest
      cloud.bend[index] += common * rest
    }
  }

  /// Keeps a scan that contradicts the belief; a second one that is off by the same way proves the belief wrong.
  private mutating func doubt(_ scan: PoseScan, by offset: Point, _ places: [Point?], at time: Timestamp) {
    counters.outliers += 1
    carriage.refused = time
    defer {
      carriage.doubted = DoubtedScan(
        offset: offset,
        deviation: scan.deviation,
        way: carriage.wayed,
        time: time
      )
    }
    guard let first = carriage.doubted, time > first.time, time - first.time <= Locator.doubtLife else {
      return
    }
    let drift = Locator.doubtDrift * (carriage.wayed - first.way).magnitude
    let reach = Locator.scanGate * (first.deviation + scan.deviation) + Locator.scanSlack + drift
    guard Float(offset.distance(to: first.offset)) <= reach else { return }
    _ = beginAtScan(scan, places, at: time)
  }

  /// The time for which a scan that was not used may be confirmed, and the share of the way by which a belief drifts.
  private static let doubtLife = TimeSpan.minutes(5)
  private static let doubtDrift: Float = 0.05

  /// Draws the belief around a scan, on every floor that has ground there.
  ///
  /// - Returns: `true` if there is such a floor.
  mutating func beginAtScan(_ scan: PoseScan, _ places: [Point?], at time: Timestamp) -> Bool {
    if let turn = scan.turn { visual.align(turn) }
    let floors = content.floors.indices.filter { number in
      places[number].map { content.floors[number].distance(to: $0) <= Double(Locator.scanSlack) } ?? false
    }
    guard !floors.isEmpty else { return false }
    cloud.removeAll()
    cloud.reserve(rules.particles)
    born = .distantPast
    for index in 0..<rules.particles {
      let number = floors[index % floors.count]
      guard let place = places[number] else { continue }
      cloud.append(
        east: Float(place.x) + scan.deviation * noise.normal(),
        north: Float(place.y) + scan.deviation * noise.normal(),
        bias: drawBias(on: number),
        scale: ParticleCloud.held(1 + rules.scaleDeviation * noise.normal()),
        floor: UInt8(truncatingIfNeeded: number)
      )
    }
    carriage.doubted = nil
    record(scan, at: time)
    return true
  }

  /// Records a scan that was used, and what the particles have learned of the frame.
  private mutating func record(_ scan: PoseScan, at time: Timestamp) {
    carriage.scanned = time
    carriage.wayed = 0
    guard cloud.turn.count == cloud.count, !cloud.isEmpty else { return }
    let learned = learnedDirection()
    guard learned.deviation < Locator.knownDirection else { return }
    visual.align(
      VisualSource.FrameDirection(
        turn: learned.turn,
        deviation: max(Locator.minimumDirection, learned.deviation)
      )
    )
  }

  /// The direction of the frame that the particles have learned.
  private func learnedDirection() -> VisualSource.FrameDirection {
    let shares = cloud.shares()
    var (sine, cosine): (Float, Float) = (0, 0)
    for index in 0..<cloud.count {
      let turned = Bearing.eastAndNorth(cloud.turn[index])
      sine += shares[index] * turned.east
      cosine += shares[index] * turned.north
    }
    let length = min(1, (sine * sine + cosine * cosine).squareRoot())
    return VisualSource.FrameDirection(
      turn: Bearing.of(east: sine, north: cosine),
      deviation: (2 * (1 - length)).squareRoot()
    )
  }

  /// The spread of directions below which the particles know the frame's, and the least that is claimed.
  ///
  /// - Units: radians.
  private static let knownDirection: Float = 0.4
  private static let minimumDirection: Float = 0.03
}

/// The means and covariances of some particles, for a scan.
private struct ScanMoments {
  /// The covariance of east and north.
  var ee: Float = 0
  var en: Float = 0
  var nn: Float = 0
  /// The covariances of the frame's direction, scale and bend with east and north.
  var te: Float = 0
  var tn: Float = 0
  var se: Float = 0
  var sn: Float = 0
  var be: Float = 0
  var bn: Float = 0

  /// The standard deviation along an axis.
  var deviation: Float { ((ee + nn) / 2).squareRoot() }

  init(of cloud: ParticleCloud, _ members: [Int], weighted shares: [Float]?, knowsFrame: Bool = false) {
    var total: Float = 0
    var (east, north, stretch, bend): (Float, Float, Float, Float) = (0, 0, 0, 0)
    var (sine, cosine): (Float, Float) = (0, 0)
    for index in members {
      let share = shares?[index] ?? 1
      total += share
      east += share * cloud.east[index]
      north += share * cloud.north[index]
      guard knowsFrame else { continue }
      stretch += share * cloud.stretch[index]
      bend += share * cloud.bend[index]
      let turned = Bearing.eastAndNorth(cloud.turn[index])
      sine += share * turned.east
      cosine += share * turned.north
    }
    guard total > 0 else { return }
    (east, north, stretch, bend) = (east / total, north / total, stretch / total, bend / total)
    let turn = Bearing.of(east: sine, north: cosine)
    for index in members {
      let share = (shares?[index] ?? 1) / total
      let (dx, dy) = (cloud.east[index] - east, cloud.north[index] - north)
      ee += share * dx * dx
      en += share * dx * dy
      nn += share * dy * dy
      guard knowsFrame else { continue }
      let (turned, stretched) = (Bearing.wrapped(cloud.turn[index] - turn), cloud.stretch[index] - stretch)
      te += share * turned * dx
      tn += share * turned * dy
      se += share * stretched * dx
      sn += share * stretched * dy
      be += share * (cloud.bend[index] - bend) * dx
      bn += share * (cloud.bend[index] - bend) * dy
    }
  }
}

extension ParticleCloud {
  /// Forgets the direction and scale of the odometry's frame.
  mutating func forgetFrame() {
    turn.removeAll(keepingCapacity: true)
    stretch.removeAll(keepingCapacity: true)
    bend.removeAll(keepingCapacity: true)
  }

  /// Moves all particles by a movement of the odometry, each in its own direction and scale.
  ///
  /// - Parameters:
  ///   - x: the way along the first axis of the frame, in metres.
  ///   - y: the way along the second axis.
  ///   - way: the length of both.
  ///   - deviation: the uncertainty that drift does not explain, along an axis.
  ///   - content: the floors.
  ///   - rules: the constants.
  ///   - noise: the source of random numbers.
  mutating func carry(
    x: Float,
    y: Float,
    way: Float,
    deviation: Float,
    _ content: LocatableVenue.Content,
    _ rules: FusionRules,
    _ noise: inout FusionNoise
  ) {
    let wander = rules.odometryWander * way.squareRoot()
    let scatter = (deviation * deviation + rules.odometryNoise * rules.odometryNoise * way).squareRoot()
    for index in 0..<count {
      turn[index] += bend[index] * way + wander * noise.normal()
      let (sine, cosine) = Bearing.eastAndNorth(turn[index])
      let (fromEast, fromNorth) = (east[index], north[index])
      let toEast = fromEast + (x * cosine + y * sine) * stretch[index] + scatter * noise.normal()
      let toNorth = fromNorth + (y * cosine - x * sine) * stretch[index] + scatter * noise.normal()
      if way > 0.05 {
        weight[index] -= content.floors[Int(floor[index])].cost(
          east: fromEast,
          north: fromNorth,
          toEast: toEast,
          toNorth: toNorth,
          rules
        )
      }
      (east[index], north[index]) = (toEast, toNorth)
    }
  }
}

extension LocatorCarriage {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&x)
    try coder.code(&y)
    try coder.code(&up)
    try coder.code(&gathered)
    try coder.code(&variance)
    try coder.code(&time)
    try coder.code(&leads)
    try coder.code(&framed)
    try coder.code(optional: &doubted, DoubtedScan(offset: .origin, deviation: 0, way: 0, time: .distantPast))
    {
      (scan, coder) throws(C.Failure) in
      try coder.code(&scan.offset.x)
      try coder.code(&scan.offset.y)
      try coder.code(&scan.deviation)
      try coder.code(&scan.way)
      try coder.code(&scan.time)
    }
    try coder.code(&scanned)
    try coder.code(&refused)
    try coder.code(&wayed)
    try rise.visitFields(&coder)
    try coder.code(&climbed)
  }
}

extension OdometryRise {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&meters)
    try coder.code(&began)
    try coder.code(&moved)
  }
}
