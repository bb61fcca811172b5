import PharosDocuments
import PharosModel
import PharosSite
import Testing

@Suite("Geofences in the site file")
struct GeofenceReadingTests {
  private static func read(
    _ region: String,
    files: [String: String] = [:]
  ) throws(DocumentError) -> Region? {
    struct NoFile: Error {}
    return try SiteFile.parse("regions:\n  - \(region)\n", path: "site.yaml") { name in
      guard let text = files[name] else { throw NoFile() }
      return Array(text.utf8)
    }
    .site.applications.first?.regions.first
  }

  private static func problems(_ region: String, files: [String: String] = [:]) -> [String] {
    do {
      _ = try read(region, files: files)
      return []
    } catch {
      return error.problems.map { "\($0.field): \($0.message)" }
    }
  }

  private static let square = "[[11.5, 48.1], [11.6, 48.1], [11.6, 48.2], [11.5, 48.2]]"
  private static let hole = "[[11.52, 48.12], [11.58, 48.12], [11.55, 48.18], [11.52, 48.12]]"

  @Test("a circle and a polygon are read with their floor and rules")
  func shapes() throws {
    let circle = try Self.read(
      "{ id: courtyard, kind: circle, latitude: 48.137, longitude: 11.575, radius: 20m, level: 0, subject: beacon }"
    )
    #expect(circle?.subject == .beacon(observers: nil))
    #expect(circle?.geofence?.level == 0)
    let center = Geofence.Position(latitude: 48.137, longitude: 11.575)
    #expect(circle?.geofence?.shape == .circle(center: center, radius: Meters(20)))
    let polygon = try Self.read(
      "{ id: hall, kind: polygon, coordinates: [\(Self.square), \(Self.hole)], enter: { dwell: 5s }, exit: { probability: 0.2 } }"
    )
    guard case .polygon(let rings)? = polygon?.geofence?.shape else {
      Issue.record("no polygon")
      return
    }
    #expect(rings.map(\.count) == [4, 3])
    #expect(polygon?.geofence?.policy == Geofence.Policy(exitProbability: 0.2, enterDwell: .seconds(5)))
  }

  @Test("a polygon is read from a GeoJSON file beside the site file")
  func file() throws {
    let geometry = "{\"type\": \"Polygon\", \"coordinates\": [\(Self.square.dropLast()), [11.5, 48.1]]]}"
    let feature = "{\"type\": \"Feature\", \"properties\": {}, \"geometry\": \(geometry)}"
    let inline = try Self.read("{ id: hall, kind: polygon, coordinates: \(Self.square) }")
    let multiple =
      "{\"type\": \"MultiPolygon\", \"coordinates\": [[\(Self.square.dropLast()), [11.5, 48.1]]]]}"
    for text in [
      geometry, feature, multiple, "{\"type\": \"FeatureCollection\", \"features\": [\(feature)]}",
    ] {
      let region = try Self.read(
        "{ id: hall, kind: polygon, file: hall.geojson }",
        files: ["hall.geojson": text]
      )
      #expect(region == inline)
    }
  }

  @Test("a range of altitudes is read from the region, or from the properties of its GeoJSON feature")
  func altitudes() throws {
    let circle = "id: deck, kind: circle, latitude: 48, longitude: 11, radius: 9m"
    let deck = try Self.read("{ \(circle), altitude: { from: 35m, to: 38.5m } }")
    let range = Geofence.AltitudeRange(from: Meters(35), to: Meters(38.5))
    #expect(deck?.geofence?.altitude == range)
    let above = try Self.read("{ \(circle), altitude: { from: -2m, reference: ellipsoid } }")
    #expect(
      above?.geofence?.altitude == Geofence.AltitudeRange(from: Meters(-2), reference: .ellipsoid)
    )
    let properties = #"{"name": "deck", "altitude": {"from": "35m", "to": "38.5m"}}"#
    let geometry = "{\"type\": \"Polygon\", \"coordinates\": [\(Self.square.dropLast()), [11.5, 48.1]]]}"
    let feature = "{\"type\": \"Feature\", \"properties\": \(properties), \"geometry\": \(geometry)}"
    let polygon = "id: deck, kind: polygon, file: deck.geojson"
    let file = try Self.read("{ \(polygon) }", files: ["deck.geojson": feature])
    #expect(file?.geofence?.altitude == range)
    let own = try Self.read("{ \(polygon), altitude: { to: 9m } }", files: ["deck.geojson": feature])
    #expect(own?.geofence?.altitude == Geofence.AltitudeRange(to: Meters(9)))
  }

  @Test("a region of several polygons is read from coordinates and from a file")
  func severalPolygons() throws {
    let far = "[[11.7, 48.1], [11.8, 48.1], [11.8, 48.2], [11.7, 48.1]]"
    let near = "\(Self.square.dropLast()), [11.5, 48.1]]"
    let parts = "[[\(near), \(Self.hole)], [\(far)]]"
    let fromFile = try Self.read(
      "{ id: hall, kind: polygon, file: hall.geojson }",
      files: ["hall.geojson": "{\"type\": \"MultiPolygon\", \"coordinates\": \(parts)}"]
    )
    let region = try #require(try Self.read("{ id: hall, kind: polygon, coordinates: \(parts) }"))
    #expect(region == fromFile)
    let shape = try #require(region.geofence?.shape)
    #expect(shape.polygons.map { $0.map(\.count) } == [[4, 3], [3]])
  }

  @Test(
    "each mistake names its field",
    arguments: [
      ("{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 0m }", "regions[0].radius"),
      ("{ id: a, kind: circle, latitude: 98, longitude: 11, radius: 5m }", "regions[0].latitude"),
      ("{ id: a, kind: circle, latitude: 48, radius: 5m }", "regions[0].longitude"),
      ("{ id: a, kind: oval, latitude: 48 }", "regions[0].kind"),
      ("{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, uuid: x }", "regions[0].uuid"),
      ("{ id: a, kind: polygon, coordinates: [[11, 48], [12, 48]] }", "regions[0].coordinates"),
      (
        "{ id: a, kind: polygon, coordinates: [[11, 48], [11.1, 48.1], [11.1, 48], [11, 48.1]] }",
        "regions[0].coordinates"
      ),
      (
        "{ id: a, kind: polygon, coordinates: [[11, 48], [11.1, 98], [11.1, 48]] }",
        "regions[0].coordinates[1]"
      ),
      ("{ id: a, kind: polygon, file: none.geojson }", "regions[0].file"),
      ("{ id: a, kind: polygon }", "regions[0].coordinates"),
      (
        "{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, altitude: { from: 9m, to: 5m } }",
        "regions[0].altitude.from"
      ),
      (
        "{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, altitude: { } }",
        "regions[0].altitude.from"
      ),
      (
        "{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, altitude: { above: 5m } }",
        "regions[0].altitude.above"
      ),
      (
        "{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, altitude: { from: 5 } }",
        "regions[0].altitude.from"
      ),
      ("{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, level: ground }", "regions[0].level"),
      (
        "{ id: a, kind: circle, latitude: 48, longitude: 11, radius: 5m, exit: { probability: 0.6 } }",
        "regions[0].exit.probability"
      ),
    ]
  )
  func mistakes(region: String, field: String) {
    let found = Self.problems(region)
    #expect(found.contains { $0.hasPrefix("\(field):") }, "\(found)")
  }

  @Test("a ring of a file that lacks its last position is closed with a warning, and heights are ignored")
  func openRing() throws {
    let open =
      #"{"type": "Polygon", "coordinates": [[[11.5, 48.1, 5, 7], [11.6, 48.1, null], [11.6, 48.2], [11.5, 48.2, 5]]]}"#
    let configuration = try SiteFile.parse(
      "regions:\n  - { id: hall, kind: polygon, file: f }\n",
      path: "site.yaml"
    ) { _ in Array(open.utf8) }
    let inline = try Self.read("{ id: hall, kind: polygon, coordinates: \(Self.square) }")
    #expect(configuration.site.applications.first?.regions.first?.geofence == inline?.geofence)
    #expect(configuration.warnings.map(\.line) == [2])
    #expect(configuration.warnings[0].message.contains("ring 0 lacks its last position and is closed"))
  }

  @Test(
    "crossing edges, a stray hole and too many corners are named with their ring and corner"
  )
  func geometry() {
    let crossing = Self.problems(
      "{ id: a, kind: polygon, coordinates: [[11, 48], [11.1, 48.1], [11.1, 48], [11, 48.1]] }"
    )
    #expect(crossing.contains { $0.contains("corner 0 of ring 0 crosses or touches that behind corner 2") })
    let stray = Self.problems(
      "{ id: a, kind: polygon, coordinates: [\(Self.square), [[12, 48], [12.1, 48], [12, 48.1]]] }"
    )
    #expect(stray.contains { $0.contains("ring 1 is a hole") })
    let nested = Self.problems(
      "{ id: a, kind: polygon, coordinates: [[\(Self.square)], [\(Self.hole)]] }"
    )
    #expect(nested.contains { $0.contains("polygon 2 lies within another one") })
    let overlapping = Self.problems(
      "{ id: a, kind: polygon, coordinates: [[\(Self.square)], "
        + "[[[11.55, 48.1], [11.7, 48.1], [11.7, 48.15], [11.55, 48.15]]]] }"
    )
    // The first polygon ends in the east at 11.6 degrees.
    let crossings = ["48.10000, 11.60000", "48.15000, 11.60000"]
    #expect(
      overlapping.contains { problem in
        crossings.contains { problem.contains("polygons 1 and 2 overlap near \($0)") }
      },
      "\(overlapping)"
    )
    let empty = Self.problems(
      "{ id: a, kind: polygon, file: f }",
      files: ["f": "{\"type\": \"MultiPolygon\", \"coordinates\": []}"]
    )
    #expect(empty.contains { $0.contains("the geometry is empty") }, "\(empty)")
    let missing = Self.problems("{ id: a, kind: polygon, file: none.geojson }")
    #expect(missing.contains { $0.contains("none.geojson cannot be read") }, "\(missing)")
    let many = (0...1_000).map { "[\(11 + Double($0) / 1e4), \(48 + Double($0 * $0) / 1e8)]" }.joined(
      separator: ", "
    )
    let corners = Self.problems("{ id: a, kind: polygon, coordinates: [\(many)] }")
    #expect(corners.contains { $0.contains("1001 corners") }, "\(corners)")
  }

  @Test("geofences are read back as they were written")
  func written() throws {
    let text = """
      applications:
        - id: gallery
          regions:
            - { id: yard, kind: circle, latitude: 48.1, longitude: 11.5, radius: 12.5m, building: east, altitude: { from: -1.5m, to: 3m }, exit: { dwell: 9s } }
            - { id: hall, kind: polygon, coordinates: \(Self.square), notifyOnExit: false }
      """
    let configuration = try SiteFile.parse(text, path: "site.yaml")
    let again = try SiteFile.parse(try SiteFile.text(of: configuration), path: "site.yaml")
    #expect(again == configuration)
  }
}
