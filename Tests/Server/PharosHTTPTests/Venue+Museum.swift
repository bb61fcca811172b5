import Foundation
import PharosHTTP
import PharosModel
import PharosSite
import PharosSpace
import Testing

extension ServedVenue {
  /// The image of the museum's plan: 400 × 200 white pixels.
  static let image = Array(Data(base64Encoded: encodedImage, options: .ignoreUnknownCharacters) ?? Data())

  private static let encodedImage = """
    iVBORw0KGgoAAAANSUhEUgAAAZAAAADICAAAAADjfug+AAABJklEQVR42u3RMQEAAAzCMPybBhM7dqQSmlSvigVABASIgAARECAC
    AkRABASIgAARECACAkRABASIgAARECACAkRABASIgAARECACAkRABASIgAARECACAkRABASIgAARECACAkRABASIgAARECACAkRA
    BASIgAARECACAkRABASIgAARECACAkRABASIgAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAiI
    gAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAiIgAARECACAkRAgAgIEAER
    ECACAkRAgAgIEAERECACAkRAgAgIEAERECACAkSXDaeCWbo0YeBqAAAAAElFTkSuQmCC
    """

  /// A venue of two floors with plans, of which the upper one's image is there only if `isComplete`.
  static func museum(isComplete: Bool = false) throws -> ServedVenue {
    ServedVenue(try .museum(), visitors: VisitorPage(nearMe: "https://example.org/app")) { name in
      guard isComplete || name == "plans/ground.png" else { throw Missing() }
      return image
    }
  }

  /// What is thrown for a file that is not there.
  struct Missing: Error {}
}

extension Venue {
  /// Where the museum stands.
  static let place = Coordinate(latitude: 59.3293, longitude: 18.0686)

  /// Two floors of 40 by 20 m, a hall with an atrium, walls, a lift, and what hangs there.
  static func museum() throws -> Venue {
    let origin = try #require(Venue.place)
    let plane = FloorPlane.ground(GroundPlane(origin: origin))
    let hall = Area(
      name: "Hall",
      // Clockwise, and its hole counterclockwise: neither as GeoJSON wants it.
      outline: Polygon([
        Point(x: 0, y: 0), Point(x: 0, y: 20), Point(x: 40, y: 20), Point(x: 40, y: 0),
      ]),
      holes: [Polygon([Point(x: 10, y: 5), Point(x: 15, y: 5), Point(x: 15, y: 10), Point(x: 10, y: 10)])]
    )
    let corner = try #require(plane.coordinate(of: Point(x: 0, y: 20)))
    let opposite = try #require(plane.coordinate(of: Point(x: 40, y: 0)))
    let alignment = try PlanAlignment(anchors: [
      PlanAnchor(pixel: Pixel(x: 0, y: 0), coordinate: corner),
      PlanAnchor(pixel: Pixel(x: 400, y: 200), coordinate: opposite),
    ])
    let bssid = try #require(DeviceAddress("02:00:00:00:00:01"))
    let ground = Floor(
      level: 0,
      names: ["Ground floor", "EG"],
      plane: plane,
      plan: FloorPlan(image: "plans/ground.png", width: 400, height: 200, alignment: alignment),
      walkable: [hall],
      obstacles: [Area(outline: Polygon(rectangleFrom: Point(x: 30, y: 2), to: Point(x: 32, y: 4)))],
      walls: [
        Wall(from: Point(x: 20, y: 0), to: Point(x: 20, y: 8), attenuation: 6),
        Wall(from: Point(x: 20, y: 12), to: Point(x: 20, y: 20), attenuation: 6),
        Wall(from: Point(x: 0, y: 0), to: Point(x: 40, y: 0), attenuation: 12),
      ],
      entrances: [Entrance(identifier: "main door", point: Point(x: 0, y: 10))],
      observers: [PlacedObserver(.name("front-desk"), at: Point(x: 2, y: 10))],
      accessPoints: [PlacedAccessPoint(bssid, at: Point(x: 20, y: 19))]
    )
    let upper = Floor(
      level: 1,
      plane: plane,
      plan: FloorPlan(image: "plans/gone.png", width: 400, height: 200, alignment: alignment),
      walkable: [hall],
      pointsOfInterest: [
        PointOfInterest(
          identifier: "cafe",
          name: "Café",
          category: "foodservice",
          point: Point(x: 4, y: 10),
          hours: OpeningHours("Mo-Fr 10:00-18:00"),
          caption: Caption(
            title: "Café under the roof",
            description: "Soup, cake and a view of the harbour.",
            link: "https://example.org/cafe",
            properties: ["altName": "Kaffeehaus", "phone": "+46 8 123"]
          )
        )
      ]
    )
    let bare = Floor(level: -1, plane: plane)
    return Venue(
      identifier: "museum",
      name: "The museum",
      buildings: [Building(identifier: "main", name: "Main building", floors: [ground, upper, bare])],
      connectors: [
        Connector(
          identifier: "lift A",
          kind: .lift,
          stops: [
            Connector.Stop(floor: FloorID(building: "main", level: 0), point: Point(x: 38, y: 10)),
            Connector.Stop(floor: FloorID(building: "main", level: 1), point: Point(x: 38, y: 10)),
          ]
        )
      ]
    )
  }
}
