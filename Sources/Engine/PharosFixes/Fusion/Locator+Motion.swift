import DequeModule
import PharosDocuments
import PharosModel
import PharosSpace

extension Locator {
  /// Returns whether motion sensors report the subject's movement.
  func seesMotion(at time: Timestamp) -> Bool {
    let sensed = max(gait.moved, tracker.sensedThrough ?? .distantPast)
    return sensed > .distantPast && time - sensed <= rules.motionSilence
  }

  /// Moves the belief by a movement from the motion sensors.
  mutating func apply(_ movement: Movement) {
    gait.moved = max(gait.moved, movement.time)
    switch movement {
    case .step(let step): walk(step)
    case .still(from: _, let time): if !isCarried(at: time) { gait.rest() }
    case .climbed(let climb): change(floorsBy: climb)
    }
  }

  private mutating func walk(_ step: Step) {
    guard step.length.isFinite, step.length > 0, step.length < 3 else { return }
    let heading = step.heading
    visual.compare(heading, at: step.time)
    conveyances.step(at: step.time)
    if isCarried(at: step.time) { return gait.step(at: step.time) }
    if carriage.leads {
      carriage.leads = false
      trail.removeAll()
    }
    if let heading, heading.reference != gait.reference { turn(to: heading) }
    // Without a heading the last one stands, and less and less of it.
    let radians = heading?.radians ?? gait.heading
    gait.heading = radians
    let direction = Bearing.eastAndNorth(radians)
    trail.walk(east: step.length * direction.east, north: step.length * direction.north, at: step.time)
    gait.walk(
      length: step.length,
      east: direction.east,
      north: direction.north,
      at: step.time
    )
    guard !cloud.isEmpty else { return }
    cloud.walk(
      length: step.length,
      lengthDeviation: step.lengthDeviation,
      heading: radians,
      headingDeviation: heading?.deviation ?? rules.courseNoise,
      content,
      rules,
      &noise
    )
    constrain(way: step.length)
    evidence.sources.insert(.motion)
  }

  /// Switches to headings of another reference: every particle draws a new bias.
  private mutating func turn(to heading: Heading) {
    gait.reference = heading.reference
    trail.removeAll()
    for index in 0..<cloud.count { cloud.bias[index] = drawBias(heading, on: Int(cloud.floor[index])) }
  }

  /// Draws a heading bias from the distribution that a heading gives, about the turn of the floor's plan.
  private mutating func drawBias(_ heading: Heading, on floor: Int) -> Float {
    if case .unknown = heading.reference { return (noise.share() - 0.5) * 2 * .pi }
    return content.floors[floor].turn + heading.biasDeviation * noise.normal()
  }

  /// Draws the heading bias of a new particle on a floor.
  mutating func drawBias(on floor: Int) -> Float {
    switch gait.reference {
    case .north: content.floors[floor].turn + rules.headingBias * noise.normal()
    case .unknown, nil: (noise.share() - 0.5) * 2 * .pi
    }
  }

  /// Spreads the belief for the time since the last spread.
  mutating func drift(to time: Timestamp) {
    guard time > gait.spread else { return }
    let seconds = gait.spread == .distantPast ? 0 : Float(min(60, (time - gait.spread).seconds))
    gait.spread = time
    guard seconds > 0, !cloud.isEmpty else { return }
    let isSeen = seesMotion(at: time)
    if isCarried(at: time) {
      cloud.spread(rules.odometryDrift * seconds.squareRoot(), on: content.floors, &noise)
      // The odometry sees a climb; what it does not see is a lift.
      return leak(seconds * Locator.carriedLeak)
    }
    let rate = !isSeen ? rules.blindWalk : gait.rests ? rules.drift / 4 : rules.drift
    cloud.spread(rate * seconds.squareRoot(), on: content.floors, &noise)
    leak(seconds)
  }
}

/// The movement of the subject, as far as its sensors report it.
struct LocatorGait: Sendable, Hashable {
  /// The time at which the belief was last spread.
  var spread = Timestamp.distantPast
  /// The time of the last movement of any kind.
  var moved = Timestamp.distantPast
  /// The time from which motion has been sensed without a gap.
  ///
  /// The place of earlier readings is unknown.
  var seenSince = Timestamp.distantPast
  /// The reference of headings; nil before the first one.
  var reference: Heading.Reference?
  /// The last direction from the sensors in radians; 0 before the first one.
  var heading: Float = 0
  /// Indicates whether the last movement was a rest.
  var rests = false
  /// Its speed in m/s over the last steps, and the direction of the sensors in east and north.
  var speed: Float = 0
  var east: Float = 0
  var north: Float = 0
  /// The time of the last step.
  var step = Timestamp.distantPast

  /// The share of the speed that a step renews: about four steps.
  private static let renewal: Float = 0.3

  /// Records a step.
  mutating func walk(length: Float, east: Float, north: Float, at time: Timestamp) {
    let seconds = Float((time - step).seconds)
    let isOn = seconds < 2 && seconds > 0.1
    let latest = isOn ? length / seconds : speed > 0 ? speed : length / 0.55
    speed += (latest - speed) * (speed > 0 ? LocatorGait.renewal : 1)
    if !isOn { (self.east, self.north) = (0, 0) }
    self.east += (east - self.east) * LocatorGait.renewal
    self.north += (north - self.north) * LocatorGait.renewal
    step = time
    rests = false
  }

  /// Records a step of a subject that odometry moves.
  mutating func step(at time: Timestamp) { step = time }

  /// Records a movement of the odometry, in the directions of its frame.
  mutating func carry(east: Float, north: Float, seconds: Float, at time: Timestamp) {
    moved = max(moved, time)
    let share = min(1, seconds / LocatorGait.carriedTime)
    speed += ((east * east + north * north).squareRoot() / seconds - speed) * share
    self.east += (east / seconds - self.east) * share
    self.north += (north / seconds - self.north) * share
    rests = speed < LocatorGait.restSpeed
    if rests { (self.east, self.north) = (0, 0) }
  }

  /// The time over which the speed of the odometry is averaged.
  ///
  /// - Units: seconds.
  private static let carriedTime: Float = 1
  /// The speed below which the subject rests.
  ///
  /// - Units: m/s.
  static let restSpeed: Float = 0.15

  /// Records a rest.
  mutating func rest() {
    rests = true
    (speed, east, north) = (0, 0, 0)
  }
}

/// The way that a subject was carried lately, in the directions of its own sensors.
///
/// Readings from seconds ago belong to the place where the phone was then. The way since is the same for all particles
/// except for each one's own turn and scale, so one trail serves them all.
struct WalkedTrail: Sendable, Hashable {
  struct Mark: Hashable {
    var time: Timestamp
    var east: Float
    var north: Float
  }

  /// The number of steps that are remembered: about 30 s of walking.
  static let capacity = 64

  private var marks: Deque<Mark> = []
  /// The whole way so far, in metres.
  private(set) var east: Float = 0
  private(set) var north: Float = 0

  init() { marks.reserveCapacity(WalkedTrail.capacity) }

  /// Adds a step.
  mutating func walk(east: Float, north: Float, at time: Timestamp) {
    if marks.count == WalkedTrail.capacity { marks.removeFirst() }
    marks.append(Mark(time: time, east: self.east, north: self.north))
    self.east += east
    self.north += north
  }

  /// Removes the way, because directions have another reference.
  mutating func removeAll() {
    marks.removeAll(keepingCapacity: true)
    (east, north) = (0, 0)
  }

  /// Returns the way since a time: all steps that ended after it.
  func way(since time: Timestamp) -> (east: Float, north: Float) {
    var found: (east: Float, north: Float) = (0, 0)
    for mark in marks.reversed() {
      guard mark.time > time else { break }
      found = (east - mark.east, north - mark.north)
    }
    return found
  }
}

extension Locator {
  /// The factor on the rate of changes of floor while odometry moves the belief.
  private static let carriedLeak: Float = 0.1

  /// Moves some of the belief to other floors: near stairs, lifts and escalators, or anywhere in a venue without them.
  mutating func leak(_ seconds: Float) {
    guard content.hasConnectors else { return leakAnywhere(seconds) }
    let chance = min(0.5, rules.connectorRate * seconds)
    for index in 0..<cloud.count {
      let floor = content.floors[Int(cloud.floor[index])]
      guard !floor.exits.isEmpty,
        floor.raster.cell(east: cloud.east[index], north: cloud.north[index]).contains(.connected),
        noise.share() < chance
      else { continue }
      let near = floor.exits.filter { reach(of: index, to: $0) <= rules.connectorReach }
      guard !near.isEmpty else { continue }
      leave(index, by: near[Int(noise.next() % UInt64(near.count))])
    }
  }

  private mutating func leakAnywhere(_ seconds: Float) {
    let chance = rules.leakRate * seconds
    for index in 0..<cloud.count {
      let neighbours = content.neighbours[Int(cloud.floor[index])]
      guard !neighbours.isEmpty, noise.share() < chance else { continue }
      let neighbour = neighbours[Int(noise.next() % UInt64(neighbours.count))]
      let (east, north) = neighbour.change(cloud.east[index], cloud.north[index])
      guard content.floors[neighbour.floor].isFloor(Point(x: Double(east), y: Double(north))) else {
        continue
      }
      (cloud.east[index], cloud.north[index]) = (east, north)
      cloud.floor[index] = UInt8(truncatingIfNeeded: neighbour.floor)
    }
  }

  private func reach(of index: Int, to exit: GroundFloor.Exit) -> Float {
    let east = Float(exit.point.x) - cloud.east[index]
    let north = Float(exit.point.y) - cloud.north[index]
    return (east * east + north * north).squareRoot()
  }

  private mutating func leave(_ index: Int, by exit: GroundFloor.Exit) {
    (cloud.east[index], cloud.north[index]) = (Float(exit.arrival.x), Float(exit.arrival.y))
    cloud.floor[index] = UInt8(truncatingIfNeeded: exit.floor)
    cloud.shift(index, by: Locator.arrivalSpread, on: content.floors, &noise)
  }

  /// The spread of the arrival place about a connector's end.
  ///
  /// - Units: metres.
  private static let arrivalSpread: Float = 1.5
  /// The distance from a connector within which a climb may begin at no cost, to allow for errors of the map and the
  /// belief.
  ///
  /// - Units: metres.
  private static let climbReach: Float = 15

  /// The time within which two climbs are the same one.
  private static let sameClimb = TimeSpan.seconds(12)

  /// Takes a climb from the air pressure or the odometry, if it is more than half a storey.
  mutating func change(floorsBy climb: Climb) {
    guard climb.meters.isFinite, climb.meters.magnitude > rules.storey / 2, !cloud.isEmpty else { return }
    // The pressure and the odometry tell the same climb twice.
    let isKnown = visual.latest != .distantPast && climb.time - carriage.climbed <= Locator.sameClimb
    guard !isKnown else { return }
    carriage.climbed = climb.time
    let rise = Int((climb.meters / rules.storey).rounded())
    let storeys = rise == 0 ? (climb.meters > 0 ? 1 : -1) : rise
    evidence.sources.insert(.motion)
    for index in 0..<cloud.count {
      let floor = content.floors[Int(cloud.floor[index])]
      let fitting = floor.exits.filter {
        ($0.rise - storeys).magnitude <= 1 && ($0.rise > 0) == (storeys > 0)
      }
      let nearest = fitting.min {
        (reach(of: index, to: $0), abs($0.rise - storeys)) < (
          reach(of: index, to: $1), abs($1.rise - storeys)
        )
      }
      if let nearest {
        let distance = reach(of: index, to: nearest)
        // A place far from every way up is no likely one to have climbed from.
        cloud.weight[index] -= max(0, distance - Locator.climbReach) * 0.2
        let there = fitting.filter { reach(of: index, to: $0) <= distance + 1 }
        let best = there.min { abs($0.rise - storeys) < abs($1.rise - storeys) } ?? nearest
        leave(index, by: best)
      } else if !content.hasConnectors {
        for _ in 0..<abs(storeys) {
          let here = content.floors[Int(cloud.floor[index])].id.level
          let neighbours = content.neighbours[Int(cloud.floor[index])]
          let next = neighbours.first { (content.floors[$0.floor].id.level > here) == (storeys > 0) }
          guard let next else { break }
          (cloud.east[index], cloud.north[index]) = next.change(cloud.east[index], cloud.north[index])
          cloud.floor[index] = UInt8(truncatingIfNeeded: next.floor)
        }
      } else {
        cloud.weight[index] -= 3
      }
    }
    cloud.resample(rules, on: content.floors, &noise)
  }
}

extension LocatorGait {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&spread)
    try coder.code(&moved)
    try coder.code(&seenSince)
    try coder.code(&reference)
    try coder.code(&heading)
    try coder.code(&rests)
    try coder.code(&speed)
    try coder.code(&east)
    try coder.code(&north)
    try coder.code(&step)
  }
}

extension WalkedTrail {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(deque: &marks)
    try coder.code(&east)
    try coder.code(&north)
  }
}

extension WalkedTrail.Mark: FieldRecord {
  /// Hands each field to a coder.
  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      time: try coder.field(value().time),
      east: try coder.field(value().east),
      north: try coder.field(value().north)
    )
  }
}
