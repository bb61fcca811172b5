import PharosPlaces

/// A floor while it is put together: the floor, and what its walls are made of.
struct FloorDraft {
  var floor: Floor
  /// Gaps in walls.
  var doors: [Segment] = []
  /// How many corners its shapes have.
  var corners = 0

  /// The most corners of a floor.
  ///
  /// A floor of a mall has 5,000, one of an airport 50,000.
  static let mostCorners = 200_000
  /// The attenuation of an indoor wall for which the files give none.
  ///
  /// - Units: dB.
  /// - Source: plasterboard and glass at 2.4 GHz, ITU-R P.2040; COST 231 gives 3.4 for light walls.
  static let usualAttenuation = 3.4

  init(_ floor: Floor) {
    self.floor = floor
  }

  /// What the features of a file are.
  enum Use: String, CaseIterable {
    /// Where one can walk.
    case walkable
    /// Where one can walk, with walls around it.
    case room
    /// Where one cannot walk.
    case obstacle
    /// What stops people and weakens radio.
    case wall
    /// A gap in a wall.
    case door

    /// The uses in words.
    static var expected: String { "walkable, room, obstacle, wall or door" }
  }

  /// Adds a shape in metres.
  mutating func add(_ shape: Shape, as use: Use, name: String, attenuation: Double) {
    switch use {
    case .walkable: floor.walkable += shape.areas(named: name)
    case .room:
      floor.walkable += shape.areas(named: name)
      floor.walls.all += shape.sides.map { Wall(from: $0.start, to: $0.end, attenuation: attenuation) }
    case .obstacle: floor.obstacles += shape.areas(named: name)
    case .wall:
      floor.walls.all += shape.sides.map { Wall(from: $0.start, to: $0.end, attenuation: attenuation) }
    case .door: doors += shape.sides
    }
    corners += shape.cornerCount
  }

  /// The floor with its doors cut.
  var finished: Floor {
    var floor = floor
    floor.walls = floor.walls.withoutRepeats().opened(by: doors)
    return floor
  }
}

/// A shape in metres on a floor.
enum Shape {
  case points([Point])
  case lines([[Point]])
  case polygons([[[Point]]])

  /// A shape on a plane; nil where part of it is beyond the plane's reach.
  init?(_ geometry: GeoJSON.Geometry, on plane: FloorPlane) {
    func points(_ coordinates: [Coordinate]) -> [Point]? {
      let points = coordinates.compactMap { plane.point(of: $0) }
      return points.count == coordinates.count ? points : nil
    }
    switch geometry {
    case .points(let coordinates):
      guard let points = points(coordinates) else { return nil }
      self = .points(points)
    case .lines(let lines):
      let drawn = lines.compactMap(points)
      guard drawn.count == lines.count else { return nil }
      self = .lines(drawn)
    case .polygons(let polygons):
      let drawn = polygons.compactMap { rings -> [[Point]]? in
        let drawn = rings.compactMap(points)
        return drawn.count == rings.count ? drawn : nil
      }
      guard drawn.count == polygons.count else { return nil }
      self = .polygons(drawn)
    }
  }

  var cornerCount: Int {
    switch self {
    case .points(let points): points.count
    case .lines(let lines): lines.reduce(0) { $0 + $1.count }
    case .polygons(let polygons): polygons.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
    }
  }

  /// Polygons as areas; nothing else has any.
  func areas(named name: String) -> [Area] {
    guard case .polygons(let polygons) = self else { return [] }
    return polygons.compactMap { rings in
      rings.first.map {
        Area(name: name, outline: Polygon($0), holes: rings.dropFirst().map { Polygon($0) })
      }
    }
  }

  /// Lines piece by piece, and the sides of polygons.
  var sides: [Segment] {
    switch self {
    case .points: []
    case .lines(let lines):
      lines.flatMap { line in zip(line, line.dropFirst()).map { Segment(from: $0, to: $1) } }
    case .polygons: areas(named: "").flatMap(\.sides)
    }
  }
}
