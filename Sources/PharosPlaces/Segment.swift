/// A straight line from one place to another.
public struct Segment: Hashable, Sendable {
  /// Where it begins.
  public var start: Point
  /// Where it ends.
  public var end: Point

  /// Makes a segment.
  public init(from start: Point, to end: Point) {
    self.start = start
    self.end = end
  }

  /// Its length in metres.
  public var length: Double { start.distance(to: end) }

  /// Whether two segments cross each other.
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

  /// The place where two segments cross, or nil if they do not.
  public func crossing(with other: Segment) -> Point? {
    guard crosses(other) else { return nil }
    let along = end - start
    let across = other.end - other.start
    let share = (other.start - start).cross(across) / along.cross(across)
    return start.interpolated(to: end, share: share)
  }

  /// The distance of a place from the nearest place on the segment in metres.
  public func distance(to point: Point) -> Double {
    let along = end - start
    let square = along.dot(along)
    guard square > 0 else { return start.distance(to: point) }
    let share = min(1, max(0, (point - start).dot(along) / square))
    return start.interpolated(to: end, share: share).distance(to: point)
  }
}
