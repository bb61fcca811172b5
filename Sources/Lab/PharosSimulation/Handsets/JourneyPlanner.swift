package import PharosModel
package import PharosSpace

/// A planner of journeys through a venue, with ways around walls and the times that stairs, lifts and escalators take.
package struct JourneyPlanner: Sendable {
  /// The venue.
  package let venue: Venue
  /// The height of a storey, from floor to floor.
  ///
  /// - Units: metres. 3 in homes and offices, 4 to 6 in shops and museums.
  package let storey: Double
  let ways: [FloorID: FloorWays]

  /// The speed of an escalator along its slope of 30°, so that the height is half of the way.
  ///
  /// - Units: m/s.
  /// - Source: EN 115-1: 0.5 m/s is the usual speed, 30° the usual slope.
  static let escalatorSpeed = 0.5
  /// The maximum acceleration of a lift.
  ///
  /// - Units: m/s².
  /// - Source: ISO 18738: 0.8 to 1.2 in passenger lifts.
  static let liftAcceleration = 1.0
  /// The time that the doors of a lift take before it moves and after it has stopped.
  static let liftDoors = TimeSpan.seconds(4)

  /// Makes a planner.
  package init(venue: Venue, storey: Double = 4.5) {
    self.venue = venue
    self.storey = storey
    ways = Dictionary(uniqueKeysWithValues: venue.floors.map { ($0.id, FloorWays(over: $0.floor)) })
  }

  /// Plans a journey.
  ///
  /// - Parameters:
  ///   - floor: the floor it begins on.
  ///   - point: the place on that floor; a place outdoors is measured on the floor of the entrance too.
  ///   - isOutdoors: true if it begins outdoors.
  ///   - gait: the gait of the person.
  ///   - journeySteps: the steps, in order.
  /// - Returns: the journey; the person stays where it ends.
  /// - Throws: ``InvalidScene``, which names the first step that cannot be done.
  package func journey(
    on floor: FloorID,
    from point: Point,
    isOutdoors: Bool = false,
    gait: SimulatedGait = SimulatedGait(),
    _ journeySteps: [JourneyStep]
  ) throws(InvalidScene) -> Journey {
    var course = try course(on: floor, from: point, isOutdoors: isOutdoors, gait: gait)
    for (number, journeyStep) in journeySteps.enumerated() {
      try perform(journeyStep, number: number, on: &course)
    }
    return course.journey
  }

  /// Returns the height of a floor above the ground floor, in metres.
  package func height(of floor: FloorID) -> Double { Double(floor.level) * storey }

  func course(
    on floor: FloorID,
    from point: Point,
    isOutdoors: Bool = false,
    gait: SimulatedGait
  ) throws(InvalidScene) -> JourneyCourse {
    guard ways[floor] != nil else {
      throw mistake("journey", "begins on floor \(floor), which the venue has not")
    }
    guard gait.speed > 0, gait.stepLength > 0, gait.speed.isFinite, gait.stepLength.isFinite else {
      throw mistake("gait", "needs a speed and a step length above 0")
    }
    return JourneyCourse(
      at: Journey.Spot(floor: floor, point: point, height: height(of: floor)),
      isOutdoors: isOutdoors,
      gait: gait
    )
  }

  func perform(
    _ journeyStep: JourneyStep,
    number: Int,
    on course: inout JourneyCourse
  ) throws(InvalidScene) {
    let place = "step \(number + 1)"
    switch journeyStep {
    case .stay(let time):
      guard time >= .zero else { throw mistake(place, "stays \(time.seconds) s; it must not be negative") }
      course.stay(time)
    case .walk(let point): try walk(to: point, place: place, on: &course)
    case .ride(let name, let floor): try ride(name, to: floor, place: place, on: &course)
    case .leave(let name, let point):
      try walk(to: entrance(name, place: place, on: course), place: place, on: &course)
      course.isOutdoors = true
      course.walk(to: point)
    case .enter(let name):
      course.walk(to: try entrance(name, place: place, on: course))
      course.isOutdoors = false
    }
  }

  private func walk(to point: Point, place: String, on course: inout JourneyCourse) throws(InvalidScene) {
    if course.isOutdoors { return course.walk(to: point) }
    guard let way = ways[course.here.floor]?.way(from: course.here.point, to: point) else {
      throw mistake(
        place,
        "finds no way on floor \(course.here.floor) from \(course.here.point) to \(point); both must be walkable"
      )
    }
    for corner in way.dropFirst() { course.walk(to: corner) }
  }

  private func ride(
    _ name: String,
    to floor: FloorID,
    place: String,
    on course: inout JourneyCourse
  ) throws(InvalidScene) {
    guard let connector = venue.connectors.first(where: { $0.identifier == name }) else {
      throw mistake(place, "takes \"\(name)\", which is no connector of the venue")
    }
    guard let start = connector.stops.first(where: { $0.floor == course.here.floor }),
      let end = connector.stops.first(where: { $0.floor == floor }), start != end
    else {
      throw mistake(place, "takes \"\(name)\" from \(course.here.floor) to \(floor), where it does not stop")
    }
    try walk(to: start.point, place: place, on: &course)
    let spot = Journey.Spot(floor: floor, point: end.point, height: height(of: floor))
    switch connector.kind {
    case .lift: course.ride(to: spot)
    case .escalator: course.glide(to: spot)
    case .stairs, .ramp: course.climb(to: spot)
    }
  }

  private func entrance(
    _ name: String,
    place: String,
    on course: JourneyCourse
  ) throws(InvalidScene) -> Point {
    let floor = venue.floor(course.here.floor)
    guard let entrance = floor?.entrances.first(where: { $0.identifier == name }) else {
      throw mistake(place, "goes through \"\(name)\", which is no entrance of floor \(course.here.floor)")
    }
    return entrance.point
  }

  func mistake(_ place: String, _ problem: String) -> InvalidScene {
    InvalidScene(scene: venue.identifier, mistakes: [SceneMistake(place, problem)])
  }
}

/// One action of a person on a ``Journey``.
package enum JourneyStep: Hashable, Sendable {
  /// Walks to a place on the same floor, around what stands in the way.
  case walk(to: Point)
  /// Stands still for a time.
  case stay(TimeSpan)
  /// Walks to a stair, lift, escalator or ramp, by its identifier, and takes it to another floor.
  case ride(String, to: FloorID)
  /// Walks to an entrance, by its identifier, through it, and straight on to a place outdoors.
  case leave(through: String, to: Point)
  /// Walks straight through an entrance from outdoors, to the place behind it.
  case enter(through: String)
}

extension JourneyPlanner {
  /// Plans a random walk through the house: to places of a floor, now and then to another floor.
  ///
  /// - Parameters:
  ///   - seed: the same seed gives the same tour.
  ///   - floor: the floor it begins on.
  ///   - length: the minimum duration.
  ///   - kinds: the connectors to take from floor to floor; none to stay on the floor.
  ///   - gait: the gait of the person.
  /// - Returns: the walk, which begins at a place drawn by chance.
  /// - Throws: ``InvalidScene`` where there is nothing to walk on.
  package func tour(
    seed: UInt64,
    on floor: FloorID,
    lasting length: TimeSpan,
    receiving kinds: Set<Connector.Kind> = Set(Connector.Kind.allCases),
    gait: SimulatedGait = SimulatedGait()
  ) throws(InvalidScene) -> Journey {
    var random = RandomStream(seed: seed, 11)
    guard let start = ways[floor]?.place(&random) else {
      throw mistake("tour", "begins on floor \(floor), which has nothing to walk on")
    }
    var course = try self.course(on: floor, from: start, gait: gait)
    while course.time < length {
      let before = course.time
      if random.chance(0.25), let ride = way(from: course.here.floor, receiving: kinds, &random) {
        try perform(.ride(ride.name, to: ride.end.floor), number: 0, on: &course)
      } else if let target = ways[course.here.floor]?.place(&random) {
        stroll(to: target, on: &course)
      }
      if course.time == before || random.chance(0.3) { course.stay(.seconds(random.uniform(3, 20))) }
    }
    return course.journey
  }

  /// A walk over a floor as a surveyor makes it: straight lines through the house from corner to corner.
  ///
  /// - Parameters:
  ///   - seed: the same seed gives the same walk.
  ///   - floor: the floor.
  ///   - legs: the number of places it leads to.
  ///   - gait: the gait of the person.
  /// - Returns: the walk; its ``Journey/waypoints`` are what a surveyor would mark.
  /// - Throws: ``InvalidScene`` where there is nothing to walk on.
  package func survey(
    seed: UInt64,
    of floor: FloorID,
    legs: Int,
    gait: SimulatedGait = SimulatedGait()
  ) throws(InvalidScene) -> Journey {
    var random = RandomStream(seed: seed, 12)
    guard let floorWays = ways[floor], let start = floorWays.place(&random) else {
      throw mistake("survey", "is of floor \(floor), which has nothing to walk on")
    }
    var course = try self.course(on: floor, from: start, gait: gait)
    for _ in 0..<max(0, legs) {
      guard let target = floorWays.place(&random) else { continue }
      stroll(to: target, on: &course)
      course.stay(.seconds(1))
    }
    return course.journey
  }

  /// Walks to a place where there is a way to it.
  private func stroll(to target: Point, on course: inout JourneyCourse) {
    guard let way = ways[course.here.floor]?.way(from: course.here.point, to: target) else { return }
    for corner in way.dropFirst() { course.walk(to: corner) }
  }

  private func way(
    from floor: FloorID,
    receiving kinds: Set<Connector.Kind>,
    _ random: inout RandomStream
  ) -> (name: String, end: Connector.Stop)? {
    let choices = venue.connectors.filter { kinds.contains($0.kind) }.flatMap { connector in
      connector.stops.contains { $0.floor == floor }
        ? connector.stops.filter { $0.floor != floor }.map { (connector.identifier, $0) } : []
    }
    guard !choices.isEmpty else { return nil }
    return choices[Int(random.uniform() * Double(choices.count))]
  }
}

extension Journey {
  /// The places where the journey turns or stops and the times of them, while it walks on one floor: a survey's waypoints.
  package var waypoints: [(time: TimeSpan, place: Point)] {
    guard let first = stages.first else { return [] }
    return [(first.starts, first.from.point)]
      + stages.filter { $0.manner == .walking }.map { ($0.ends, $0.to.point) }
  }
}

/// A journey while it is planned: the stages so far, and where they have led.
struct JourneyCourse {
  private var stages: [Journey.Stage] = []
  private(set) var time = TimeSpan.zero
  private var steps = 0.0
  private let gait: SimulatedGait
  private(set) var here: Journey.Spot
  var isOutdoors: Bool

  init(at spot: Journey.Spot, isOutdoors: Bool, gait: SimulatedGait) {
    here = spot
    self.isOutdoors = isOutdoors
    self.gait = gait
  }

  /// The journey so far; the person stays where it ends.
  var journey: Journey {
    let rest = Journey.Stage(
      starts: time,
      ends: time,
      from: here,
      to: here,
      manner: .standing,
      rise: .steady,
      isOutdoors: isOutdoors,
      stepsBefore: steps,
      steps: 0
    )
    return Journey(gait: gait, stages: stages + [rest])
  }

  /// Stands still.
  mutating func stay(_ length: TimeSpan) { add(.standing, to: here, in: length) }

  /// Walks straight to a place on the same plane.
  mutating func walk(to point: Point) {
    let length = here.point.distance(to: point)
    guard length > 0 else { return }
    var spot = here
    spot.point = point
    add(.walking, to: spot, in: .seconds(length / gait.speed), steps: length / gait.stepLength)
  }

  /// Takes a lift: doors, a gentle ride, doors.
  mutating func ride(to spot: Journey.Spot) {
    let rise = spot.height - here.height
    // 3u² − 2u³ is steepest bent at its ends, by six times the height over the square of the time.
    let half = TimeSpan.seconds((6 * rise.magnitude / JourneyPlanner.liftAcceleration).squareRoot() / 2)
    add(.lift, to: here, in: JourneyPlanner.liftDoors)
    let middle = here.height + rise / 2
    add(
      .lift,
      to: Journey.Spot(floor: here.floor, point: here.point, height: middle),
      in: half,
      rise: .gentleStart
    )
    here = Journey.Spot(floor: spot.floor, point: spot.point, height: middle)
    add(.lift, to: spot, in: half, rise: .gentleEnd)
    add(.lift, to: spot, in: JourneyPlanner.liftDoors)
  }

  /// Stands on an escalator.
  mutating func glide(to spot: Journey.Spot) {
    let rise = (spot.height - here.height).magnitude
    let half = TimeSpan.seconds(2 * rise / JourneyPlanner.escalatorSpeed / 2)
    cross(to: spot, .escalator, half: half, aside: .origin, steps: 0)
  }

  /// Takes stairs: two flights with a landing between them where they end above their begin, otherwise one.
  mutating func climb(to spot: Journey.Spot) {
    let rise = (spot.height - here.height).magnitude
    let steps = rise / SimulatedGait.stairRise / 2
    let half = TimeSpan.seconds(steps / SimulatedGait.stairRate)
    let isSpiral = here.point.distance(to: spot.point) < JourneyCourse.flight
    let aside = isSpiral ? Point(x: JourneyCourse.flight, y: 0) : .origin
    cross(to: spot, .climbing, half: half, aside: aside, steps: steps)
  }

  /// The horizontal distance of a landing from the ends of a stair that leads back above its start.
  ///
  /// - Units: metres. A flight of thirteen steps of 0.28 m.
  private static let flight = 3.6

  /// Moves to another floor in two halves, each on the plane of its own floor.
  private mutating func cross(
    to spot: Journey.Spot,
    _ manner: Journey.Manner,
    half: TimeSpan,
    aside: Point,
    steps: Double
  ) {
    let middle = here.point.interpolated(to: spot.point, share: 0.5) + aside
    let height = (here.height + spot.height) / 2
    add(manner, to: Journey.Spot(floor: here.floor, point: middle, height: height), in: half, steps: steps)
    here = Journey.Spot(floor: spot.floor, point: middle, height: height)
    add(manner, to: spot, in: half, steps: steps)
  }

  private mutating func add(
    _ manner: Journey.Manner,
    to spot: Journey.Spot,
    in length: TimeSpan,
    rise: Journey.Stage.Rise = .steady,
    steps accepted: Double = 0
  ) {
    stages.append(
      Journey.Stage(
        starts: time,
        ends: time + length,
        from: here,
        to: spot,
        manner: manner,
        rise: rise,
        isOutdoors: isOutdoors,
        stepsBefore: steps,
        steps: accepted
      )
    )
    time = time + length
    steps += accepted
    here = spot
  }
}
