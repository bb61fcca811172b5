import PharosSpace
import Testing

/// The names of the places that a location is at.
@Suite("Named places of a floor")
struct NamedPlacesTests {
  private static func square(
    _ x: Double,
    _ y: Double,
    _ side: Double,
    holes: [Polygon] = []
  ) -> (String) -> Area {
    { name in
      let corner = Point(x: x, y: y)
      let outline = Polygon(rectangleFrom: corner, to: corner + Point(x: side, y: side))
      return Area(name: name, outline: outline, holes: holes)
    }
  }

  private static func floor() throws -> Floor {
    let origin = try #require(Coordinate(latitude: 52.52, longitude: 13.405))
    var floor = Floor(level: 0, names: ["Ground floor"], plane: .ground(GroundPlane(origin: origin)))
    let hole = Polygon(rectangleFrom: Point(x: 22, y: 2), to: Point(x: 26, y: 6))
    floor.walkable = [
      square(-50, -50, 200)("Ground floor"), square(0, 0, 10)("ward"), square(1, 1, 2)("bath"),
      square(20, 0, 9, holes: [hole])("ring"), square(40, 0, 10)(""),
    ]
    floor.pointsOfInterest = [
      PointOfInterest(identifier: "desk", name: "Front desk", point: Point(x: 8, y: 8)),
      PointOfInterest(
        identifier: "cafe",
        name: "Café",
        point: Point(x: 65, y: 5),
        area: square(60, 0, 10)("")
      ),
    ]
    return floor
  }

  @Test("the smallest room and point of interest around a point count, and the floor is no room")
  func names() throws {
    let named = NamedPlaces(try Self.floor())
    for (x, y, room, place) in [
      (5, 5, "ward", "Front desk"), (2, 2, "bath", nil), (4, 4, "ward", nil), (21, 1, "ring", nil),
      (24, 4, nil, nil), (15, 5, nil, nil), (45, 5, nil, nil), (65, 5, "Café", "Café"), (500, 0, nil, nil),
    ] as [(Double, Double, String?, String?)] {
      let found = named.names(at: Point(x: x, y: y))
      #expect(found.room == room, "\(x), \(y)")
      #expect(found.place == place, "\(x), \(y)")
    }
  }
}
