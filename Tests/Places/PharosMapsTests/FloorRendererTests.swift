import PharosMaps
import PharosModel
import PharosSpace
import Testing

@Suite("Tiles of floors")
struct FloorRendererTests {
  static let id = FloorID(building: "main", level: 0)
  /// The words about the café.
  static let caption = Caption(
    title: "Große \"Café\"",
    description: "First line.\nSecond.",
    link: "https://example.org",
    properties: ["seats": "40"]
  )

  /// A hall of 60 by 40 metres with a cross of walls, an entrance, stairs and a café.
  static func venue(rotated: Bool = false) throws -> Venue {
    let corner = try #require(Coordinate(latitude: 52.52, longitude: 13.405))
    let floor = Floor(
      level: 0,
      names: ["Ground floor"],
      plane: .ground(GroundPlane(origin: corner)),
      walkable: [
        Area(name: "hall", outline: Polygon(rectangleFrom: Point(x: 0, y: 0), to: Point(x: 60, y: 40)))
      ],
      obstacles: [
        Area(name: "shop", outline: Polygon(rectangleFrom: Point(x: 40, y: 5), to: Point(x: 55, y: 12)))
      ],
      walls: Walls([
        Wall(from: Point(x: 20, y: 0), to: Point(x: 20, y: 18), attenuation: 6),
        Wall(from: Point(x: 20, y: 20), to: Point(x: 20, y: 40), attenuation: 6),
        Wall(from: Point(x: 0, y: 25), to: Point(x: 34, y: 25), attenuation: 6),
        Wall(from: Point(x: 36, y: 25), to: Point(x: 60, y: 25), attenuation: 6),
      ]),
      entrances: [Entrance(identifier: "street", point: Point(x: 5, y: 0))],
      pointsOfInterest: [
        PointOfInterest(identifier: "cafe", name: "Café Größe", point: Point(x: 30, y: 33), caption: caption)
      ]
    )
    return Venue(
      identifier: "hall",
      buildings: [Building(identifier: "main", floors: [floor])],
      connectors: [
        Connector(
          identifier: "s1",
          kind: .stairs,
          stops: [Connector.Stop(floor: id, point: Point(x: 50, y: 33))]
        )
      ]
    )
  }

  static func mapped() throws -> MappedFloor { try #require(MappedFloor(id, of: venue())) }

  /// Indicates whether a pixel has the colour of a wall rather than that of the floor.
  private static func isDark(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> Bool {
    let pixel = bitmap.pixel(x: x, y: y)
    return pixel.alpha > 200 && pixel.red < 170
  }

  @Test("walls lie within a pixel of where the dashboard draws them", arguments: [256, 512])
  func walls(size: Int) throws {
    let floor = try Self.mapped()
    let renderer = try FloorRenderer(floor, image: nil)
    let plane = try #require(Self.venue().floors.first).floor.plane
    var compared = 0
    for zoom in 18...22 {
      for tile in MapTile.covering(floor.rect, zoom: zoom) {
        guard let png = try renderer.png(tile, size: size) else { continue }
        let bitmap = try Bitmap(png: png, name: "tile")
        for step in 1..<400 where step % 7 == 0 {
          // Clear of the names, the symbols and the other wall.
          let places = [Point(x: 20, y: 2 + Double(step) * 0.05), Point(x: 1 + Double(step) * 0.04, y: 25)]
          for (index, place) in places.enumerated() {
            let coordinate = try #require(plane.coordinate(of: place))
            let expected = try DashboardView(tile, size: size).pixel(of: coordinate)
            let (x, y) = (Int(expected.x), Int(expected.y))
            guard (3..<size - 3).contains(x), (3..<size - 3).contains(y) else { continue }
            // Across the wall the darkest pixels are those of its line.
            let dark = (-3...3).filter { offset in
              index == 0 ? Self.isDark(bitmap, x + offset, y) : Self.isDark(bitmap, x, y + offset)
            }
            guard let first = dark.first, let last = dark.last else { continue }
            let middle = Double(first + last) / 2 + 0.5 + Double(index == 0 ? x : y)
            #expect(abs(middle - (index == 0 ? expected.x : expected.y)) <= 1, "\(tile) at \(place)")
            compared += 1
          }
        }
      }
    }
    #expect(compared > 300, "only \(compared) places were compared")
  }

  @Test("a tile beside the floor is nil, and a tile of no size is refused")
  func beside() throws {
    let floor = try Self.mapped()
    let renderer = try FloorRenderer(floor, image: nil)
    let tile = try #require(MapTile.covering(floor.rect, zoom: 19).first)
    let far = try #require(MapTile(zoom: 19, x: tile.x - 9, y: tile.y))
    #expect(try renderer.png(far) == nil)
    #expect(throws: MapFailure.self) { try renderer.png(tile, size: 300) }
  }

  @Test("the same tile is drawn to the same bytes, whatever was drawn before")
  func repeatable() throws {
    let floor = try Self.mapped()
    let tiles = MapTile.covering(floor.rect, zoom: 20)
    let first = try FloorRenderer(floor, image: nil)
    let second = try FloorRenderer(floor, image: nil)
    let forwards = try tiles.map { try first.png($0) }
    let backwards = try Array(tiles.reversed().map { try second.png($0) }.reversed())
    #expect(forwards == backwards)
    #expect(forwards.compactMap { $0 }.count > 4)
  }

  @Test("neighbouring tiles continue each other")
  func seams() throws {
    let floor = try Self.mapped()
    let renderer = try FloorRenderer(floor, image: nil)
    for tile in MapTile.covering(floor.rect, zoom: 21) {
      guard let east = MapTile(zoom: 21, x: tile.x + 1, y: tile.y),
        let (left, right) = try Self.pair(renderer, tile, east)
      else { continue }
      for y in 0..<256 {
        let (here, there) = (left.pixel(x: 255, y: y), right.pixel(x: 0, y: y))
        // Along a seam colours change no faster than inside of a tile, but at a wall that runs along it.
        if abs(Int(here.alpha) - Int(there.alpha)) > 200 { continue }
        #expect(abs(Int(here.green) - Int(there.green)) < 210)
      }
    }
  }

  private static func pair(
    _ renderer: FloorRenderer,
    _ first: MapTile,
    _ second: MapTile
  ) throws -> (Bitmap, Bitmap)? {
    guard let first = try renderer.png(first), let second = try renderer.png(second) else { return nil }
    return (try Bitmap(png: first, name: "left"), try Bitmap(png: second, name: "right"))
  }

  @Test("a plan's image is drawn where its anchors put it, at every zoom")
  func image() throws {
    var venue = try Self.venue()
    let plane = try #require(venue.floors.first).floor.plane
    // A plan of 1200 by 800 pixels, 5 cm each, white with a black square of two metres amid each quarter.
    let png = try TestImage.png(width: 1_200, height: 800) { x, y in
      let (column, row) = (x % 600, y % 400)
      return (280..<320).contains(column) && (180..<220).contains(row) ? 0 : 255
    }
    let southWest = try #require(plane.coordinate(of: Point(x: 0, y: 0)))
    let northEast = try #require(plane.coordinate(of: Point(x: 60, y: 40)))
    let alignment = try PlanAlignment(anchors: [
      PlanAnchor(pixel: Pixel(x: 0, y: 800), coordinate: southWest),
      PlanAnchor(pixel: Pixel(x: 1_200, y: 0), coordinate: northEast),
    ])
    venue.buildings[0].floors[0].plan = FloorPlan(
      image: "plan.png",
      width: 1_200,
      height: 800,
      alignment: alignment
    )
    venue.buildings[0].floors[0].walls = []
    venue.buildings[0].floors[0].pointsOfInterest = []
    venue.connectors = []
    let floor = try #require(MappedFloor(Self.id, of: venue))
    let renderer = try FloorRenderer(floor, image: png)
    for zoom in 17...21 {
      var found = 0
      for (x, y) in [(300.0, 200.0), (900, 200), (300, 600), (900, 600)] {
        let point = alignment.mapPoint(of: Pixel(x: x, y: y))
        let tile = try #require(MapTile(containing: point, zoom: zoom))
        let bitmap = try Bitmap(png: try #require(try renderer.png(tile, size: 512)), name: "tile")
        let way = point.offset(from: tile.origin)
        let place = Point(x: way.east * 512 / tile.side, y: way.south * 512 / tile.side)
        let half =
          20 * alignment.metersPerPixel / MapPoint.metersPerPoint(atLatitude: 52.52) * 512 / tile.side
        // The square's western edge: dark inside, light outside, to within a pixel.
        let (edge, row) = (place.x - half, Int(place.y))
        guard edge > 4, edge < 507, row > 0, row < 512, half > 2 else { continue }
        found += 1
        #expect(bitmap.pixel(x: Int(edge + 1.5), y: row).red < 140, "\(tile)")
        #expect(bitmap.pixel(x: Int(edge - 2.5), y: row).red > 220, "\(tile)")
      }
      #expect(found > 0)
    }
  }

  @Test("a damaged image of a plan is refused with its name")
  func damaged() throws {
    var venue = try Self.venue()
    let plane = try #require(venue.floors.first).floor.plane
    let alignment = try PlanAlignment(anchors: [
      PlanAnchor(
        pixel: Pixel(x: 0, y: 80),
        coordinate: try #require(plane.coordinate(of: Point(x: 0, y: 0)))
      ),
      PlanAnchor(
        pixel: Pixel(x: 120, y: 0),
        coordinate: try #require(plane.coordinate(of: Point(x: 60, y: 40)))
      ),
    ])
    venue.buildings[0].floors[0].plan = FloorPlan(
      image: "plan.png",
      width: 120,
      height: 80,
      alignment: alignment
    )
    let floor = try #require(MappedFloor(Self.id, of: venue))
    let png = try TestImage.png(width: 120, height: 80) { _, _ in 255 }
    for bytes in [
      [], Array(png.prefix(png.count / 2)), try TestImage.png(width: 60, height: 80) { _, _ in 0 },
    ] {
      let failure = #expect(throws: MapFailure.self) { try FloorRenderer(floor, image: bytes) }
      #expect(failure?.description.hasPrefix("plan.png ") == true)
    }
  }
}

/// The dashboard's floor plan with a tile laid into it by its corners: the arithmetic of floor-frame.js.
struct DashboardView {
  private let origin: Coordinate
  private let north, east: Double
  private let start: Point
  private let perMeter: Point

  init(_ tile: MapTile, size: Int) throws {
    origin = try #require(Coordinate(latitude: 52.5202, longitude: 13.4055))
    let angle = origin.latitude * .pi / 180
    // The series of cosines of the class Frame.
    func cosine(_ times: Double) -> Double { Trigonometry.sineAndCosine(angle * times).cosine }
    north = 111_132.954 - 559.822 * cosine(2) + 1.175 * cosine(4)
    east = 111_412.84 * cosine(1) - 93.5 * cosine(3) + 0.118 * cosine(5)
    let end = MapPoint(x: tile.origin.x + tile.side, y: tile.origin.y + tile.side).coordinate
    let first = tile.origin.coordinate
    let width = (end.longitude - first.longitude) * east
    let height = (first.latitude - end.latitude) * north
    start = Point(
      x: (first.longitude - origin.longitude) * east,
      y: (first.latitude - origin.latitude) * north
    )
    perMeter = Point(x: Double(size) / width, y: Double(size) / height)
  }

  /// The pixel of a coordinate within the tile as the dashboard shows it.
  func pixel(of coordinate: Coordinate) -> Point {
    let x = (coordinate.longitude - origin.longitude) * east
    let y = (coordinate.latitude - origin.latitude) * north
    return Point(x: (x - start.x) * perMeter.x, y: (start.y - y) * perMeter.y)
  }
}
