import PharosPlaces
import PharosReports

/// A journey while it is planned: the stages so far, and where they have led.
struct JourneyCourse {
  private var stages: [Journey.Stage] = []
  private(set) var time = TimeSpan.zero
  private var steps = 0.0
  private let gait: Gait
  private(set) var here: Journey.Spot
  var isOutdoors: Bool

  init(at spot: Journey.Spot, isOutdoors: Bool, gait: Gait) {
    here = spot
    self.isOutdoors = isOutdoors
    self.gait = gait
  }

  /// The journey so far; one stays where it ends.
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
    let steps = rise / Gait.stairRise / 2
    let half = TimeSpan.seconds(steps / Gait.stairRate)
    let isSpiral = here.point.distance(to: spot.point) < JourneyCourse.flight
    let aside = isSpiral ? Point(x: JourneyCourse.flight, y: 0) : .origin
    cross(to: spot, .climbing, half: half, aside: aside, steps: steps)
  }

  /// How far a landing lies beside the ends of a stair that leads back above its begin.
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
    steps taken: Double = 0
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
        steps: taken
      )
    )
    time = time + length
    steps += taken
    here = spot
  }
}
