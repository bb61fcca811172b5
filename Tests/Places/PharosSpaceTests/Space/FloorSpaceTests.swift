import PharosSpace
import PharosTestSupport
import Testing

@Suite("Floor space")
struct FloorSpaceTests {
  static let plane: FloorPlane = .ground(GroundPlane(origin: Coordinate(latitude: 50, longitude: 8) ?? .zero))

  /// A floor of random shops and walls in two halls that overlap, some of it sharing sides.
  static func drawn(_ seed: UInt64) -> Floor {
    var random = SeededGenerator(seed: seed)
    func point(_ range: ClosedRange<Double>) -> Point {
      Point(x: .random(in: range, using: &random), y: .random(in: range, using: &random))
    }
    func star(around center: Point, radius: Double) -> Polygon {
      let corners = Int.random(in: 3...9, using: &random)
      return Polygon(
        (0..<corners).map { index in
          let direction = directions[(index * directions.count) / corners]
          return center + direction * (radius * .random(in: 0.3...1, using: &random))
        }
      )
    }
    var floor = Floor(level: 0, plane: plane)
    floor.walkable = [
      Area(
        name: "hall",
        outline: Polygon(rectangleFrom: Point(x: 0, y: 0), to: Point(x: 40, y: 30)),
        holes: [star(around: Point(x: 20, y: 15), radius: 4)]
      ),
      Area(name: "wing", outline: Polygon(rectangleFrom: Point(x: 40, y: 5), to: Point(x: 55, y: 25))),
      Area(name: "round", outline: star(around: Point(x: 5, y: 30), radius: 9)),
    ]
    floor.obstacles = (0..<25).map { _ in
      let corner = point(-2...50)
      // On whole metres, so that many of them share sides and corners.
      let low = Point(x: corner.x.rounded(), y: corner.y.rounded())
      let size = Point(x: .random(in: 1...6, using: &random), y: .random(in: 1...6, using: &random))
      return Area(
        outline: Polygon(rectangleFrom: low, to: low + Point(x: size.x.rounded(), y: size.y.rounded()))
      )
    }
    floor.obstacles += (0..<5).map { _ in Area(outline: star(around: point(0...40), radius: 4)) }
    floor.walls = Walls(
      (0..<60).map { _ in
        let start = point(-5...60)
        return Wall(from: start, to: start + point(-8...8), attenuation: .random(in: 1...20, using: &random))
      }
    )
    return floor
  }

  /// Sixteen directions all around, found without a sine.
  static let directions: [Point] = (0..<16).compactMap { step in
    let side = Double(step % 4) / 2 - 1
    let way = [
      Point(x: 1, y: side + 0.5), Point(x: -side - 0.5, y: 1), Point(x: -1, y: -side - 0.5),
      Point(x: side + 0.5, y: -1),
    ]
    return way[step / 4].direction
  }

  static func isWalkable(_ point: Point, on floor: Floor) -> Bool {
    floor.walkable.contains { $0.contains(point) } && !floor.obstacles.contains { $0.contains(point) }
  }

  @Test("the grid answers as going through everything does", arguments: Seeds.drawn(1..<7))
  func exact(seed: Int) {
    let floor = Self.drawn(UInt64(seed))
    let space = FloorSpace(floor)
    var random = SeededGenerator(seed: UInt64(seed) + 1_000)
    var walkable = 0
    var crossings = 0
    for step in 0..<2_000 {
      var start = Point(x: .random(in: -8...65, using: &random), y: .random(in: -8...60, using: &random))
      // Every other place lies on whole metres, which is where the corners are.
      if step.isMultiple(of: 2) { start = Point(x: start.x.rounded(), y: start.y.rounded()) }
      let reach = step.isMultiple(of: 3) ? 60.0 : 3.0
      let end =
        start
        + Point(
          x: .random(in: -reach...reach, using: &random),
          y: .random(in: -reach...reach, using: &random)
        )
      let isWalkable = Self.isWalkable(start, on: floor)
      #expect(space.isWalkable(start) == isWalkable, "\(start)")
      let count = floor.walls.count(between: start, and: end)
      #expect(space.crossesWall(from: start, to: end) == (count > 0))
      let loss = floor.walls.attenuation(between: start, and: end)
      #expect(abs(space.attenuation(between: start, and: end) - loss) < 1e-9)
      walkable += isWalkable ? 1 : 0
      crossings += count > 0 ? 1 : 0
    }
    #expect(walkable > 200 && walkable < 1_800)
    #expect(crossings > 200 && crossings < 1_950)
  }

  @Test("the nearest walkable place is walkable, and no other is nearer", arguments: Seeds.drawn(1..<7))
  func nearest(seed: Int) throws {
    let floor = Self.drawn(UInt64(seed))
    let space = FloorSpace(floor)
    // The slow model: a grid of walkable places.
    let samples = (0...124).flatMap { x in
      (0...80).map { Point(x: Double(x) * 0.5 - 5 + 1e-4, y: Double($0) * 0.5 + 1e-4) }
    }.filter { Self.isWalkable($0, on: floor) }
    var random = SeededGenerator(seed: UInt64(seed) + 2_000)
    for _ in 0..<60 {
      let point = Point(x: .random(in: -30...80, using: &random), y: .random(in: -30...70, using: &random))
      let found = try #require(space.nearestWalkable(to: point))
      #expect(Self.isWalkable(found, on: floor))
      if Self.isWalkable(point, on: floor) {
        #expect(found == point)
      } else {
        let slow = try #require(samples.map { $0.distance(to: point) }.min())
        #expect(found.distance(to: point) <= slow + 0.005, "\(point)")
        #expect(
          space.boundary.map { $0.distance(to: point) }.min().map { $0 <= found.distance(to: point) + 1e-9 }
            == true
        )
      }
    }
  }

  @Test(
    "a walk in small steps never leaves the walkable area unnoticed",
    arguments: Seeds.drawn(1..<7)
  )
  func walks(seed: Int) throws {
    let floor = Self.drawn(UInt64(seed))
    let space = FloorSpace(floor)
    var random = SeededGenerator(seed: UInt64(seed) + 3_000)
    var place = try #require(space.nearestWalkable(to: Point(x: 2, y: 2)))
    var refused = 0
    for _ in 0..<2_000 {
      let next = place + Point(x: .random(in: -2...2, using: &random), y: .random(in: -2...2, using: &random))
      guard space.canWalk(from: place, to: next) else {
        refused += 1
        continue
      }
      #expect(floor.walls.count(between: place, and: next) == 0)
      // Every tenth of the way is walkable, off the very edges.
      for share in 0...10 {
        let between = place.interpolated(to: next, share: Double(share) / 10)
        let isOnEdge = space.boundary.contains { $0.distance(to: between) < 1e-6 }
        #expect(isOnEdge || Self.isWalkable(between, on: floor))
      }
      place = next
    }
    #expect(refused > 50 && refused < 1_950)
  }

  @Test("a side that two halls share is no boundary, one that two shops share neither")
  func sharedSides() {
    var floor = Floor(level: 0, plane: Self.plane)
    floor.walkable = [
      Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 10, y: 10))),
      Area(outline: Polygon(rectangleFrom: Point(x: 10, y: 2), to: Point(x: 20, y: 8))),
    ]
    floor.obstacles = [
      Area(outline: Polygon(rectangleFrom: Point(x: 2, y: 4), to: Point(x: 4, y: 6))),
      Area(outline: Polygon(rectangleFrom: Point(x: 4, y: 4), to: Point(x: 6, y: 6))),
    ]
    let space = FloorSpace(floor)
    let length = space.boundary.reduce(0) { $0 + $1.length }
    #expect(abs(length - (40 - 6 + 6 + 20 + 12)) < 1e-6)
    #expect(space.canWalk(from: Point(x: 9, y: 5), to: Point(x: 11, y: 5)))
    #expect(!space.canWalk(from: Point(x: 9, y: 9), to: Point(x: 11, y: 9)))
    #expect(!space.canWalk(from: Point(x: 1, y: 5), to: Point(x: 7, y: 5)))
  }

  @Test("a floor of which nothing is known is free everywhere, and one that is all obstacle nowhere near")
  func empty() {
    let free = FloorSpace(Floor(level: 0, plane: Self.plane))
    #expect(free.isWalkable(Point(x: 1e6, y: -1e6)))
    #expect(!free.crossesWall(from: .origin, to: Point(x: 1, y: 1)))
    #expect(free.nearestWalkable(to: Point(x: 3, y: 4)) == Point(x: 3, y: 4))
    var blocked = Floor(level: 0, plane: Self.plane)
    let square = Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 5, y: 5)))
    blocked.walkable = [square]
    blocked.obstacles = [square]
    #expect(FloorSpace(blocked).nearestWalkable(to: Point(x: 1, y: 1)) == nil)
    #expect(!FloorSpace(blocked).isWalkable(Point(x: 1, y: 1)))
  }

  @Test("numbers that are none, and lines that reach far out, do no harm")
  func extremes() {
    let space = FloorSpace(Self.drawn(1))
    for number in [Double.nan, .infinity, -.infinity, 1e300, 1e13] {
      let point = Point(x: number, y: 3)
      #expect(!space.isWalkable(point))
      #expect(!space.canWalk(from: .origin, to: point))
      _ = space.crossesWall(from: point, to: .origin)
      _ = space.nearestWalkable(to: point)
    }
    #expect(space.crossesWall(from: Point(x: -1e6, y: 10), to: Point(x: 1e6, y: 11)))
  }

  @Test("many large areas on top of each other take bounded memory")
  func pile() {
    var floor = Floor(level: 0, plane: Self.plane)
    floor.walkable = (0..<60).map { index in
      let inset = Double(index) / 100
      return Area(
        outline: Polygon(rectangleFrom: Point(x: inset, y: inset), to: Point(x: 900 - inset, y: 900 - inset))
      )
    }
    let space = FloorSpace(floor)
    #expect(space.isWalkable(Point(x: 450, y: 450)))
    #expect(!space.isWalkable(Point(x: -1, y: 450)))
    #expect(abs(space.boundary.reduce(0) { $0 + $1.length } - 3_600) < 1e-6)
  }
}

extension Coordinate {
  /// A place in the gulf of Guinea, for tests that need any.
  static var zero: Coordinate { MapPoint(x: MapPoint.worldSize / 2, y: MapPoint.worldSize / 2).coordinate }
}
