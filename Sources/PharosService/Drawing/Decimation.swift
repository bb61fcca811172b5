/// Removal of details too small to see: a capture of a day has a million adverts, a picture a thousand columns.
package enum Decimation {
  /// How near two things may be to be seen as two.
  ///
  /// - Units: pixels; half a pixel is one pixel of a screen of high resolution.
  package static let resolution = 0.5

  /// The points of a line without those that its neighbours in the same column hide.
  ///
  /// Of each column the first, the lowest, the highest and the last stay, in their order, so that no peak is lost.
  package static func line(_ points: [SVGPoint]) -> [SVGPoint] {
    var kept: [SVGPoint] = []
    var start = 0
    while start < points.count {
      let column = (points[start].x / resolution).rounded(.down)
      var end = start
      var (lowest, highest) = (start, start)
      while end < points.count, (points[end].x / resolution).rounded(.down) == column {
        if points[end].y < points[lowest].y { lowest = end }
        if points[end].y > points[highest].y { highest = end }
        end += 1
      }
      var last = -1
      for index in [start, min(lowest, highest), max(lowest, highest), end - 1] where index > last {
        kept.append(points[index])
        last = index
      }
      start = end
    }
    return kept
  }

  /// The points without those that lie on one before them.
  package static func dots(_ points: [SVGPoint]) -> [SVGPoint] {
    var seen: Set<SVGPoint> = []
    return points.filter { point in
      let place = SVGPoint(
        (point.x / resolution).rounded(.down),
        (point.y / resolution).rounded(.down)
      )
      return seen.insert(place).inserted
    }
  }
}
