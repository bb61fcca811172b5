import PharosModel
import PharosSimulation
import PharosSpace
import Testing

@Suite("Journeys")
struct JourneyTests {
  static let planner = JourneyPlanner(venue: SimulatedMall.venue(), storey: SimulatedMall.storey)
  static let ground = SimulatedMall.floor(0)

  @Test("one walks around walls, through doors, never faster than one walks", arguments: [1, 2] as [UInt64])
  func walking(seed: UInt64) throws {
    let journey = try Self.planner.tour(seed: seed, on: Self.ground, lasting: .minutes(10), receiving: [])
    let floor = try #require(Self.planner.venue.floor(Self.ground))
    let space = FloorSpace(floor)
    var last = journey.place(at: .zero)
    for step in 1..<6_000 {
      let place = journey.place(at: .milliseconds(Int64(step) * 100))
      #expect(place.floor == Self.ground)
      #expect(last.point.distance(to: place.point) <= journey.gait.speed * 0.1 + 1e-9)
      #expect(space.canWalk(from: last.point, to: place.point), "from \(last.point) to \(place.point)")
      last = place
    }
    #expect(journey.duration >= .minutes(10))
  }

  @Test("from floor to floor one moves without a leap, and as long as such ways take")
  func connectors() throws {
    let journeySteps: [JourneyStep] = [
      .ride(SimulatedMall.lowerEscalator, to: SimulatedMall.floor(1)), .walk(to: Point(x: 20, y: 20)),
      .ride(SimulatedMall.lift, to: SimulatedMall.floor(2)), .walk(to: Point(x: 40, y: 20)),
      .ride(SimulatedMall.stairs, to: SimulatedMall.floor(1)), .walk(to: Point(x: 40, y: 20)),
    ]
    let journey = try Self.planner.journey(on: Self.ground, from: Point(x: 5, y: 20), journeySteps)
    #expect(journey.arrivals.map(\.floor.level) == [1, 2, 1])
    #expect(journey.arrivals.map(\.manner) == [.escalator, .lift, .climbing])
    var times: [Journey.Manner: Double] = [:]
    var last = journey.place(at: .zero)
    for step in 1...Int(journey.duration.milliseconds / 10) {
      let place = journey.place(at: .milliseconds(Int64(step) * 10))
      #expect((place.height - last.height).magnitude < 0.05)
      #expect(place.point.distance(to: last.point) < 0.02)
      if [.climbing, .escalator, .lift].contains(place.manner) {
        times[place.manner, default: 0] += 0.01
      } else {
        #expect(place.height == Double(place.floor.level) * SimulatedMall.storey)
      }
      last = place
    }
    // 4.5 m at 0.25 m/s; 4.5 m in steps of 17 cm at 1.6 a second; √(6 × 4.5 s²) and two doors of 4 s.
    #expect(abs((times[.escalator] ?? 0) - 18) < 0.1)
    #expect(abs((times[.climbing] ?? 0) - 16.54) < 0.1)
    #expect(abs((times[.lift] ?? 0) - 13.2) < 0.1)
  }

  @Test("steps are as many as the way is long")
  func steps() throws {
    let gait = SimulatedGait(speed: 1.2, stepLength: 0.7)
    let start = Point(x: 5, y: 20)
    let journey = try Self.planner.journey(
      on: Self.ground,
      from: start,
      gait: gait,
      [.stay(.seconds(3)), .walk(to: Point(x: 40, y: 20)), .stay(.seconds(5))]
    )
    #expect(journey.steps(at: .seconds(3)) == 0)
    #expect(abs(journey.steps(at: .seconds(13)) - 12 / 0.7) < 1e-6)
    #expect(abs(journey.steps(at: journey.duration) - 50) < 1e-6)
    // People of 1.3 m/s take steps of 71 cm.
    #expect(abs(SimulatedGait(speed: 1.3).stepLength - 0.712) < 0.001)
  }

  @Test("one faces where one walks, and turns about in little more than a second, never at once")
  func heading() throws {
    let journey = try Self.planner.journey(
      on: Self.ground,
      from: Point(x: 2, y: 20),
      [.walk(to: Point(x: 12, y: 20)), .walk(to: Point(x: 12, y: 23)), .stay(.seconds(5))]
    )
    let corner = 10 / 1.3
    #expect(journey.heading(at: .seconds(1)).dot(Point(x: 1, y: 0)) > 0.9999)
    #expect(journey.heading(at: .seconds(corner + 0.5)).dot(Point(x: 0, y: 1)) > 0.9999)
    let amid = journey.heading(at: .seconds(corner))
    #expect(amid.dot(Point(x: 1, y: 0)) > 0.6 && amid.dot(Point(x: 0, y: 1)) > 0.6)
    #expect(journey.heading(at: journey.duration - .seconds(1)).dot(Point(x: 0, y: 1)) > 0.9999)
    // Any tour turns by less than 9 rad/s.
    let tour = try Self.planner.tour(seed: 8, on: Self.ground, lasting: .minutes(5))
    var last = tour.heading(at: .zero)
    for step in 1..<15_000 {
      let next = tour.heading(at: .milliseconds(Int64(step) * 20))
      #expect(last.distance(to: next) < 0.18)
      last = next
    }
    #expect(abs(last.length - 1) < 1e-12)
  }

  @Test("through a door one comes out and in again")
  func outdoors() throws {
    let journey = try Self.planner.journey(
      on: Self.ground,
      from: Point(x: 20, y: 20),
      [
        .leave(through: SimulatedMall.westDoor, to: Point(x: -30, y: 20)), .stay(.seconds(10)),
        .enter(through: SimulatedMall.westDoor), .walk(to: Point(x: 20, y: 20)),
      ]
    )
    #expect(!journey.place(at: .seconds(5)).isOutdoors)
    let outside = journey.place(at: .seconds(45))
    #expect(outside.isOutdoors)
    #expect(outside.point == Point(x: -30, y: 20))
    let end = journey.place(at: journey.duration)
    #expect(!end.isOutdoors)
    #expect(end.point == Point(x: 20, y: 20))
  }

  @Test(
    "a step that cannot be carried out is named",
    arguments: [
      (JourneyStep.walk(to: Point(x: 100, y: 20)), "step 2: finds no way on floor mall/0"),
      (.ride("ladder", to: SimulatedMall.floor(1)), "step 2: takes \"ladder\", which is no connector"),
      (.ride(SimulatedMall.upperEscalator, to: SimulatedMall.floor(2)), "step 2: takes \"escalator 1-2\""),
      (.leave(through: "window", to: .origin), "step 2: goes through \"window\""),
      (.stay(.seconds(-1)), "step 2: stays -1.0 s"),
    ]
  )
  func mistakes(journeyStep: JourneyStep, start: String) {
    let error = #expect(throws: InvalidScene.self) {
      try Self.planner.journey(on: Self.ground, from: Point(x: 5, y: 20), [.stay(.seconds(1)), journeyStep])
    }
    #expect(error?.mistakes.first?.description.hasPrefix(start) == true, "\(String(describing: error))")
  }

  @Test("a subject that cannot walk has no journey")
  func gait() {
    #expect(throws: InvalidScene.self) {
      try Self.planner.journey(on: Self.ground, from: Point(x: 5, y: 20), gait: SimulatedGait(speed: 0), [])
    }
    #expect(throws: InvalidScene.self) {
      try Self.planner.journey(on: SimulatedMall.floor(7), from: Point(x: 5, y: 20), [])
    }
  }

  @Test("tours lead over all floors and come out the same from the same seed")
  func tours() throws {
    let tour = try Self.planner.tour(seed: 5, on: Self.ground, lasting: .minutes(20))
    let again = try Self.planner.tour(seed: 5, on: Self.ground, lasting: .minutes(20))
    let other = try Self.planner.tour(seed: 6, on: Self.ground, lasting: .minutes(20))
    #expect(tour == again)
    #expect(tour != other)
    let seconds = 0..<1_200
    #expect(Set(seconds.map { tour.place(at: .seconds(Double($0))).floor.level }) == [0, 1, 2])
    #expect(Set(tour.arrivals.map(\.manner)).count >= 2)
  }

  @Test("a survey has its waypoints where it turns")
  func survey() throws {
    let journey = try Self.planner.survey(seed: 3, of: Self.ground, legs: 20)
    let waypoints = journey.waypoints
    #expect(waypoints.count > 20)
    for waypoint in waypoints {
      #expect(journey.place(at: waypoint.time).point.distance(to: waypoint.place) < 1e-6)
    }
    for (one, next) in zip(waypoints, waypoints.dropFirst()) { #expect(one.time <= next.time) }
  }
}
