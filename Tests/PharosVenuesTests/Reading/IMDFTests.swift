import PharosSite
import PharosVenues
import Testing

@Suite("IMDF archive")
struct IMDFTests {
  /// Two levels of two rooms and a walkway each, a lift and stairs.
  static func archive() -> MemoryVenue {
    func unit(_ id: String, _ level: String, _ category: String, _ box: String) -> String {
      MemoryVenue.feature(id, "\"level_id\": \"\(level)\", \"category\": \"\(category)\"", "Polygon", box)
    }
    func level(_ id: String, _ ordinal: Int, _ name: String) -> String {
      MemoryVenue.feature(
        id,
        "\"ordinal\": \(ordinal), \"name\": {\"de\": \"x\", \"en\": \"\(name)\"}, \"short_name\": {\"en\": \"L\(ordinal)\"}, "
          + "\"building_ids\": [\"b\"]",
        "Polygon",
        MemoryVenue.box(8.54, 47.37, 8.541, 47.3705)
      )
    }
    let units = ["g", "u"].flatMap { floor in
      [
        unit("\(floor)-walkway", floor, "walkway", MemoryVenue.box(8.54, 47.37, 8.541, 47.3702)),
        unit("\(floor)-room", floor, "room", MemoryVenue.box(8.54, 47.3702, 8.5405, 47.3705)),
        unit("\(floor)-void", floor, "opentobelow", MemoryVenue.box(8.5402, 47.37005, 8.5403, 47.3701)),
        unit("\(floor)-lift", floor, "elevator", MemoryVenue.box(8.5406, 47.3702, 8.5407, 47.3703)),
        unit("\(floor)-stairs", floor, "stairs", MemoryVenue.box(8.5408, 47.3702, 8.541, 47.3704)),
      ]
    }
    return MemoryVenue([
      "venue.geojson": MemoryVenue.collection([
        MemoryVenue.feature(
          "v",
          "\"name\": {\"en\": \"Station\"}, \"display_point\": {\"type\": \"Point\", \"coordinates\": [8.54, 47.37]}",
          "Polygon",
          MemoryVenue.box(8.54, 47.37, 8.541, 47.3705)
        )
      ]),
      "building.geojson":
        "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"id\":\"b\",\"geometry\":null,"
        + "\"properties\":{\"name\":{\"en\":\"Hall\"}}}]}",
      "level.geojson": MemoryVenue.collection([level("u", 1, "Upper"), level("g", 0, "Ground")]),
      "unit.geojson": MemoryVenue.collection(units),
      "fixture.geojson": MemoryVenue.collection([
        unit("desk", "g", "desk", MemoryVenue.box(8.5401, 47.37001, 8.54015, 47.37003))
      ]),
      "opening.geojson": MemoryVenue.collection([
        MemoryVenue.feature(
          "door",
          "\"level_id\": \"g\", \"category\": \"pedestrian\"",
          "LineString",
          "[[8.5401,47.3702],[8.54012,47.3702]]"
        ),
        MemoryVenue.feature(
          "main door",
          "\"level_id\": \"g\", \"category\": \"pedestrian.principal\"",
          "LineString",
          "[[8.54,47.3701],[8.54,47.37012]]"
        ),
        MemoryVenue.feature(
          "lift door",
          "\"level_id\": \"g\", \"category\": \"pedestrian\"",
          "LineString",
          "[[8.54062,47.3702],[8.54066,47.3702]]"
        ),
      ]),
    ])
  }

  @Test("levels, rooms, doors, shafts and entrances are found")
  func everything() throws {
    #expect(Self.archive().problems().isEmpty)
    let venue = try Self.archive().read()
    #expect(venue.name == "Station")
    #expect(venue.buildings.map(\.name) == ["Hall"])
    #expect(venue.floors.map(\.id.description) == ["b/0", "b/1"])
    let ground = try #require(venue.floor(FloorID(building: "b", level: 0)))
    #expect(ground.names == ["Ground", "L0"])
    #expect(ground.walkable.map(\.name) == ["walkway", "room", "elevator", "stairs"])
    #expect(ground.obstacles.count == 2)
    #expect(ground.entrances.map(\.identifier) == ["main door"])
    #expect(ground.plane.origin == Coordinate(latitude: 47.37, longitude: 8.54))
    #expect(venue.connectors.map(\.kind) == [.lift, .stairs])
    #expect(venue.connectors.map { $0.stops.map(\.floor.level) } == [[0, 1], [0, 1]])
  }

  @Test("one can walk through the door into the room below, and not into the one above, which has none")
  func doors() throws {
    let venue = try Self.archive().read()
    let findings = VenueCheck(venue).findings.map(\.description)
    #expect(findings.count == 1, "\(findings)")
    #expect(findings.first?.hasPrefix("floor b/1: \"room\" (") == true)
  }

  @Test(
    "amenities, occupants, named units and restrooms become places; relationships give connectors their direction"
  )
  func places() throws {
    func point(_ id: String, _ properties: String, _ at: String) -> String {
      MemoryVenue.feature(id, properties, "Point", at)
    }
    var archive = Self.archive()
    archive.files["amenity.geojson"] = Array(
      MemoryVenue.collection([
        point(
          "atm",
          "\"category\": \"atm\", \"unit_ids\": [\"g-room\"], \"accessibility\": [\"braille\"]",
          "[8.5402,47.3703]"
        )
      ]).utf8
    )
    archive.files["anchor.geojson"] = Array(
      MemoryVenue.collection([point("a", "\"unit_id\": \"u-room\"", "[8.5401,47.3704]")]).utf8
    )
    archive.files["occupant.geojson"] = Array(
      MemoryVenue.collection([
        point(
          "books",
          "\"name\": {\"en\": \"Books\"}, \"category\": \"shopping\", \"anchor_id\": \"a\", \"hours\": \"Mo-Fr 09:00-18:00\"",
          "[8.5401,47.3704]"
        )
      ]).utf8
    )
    archive.files["relationship.geojson"] = Array(
      MemoryVenue.collection([
        point(
          "r",
          "\"category\": \"stairs\", \"direction\": \"directed\", \"origin\": {\"id\": \"u-stairs\"}, "
            + "\"intermediary\": null, \"destination\": {\"id\": \"g-stairs\"}",
          "[8.54,47.37]"
        )
      ]).utf8
    )
    #expect(archive.problems().isEmpty)
    let venue = try archive.read()
    let places = venue.floors.flatMap(\.floor.pointsOfInterest)
    #expect(places.map(\.name) == ["atm", "Books"])
    #expect(places.map(\.isAccessible) == [false, true])
    #expect(places[1].hours == OpeningHours("Mo-Fr 09:00-18:00") && places[1].area?.name == "room")
    #expect(venue.connectors.map(\.direction) == [.both, .down])
    #expect(venue.connectors.map(\.isAccessible) == [true, false])
    #expect(venue.floors[0].floor.doors.count == 3)
  }

  @Test("a venue.yaml lays beacons over an archive")
  func overlay() throws {
    var archive = Self.archive()
    archive.files = Dictionary(uniqueKeysWithValues: archive.files.map { ("imdf/\($0.key)", $0.value) })
    archive.files["venue.yaml"] = Array(
      """
      id: station
      imdf: imdf
      buildings:
        - id: Hall
          floors:
            - { level: 0, name: EG, beacons: [{ mac: "c0:00:00:00:00:01", at: [5, 6] }] }
      connectors:
        - { id: ramp, kind: ramp, stops: [{ building: Hall, level: 0, at: [1, 1] }, { level: 1, at: [2, 2] }] }
      """.utf8
    )
    #expect(archive.problems().isEmpty)
    let venue = try archive.read()
    #expect(venue.identifier == "station" && venue.name == "Station")
    let ground = try #require(venue.floor(FloorID(building: "b", level: 0)))
    #expect(ground.names == ["EG", "Ground", "L0"])
    #expect(ground.beacons.count == 1 && ground.walkable.count == 4)
    #expect(venue.connectors.map(\.identifier).last == "ramp")
    #expect(venue.connectors.last?.stops.map(\.floor.description) == ["b/0", "b/1"])
  }

  @Test("what refers to no level, or has no number, is told with its feature")
  func wrong() {
    var archive = Self.archive()
    let units = String(decoding: archive.files["unit.geojson"] ?? [], as: UTF8.self)
    archive.files["unit.geojson"] = Array(
      units.replacing("\"level_id\": \"u\"", with: "\"level_id\": \"x\"").utf8
    )
    let levels = String(decoding: archive.files["level.geojson"] ?? [], as: UTF8.self)
    archive.files["level.geojson"] = Array(levels.replacing("\"ordinal\": 1", with: "\"ordinal\": 1.5").utf8)
    let problems = archive.problems()
    #expect(
      problems.first
        == "v/level.geojson: feature 1 (u): properties.ordinal: no floor's number (expected a whole number from -20 to 200)"
    )
    #expect(
      problems.contains(
        "v/unit.geojson: feature 6 (u-walkway): properties.level_id: there is no level x (expected the id of a level of "
          + "level.geojson)"
      )
    )
  }
}
