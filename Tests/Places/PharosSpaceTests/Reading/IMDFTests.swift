import PharosSite
import PharosSpace
import PharosWays
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

  @Test("addresses, other names, telephones and websites become the words about places")
  func captions() throws {
    var archive = archive(
      "venue.geojson",
      [("\"name\": {\"en\": \"Station\"}", "\"name\": {\"en\": \"Station\"}, \"address_id\": \"a1\"")]
    )
    let building = String(decoding: archive.files["building.geojson"] ?? [], as: UTF8.self)
    archive.files["building.geojson"] = Array(
      building.replacing("\"name\":", with: "\"address_id\": \"a2\", \"name\":").utf8
    )
    archive.files["address.geojson"] = Self.collection(
      [
        ("a1", #""address":"Bahnhofplatz 1","locality":"Zürich","postal_code":"8001","country":"CH""#),
        (
          "a2",
          #""address":"Bahnhofplatz 2","unit":"Hall","locality":"Zürich","province":"CH-ZH","country":"CH""#
        ),
      ].map { id, properties in
        #"{"type":"Feature","id":"\#(id)","geometry":null,"properties":{\#(properties)}}"#
      }.joined(separator: ",")
    )
    archive.files["anchor.geojson"] = Array(
      MemoryVenue.collection([
        MemoryVenue.feature("a", #""unit_id": "g-room", "address_id": "a2""#, "Point", "[8.5401,47.3704]")
      ]).utf8
    )
    let shop = """
      "name": {"en": "Books"}, "alt_name": {"en": "Bücher"}, "category": "shopping", "anchor_id": "a", \
      "phone": "+41 44 1", "website": "example.org/books"
      """
    let other = #""name": {"en": "Shoes"}, "category": "shopping", "anchor_id": "a", "website": "no site""#
    archive.files["occupant.geojson"] = Array(
      MemoryVenue.collection([
        MemoryVenue.feature("books", shop, "Point", "[8.5401,47.3704]"),
        MemoryVenue.feature("shoes", other, "Point", "[8.5401,47.3704]"),
      ]).utf8
    )
    let problems = archive.problems()
    #expect(problems.count == 1 && problems[0].contains("\"no site\" is no web address and is left out"))
    let venue = try archive.read()
    #expect(venue.address == "Bahnhofplatz 1, 8001 Zürich, CH")
    #expect(venue.buildings.map(\.address) == ["Bahnhofplatz 2, Hall, Zürich, CH-ZH"])
    let places = venue.floors.flatMap(\.floor.pointsOfInterest)
    #expect(places.map(\.name) == ["Books", "Shoes"])
    #expect(
      places[0].caption
        == Caption(
          address: "Bahnhofplatz 2, Hall, Zürich, CH-ZH",
          link: "https://example.org/books",
          properties: ["altName": "Bücher", "phone": "+41 44 1"]
        )
    )
    #expect(places[1].caption.link == nil)
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

  /// The archive with texts of a file replaced.
  private func archive(_ file: String, _ changes: [(String, String)]) -> MemoryVenue {
    var archive = Self.archive()
    var text = String(decoding: archive.files[file] ?? [], as: UTF8.self)
    for (old, new) in changes { text = text.replacing(old, with: new) }
    archive.files[file] = Array(text.utf8)
    return archive
  }

  private static func collection(_ features: String) -> [UInt8] {
    Array("{\"type\":\"FeatureCollection\",\"features\":[\(features)]}".utf8)
  }

  @Test("a feature without a level or number is left out and named")
  func leftOut() throws {
    var archive = archive("unit.geojson", [("\"level_id\": \"u\"", "\"level_id\": \"x\"")])
    let levels = String(decoding: archive.files["level.geojson"] ?? [], as: UTF8.self)
    archive.files["level.geojson"] = Array(levels.replacing("\"ordinal\": 1", with: "\"ordinal\": 1.5").utf8)
    let problems = archive.problems()
    #expect(
      problems.first
        == "v/level.geojson: feature 1 (u): properties.ordinal: warning: no floor's number; the feature is left out "
        + "(expected a whole number from -20 to 200)"
    )
    #expect(
      problems.contains(
        "v/unit.geojson: feature 6 (u-walkway): properties.level_id: warning: there is no level x; the feature is left out "
          + "(expected the id of a level of level.geojson)"
      )
    )
    #expect(try archive.read().floors.map(\.id.level) == [0])
  }

  @Test("of features that bear one id the second gets a number, and the venue stays whole")
  func repeatedIdentifiers() throws {
    let archive = archive(
      "unit.geojson",
      [("\"category\": \"room\"", "\"category\": \"restroom\""), ("u-room", "g-room"), ("u-lift", "g-lift")]
    )
    let venue = try archive.read()
    let places = venue.floors.flatMap { $0.floor.pointsOfInterest.map(\.identifier) }
    #expect(places.sorted() == ["g-room", "g-room 2"])
    let lift = try #require(venue.connectors.first { $0.identifier.hasPrefix("g-lift") })
    #expect(lift.stops.map(\.floor.level) == [0, 1])
    let problems = archive.problems().filter { $0.contains("this id is taken already") }
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.allSatisfy { $0.contains("v/unit.geojson: feature") })
  }

  @Test("a level's number may be written with a decimal point", arguments: ["1.0", "1.00", "\"1\"", "1e0"])
  func ordinals(text: String) throws {
    let archive = archive("level.geojson", [("\"ordinal\": 1", "\"ordinal\": \(text)")])
    #expect(archive.problems().isEmpty)
    #expect(try archive.read().floors.map(\.id.level) == [0, 1])
  }

  @Test("levels of one number are one floor; the outline of the outdoors does not cover the units")
  func outdoors() throws {
    let box = MemoryVenue.box(8.53, 47.36, 8.55, 47.38)
    for names in ["null", "[]", "[\"b\"]", "[\"gone\"]"] {
      let outdoors = MemoryVenue.feature(
        "out",
        "\"ordinal\": 0, \"outdoor\": true, \"name\": {\"en\": \"Garden\"}, \"building_ids\": \(names)",
        "MultiPolygon",
        "[\(box)]"
      )
      let path = MemoryVenue.feature(
        "path",
        "\"level_id\": \"out\", \"category\": \"walkway\"",
        "Polygon",
        MemoryVenue.box(8.539, 47.3699, 8.54, 47.3702)
      )
      var archive = Self.archive()
      archive.files["level.geojson"] = Array(
        String(decoding: archive.files["level.geojson"] ?? [], as: UTF8.self)
          .replacing("\"features\": [", with: "\"features\": [\(outdoors),").utf8
      )
      let bare = try archive.read()
      #expect(bare.floors.map(\.id.description) == ["b/0", "b/1"])
      #expect(bare.floors[0].floor.walkable.count == 4 && bare.floors[0].floor.names == ["Ground", "L0"])
      archive.files["unit.geojson"] = Array(
        String(decoding: archive.files["unit.geojson"] ?? [], as: UTF8.self)
          .replacing("\"features\": [", with: "\"features\": [\(path),").utf8
      )
      #expect(try archive.read().floors[0].floor.walkable.count == 5)
    }
  }

  @Test("an outdoor level of a venue of several buildings is a floor of its own")
  func outdoorsOfSeveral() throws {
    var archive = Self.archive()
    archive.files["building.geojson"] = Self.collection(
      ["b", "c"].map {
        "{\"type\":\"Feature\",\"id\":\"\($0)\",\"geometry\":null,\"properties\":{\"name\":null}}"
      }.joined(separator: ",")
    )
    let outdoors = MemoryVenue.feature(
      "out",
      "\"ordinal\": 0, \"outdoor\": true, \"building_ids\": null",
      "Polygon",
      MemoryVenue.box(8.53, 47.36, 8.55, 47.38)
    )
    archive.files["level.geojson"] = Array(
      String(decoding: archive.files["level.geojson"] ?? [], as: UTF8.self)
        .replacing("\"features\": [", with: "\"features\": [\(outdoors),").utf8
    )
    #expect(archive.problems().isEmpty)
    #expect(try archive.read().floors.map(\.id.description) == ["b/0", "b/1", "outdoors/0"])
  }

  @Test("references that lead nowhere, and shapes that are none, leave out their feature alone")
  func dangling() throws {
    var archive = Self.archive()
    archive.files["occupant.geojson"] = Self.collection(
      [
        #"{"type":"Feature","id":"shop","geometry":null,"properties":{"name":{"en":"Shop"},"anchor_id":"gone"}}"#,
        #"{"type":"Feature","id":"books","geometry":null,"properties":{"name":{"en":"Books"},"anchor_id":"a"}}"#,
        #"{"type":"Feature","id":"none","geometry":null,"properties":null}"#,
      ].joined(separator: ",")
    )
    archive.files["anchor.geojson"] = Self.collection(
      MemoryVenue.feature("a", "\"unit_id\": \"g-room\"", "Point", "[8.5401,47.3703]") + ","
        + MemoryVenue.feature("b", "\"unit_id\": \"gone\"", "Point", "[8.5401,47.3703]")
    )
    archive.files["amenity.geojson"] = Self.collection(
      MemoryVenue.feature("atm", "\"unit_ids\": [\"gone\"]", "Point", "[8.5401,47.3703]") + ","
        + MemoryVenue.feature(
          "far",
          "\"category\": \"atm\", \"unit_ids\": [\"g-room\"]",
          "Point",
          "[8.55,47.38]"
        )
    )
    archive.files["fixture.geojson"] = Self.collection(
      MemoryVenue.feature("line", "\"level_id\": \"g\"", "LineString", "[[8.5401,47.3703]]") + ","
        + MemoryVenue.feature("odd", "\"level_id\": \"gone\"", "Polygon", "[]")
        + #", {"type":"Feature","id":"x","geometry":{"type":"GeometryCollection","geometries":[]},"properties":{}}"#
    )
    archive.files["opening.geojson"] = Self.collection(
      MemoryVenue.feature("point", "\"level_id\": \"g\"", "Point", "[8.5401,47.3703]")
    )
    archive.files["something.geojson"] = Array("not JSON".utf8)
    let venue = try archive.read()
    let ground = try #require(venue.floor(FloorID(building: "b", level: 0)))
    #expect(ground.pointsOfInterest.map(\.identifier) == ["far", "books"])
    #expect(ground.walkable.first { $0.name == "room" }?.contains(ground.pointsOfInterest[0].point) == true)
    let problems = archive.problems()
    #expect(problems.allSatisfy { $0.contains("warning: ") })
    for (file, id) in [
      ("occupant", "shop"), ("occupant", "none"), ("anchor", "b"), ("amenity", "atm"), ("amenity", "far"),
      ("fixture", "line"), ("fixture", "odd"), ("fixture", "x"), ("opening", "point"),
    ] {
      #expect(
        problems.contains { $0.hasPrefix("v/\(file).geojson: ") && $0.contains("(\(id))") },
        "\(id): \(problems)"
      )
    }
  }

  @Test("a display point outside of its unit is replaced by the middle of the unit, with a warning")
  func displayPoints() throws {
    let archive = archive(
      "unit.geojson",
      [
        (
          "\"level_id\": \"g\", \"category\": \"room\"",
          "\"level_id\": \"g\", \"category\": \"room\", \"name\": {\"en\": \"Archive\"}, "
            + "\"display_point\": {\"type\": \"Point\", \"coordinates\": [8.5409, 47.37001]}"
        )
      ]
    )
    let ground = try archive.read().floors[0].floor
    let place = try #require(ground.pointsOfInterest.first { $0.name == "Archive" })
    #expect(place.area?.contains(place.point) == true)
    #expect(archive.problems().count == 1)
    #expect(
      archive.problems().first?.contains(
        "feature 2 (g-room): properties.display_point: warning: lies outside"
      ) == true
    )
  }

  @Test(
    "a file in another projection is refused with what to do",
    arguments: [
      (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::27700"}}"#, true),
      (#"{"type":"name","properties":{"name":"EPSG:3857"}}"#, true),
      (#"{"type":"EPSG","properties":{"code":31467}}"#, true),
      (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, false),
      (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}}"#, false), ("null", false),
    ]
  )
  func projections(crs: String, isForeign: Bool) {
    let archive = archive(
      "unit.geojson",
      [("{\"type\": \"FeatureCollection\",", "{\"type\": \"FeatureCollection\", \"crs\": \(crs),")]
    )
    let problems = archive.problems()
    #expect(problems.isEmpty != isForeign)
    if isForeign { #expect(problems.first?.contains("ogr2ogr -t_srs EPSG:4326") == true, "\(problems)") }
  }
}
