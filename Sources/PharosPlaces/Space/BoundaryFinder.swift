/// Finds the lines between where one can walk and where one cannot.
///
/// Sides of areas are cut wherever others meet them; a piece is boundary if just one of its two sides is walkable. A
/// side that two shops share, or two halls, is none.
struct BoundaryFinder {
  let sides: SegmentGrid
  let areas: AreaIndex

  /// How far from a piece its two sides are looked at.
  ///
  /// - Units: metres. Far below a wall's width, far above the rounding of coordinates.
  private static let look = 1e-5
  /// The shortest piece.
  ///
  /// - Units: metres.
  private static let shortest = 1e-6

  /// The pieces, what is walkable on their left.
  func boundary() -> [Segment] {
    var found: [Segment] = []
    var seen: Set<Segment> = []
    var lookedAt = [Int](repeating: -1, count: sides.segments.count)
    for number in sides.segments.indices {
      for piece in pieces(of: number, &lookedAt) {
        guard let piece = oriented(piece), seen.insert(piece).inserted else { continue }
        found.append(piece)
      }
    }
    return found
  }

  /// A side cut where others cross it, touch it or end on it.
  ///
  /// - Parameters:
  ///   - number: the side.
  ///   - lookedAt: for each side, the one that it was last compared with: neighbours share many cells.
  /// - Returns: the pieces in order, those too short to matter left out.
  private func pieces(of number: Int, _ lookedAt: inout [Int]) -> [Segment] {
    let side = sides.segments[number]
    let along = side.end - side.start
    let length = along.length
    guard length > BoundaryFinder.shortest else { return [] }
    var cuts: [Double] = [0, 1]
    sides.forEachNeighbour(of: side) { other in
      guard other != number, lookedAt[other] != number else { return }
      lookedAt[other] = number
      let line = sides.segments[other]
      let across = line.end - line.start
      for end in [line.start, line.end] where side.distance(to: end) < BoundaryFinder.shortest {
        cuts.append((end - side.start).dot(along) / (length * length))
      }
      let sine = along.cross(across)
      guard sine.magnitude > 1e-12 * length * across.length else { return }
      let share = (line.start - side.start).cross(across) / sine
      let otherShare = (line.start - side.start).cross(along) / sine
      guard (0...1).contains(share), (0...1).contains(otherShare) else { return }
      cuts.append(share)
    }
    cuts.sort()
    return zip(cuts, cuts.dropFirst()).compactMap { low, high in
      guard (high - low) * length > BoundaryFinder.shortest else { return nil }
      return Segment(
        from: low == 0 ? side.start : side.start.interpolated(to: side.end, share: low),
        to: high == 1 ? side.end : side.start.interpolated(to: side.end, share: high)
      )
    }
  }

  /// The piece with what is walkable on its left; nil if both of its sides are alike.
  private func oriented(_ piece: Segment) -> Segment? {
    guard let forward = (piece.end - piece.start).direction else { return nil }
    let middle = piece.start.interpolated(to: piece.end, share: 0.5)
    let aside = Point(x: -forward.y, y: forward.x) * BoundaryFinder.look
    let isLeft = areas.isWalkable(middle + aside)
    guard isLeft != areas.isWalkable(middle - aside) else { return nil }
    return isLeft ? piece : Segment(from: piece.end, to: piece.start)
  }
}
