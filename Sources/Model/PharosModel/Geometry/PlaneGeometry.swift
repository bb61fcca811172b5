/// A place on a floor: metres east and north of the floor's origin.
///
/// Also the difference between two places, since a plane needs no second type for it.
///
/// - Units: metres.
public struct Point: Hashable, Sendable {
  /// Metres towards the east.
  public var x: Double
  /// Metres towards the north.
  public var y: Double

  /// Makes a point.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// The place that floors are measured from.
  public static let origin = Point(x: 0, y: 0)

  /// The length of the way from the origin: that of a difference.
  public var length: Double { (x * x + y * y).squareRoot() }

  /// The distance to another place in metres.
  public func distance(to other: Point) -> Double { (other - self).length }

  /// The place at a share of the straight way to another: 0 is here, 1 is there.
  public func interpolated(to other: Point, share: Double) -> Point {
    Point(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
  }

  /// The same direction with a length of one, or nil where there is no direction.
  public var direction: Point? {
    let length = length
    guard length > 0, length.isFinite else { return nil }
    return Point(x: x / length, y: y / length)
  }

  /// The scalar product: for two directions, the cosine of the angle between them.
  public func dot(_ other: Point) -> Double { x * other.x + y * other.y }

  /// The third component of the vector product: positive where `other` lies to the left.
  public func cross(_ other: Point) -> Double { x * other.y - y * other.x }

  /// The sum of two differences, or a place moved by one.
  public static func + (left: Point, right: Point) -> Point {
    Point(x: left.x + right.x, y: left.y + right.y)
  }

  /// The difference that leads from `right` to `left`.
  public static func - (left: Point, right: Point) -> Point {
    Point(x: left.x - right.x, y: left.y - right.y)
  }

  /// A difference made longer or shorter.
  public static func * (point: Point, factor: Double) -> Point {
    Point(x: point.x * factor, y: point.y * factor)
  }
}

extension Point: CustomStringConvertible {
  /// East and north in metres, as in `(3.5, -2.0)`.
  public var description: String { "(\(x), \(y))" }
}

/// A straight line from one place to another.
public struct Segment: Hashable, Sendable {
  /// The start.
  public var start: Point
  /// The end.
  public var end: Point

  /// Makes a segment.
  public init(from start: Point, to end: Point) {
    self.start = start
    self.end = end
  }

  /// Its length in metres.
  public var length: Double { start.distance(to: end) }

  /// Returns whether two segments cross each other.
  ///
  /// Half-open, so that a chain of segments is crossed once where two of them meet: a segment holds the places
  /// that lie on it and to its left, not its far side. Segments along one line do not cross, and one without
  /// length crosses nothing.
  public func crosses(_ other: Segment) -> Bool {
    let along = end - start
    let across = other.end - other.start
    let startsLeft = along.cross(other.start - start) >= 0
    let endsLeft = along.cross(other.end - start) >= 0
    guard startsLeft != endsLeft else { return false }
    return (across.cross(start - other.start) >= 0) != (across.cross(end - other.start) >= 0)
  }

  /// Returns whether the ray from a place towards the east crosses the segment.
  ///
  /// Half-open: a chain of segments is crossed once where two of them meet.
  @inlinable public func isCrossed(eastOf point: Point) -> Bool {
    guard (start.y > point.y) != (end.y > point.y) else { return false }
    let share = (point.y - start.y) / (end.y - start.y)
    return point.x < start.x + (end.x - start.x) * share
  }

  /// Returns the shares of this segment and of another one at which their lines meet; nil where they do not meet within
  /// both, or have one direction.
  package func meeting(_ other: Segment) -> (share: Double, otherShare: Double)? {
    let along = end - start
    let across = other.end - other.start
    let sine = along.cross(across)
    guard sine != 0 else { return nil }
    let share = (other.start - start).cross(across) / sine
    let otherShare = (other.start - start).cross(along) / sine
    return (0...1).contains(share) && (0...1).contains(otherShare) ? (share, otherShare) : nil
  }

  /// The place at a share of the segment: 0 is its start, 1 its end.
  package func place(at share: Double) -> Point { start.interpolated(to: end, share: share) }

  /// The place on the segment nearest to another place.
  public func nearest(to point: Point) -> Point {
    let along = end - start
    let square = along.dot(along)
    guard square > 0 else { return start }
    return place(at: min(1, max(0, (point - start).dot(along) / square)))
  }

  /// The distance of a place from the nearest place on the segment in metres.
  public func distance(to point: Point) -> Double { nearest(to: point).distance(to: point) }
}

/// A piece of a floor with straight sides.
public struct Polygon: Hashable, Sendable {
  /// The corners in order, either way around; the last one is joined to the first.
  public var corners: [Point]

  /// Makes a polygon; with fewer than three corners it holds nothing.
  public init(_ corners: [Point]) { self.corners = corners }

  /// Makes a rectangle from two corners that lie opposite each other.
  public init(rectangleFrom corner: Point, to opposite: Point) {
    corners = [
      corner, Point(x: opposite.x, y: corner.y), opposite, Point(x: corner.x, y: opposite.y),
    ]
  }

  /// Returns whether a place lies in it.
  ///
  /// Half-open: of two polygons that share a side, a place on that side lies in exactly one.
  ///
  /// - Complexity: O(corners), without allocation.
  /// - Source: the crossing-number test, Shimrat, Communications of the ACM 5 (1962), algorithm 112.
  public func contains(_ point: Point) -> Bool {
    guard var previous = corners.last, corners.count >= 3 else { return false }
    var isInside = false
    for corner in corners {
      if Segment(from: corner, to: previous).isCrossed(eastOf: point) { isInside.toggle() }
      previous = corner
    }
    return isInside
  }

  /// Its area in square metres.
  public var area: Double { signedArea.magnitude }

  /// Its area in square metres, positive where its corners go counterclockwise with y upwards.
  package var signedArea: Double {
    guard let first = corners.first, corners.count >= 3 else { return 0 }
    return zip(corners, corners.dropFirst()).reduce(0) { $0 + ($1.0 - first).cross($1.1 - first) } / 2
  }

  /// Its sides in order, the one that leads to the first corner before the others.
  public var sides: [Segment] {
    guard corners.count >= 3, var previous = corners.last else { return [] }
    return corners.map { corner in
      defer { previous = corner }
      return Segment(from: previous, to: corner)
    }
  }

  /// The rectangle around it; nil without corners.
  public var extent: Extent? { Extent(around: corners) }
}

/// A rectangle on a floor, its sides along east and north.
public struct Extent: Hashable, Sendable {
  /// The south-western corner.
  public var southWest: Point
  /// The north-eastern corner.
  public var northEast: Point

  /// The smallest rectangle around some places; nil without any.
  public init?(around points: some Sequence<Point>) {
    var found: (low: Point, high: Point)?
    for point in points {
      let low = found?.low ?? point
      let high = found?.high ?? point
      found = (
        Point(x: min(low.x, point.x), y: min(low.y, point.y)),
        Point(x: max(high.x, point.x), y: max(high.y, point.y))
      )
    }
    guard let found else { return nil }
    southWest = found.low
    northEast = found.high
  }

  /// Returns whether a point lies in it or on its edge.
  @inlinable
  package func contains(_ point: Point) -> Bool {
    southWest.x <= point.x && point.x <= northEast.x && southWest.y <= point.y && point.y <= northEast.y
  }

  /// Returns whether two rectangles have a place in common.
  package func meets(_ other: Extent) -> Bool {
    southWest.x <= other.northEast.x && other.southWest.x <= northEast.x
      && southWest.y <= other.northEast.y && other.southWest.y <= northEast.y
  }

  /// From west to east in metres.
  public var width: Double { northEast.x - southWest.x }
  /// From south to north in metres.
  public var height: Double { northEast.y - southWest.y }
  /// The place amid it.
  public var middle: Point { southWest.interpolated(to: northEast, share: 0.5) }
}
