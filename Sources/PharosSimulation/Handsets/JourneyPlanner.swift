package import PharosPlaces
import PharosReports

/// Makes journeys through a venue: finds ways around walls, and knows how long stairs, lifts and escalators take.
package struct JourneyPlanner: Sendable {
  /// The venue.
  package let venue: Venue
  /// How high a storey is, from floor to floor.
  ///
  /// - Units: metres. 3 in homes and offices, 4 to 6 in shops and museums.
  package let storey: Double
  let ways: [FloorID: FloorWays]

  /// How fast an escalator moves along its slope, and how steep it is: 30°, so that height is half of the way.
  ///
  /// - Units: m/s.
  /// - Source: EN 115-1: 0.5 m/s is the usual speed, 30° the usual slope.
  static let escalatorSpeed = 0.5
  /// What a lift's passengers feel at most.
  ///
  /// - Units: m/s².
  /// - Source: ISO 18738: 0.8 to 1.2 in passenger lifts.
  static let liftAcceleration = 1.0
  /// How long the doors of a lift take before it moves and after it has stopped.
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
  ///   - isOutdoors: whether it begins outdoors.
  ///   - gait: how one walks.
  ///   - errands: what one does, in order.
  /// - Returns: the journey; one stays where it ends.
  /// - Throws: ``InvalidScene``, which names the first errand that cannot be done.
  package func journey(
    on floor: FloorID,
    from point: Point,
    isOutdoors: Bool = false,
    gait: Gait = Gait(),
    _ errands: [Errand]
  ) throws(InvalidScene) -> Journey {
    var course = try course(on: floor, from: point, isOutdoors: isOutdoors, gait: gait)
    for (number, errand) in errands.enumerated() {
      try perform(errand, number: number, on: &course)
    }
    return course.journey
  }

  /// How high a floor lies above the ground floor in metres.
  package func height(of floor: FloorID) -> Double { Double(floor.level) * storey }

  func course(
    on floor: FloorID,
    from point: Point,
    isOutdoors: Bool = false,
    gait: Gait
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
    _ errand: Errand,
    number: Int,
    on course: inout JourneyCourse
  ) throws(InvalidScene) {
    let place = "errand \(number + 1)"
    switch errand {
    case .stay(let time):
      guard time >= .zero else { throw mistake(place, "stays \(time.seconds) s; it must not be negative") }
      course.stay(time)
    case .walk(let point): try walk(to: point, place: place, on: &course)
    case .take(let name, let floor): try take(name, to: floor, place: place, on: &course)
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

  private func take(
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
