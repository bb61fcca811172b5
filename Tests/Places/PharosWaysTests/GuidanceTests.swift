import PharosModel
import PharosSpace
import PharosWays
import Testing

@Suite("Guidance")
struct GuidanceTests {
  /// Feeds fixes, one a second, and draws what comes of each: S started, 1 to 9 a step, R rerouted, L lost, A arrived.
  private static func draw(
    _ guidance: inout Guidance,
    _ places: [(x: Double, y: Double, level: Int)],
    accuracy: Double = 2
  ) -> String {
    let plane = GroundPlane(origin: WayVenue.origin)
    return places.enumerated().map { second, place in
      let fix = Guidance.Fix(
        time: Timestamp(seconds: Int64(second)),
        coordinate: plane.coordinate(of: Point(x: place.x, y: place.y)) ?? WayVenue.origin,
        level: place.level,
        accuracy: accuracy
      )
      let events = guidance.update(fix).map { event in
        switch event {
        case .started: "S"
        case .step(let step): "\(step)"
        case .rerouted: "R"
        case .lost: "L"
        case .arrived: "A"
        }
      }
      return events.isEmpty ? "-" : events.joined()
    }.joined()
  }

  @Test("a walk along the route passes its steps and arrives")
  func walk() {
    var guidance = Guidance(WayVenue.router, to: .place("r4-0"))
    let along = (0...8).map { (x: 2 + Double($0) * 4, y: 11.0, level: 0) }
    #expect(Self.draw(&guidance, along) == "S--------")
    #expect((guidance.progress?.toNextManeuver ?? 99) < 3)
    #expect(Self.draw(&guidance, [(34.5, 12.5, 0), (35, 14, 0), (35, 16, 0)]) == "1A-")
    #expect(guidance.hasArrived && guidance.progress == nil)
    #expect(Self.draw(&guidance, [(0, 10, 0)]) == "-")
  }

  private static let strays: [(points: [[Double]], picture: String)] = [
    ([[2, 11], [6, 11], [10, 11], [14, 18], [15, 19], [15, 18]], "S---R-"),
    ([[2, 11], [6, 11], [10, 18], [14, 11], [18, 11]], "S----"),
    ([[2, 11], [6, 11], [10, 18], [14, 11], [18, 18], [22, 11]], "S-----"),
  ]

  @Test("leaving the route gives a new one within two seconds, one stray fix does not", arguments: 0..<3)
  func leaving(number: Int) {
    let (points, picture) = Self.strays[number]
    var guidance = Guidance(WayVenue.router, to: .place("r4-0"))
    #expect(Self.draw(&guidance, points.map { (x: $0[0], y: $0[1], level: 0) }) == picture)
  }

  @Test("fixes of poor accuracy do not leave the route by what they err")
  func accuracy() {
    var guidance = Guidance(WayVenue.router, to: .place("r4-0"))
    let points = [(2.0, 11.0), (6.0, 15.0), (10, 16), (14, 16), (18, 15)].map { (x: $0.0, y: $0.1, level: 0) }
    #expect(Self.draw(&guidance, points, accuracy: 8) == "S----")
  }

  @Test("a ride leads to the step after it, and a wrong level to a new route")
  func levels() {
    var guidance = Guidance(WayVenue.router, to: WayVenue.at(0.5, 10, 1))
    #expect(Self.draw(&guidance, [(8, 10, 0), (6, 10, 0), (5, 10, 0), (5, 10, 1), (2, 10, 1)]) == "S--2A")
    var other = Guidance(WayVenue.router, to: WayVenue.at(38, 10, 0))
    #expect(Self.draw(&other, [(20, 10, 0), (24, 10, 0), (24, 10, 1), (24, 10, 1), (26, 10, 1)]) == "S--R-")
  }

  @Test(
    "a position without a way to the destination is reported with the reason, and the route goes on later"
  )
  func lost() {
    var guidance = Guidance(WayVenue.router, to: .place("r4-0"))
    #expect(Self.draw(&guidance, [(2, 11, 0), (6, 4, 0), (6, 3, 0), (6, 3, 0), (6, 11, 0)]) == "S-LL-")
  }

  private static let directions: [(heading: Double, x: Double, y: Double, side: RelativeDirection.Side)] = [
    (0, 0, 10, .ahead), (90, 0, 10, .left), (270, 0, 10, .right), (180, 0, 10, .behind), (350, 10, 0, .right),
    (44, 0, 10, .ahead), (46, 0, 10, .left), (179, -10, 0, .right),
  ]

  @Test("a place lies ahead, to the left, to the right or behind", arguments: 0..<8)
  func directions(number: Int) throws {
    let (heading, x, y, side) = Self.directions[number]
    let place = try #require(GroundPlane(origin: WayVenue.origin).coordinate(of: Point(x: x, y: y)))
    let direction = RelativeDirection(from: WayVenue.origin, heading: heading, to: place)
    #expect(direction.side == side)
    #expect(abs(direction.distance - Point(x: x, y: y).length) < 0.001)
  }
}
