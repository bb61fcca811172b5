import PharosMaps
import PharosSpace
import PharosTestSupport
import Testing

@Suite("Vector tiles")
struct VectorTileTests {
  /// A hall of 40 by 30 metres with an atrium, a shop, walls of two sorts, a door, a lift and a toilet.
  static func venue() throws -> Venue {
    let corner = try #require(Coordinate(latitude: 52.52, longitude: 13.405))
    var walls = Walls()
    walls.enclose(southWest: Point(x: 0, y: 0), northEast: Point(x: 40, y: 30), attenuation: 12)
    let floor = Floor(
      level: 0,
      names: ["Ground floor"],
      plane: .ground(GroundPlane(origin: corner)),
      walkable: [
        Area(
          name: "hall",
          outline: Polygon(rectangleFrom: Point(x: 0, y: 0), to: Point(x: 40, y: 30)),
          holes: [Polygon(rectangleFrom: Point(x: 10, y: 10), to: Point(x: 20, y: 20))]
        )
      ],
      obstacles: [
        Area(name: "shop", outline: Polygon(rectangleFrom: Point(x: 25, y: 5), to: Point(x: 35, y: 9)))
      ],
      walls: Walls(walls.all + [Wall(from: Point(x: 0, y: 22), to: Point(x: 30, y: 22), attenuation: 3)]),
      doors: [Door(Segment(from: Point(x: 30, y: 22), to: Point(x: 32, y: 22)), name: "glass door")],
      entrances: [Entrance(identifier: "street", point: Point(x: 5, y: 0))],
      pointsOfInterest: [
        PointOfInterest(
          identifier: "wc",
          name: "Toilets",
          category: "restroom",
          point: Point(x: 38, y: 28),
          caption: Caption(title: "Restrooms", properties: ["fee": "none"])
        ),
        PointOfInterest(
          identifier: "cafe",
          name: "Café",
          point: Point(x: 3, y: 26),
          area: Area(outline: Polygon(rectangleFrom: Point(x: 1, y: 23), to: Point(x: 8, y: 29))),
          isAccessible: false
        ),
      ]
    )
    let id = FloorID(building: "main", level: 0)
    return Venue(
      identifier: "hall",
      buildings: [Building(identifier: "main", floors: [floor])],
      connectors: [
        Connector(
          identifier: "l1",
          kind: .lift,
          stops: [Connector.Stop(floor: id, point: Point(x: 22, y: 25))]
        )
      ]
    )
  }

  private static func floor() throws -> MappedFloor {
    try #require(MappedFloor(FloorID(building: "main", level: 0), of: venue()))
  }

  @Test("the layers hold the floor with its names")
  func layers() throws {
    let floor = try Self.floor()
    let tile = try #require(MapTile.covering(floor.rect, zoom: 15).first)
    let route = VectorTile.RouteLine(
      identifier: "street to wc",
      line: [floor.marks[0].point, floor.marks[2].point]
    )
    let layers = try VectorTileDecoder(VectorTile(tile, of: floor, routes: [route]).bytes).layers
    #expect(
      layers.keys.sorted() == ["areas", "connectors", "doors", "obstacles", "places", "routes", "walls"]
    )
    let areas = try #require(layers["areas"])
    #expect(areas.map { $0.properties["kind"] } == ["walkable", "place"])
    #expect(areas[0].parts.count == 2, "an outline and a hole")
    #expect(areas[1].properties["name"] == "Café")
    #expect(layers["obstacles"]?.first?.properties == ["name": "shop"])
    #expect(layers["walls"]?.map { $0.properties["attenuation"] } == ["3.0", "12.0"])
    #expect(layers["walls"]?.map(\.parts.count) == [1, 4])
    #expect(
      layers["doors"]?.map(\.properties) == [
        ["kind": "door", "name": "glass door", "accessible": "true"], ["id": "street", "kind": "entrance"],
      ]
    )
    #expect(layers["connectors"]?.first?.properties == ["id": "l1", "kind": "lift"])
    let places = try #require(layers["places"])
    #expect(
      places.map(\.properties) == [
        [
          "id": "wc", "name": "Toilets", "category": "restroom", "accessible": "true", "title": "Restrooms",
          "properties": #"{"fee":"none"}"#,
        ],
        ["id": "cafe", "name": "Café", "accessible": "false"],
      ]
    )
  }

  @Test("a corner comes out where the map has it, within half a unit")
  func precision() throws {
    let venue = try Self.venue()
    let floor = try Self.floor()
    let plane = try #require(venue.floors.first).floor.plane
    for zoom in [14, 17, 19, 21] {
      let coordinate = try #require(plane.coordinate(of: Point(x: 38, y: 28)))
      let point = try #require(MapPoint(coordinate))
      let tile = try #require(MapTile(containing: point, zoom: zoom))
      let layers = try VectorTileDecoder(VectorTile(tile, of: floor).bytes).layers
      let places = try #require(layers["places"])
      let place = try #require(places.first { $0.properties["id"] == "wc" }?.parts[0][0])
      let way = point.offset(from: tile.origin)
      #expect(abs(Double(place.x) - way.east * 4_096 / tile.side) <= 0.5001)
      #expect(abs(Double(place.y) - way.south * 4_096 / tile.side) <= 0.5001)
    }
  }

  @Test("polygons of neighbouring tiles make up the area, with outlines clockwise and holes counterclockwise")
  func area() throws {
    let floor = try Self.floor()
    for zoom in [18, 20, 22] {
      var sum = 0.0
      for tile in MapTile.covering(floor.rect, zoom: zoom) {
        let layers = try VectorTileDecoder(VectorTile(tile, of: floor).bytes).layers
        for feature in layers["areas", default: []] where feature.properties["kind"] == "walkable" {
          for (index, ring) in feature.parts.enumerated() {
            #expect(ring.allSatisfy { (-64...4_160).contains($0.x) && (-64...4_160).contains($0.y) })
            let whole = Self.twiceTheArea(ring)
            #expect(index == 0 ? whole > 0 : whole < 0)
            // Within the tile itself: the buffer belongs to the neighbours.
            sum += Self.twiceTheArea(Self.cut(ring)) / 2 * (tile.side / 4_096) * (tile.side / 4_096)
          }
        }
      }
      let scale = MapPoint.metersPerPoint(atLatitude: 52.52)
      // Mercator's map is one of a sphere: areas on it differ from those on the ellipsoid by up to 0.7 %.
      #expect(abs(sum * scale * scale - 1_100) < 8)
    }
  }

  @Test("a tile beside the floor is empty")
  func empty() throws {
    let floor = try Self.floor()
    let tile = try #require(MapTile.covering(floor.rect, zoom: 18).first)
    let far = try #require(MapTile(zoom: 18, x: tile.x + 40, y: tile.y))
    #expect(VectorTile(far, of: floor).bytes.isEmpty)
  }

  @Test("random rings clipped at random tiles obey the specification")
  func random() throws {
    var generator = SeededGenerator(seed: 29)
    let plane = try #require(Self.venue().floors.first).floor.plane
    for _ in 0..<60 {
      var corners: [Point] = []
      for step in 0..<Int.random(in: 3...24, using: &generator) {
        let turn = Double(step)
        corners.append(
          Point(
            x: 50 + Double.random(in: 1...50, using: &generator)
              * (turn.truncatingRemainder(dividingBy: 3) - 1),
            y: 50 + Double.random(in: -50...50, using: &generator)
          )
        )
      }
      let floor = Floor(level: 0, plane: plane, walkable: [Area(outline: Polygon(corners))])
      let venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])
      let mapped = try #require(MappedFloor(FloorID(building: "b", level: 0), of: venue))
      for tile in MapTile.covering(mapped.rect, zoom: Int.random(in: 15...21, using: &generator)) {
        let layers = try VectorTileDecoder(VectorTile(tile, of: mapped).bytes).layers
        for feature in layers["areas", default: []] { #expect(Self.twiceTheArea(feature.parts[0]) > 0) }
      }
    }
  }

  private static func twiceTheArea(_ ring: [(x: Int, y: Int)]) -> Double {
    guard var previous = ring.last else { return 0 }
    var twice = 0.0
    for corner in ring {
      twice += Double(previous.x * corner.y - corner.x * previous.y)
      previous = corner
    }
    return twice
  }

  /// The part of a convex ring within the tile without its buffer.
  private static func cut(_ ring: [(x: Int, y: Int)]) -> [(x: Int, y: Int)] {
    ring.map { (min(4_096, max(0, $0.x)), min(4_096, max(0, $0.y))) }
  }
}
