import PharosModel
import PharosSimulation
package import PharosSpace

/// An airport of many floors, drawn from a seed: a concourse with shops, gates with rows of seats, columns, lifts, stairs
/// and escalators.
package struct SimulatedAirport {
  /// The airport.
  package let venue: Venue

  /// The length and the width of a floor in metres.
  package static let size = (length: 500.0, width: 100.0)
  /// The building.
  package static let building = "terminal"

  private static let concourse = (south: 40.0, north: 60.0)
  private static let shopDepth = 18.0

  /// Draws an airport.
  package init(floors: Int = 20, seed: UInt64) {
    var random = RandomStream(seed: seed)
    let origin = Coordinate(latitude: 50.03, longitude: 8.55)
    let plane = FloorPlane.ground(GroundPlane(origin: origin ?? MapPoint(x: 1.4e8, y: 8.8e7).coordinate))
    var drawn: [Floor] = []
    for level in 0..<floors { drawn.append(SimulatedAirport.floor(level, plane, &random)) }
    let connectors = SimulatedAirport.connectors(floors: floors)
    venue = Venue(
      identifier: "airport",
      name: "Airport",
      buildings: [Building(identifier: SimulatedAirport.building, name: "Terminal", floors: drawn)],
      connectors: connectors
    )
  }

  private static func floor(_ level: Int, _ plane: FloorPlane, _ random: inout RandomStream) -> Floor {
    var floor = Floor(level: level, names: ["Level \(level)"], plane: plane)
    let whole = Polygon(rectangleFrom: .origin, to: Point(x: size.length, y: size.width))
    floor.walkable = [Area(name: "terminal", outline: whole)]
    for isNorth in [false, true] {
      var x = 0.0
      var number = 1
      while x < size.length - 1 {
        let width = min(size.length - x, 8 + 8 * random.uniform())
        shop(&floor, x, width, isNorth: isNorth, "\(level)-\(isNorth ? "N" : "S")\(number)", &random)
        x += width
        number += 1
      }
      gates(&floor, isNorth: isNorth, level, &random)
    }
    columns(&floor, &random)
    if level == 0 {
      floor.entrances = [
        Entrance(identifier: "west", point: Point(x: 1, y: 50)),
        Entrance(identifier: "east", point: Point(x: size.length - 1, y: 50)),
      ]
    }
    return floor
  }

  /// A shop beside the concourse with a door to it; every fifth has one to the gates as well, and every ninth is a
  /// passage.
  private static func shop(
    _ floor: inout Floor,
    _ x: Double,
    _ width: Double,
    isNorth: Bool,
    _ name: String,
    _ random: inout RandomStream
  ) {
    let inner = isNorth ? concourse.north : concourse.south
    let outer = isNorth ? inner + shopDepth : inner - shopDepth
    func wall(_ fromX: Double, _ fromY: Double, _ toX: Double, _ toY: Double) {
      guard fromX != toX || fromY != toY else { return }
      floor.walls.all.append(Wall(from: Point(x: fromX, y: fromY), to: Point(x: toX, y: toY), attenuation: 4))
    }
    let kind = random.uniform()
    let isPassage = kind < 0.12
    if x > 0 { wall(x, inner, x, outer) }
    func front(_ y: Double, hasDoor: Bool) {
      guard hasDoor else {
        wall(x, y, x + width, y)
        return
      }
      let gap = 1 + random.uniform()
      let start = x + 1 + random.uniform() * (width - gap - 2)
      wall(x, y, start, y)
      wall(start + gap, y, x + width, y)
      floor.doors.append(Door(Segment(from: Point(x: start, y: y), to: Point(x: start + gap, y: y))))
    }
    if !isPassage {
      front(inner, hasDoor: true)
      front(outer, hasDoor: kind > 0.8)
    }
    let low = Point(x: x + 0.5, y: min(inner, outer) + 0.5)
    let high = Point(x: x + width - 0.5, y: max(inner, outer) - 0.5)
    if !isPassage {
      for _ in 0..<3 { table(&floor, low + Point(x: 1, y: 1.5), high - Point(x: 1, y: 1.5), &random) }
      floor.pointsOfInterest.append(
        PointOfInterest(
          identifier: "shop \(name)",
          name: "Shop \(name)",
          category: kind > 0.7 ? "restroom" : "shopping",
          point: low.interpolated(to: high, share: 0.5),
          area: Area(outline: Polygon(rectangleFrom: low, to: high))
        )
      )
    }
  }

  /// A table of a shop: a rectangle turned by any angle.
  private static func table(_ floor: inout Floor, _ low: Point, _ high: Point, _ random: inout RandomStream) {
    let middle = Point(
      x: low.x + random.uniform() * (high.x - low.x),
      y: low.y + random.uniform() * (high.y - low.y)
    )
    let (dx, dy) = (random.uniform() - 0.5, random.uniform() - 0.5)
    let along = (Point(x: dx, y: dy).direction ?? Point(x: 1, y: 0)) * (0.4 + 0.8 * random.uniform())
    let across = Point(x: -along.y, y: along.x) * 0.5
    floor.obstacles.append(
      Area(
        outline: Polygon([
          middle + along + across, middle - along + across, middle - along - across, middle + along - across,
        ])
      )
    )
  }

  /// The gates along one side: rows of seats, and a wall between every third pair.
  private static func gates(_ floor: inout Floor, isNorth: Bool, _ level: Int, _ random: inout RandomStream) {
    let (south, north) =
      isNorth ? (concourse.north + shopDepth, size.width) : (0, concourse.south - shopDepth)
    for number in 0..<25 {
      let x = Double(number) * 20
      for row in 0..<5 {
        let y = south + 3 + Double(row) * 3.4 + random.uniform()
        let start = x + 2 + random.uniform() * 3
        floor.obstacles.append(
          Area(
            outline: Polygon(rectangleFrom: Point(x: start, y: y), to: Point(x: start + 12, y: y + 0.8))
          )
        )
      }
      if number % 3 == 2 {
        floor.walls.all.append(
          Wall(from: Point(x: x, y: south + 4), to: Point(x: x, y: north), attenuation: 4)
        )
      }
      floor.pointsOfInterest.append(
        PointOfInterest(
          identifier: "gate \(level)-\(isNorth ? "N" : "S")\(number + 1)",
          name: "Gate \(level)\(isNorth ? "A" : "B")\(number + 1)",
          category: "gate",
          point: Point(x: x + 10, y: isNorth ? north - 1 : south + 1)
        )
      )
    }
  }

  /// Columns along the concourse, with eight sides each.
  private static func columns(_ floor: inout Floor, _ random: inout RandomStream) {
    for number in 0..<40 {
      for y in [45.0, 55] {
        let middle = Point(x: 6 + Double(number) * 12.3 + random.uniform(), y: y + random.uniform())
        let corners = [(1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)]
        floor.obstacles.append(
          Area(outline: Polygon(corners.map { middle + Point(x: $0.0, y: $0.1) * 0.6 }))
        )
      }
    }
  }

  private static func connectors(floors: Int) -> [Connector] {
    func stop(_ level: Int, _ x: Double, _ y: Double) -> Connector.Stop {
      Connector.Stop(floor: FloorID(building: building, level: level), point: Point(x: x, y: y))
    }
    var connectors: [Connector] = []
    for number in 0..<10 {
      let x = 30 + Double(number) * 49
      let stops = (0..<floors).map { stop($0, x, 50) }
      connectors.append(Connector(identifier: "lift \(number + 1)", kind: .lift, stops: stops))
    }
    for level in 0..<max(0, floors - 1) {
      for number in 0..<6 {
        let x = 50 + Double(number) * 80
        let stops = [stop(level, x, 48), stop(level + 1, x + 7, 48)]
        connectors.append(Connector(identifier: "stairs \(level)-\(number)", kind: .stairs, stops: stops))
        for direction in [Connector.Direction.up, .down] {
          let y = direction == .up ? 51.5 : 53.0
          connectors.append(
            Connector(
              identifier: "escalator \(direction.rawValue) \(level)-\(number)",
              kind: .escalator,
              stops: [stop(level, x + 20, y), stop(level + 1, x + 32, y)],
              direction: direction
            )
          )
        }
      }
    }
    return connectors
  }
}
