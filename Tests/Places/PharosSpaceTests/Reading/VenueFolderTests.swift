import PharosModel
import PharosSite
import PharosSpace
import Testing

@Suite("Venue folder")
struct VenueFolderTests {
  /// A house of two floors with all that a venue can have.
  static func house() -> MemoryVenue {
    var venue = MemoryVenue([
      "venue.yaml": """
      id: museum
      name: Museum of Lights
      origin: { latitude: 52.52, longitude: 13.29 }
      buildings:
        - id: old
          name: Old house
          floors:
            - level: 0
              name: Ground floor
              names: [EG]
              plan:
                image: plans/ground.png
                anchors:
                  - { pixel: [100, 400], latitude: 52.52, longitude: 13.29 }
                  - { pixel: [700, 100], latitude: 52.5205, longitude: 13.291 }
              map:
                - { file: ground.geojson }
                - { file: shops.geojson, as: obstacle }
              walls:
                - { from: [1, 1], to: [1, 9], attenuation: 8 }
              entrances:
                - { id: north door, at: [30, 20] }
              beacons:
                - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7, at: [3, 4] }
                - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 0, minor: 0, mac: "c0:00:00:00:00:07",
                    key: mac, pixel: [100, 400] }
                - { mac: "c0:00:00:00:00:08", latitude: 52.5201, longitude: 13.2901 }
                - { namespace: 00112233445566778899, instance: 0000000000ab, at: [5, 5] }
              observers:
                - { id: "ac:23:3f:a0:00:01", at: [7, 8] }
              accessPoints:
                - { bssid: "c0:ff:ee:00:00:01", at: [2, 2] }
            - { level: -1, name: Cellar, origin: { latitude: 52.521, longitude: 13.29 } }
      connectors:
        - id: stairs
          kind: stairs
          stops:
            - { level: 0, at: [10, 10] }
            - { building: old, level: -1, at: [10, 11] }
      """,
      "ground.geojson": MemoryVenue.collection([
        MemoryVenue.feature(
          "hall",
          "\"as\": \"room\", \"name\": \"Hall\"",
          "Polygon",
          MemoryVenue.box(13.29, 52.52, 13.2905, 52.5202)
        ),
        MemoryVenue.feature("door", "\"as\": \"door\"", "LineString", "[[13.2901,52.52],[13.2902,52.52]]"),
      ]),
      "shops.geojson": MemoryVenue.collection([
        MemoryVenue.feature("kiosk", "", "Polygon", MemoryVenue.box(13.2902, 52.52005, 13.2903, 52.5201))
      ]),
    ])
    venue.files["plans/ground.png"] = MemoryVenue.png(800, 500)
    return venue
  }

  @Test("everything is read to where it belongs")
  func everything() throws {
    let venue = try Self.house().read()
    #expect(Self.house().problems().isEmpty)
    #expect(venue.identifier == "museum" && venue.name == "Museum of Lights")
    #expect(venue.floors.map(\.id.description) == ["old/-1", "old/0"])
    let floor = try #require(venue.floor(FloorID(building: "old", level: 0)))
    #expect(floor.names == ["Ground floor", "EG"])
    #expect(floor.plan?.width == 800 && floor.plan?.height == 500)
    #expect(floor.walkable.map(\.name) == ["Hall"])
    #expect(floor.obstacles.count == 1)
    // The wall of the YAML, and the four of the hall, one of them in two pieces beside the door.
    #expect(floor.walls.all.count == 6)
    #expect(floor.walls.all.map(\.attenuation).max() == 8)
    #expect(floor.entrances == [Entrance(identifier: "north door", point: Point(x: 30, y: 20))])
    #expect(
      floor.beacons.map(\.beacon.description) == [
        "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7",
        "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/0/0@c0:00:00:00:00:07",
        "mac:c0:00:00:00:00:08",
        "eddystone:00112233445566778899/0000000000ab",
      ]
    )
    #expect(floor.beacons[0].point == Point(x: 3, y: 4))
    #expect(floor.beacons[1].point.length < 1e-6)
    #expect(abs(floor.beacons[2].point.x - 6.787) < 0.002 && abs(floor.beacons[2].point.y - 11.126) < 0.003)
    #expect(floor.observers.map(\.observer.description) == ["ac:23:3f:a0:00:01"])
    #expect(floor.accessPoints.map(\.bssid.description) == ["c0:ff:ee:00:00:01"])
    let cellar = try #require(venue.floor(FloorID(building: "old", level: -1)))
    #expect(cellar.plane.origin == Coordinate(latitude: 52.521, longitude: 13.29))
    #expect(venue.connectors.count == 1)
    #expect(venue.connectors[0].kind == .stairs)
    #expect(venue.connectors[0].stops.map(\.floor.level) == [0, -1])
  }

  @Test("the door of the hall is open, its other walls are not")
  func door() throws {
    let floor = try #require(Self.house().read().floor(FloorID(building: "old", level: 0)))
    let space = FloorSpace(floor)
    let coordinate = try #require(Coordinate(latitude: 52.52, longitude: 13.29015))
    let door = try #require(floor.plane.point(of: coordinate))
    let north = Point(x: 0, y: 1)
    #expect(!space.crossesWall(from: door - north, to: door + north))
    #expect(space.crossesWall(from: door - north + Point(x: 10, y: 0), to: door + north + Point(x: 10, y: 0)))
    #expect(space.isWalkable(door + north) && !space.isWalkable(door - north))
  }

  /// Replaces a text of the house's YAML.
  private static func house(_ old: String, _ new: String) -> MemoryVenue {
    var venue = house()
    let text = String(decoding: venue.files["venue.yaml"] ?? [], as: UTF8.self)
    #expect(text.contains(old), "\(old)")
    venue.files["venue.yaml"] = Array(text.replacing(old, with: new).utf8)
    return venue
  }

  @Test(
    "each mistake is reported with its line, its place and advice",
    arguments: [
      (
        "id: museum", "idd: museum",
        "v/venue.yaml:1: venue: unknown key \"idd\"; did you mean \"id\"? (expected one of id, name, origin, imdf, "
          + "roomsWithoutDoors, timeZone, utcOffset, geoidHeight, buildings, connectors, address)"
      ),
      (
        "origin: { latitude: 52.52, longitude: 13.29 }", "",
        "v/venue.yaml:8: building \"old\": floor 0: nothing says where x = 0 and y = 0 are (expected origin: "
          + "{ latitude: …, longitude: … } of the venue, best its south-western corner)"
      ),
      (
        "level: -1", "level: cellar",
        "v/venue.yaml:33: building \"old\": floor cellar: level is \"cellar\" (expected a whole number from -20 to 200)"
      ),
      (
        "level: -1, name: Cellar", "level: 0, name: Cellar",
        "v/venue.yaml:33: building \"old\": floor 0 is listed already (expected each level once)"
      ),
      (
        "pixel: [700, 100], latitude: 52.5205", "pixel: [100.2, 400], latitude: 52.5205",
        "v/venue.yaml:13: building \"old\": floor 0: plan: anchors 1 and 2 are one spot of the image: take places far apart"
      ),
      (
        "image: plans/ground.png", "image: plans/other.png",
        "v/venue.yaml:12: building \"old\": floor 0: plan: plans/other.png: there is no such file (expected an image in "
          + "the venue's folder)"
      ),
      (
        "image: plans/ground.png", "image: ../ground.png",
        "v/venue.yaml:12: building \"old\": floor 0: plan: image is \"../ground.png\" (expected a path inside of the "
          + "venue's folder, without \"..\")"
      ),
      (
        "image: plans/ground.png", "image: plans/ground.png\n          width: 900",
        "v/venue.yaml:13: building \"old\": floor 0: plan: plans/ground.png has 800 × 500 pixels, not 900 × 500 "
          + "(expected the size that anchors were set on, or no size)"
      ),
      (
        "file: shops.geojson, as: obstacle", "file: shops.geojson, as: shop",
        "v/venue.yaml:18: building \"old\": floor 0: map 2: as is \"shop\" (expected walkable, room, obstacle, wall or door)"
      ),
      (
        "file: shops.geojson, as: obstacle", "file: shops.geojson, as: door",
        "v/shops.geojson: feature 1 (kiosk): geometry.type: a polygon cannot be a door (expected a line)"
      ),
      (
        "file: shops.geojson, as: obstacle", "file: shops.geojson",
        "v/shops.geojson: feature 1 (kiosk): properties.as: nothing says what it is (expected walkable, room, obstacle, "
          + "wall or door)"
      ),
      (
        "major: 1, minor: 7, at: [3, 4]", "major: 1, at: [3, 4]",
        "v/venue.yaml:24: building \"old\": floor 0: beacons 1: minor is missing (expected the number of the one beacon "
          + "that hangs here)"
      ),
      (
        "major: 1, minor: 7, at: [3, 4]", "major: 1, minor: 7",
        "v/venue.yaml:24: building \"old\": floor 0: beacons 1: nothing says where it is (expected at: [x, y] in metres, "
          + "pixel: [x, y] on the plan, or latitude and longitude)"
      ),
      (
        "at: [3, 4]", "at: [3, north]",
        "v/venue.yaml:24: building \"old\": floor 0: beacons 1: at is no pair of numbers (expected [x, y] in metres east "
          + "and north)"
      ),
      (
        "latitude: 52.5201, longitude: 13.2901", "latitude: 13.2901, longitude: 52.5201",
        "v/venue.yaml:27: building \"old\": floor 0: beacons 3: 13.2901, 52.5201 is far from its floor (expected a place "
          + "in the venue)"
      ),
      (
        "bssid: \"c0:ff:ee:00:00:01\"", "bssid: 11:22:33:44:55:06",
        "v/venue.yaml:32: building \"old\": floor 0: accessPoints 1: bssid 11:22:33:44:55:06 is a number to YAML (expected "
          + "quotes around it: \"11:22:33:44:55:06\")"
      ),
      (
        "building: old, level: -1", "building: odl, level: -1",
        "v/venue.yaml:39: connector \"stairs\": stop: building \"odl\" is none of the venue's; did you mean \"old\"? "
          + "(expected one of its buildings)"
      ),
      (
        "building: old, level: -1", "building: old, level: 4",
        "v/venue.yaml:39: connector \"stairs\": stop: \"old\" has no level 4 (expected one of its floors)"
      ),
      (
        "{ from: [1, 1], to: [1, 9], attenuation: 8 }", "{ from: [1, 1], attenuation: -8 }",
        "v/venue.yaml:20: building \"old\": floor 0: wall 1: to is missing (expected [x, y] in metres east and north)"
      ),
    ]
  )
  func mistakes(old: String, new: String, message: String) {
    let problems = Self.house(old, new).problems()
    #expect(problems.contains(message), "\(problems)")
  }

  @Test("files that are missing, empty, broken or of another sort are reported as such")
  func files() {
    #expect(
      MemoryVenue([:]).problems() == [
        "v/venue.yaml: there is no such file, and no level.geojson either (expected venue.yaml, or the unpacked files of "
          + "an IMDF archive)"
      ]
    )
    #expect(
      MemoryVenue(["venue.yaml": ""]).problems() == ["v/venue.yaml: empty (expected an id and buildings)"]
    )
    #expect(MemoryVenue(["venue.yaml": "a: ["]).problems().first?.hasPrefix("v/venue.yaml:") == true)
    #expect(
      MemoryVenue(["venue.yaml": "id: a"]).problems() == [
        "v/venue.yaml:1: venue: no building (expected buildings, or the folder of an IMDF archive)"
      ]
    )
    var broken = Self.house()
    broken.files["shops.geojson"] = Array("{\"type\": \"FeatureCollection\",\n \"features\": [1,]}".utf8)
    #expect(
      broken.problems() == [
        "v/shops.geojson:2: not JSON: no value starts here (expected an object, an array, a text, a number, true or false)"
      ]
    )
    broken.files["shops.geojson"] = Array("{}".utf8)
    #expect(
      broken.problems() == ["v/shops.geojson: no list of features (expected a GeoJSON FeatureCollection)"]
    )
    broken.files["venue.yaml"] = [0xFF, 0x00]
    #expect(broken.problems() == ["v/venue.yaml: not UTF-8 (expected a text file in UTF-8)"])
  }

  @Test(
    "a ring that lacks its last position is closed with a warning; what stands behind a height is ignored"
  )
  func smallDefects() throws {
    func venue(_ coordinates: String) -> MemoryVenue {
      MemoryVenue([
        "venue.yaml": """
        id: hall
        origin: { latitude: 52.52, longitude: 13.29 }
        buildings: [{ id: main, floors: [{ level: 0, map: [{ file: a.geojson, as: walkable }] }] }]
        """,
        "a.geojson": MemoryVenue.collection([MemoryVenue.feature("a", "", "Polygon", coordinates)]),
      ])
    }
    let corners = ["13.29,52.52", "13.291,52.52", "13.291,52.521"]
    let open = corners.map { "[\($0),30,4.5]" }.joined(separator: ",")
    let closed = venue("[[\(open),[13.29,52.52]]]")
    #expect(closed.problems().isEmpty)
    #expect(
      venue("[[\(open)]]").problems() == [
        "v/a.geojson: feature 1 (a): geometry.coordinates[0]: warning: a ring lacks its last position and is closed "
          + "(expected the last position the same as the first)"
      ]
    )
    #expect(try venue("[[\(open)]]").read() == closed.read())
  }

  @Test(
    "each wrong shape is reported with its feature and its field",
    arguments: [
      ("{\"type\": \"Point\"}", "geometry.coordinates: no coordinates (expected a list)"),
      (
        "{\"type\": \"Circle\", \"coordinates\": []}",
        "geometry.type: type \"Circle\" (expected Point, LineString, Polygon or a Multi of them)"
      ),
      (
        "{\"type\": \"Polygon\", \"coordinates\": [[[13,52],[13,53],[13,52]]]}",
        "geometry.coordinates[0]: a ring of 3 (expected four positions or more, the last one the same as the first)"
      ),
      (
        "{\"type\": \"LineString\", \"coordinates\": [[13,52],[13,\"53\"]]}",
        "geometry.coordinates[1]: no numbers (expected [longitude, latitude] in degrees, maybe with a height)"
      ),
      (
        "{\"type\": \"MultiPoint\", \"coordinates\": [[52,13],[13,152]]}",
        "geometry.coordinates[1]: [13.0, 152.0] is nowhere on the Earth (expected [longitude, latitude] in degrees, maybe "
          + "with a height)"
      ),
      ("{\"type\": \"Polygon\", \"coordinates\": []}", "geometry.coordinates: no ring (expected an outline)"),
      ("null", "geometry: no geometry (expected a shape)"),
    ]
  )
  func shapes(geometry: String, message: String) {
    var venue = Self.house()
    venue.files["shops.geojson"] = Array(
      """
      {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 17, "properties": null, "geometry": \(geometry)}]}
      """.utf8
    )
    #expect(venue.problems() == ["v/shops.geojson: feature 1 (17): \(message)"])
  }
}
