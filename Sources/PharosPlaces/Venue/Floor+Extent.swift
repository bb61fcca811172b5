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

  /// From west to east in metres.
  public var width: Double { northEast.x - southWest.x }
  /// From south to north in metres.
  public var height: Double { northEast.y - southWest.y }
  /// The place amid it.
  public var middle: Point { southWest.interpolated(to: northEast, share: 0.5) }
}

extension Polygon {
  /// The rectangle around it; nil without corners.
  public var extent: Extent? { Extent(around: corners) }
}

extension Floor {
  /// The rectangle around all that is drawn on the floor, or around its plan where nothing is drawn.
  public var extent: Extent? {
    let outlines = (walkable + obstacles).flatMap(\.outline.corners)
    let ends = walls.all.flatMap { [$0.segment.start, $0.segment.end] }
    if let drawn = Extent(around: outlines + ends) { return drawn }
    guard let plan else { return nil }
    let (width, height) = (Double(plan.width), Double(plan.height))
    let corners = [
      Pixel(x: 0, y: 0), Pixel(x: width, y: 0), Pixel(x: width, y: height), Pixel(x: 0, y: height),
    ]
    return Extent(around: corners.compactMap { point(of: $0) })
  }
}
