import PharosModel

/// A shape: points, lines, or outlines with their holes, by coordinates on the Earth or in metres on a floor.
enum Shape<Position> {
  case points([Position])
  case lines([[Position]])
  case polygons([[[Position]]])

  /// The kind of shape, for messages.
  var kind: String {
    switch self {
    case .points: "a point"
    case .lines: "a line"
    case .polygons: "a polygon"
    }
  }

  /// Every position in it.
  var positions: [Position] {
    switch self {
    case .points(let points): points
    case .lines(let lines): lines.flatMap(\.self)
    case .polygons(let polygons): polygons.flatMap { $0.flatMap(\.self) }
    }
  }

  /// Returns the shape with each position converted.
  func map<Other, Failure: Error>(
    _ convert: (Position) throws(Failure) -> Other
  ) throws(Failure) -> Shape<Other> {
    func line(_ positions: [Position]) throws(Failure) -> [Other] { try positions.map(convert) }
    func lines(_ lines: [[Position]]) throws(Failure) -> [[Other]] { try lines.map(line) }
    return switch self {
    case .points(let points): .points(try line(points))
    case .lines(let all): .lines(try lines(all))
    case .polygons(let polygons): .polygons(try polygons.map(lines))
    }
  }
}

extension Shape<Coordinate> {
  /// The reason for which a shape cannot be drawn: part of it is beyond the plane's reach.
  private struct OutOfReach: Error {}

  /// Returns the shape on a plane; nil if part of it is beyond the plane's reach.
  func projected(on plane: FloorPlane) -> Shape<Point>? {
    try? map { coordinate throws(OutOfReach) in
      guard let point = plane.point(of: coordinate) else { throw OutOfReach() }
      return point
    }
  }
}

extension Shape<Point> {
  /// Returns polygons as areas; other shapes have none.
  func areas(named name: String) -> [Area] {
    guard case .polygons(let polygons) = self else { return [] }
    return polygons.compactMap { rings in
      rings.first.map {
        Area(name: name, outline: Polygon($0), holes: rings.dropFirst().map { Polygon($0) })
      }
    }
  }

  /// The segments of lines, and the sides of polygons.
  var sides: [Segment] {
    switch self {
    case .points: []
    case .lines(let lines):
      lines.flatMap { line in zip(line, line.dropFirst()).map { Segment(from: $0, to: $1) } }
    case .polygons: areas(named: "").flatMap(\.sides)
    }
  }
}
