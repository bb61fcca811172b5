import Foundation
import PharosSite
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

@Suite("Surveyed floors")
struct SurveyFloorsTests {
  private static let floors = [
    "site1/B1", "site1/F1", "site1/F2", "site1/F3", "site1/F4", "site2/B1", "site2/F7", "site2/F8",
  ]

  /// Whether the floors lie beside the repository; their absence is printed once.
  static let isPresent: Bool = {
    guard SharedData.isPresent else { return false }
    if (try? SharedData.bytes("indoor/floors/site1/F1/floor_info.json")) != nil { return true }
    print(
      "skipped: tests on surveyed floors need indoor/floors in the folder of shared data, which is absent"
    )
    return false
  }()

  private static func files(_ yaml: String) -> VenueFiles {
    VenueFiles { name, limit throws(VenueFiles.Failure) in
      if name == "venue.yaml" { return Array(yaml.utf8.prefix(limit)) }
      guard let bytes = try? SharedData.bytes("indoor/floors/\(name)") else { throw .missing }
      return Array(bytes.prefix(limit))
    }
  }

  private static func floor(_ path: String) throws -> Floor {
    let yaml = "id: mall\nbuildings: [{ id: b, floors: [{ level: 0, name: F, surveyFolder: \(path) }] }]"
    let venue = try VenueFolder.read("v", files: files(yaml)).venue
    return try #require(venue.floor(FloorID(building: "b", level: 0)))
  }

  @Test(
    "longitude and latitude become the metres of the survey's own rule within a centimetre, and lead back",
    .enabled(if: SurveyFloorsTests.isPresent),
    arguments: floors
  )
  func rule(path: String) throws {
    let floor = try Self.floor(path)
    let bytes = try SharedData.bytes("indoor/floors/\(path)/geojson_map.json")
    let map = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let info = try SharedData.bytes("indoor/floors/\(path)/floor_info.json")
    let size = try #require(
      (try JSONSerialization.jsonObject(with: Data(info)) as? [String: Any])?["map_info"] as? [String: Double]
    )
    let width = try #require(size["width"])
    let height = try #require(size["height"])
    let features = try #require(map["features"] as? [[String: Any]])
    let shapes = features.map { Self.pairs(($0["geometry"] as? [String: Any])?["coordinates"] ?? []) }
    let west = try #require(shapes[0].map(\.0).min())
    let east = try #require(shapes[0].map(\.0).max())
    let south = try #require(shapes[0].map(\.1).min())
    let north = try #require(shapes[0].map(\.1).max())
    var worst = 0.0
    for (longitude, latitude) in shapes.flatMap(\.self) {
      let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))
      let point = try #require(floor.plane.point(of: coordinate))
      let expected = Point(
        x: (longitude - west) / (east - west) * width,
        y: (latitude - south) / (north - south) * height
      )
      worst = max(worst, point.distance(to: expected))
      let back = try #require(floor.plane.coordinate(of: point))
      #expect(abs(back.latitude - latitude) < 1e-11 && abs(back.longitude - longitude) < 1e-11)
    }
    #expect(worst < 0.01)
    // The corners of the outline's rectangle are the corners of the image.
    let plan = try #require(floor.plan)
    let corner = try #require(floor.point(of: Pixel(x: Double(plan.width), y: 0)))
    #expect(corner.distance(to: Point(x: width, y: height)) < 0.01)
    #expect(try #require(floor.point(of: Pixel(x: 0, y: Double(plan.height)))).length < 0.01)
    #expect(shapes.count == floor.obstacles.count + 1)
  }

  @Test(
    "a real floor answers as going through all of its shops does",
    .enabled(if: SurveyFloorsTests.isPresent)
  )
  func walkable() throws {
    let floor = try Self.floor("site1/F1")
    let space = FloorSpace(floor)
    var random = SeededGenerator(seed: 19)
    let extent = try #require(floor.extent)
    var walkable = 0
    for _ in 0..<1_500 {
      let place = Point(
        x: .random(in: extent.southWest.x...extent.northEast.x, using: &random),
        y: .random(in: extent.southWest.y...extent.northEast.y, using: &random)
      )
      let isWalkable =
        floor.walkable.contains { $0.contains(place) } && !floor.obstacles.contains { $0.contains(place) }
      #expect(space.isWalkable(place) == isWalkable)
      walkable += isWalkable ? 1 : 0
      let found = try #require(space.nearestWalkable(to: place))
      #expect(space.isWalkable(found))
    }
    #expect(walkable > 200 && walkable < 1_300)
    #expect(
      VenueCheck(Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])).findings
        .count < 10
    )
  }

  @Test("shops with a name and an id are places, each id once in the venue")
  func places() throws {
    func square(_ corner: Double, _ properties: String) -> String {
      let (low, high) = (corner, corner + 0.0001)
      return #"{"type":"Feature","properties":{\#(properties)},"geometry":{"type":"Polygon","coordinates":"#
        + "[[[\(low),\(low)],[\(high),\(low)],[\(high),\(high)],[\(low),\(high)],[\(low),\(low)]]]}}"
    }
    let outline =
      #"{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":"#
      + "[[[0,0],[0.001,0],[0.001,0.001],[0,0.001],[0,0]]]}}"
    let shops = [
      square(0.0002, #""id":"a1","name":"Bakery""#), square(0.0004, #""id":"a2","name":"""#),
      square(0.0006, #""name":"No id""#), square(0.0008, #""id":"a1","name":"Again""#),
    ]
    let map = #"{"type":"FeatureCollection","features":[\#(([outline] + shops).joined(separator: ","))]}"#
    let image: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0x90, 0,
      0, 1,
      0x90,
    ]
    let yaml =
      "id: mall\nbuildings: [{ id: b, floors: [{ level: 0, name: F, surveyFolder: f }, "
      + "{ level: 1, name: G, surveyFolder: f }] }]"
    let files = VenueFiles { name, limit throws(VenueFiles.Failure) in
      switch name {
      case "venue.yaml": Array(yaml.utf8.prefix(limit))
      case "f/geojson_map.json": Array(map.utf8.prefix(limit))
      case "f/floor_info.json": Array(#"{"map_info":{"width":111,"height":111}}"#.utf8.prefix(limit))
      case "f/floor_image.png": Array(image.prefix(limit))
      default: throw .missing
      }
    }
    let venue = try VenueFolder.read("v", files: files).venue
    let ground = try #require(venue.floor(FloorID(building: "b", level: 0)))
    #expect(ground.pointsOfInterest.map(\.identifier) == ["a1"])
    let bakery = try #require(ground.pointsOfInterest.first)
    #expect(bakery.name == "Bakery" && bakery.area?.contains(bakery.point) == true)
    #expect(venue.floor(FloorID(building: "b", level: 1))?.pointsOfInterest.isEmpty == true)
    // The shop is an obstacle; the way ends at its side.
    let router = Router(WalkableGraph(venue))
    let corner = try #require(Coordinate(latitude: 0.00005, longitude: 0.00005))
    let route = try router.routes(from: .coordinate(corner, level: 0), to: .place("Bakery")).first
    #expect((route?.distance ?? 0) > 10 && route?.steps.last?.maneuver.name == "Bakery")
  }

  /// All pairs of numbers in nested lists.
  private static func pairs(_ value: Any) -> [(Double, Double)] {
    guard let list = value as? [Any] else { return [] }
    if list.count >= 2, let x = list[0] as? Double, let y = list[1] as? Double { return [(x, y)] }
    return list.flatMap(pairs)
  }
}
