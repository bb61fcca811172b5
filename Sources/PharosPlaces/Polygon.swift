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

  /// Whether a place lies in it.
  ///
  /// Half-open: of two polygons that share a side, a place on that side lies in exactly one.
  ///
  /// - Complexity: O(corners), without allocation.
  /// - Source: the crossing-number test, Shimrat, Communications of the ACM 5 (1962), algorithm 112.
  public func contains(_ point: Point) -> Bool {
    guard var previous = corners.last, corners.count >= 3 else { return false }
    var isInside = false
    for corner in corners {
      if (corner.y > point.y) != (previous.y > point.y) {
        let share = (point.y - corner.y) / (previous.y - corner.y)
        if point.x < corner.x + (previous.x - corner.x) * share { isInside.toggle() }
      }
      previous = corner
    }
    return isInside
  }

  /// Its area in square metres.
  public var area: Double {
    guard var previous = corners.last, corners.count >= 3 else { return 0 }
    var twice = 0.0
    for corner in corners {
      twice += previous.cross(corner)
      previous = corner
    }
    return twice.magnitude / 2
  }
}
