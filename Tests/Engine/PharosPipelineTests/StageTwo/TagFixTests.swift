import PharosFixes
import PharosModel
import PharosPipeline
import PharosSpace
import PharosTestSupport
import Testing

/// Tags that fixed observers hear, in two rooms of an angled flat with a door between them.
@Suite("Fixes of tags")
struct TagFixTests {
  private static let plane = Coordinate(latitude: 52.5, longitude: 13.4).map {
    FloorPlane.ground(GroundPlane(origin: $0))
  }
  private static let places = [
    Point(x: 0.5, y: 0.5), Point(x: 5.5, y: 0.5), Point(x: 5.5, y: 7.5), Point(x: 11.5, y: 0.5),
    Point(x: 11.5, y: 3.5),
  ]

  /// A room of 6 by 8 m, and one of 6 by 4 m east of it; what lies north of that is outside.
  private static func floor(hasDoor: Bool = true) throws -> Floor {
    let wall = { (from: Double, to: Double) in
      Wall(from: Point(x: 6, y: from), to: Point(x: 6, y: to), attenuation: 3)
    }
    return Floor(
      level: 0,
      plane: try #require(plane),
      walkable: [
        Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 6, y: 8))),
        Area(outline: Polygon(rectangleFrom: Point(x: 6, y: 0), to: Point(x: 12, y: 4))),
      ],
      walls: Walls(hasDoor ? [wall(0, 1), wall(2.2, 4)] : [wall(0, 4)]),
      observers: places.enumerated().map { PlacedObserver(.name("\($0.offset)"), at: $0.element) }
    )
  }

  private static func ground(_ floor: Floor) -> LocatableVenue {
    let venue = Venue(identifier: "flat", buildings: [Building(identifier: "main", floors: [floor])])
    return LocatableVenue(venue: venue)
  }

  /// The fixes of a tag at some places, one after the other each second, that sends louder than usual.
  private static func fixes(
    _ ground: LocatableVenue,
    at points: [Point],
    louder: Float,
    seed: UInt64
  ) -> [FixEstimate] {
    var random = SeededGenerator(seed: seed)
    var locator = Locator(ground: ground, seed: seed)
    let start = Timestamp(seconds: 1_750_000_000)
    var fixes: [FixEstimate] = []
    for (second, point) in points.enumerated() {
      for number in places.indices {
        let observer = ObserverID.name("\(number)")
        guard let emitter = ground.radio.emitter(.observer(observer)),
          let expected = ground.radio.prediction(of: emitter, floor: 0, at: point)
        else { continue }
        let level = expected.level + louder + .random(in: -6...6, using: &random)
        let time = start + .milliseconds(Int64(second) * 1_000 + 300)
        locator.receive(observer, level: Double(level), heard: time, decidedAt: time + .milliseconds(800))
      }
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    return fixes
  }

  @Test(
    "However loud a tag is, its fixes stay on the floor and do not run away from where it lies",
    arguments: [-14, -6, 0, 6, 14] as [Float],
    Seeds.fixed(1..<4 as Range<UInt64>)
  )
  func louder(by decibels: Float, seed: UInt64) throws {
    let floor = try Self.floor()
    let space = FloorSpace(floor)
    for place in [Point(x: 1, y: 7), Point(x: 5, y: 3), Point(x: 11, y: 1)] {
      let points = [Point](repeating: place, count: 40)
      let fixes = Self.fixes(Self.ground(floor), at: points, louder: decibels, seed: seed)
      #expect(fixes.count > 30)
      #expect(fixes.allSatisfy { space.isWalkable($0.point) })
      let errors = fixes.dropFirst(5).map { $0.point.distance(to: place) }
      let mean = errors.reduce(0, +) / Double(errors.count)
      // At the ends of the flat one observer is near, and the middle is 5 to 6 m away.
      #expect(mean < 4.2, "\(place): \(mean) m")
    }
  }

  @Test(
    "a subject that walks through the door is followed through it",
    arguments: Seeds.fixed(1..<4 as Range<UInt64>)
  )
  func door(seed: UInt64) throws {
    let walk = (0..<20).map { Point(x: 1 + Double($0) / 2, y: 1.6) }
    let stay = [Point](repeating: Point(x: 11, y: 2), count: 10)
    let fixes = Self.fixes(Self.ground(try Self.floor()), at: walk + stay, louder: 5, seed: seed)
    let last = try #require(fixes.last)
    #expect(last.point.x > 7, "\(last.point)")
    #expect(last.sources == .observers && last.floor?.level == 0)
  }

  /// The fixes of a tag at rest whose observers each report so long after each half second.
  private static func fixes(
    seconds: Int,
    deliveredAfter delivery: (_ half: Int, _ observer: Int) -> TimeSpan
  ) throws -> [Event] {
    let ground = ground(try floor())
    var stage = StageTwo(site: Site(), venues: [ground])
    let start = Timestamp(seconds: 1_750_000_000)
    var links: [StageLink] = []
    for half in 1...2 * seconds {
      let until = start + .milliseconds(Int64(half) * 500)
      for (number, place) in places.enumerated() {
        let level = -60 - 3 * place.distance(to: Point(x: 2, y: 2)) + Double((half * 7 + number * 3) % 5)
        let heard = BeaconSummary(
          beacon: LinkScript.tag,
          count: 1,
          mean: level,
          variance: 4,
          lastHeard: until - .milliseconds(400)
        )
        let second = SecondSummary(
          observer: .name("\(number)"),
          until: until,
          decidedAt: until + delivery(half, number),
          ordinal: UInt64(half),
          beacons: [heard]
        )
        links.append(.second(second))
      }
    }
    var events: [Event] = []
    for link in links.sorted(by: StageLink.isOrderedBefore) { stage.restore(link, into: &events) }
    // Fixes go on for half a minute behind the last input.
    stage.advance(to: start + .seconds(Double(seconds + 110)), into: &events)
    return events.filter { $0.kind == .fix }
  }

  @Test(
    "Observers that report late give the same fixes, each as late as they are",
    arguments: [30, 1_030, 2_030, 5_030, 10_030, 11_030, 31_030, 61_030] as [Int64]
  )
  func delivery(milliseconds: Int64) throws {
    let prompt = try Self.fixes(seconds: 30) { _, _ in .milliseconds(30) }
    let late = try Self.fixes(seconds: 30) { _, _ in .milliseconds(milliseconds) }
    try #require(prompt.count >= 30)
    #expect(late.map(\.time) == prompt.map(\.time))
    #expect(late.map(\.detail) == prompt.map(\.detail))
    let lag = max(TimeSpan.seconds(1), .milliseconds(milliseconds + 500))
    #expect(late.allSatisfy { $0.decidedAt == $0.time + lag })
  }

  @Test("An observer that uploads once a minute delays no fix that others allow")
  func slowObserver() throws {
    let fixes = try Self.fixes(seconds: 240) { _, observer in
      observer == 0 ? .milliseconds(61_030) : .milliseconds(30)
    }
    try #require(fixes.count >= 240)
    // Then the others fall silent, and what the slow one still tells is waited for.
    #expect(fixes.prefix(239).allSatisfy { $0.decidedAt == $0.time + .seconds(1) })
  }

  @Test("A network that was slow for some seconds delays fixes for two minutes, and no longer")
  func slowForAWhile() throws {
    let prompt = try Self.fixes(seconds: 240) { _, _ in .milliseconds(30) }
    let fixes = try Self.fixes(seconds: 240) { half, _ in
      (40..<50).contains(half) ? .milliseconds(4_030) : .milliseconds(30)
    }
    #expect(fixes.map(\.time) == prompt.map(\.time))
    #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $0.decidedAt <= $1.decidedAt })
    let lags = fixes.map { $0.decidedAt - $0.time }
    #expect(lags.max() == .milliseconds(4_530))
    #expect(lags.suffix(60).allSatisfy { $0 == .seconds(1) })
  }

  @Test("Particles that spread stay on the floor and on their side of a wall")
  func spread() throws {
    let floors = Self.ground(try Self.floor(hasDoor: false)).content.floors
    var noise = FusionNoise(seed: 3)
    var cloud = ParticleCloud()
    for index in 0..<200 {
      cloud.append(east: index < 100 ? 5.5 : 6.5, north: 2, bias: 0, scale: 1, floor: 0)
    }
    for _ in 0..<50 {
      cloud.spread(2, on: floors, &noise)
      let isKept = (0..<cloud.count).allSatisfy { index in
        let (east, north) = (cloud.east[index], cloud.north[index])
        return index < 100
          ? (0...6).contains(east) && (0...8).contains(north)
          : (6...12).contains(east) && (0...4).contains(north)
      }
      #expect(isKept)
    }
    // They do spread: each side is covered from end to end.
    #expect(cloud.north.prefix(100).contains { $0 > 7 } && cloud.east.suffix(100).contains { $0 > 11 })
  }
}
