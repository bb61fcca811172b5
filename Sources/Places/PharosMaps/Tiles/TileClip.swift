import PharosSpace

/// Cuts lines and rings at the edges of a rectangle.
struct TileClip {
  let low: Point
  let high: Point

  /// Returns the part of a segment within the rectangle; nil if it lies outside.
  ///
  /// - Source: Y. Liang and B. Barsky, "A new concept and method for line clipping", ACM Transactions on Graphics 3
  ///   (1984).
  func clip(_ start: Point, _ end: Point) -> (start: Point, end: Point)? {
    let way = end - start
    var (first, last) = (0.0, 1.0)
    for (step, room) in [
      (-way.x, start.x - low.x), (way.x, high.x - start.x), (-way.y, start.y - low.y),
      (way.y, high.y - start.y),
    ] {
      if step == 0 {
        if room < 0 { return nil }
        continue
      }
      let share = room / step
      if step < 0 {
        if share > last { return nil }
        first = max(first, share)
      } else {
        if share < first { return nil }
        last = min(last, share)
      }
    }
    return (
      first == 0 ? start : start + way * first,
      last == 1 ? end : start + way * last
    )
  }

  /// Returns the parts of a line within the rectangle.
  func clip(line: [Point]) -> [[Point]] {
    var parts: [[Point]] = []
    for (start, end) in zip(line, line.dropFirst()) {
      guard let piece = clip(start, end) else { continue }
      if let last = parts.last?.last, last == piece.start {
        parts[parts.count - 1].append(piece.end)
      } else {
        parts.append([piece.start, piece.end])
      }
    }
    return parts
  }

  /// Returns the part of a ring within the rectangle, with the rectangle's edges where the ring leaves it.
  ///
  /// - Source: I. Sutherland and G. Hodgman, "Reentrant polygon clipping", Communications of the ACM 17 (1974).
  func clip(ring: [Point]) -> [Point] {
    if ring.allSatisfy({ $0.x >= low.x && $0.x <= high.x && $0.y >= low.y && $0.y <= high.y }) { return ring }
    var ring = ring
    for edge in 0..<4 where !ring.isEmpty {
      guard var previous = ring.last else { break }
      var kept: [Point] = []
      var previousRoom = room(of: previous, at: edge)
      for corner in ring {
        let cornerRoom = room(of: corner, at: edge)
        if (previousRoom < 0) != (cornerRoom < 0) {
          kept.append(previous.interpolated(to: corner, share: previousRoom / (previousRoom - cornerRoom)))
        }
        if cornerRoom >= 0 { kept.append(corner) }
        (previous, previousRoom) = (corner, cornerRoom)
      }
      ring = kept
    }
    return ring
  }

  /// The distance of a place from an edge, negative outside.
  private func room(of point: Point, at edge: Int) -> Double {
    switch edge {
    case 0: point.x - low.x
    case 1: high.x - point.x
    case 2: point.y - low.y
    default: high.y - point.y
    }
  }
}
