import PharosModel
import PharosSpace
import PharosWays

/// A small house for tests of routes: two floors of 40 m × 20 m, with a corridor from west to east and rooms beside it.
///
/// ```
/// 20 +--------+--------+--------+--------+
///    |  r1    |  r2    |  r3    |  r4    |
/// 12 +---- ---+---- ---+---- ---+---- ---+   doors in the middle of each room's wall
///    e  corridor, lift at (20, 10), stairs at (35, 10), escalator up at (5, 10)
///  8 +-----------------------------------+
///    |  hall without a way in            |
///  0 +-----------------------------------+
/// ```
enum WayVenue {
  static let building = "house"

  /// The floor of a number.
  static func floor(_ level: Int) -> Floor {
    var floor = Floor(
      level: level,
      names: ["Level \(level)"],
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 40, y: 20)))]
    )
    func wall(_ x: Double, _ y: Double, _ toX: Double, _ toY: Double) {
      floor.walls.all.append(Wall(from: Point(x: x, y: y), to: Point(x: toX, y: toY), attenuation: 3))
    }
    wall(0, 8, 40, 8)
    for number in 0..<4 {
      let x = Double(number) * 10
      wall(x, 12, x + 4.5, 12)
      wall(x + 5.5, 12, x + 10, 12)
      if number > 0 { wall(x, 12, x, 20) }
      let name = number == 3 ? "the glass door" : ""
      floor.doors.append(
        Door(
          Segment(from: Point(x: x + 4.5, y: 12), to: Point(x: x + 5.5, y: 12)),
          name: name,
          isAccessible: number != 1,
          hours: number == 2 ? OpeningHours("Mo-Fr 08:00-20:00") : nil
        )
      )
      let room = Polygon(rectangleFrom: Point(x: x, y: 12), to: Point(x: x + 10, y: 20))
      floor.pointsOfInterest.append(
        PointOfInterest(
          identifier: "r\(number + 1)-\(level)",
          name: number == 0 ? "Restroom" : "Room \(level)\(number + 1)",
          category: number == 0 ? "restroom" : "room",
          point: Point(x: x + 5, y: 16),
          area: Area(outline: room)
        )
      )
    }
    if level == 0 { floor.entrances = [Entrance(identifier: "west", point: Point(x: 0.5, y: 10))] }
    return floor
  }

  static let origin = Coordinate(latitude: 52.52, longitude: 13.29) ?? MapPoint(x: 1.4e8, y: 8.8e7).coordinate

  /// The house.
  static func venue() -> Venue {
    func stops(_ x: Double) -> [Connector.Stop] {
      [0, 1].map { Connector.Stop(floor: FloorID(building: building, level: $0), point: Point(x: x, y: 10)) }
    }
    return Venue(
      identifier: "house",
      name: "House",
      buildings: [Building(identifier: building, name: "Main house", floors: [floor(0), floor(1)])],
      connectors: [
        Connector(identifier: "lift", kind: .lift, stops: stops(20)),
        Connector(identifier: "stairs", kind: .stairs, stops: stops(35)),
        Connector(identifier: "escalator", kind: .escalator, stops: stops(5), direction: .up),
      ],
      localTime: LocalTime(utcOffset: 60)
    )
  }

  /// A place of the house.
  static func at(_ x: Double, _ y: Double, _ level: Int) -> Waypoint {
    .coordinate(GroundPlane(origin: origin).coordinate(of: Point(x: x, y: y)) ?? origin, level: level)
  }

  static let router = Router(WalkableGraph(venue()))
}
