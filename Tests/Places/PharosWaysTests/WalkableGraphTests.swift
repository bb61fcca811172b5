import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

@Suite("The walkable graph")
struct WalkableGraphTests {
  private static func coordinate(_ floor: Floor, _ point: Point) -> Coordinate {
    floor.plane.coordinate(of: point) ?? floor.plane.origin
  }

  /// A floor with walls and obstacles in any direction, some of them touching or crossing each other.
  private static func clutter(_ random: inout SeededGenerator) -> Floor {
    var floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: WayVenue.origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 30, y: 25)))]
    )
    func place() -> Point {
      let point = Point(x: .random(in: 0...30, using: &random), y: .random(in: 0...25, using: &random))
      // Half of them on round numbers, where degenerate cases are.
      return Bool.random(using: &random) ? Point(x: point.x.rounded(), y: point.y.rounded()) : point
    }
    for _ in 0..<Int.random(in: 2...9, using: &random) {
      let start = place()
      let end = Bool.random(using: &random) ? place() : Point(x: start.x, y: place().y)
      floor.walls.all.append(Wall(from: start, to: end, attenuation: 3))
    }
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let middle = place()
      let corners = (0..<Int.random(in: 3...6, using: &random)).map { _ in
        middle + Point(x: .random(in: -3...3, using: &random), y: .random(in: -3...3, using: &random))
      }
      let sorted = corners.sorted { left, right in
        let (a, b) = (left - middle, right - middle)
        let (upperA, upperB) = (a.y > 0, b.y > 0)
        return upperA == upperB ? a.cross(b) > 0 : upperA
      }
      floor.obstacles.append(Area(outline: Polygon(sorted)))
    }
    return floor
  }

  @Test("ways are as short as those of a grid pulled taut, and exist where those do", arguments: [1, 2, 3])
  func reference(seed: UInt64) throws {
    print("walkable graph: seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var compared = 0
    for number in 0..<12 {
      let floor = Self.clutter(&random)
      let grid = GridRoutes(floor)
      let router = Router(
        WalkableGraph(Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])]))
      )
      for _ in 0..<4 {
        let from = try #require(grid.freePlace(.random(in: 0..<1, using: &random)))
        let to = try #require(grid.freePlace(.random(in: 0..<1, using: &random)))
        guard let length = grid.lengths(from: from, to: [to])[0] else { continue }
        let routes = try? router.routes(
          from: .coordinate(Self.coordinate(floor, from), level: 0),
          to: .coordinate(Self.coordinate(floor, to), level: 0)
        )
        let route = try #require(routes?.first, "floor \(number): no way from \(from) to \(to)")
        #expect(route.distance <= length * 1.001 + 0.01, "floor \(number) from \(from) to \(to)")
        #expect(RouteCheck(floor).isWalkable(route), "floor \(number) from \(from) to \(to)")
        compared += 1
      }
    }
    #expect(compared > 20)
  }

  @Test("a graph read from its bytes has the changes of the local time", arguments: Seeds.drawn(0..<10))
  func localTime(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var venue = WayVenue.venue()
    var seconds: Int64 = 1_600_000_000
    let changes = (0..<Int.random(in: 0...8, using: &random)).map { _ in
      seconds += Int64.random(in: 1...20_000_000, using: &random)
      return LocalTime.Change(
        at: Timestamp(seconds: seconds),
        utcOffset: Int.random(in: -720...840, using: &random)
      )
    }
    venue.localTime = LocalTime(utcOffset: 60, changes: changes)
    let bytes = WalkableGraph(venue).encoded()
    #expect(try WalkableGraph(decoding: bytes).encoded() == bytes)
    for _ in 0..<50 {
      let time = Timestamp(seconds: Int64.random(in: 1_590_000_000...1_800_000_000, using: &random))
      let expected = changes.last { $0.time <= time }?.utcOffset ?? 60
      #expect(venue.localTime.utcOffset(at: time) == expected)
    }
  }

  @Test("a graph read from its bytes gives the same routes bit by bit")
  func roundTrip() throws {
    let airport = SimulatedAirport(floors: 2, seed: 4).venue
    for venue in [WayVenue.venue(), airport] {
      let graph = WalkableGraph(venue)
      let bytes = graph.encoded()
      let read = try WalkableGraph(decoding: bytes)
      #expect(read.encoded() == bytes)
      #expect(read.venue == venue.identifier && read.places.map(\.place) == graph.places.map(\.place))
      var random = SeededGenerator(seed: 9)
      var sentences: [String] = []
      for _ in 0..<20 {
        guard let from = graph.places.randomElement(using: &random)?.place,
          let to = graph.places.randomElement(using: &random)?.place
        else { continue }
        let options = RouteOptions(isAccessible: Bool.random(using: &random), alternatives: 2)
        let one = try? Router(graph).routes(
          from: .place(from.identifier),
          to: .place(to.identifier),
          options: options
        )
        let other = try? Router(read).routes(
          from: .place(from.identifier),
          to: .place(to.identifier),
          options: options
        )
        #expect(one == other)
        sentences += one?.flatMap { $0.steps.map { $0.instruction(in: .german) } } ?? []
      }
      #expect(!sentences.isEmpty && !sentences.contains { $0.isEmpty })
      let floor = venue.floors[0].floor
      let coordinate = Self.coordinate(floor, Point(x: 3, y: -1))
      #expect(try graph.projection(of: coordinate, level: 0) == read.projection(of: coordinate, level: 0))
      #expect(abs(try graph.projection(of: coordinate, level: 0).meters - 1) < 0.002)
    }
  }

  @Test("bytes that are cut short or changed are refused with their position, or read as another graph")
  func damage() throws {
    let bytes = WalkableGraph(WayVenue.venue()).encoded()
    for count in stride(from: 0, to: bytes.count, by: 13) {
      #expect(throws: WalkableGraphError.self) { try WalkableGraph(decoding: Array(bytes.prefix(count))) }
    }
    #expect(throws: WalkableGraphError.self) { try WalkableGraph(decoding: bytes + [0]) }
    var other = bytes
    other[8] = 9
    let error = #expect(throws: WalkableGraphError.self) { try WalkableGraph(decoding: other) }
    #expect(error?.offset == 10 && error?.problem == "version 9, expected 3")
    var random = SeededGenerator(seed: 5)
    for _ in 0..<100 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        changed[.random(in: changed.indices, using: &random)] = .random(in: .min ... .max, using: &random)
      }
      guard let graph = try? WalkableGraph(decoding: changed) else { continue }
      _ = try? Router(graph).routes(from: WayVenue.at(2, 10, 0), to: WayVenue.at(38, 10, 1))
    }
  }

  @Test("walls that lie on each other, cross or end on edges make no gap and no dead end")
  func degenerate() throws {
    var floor = Floor(
      level: 0,
      plane: .ground(GroundPlane(origin: WayVenue.origin)),
      walkable: [
        Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 10, y: 10))),
        Area(outline: Polygon(rectangleFrom: Point(x: 10, y: 2), to: Point(x: 20, y: 8))),
      ]
    )
    for (from, to) in [
      ((5, 0), (5, 9)), ((5, 4), (5, 9)), ((0, 9), (5, 9)), ((4.9, 8.9), (5.1, 9.1)), ((15, 2), (15, 7)),
    ] {
      floor.walls.all.append(
        Wall(
          from: Point(x: Double(from.0), y: Double(from.1)),
          to: Point(x: Double(to.0), y: Double(to.1)),
          attenuation: 3
        )
      )
    }
    let router = Router(
      WalkableGraph(Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])]))
    )
    func distance(_ from: Point, _ to: Point) -> Double? {
      try? router.routes(
        from: .coordinate(Self.coordinate(floor, from), level: 0),
        to: .coordinate(Self.coordinate(floor, to), level: 0)
      ).first?.distance
    }
    #expect(distance(Point(x: 2, y: 2), Point(x: 8, y: 2)) == nil)
    #expect(distance(Point(x: 2, y: 9.5), Point(x: 8, y: 2)) != nil)
    let around = try #require(distance(Point(x: 8, y: 3), Point(x: 18, y: 3)))
    let expected =
      Point(x: 8, y: 3).distance(to: Point(x: 15, y: 7)) + Point(x: 15, y: 7).distance(to: Point(x: 18, y: 3))
    #expect(abs(around - expected) < 0.01)
  }
}
