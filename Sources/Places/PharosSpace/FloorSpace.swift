public import PharosModel

/// A floor made ready for many questions: where one can walk, what is in the way, where the nearest free place is.
///
/// The answers are those of going through all areas and walls, found over a grid. Without walkable areas all that is no
/// obstacle counts as walkable.
public struct FloorSpace: Hashable, Sendable {
  /// The precomputed state of a cell.
  private enum CellKind: UInt8 {
    case blocked, walkable, mixed
  }

  /// The lines between where one can walk and where one cannot, with what is walkable on their left.
  public let boundary: [Segment]
  package let areas: AreaIndex
  private let walls: Walls
  private let wallGrid: SegmentGrid
  private let boundaryGrid: SegmentGrid
  private let kinds: [UInt8]
  let frame: GridFrame

  /// The side of a cell: about the width of a corridor, so that most cells of a hall lie off its walls.
  ///
  /// - Units: metres.
  package static let cell = 1.0

  /// Makes a floor ready.
  ///
  /// - Complexity: O(sides · log sides) for floors as they are built; some ten milliseconds for a mall.
  public init(_ floor: Floor) {
    let all = floor.thresholds + floor.walkable + floor.obstacles
    let sides = all.flatMap(\.sides)
    let segments = floor.walls.all.map(\.segment)
    let frame = GridFrame(
      over: (sides + segments).flatMap { [$0.start, $0.end] },
      cell: FloorSpace.cell,
      areas: all,
      lines: sides + segments
    )
    let areas = AreaIndex(
      thresholds: floor.thresholds,
      walkable: floor.walkable,
      obstacles: floor.obstacles,
      frame: frame
    )
    let sideGrid = SegmentGrid(sides, frame: frame)
    self.frame = frame
    self.areas = areas
    walls = floor.walls
    wallGrid = SegmentGrid(segments, frame: frame)
    kinds = (0..<frame.count).map { cell in
      guard sideGrid.isEmpty(cell) else { return CellKind.mixed.rawValue }
      let isWalkable = areas.isWalkable(frame.center(of: cell))
      return (isWalkable ? CellKind.walkable : .blocked).rawValue
    }
    boundary = BoundaryFinder(sides: sideGrid, areas: areas).boundary()
    boundaryGrid = SegmentGrid(boundary, frame: frame)
  }

  /// Returns whether a place is walkable.
  ///
  /// - Complexity: O(1) off the sides of areas, without allocation.
  public func isWalkable(_ point: Point) -> Bool {
    guard let cell = frame.index(of: point) else { return areas.isOutsideWalkable }
    switch CellKind(rawValue: kinds[cell]) {
    case .blocked: return false
    case .walkable: return true
    case .mixed, nil: return areas.isWalkable(point)
    }
  }

  /// Returns whether a straight line crosses a wall.
  ///
  /// - Complexity: O(cells on the way), without allocation.
  public func crossesWall(from start: Point, to end: Point) -> Bool {
    wallGrid.isCrossed(by: Segment(from: start, to: end))
  }

  /// Returns the loss of a signal in the walls on a straight line between two places.
  ///
  /// - Units: dB.
  public func attenuation(between start: Point, and end: Point) -> Double {
    wallGrid.crossed(by: Segment(from: start, to: end)).reduce(0) { $0 + walls.all[$1].attenuation }
  }

  /// Returns whether people can walk straight from one place to another: both are walkable, and neither a wall nor the
  /// edge of the walkable areas lies between.
  ///
  /// - Complexity: O(cells on the way), without allocation.
  public func canWalk(from start: Point, to end: Point) -> Bool {
    let line = Segment(from: start, to: end)
    return isWalkable(start) && isWalkable(end) && !wallGrid.isCrossed(by: line)
      && !boundaryGrid.isCrossed(by: line)
  }

  /// Returns the distance of a place from the edge of the walkable areas; nil where there is none.
  package func distanceToBoundary(from point: Point) -> Double? { boundaryGrid.nearest(to: point)?.distance }

  /// The walkable place nearest to a place: itself, or one a millimetre inside of the nearest edge.
  ///
  /// - Returns: nil where nothing is walkable.
  public func nearestWalkable(to point: Point) -> Point? {
    if isWalkable(point) { return point }
    guard let found = boundaryGrid.nearest(to: point) else { return nil }
    let edge = boundary[found.number]
    let touch = edge.nearest(to: point)
    let along = edge.end - edge.start
    guard let forward = along.direction else { return nil }
    let inwards = Point(x: -forward.y, y: forward.x)
    let middle = edge.start.interpolated(to: edge.end, share: 0.5)
    let towardsMiddle = (middle - touch).direction ?? .origin
    let step = min(1e-3, along.length / 2)
    let candidates = [
      touch + inwards * 1e-3,
      touch + inwards * 1e-5,
      touch + towardsMiddle * step + inwards * 1e-5,
      middle + inwards * 1e-5,
    ]
    return candidates.first(where: isWalkable)
  }
}

/// Areas by the cells that they reach into.
package struct AreaIndex: Hashable, Sendable {
  /// The thresholds, followed by the walkable areas and the obstacles.
  let areas: [Area]
  /// The places of the walkable areas among them.
  private let walkable: Range<Int>
  private let frame: GridFrame
  private let lists: CellLists

  package init(thresholds: [Area] = [], walkable: [Area], obstacles: [Area], frame: GridFrame) {
    let areas = thresholds + walkable + obstacles
    self.areas = areas
    self.walkable = thresholds.count..<thresholds.count + walkable.count
    self.frame = frame
    lists = CellLists(cells: frame.count, count: areas.count) { index, note in
      guard let extent = areas[index].outline.extent else { return }
      frame.forEachCell(in: extent, margin: GridFrame.margin, note)
    }
  }

  /// Indicates whether places outside all areas are walkable.
  var isOutsideWalkable: Bool { walkable.isEmpty }

  /// Returns whether a place lies in a walkable area, if there is any, and in no obstacle, or on a threshold.
  func isWalkable(_ point: Point) -> Bool {
    var isFound = isOutsideWalkable
    guard let cell = frame.index(of: point) else { return isFound }
    for place in lists.places(in: cell) {
      let number = lists.number(at: place)
      // Thresholds come first and obstacles last, in each cell as well.
      if number < walkable.lowerBound {
        if areas[number].contains(point) { return true }
      } else if number < walkable.upperBound {
        isFound = isFound || areas[number].contains(point)
      } else if isFound, areas[number].contains(point) {
        return false
      }
    }
    return isFound
  }

  /// The walkable areas at a place, by their index among the walkable ones.
  package func walkable(at point: Point) -> [Int] {
    guard let cell = frame.index(of: point) else { return [] }
    return lists.places(in: cell).map { lists.number(at: $0) }
      .filter { walkable.contains($0) && areas[$0].contains(point) }
      .map { $0 - walkable.lowerBound }
  }

  /// Returns whether a place lies in any area, walkable or not.
  package func isCovered(_ point: Point) -> Bool {
    guard let cell = frame.index(of: point) else { return false }
    return lists.places(in: cell).contains { areas[lists.number(at: $0)].contains(point) }
  }
}

/// Finds the lines between where one can walk and where one cannot.
///
/// Sides of areas are cut wherever others meet them; a piece is boundary if just one of its two sides is walkable. A
/// side that two shops share, or two halls, is none.
struct BoundaryFinder {
  let sides: SegmentGrid
  let areas: AreaIndex

  /// The distance from a piece at which its two sides are examined.
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
      guard along.cross(across).magnitude > 1e-12 * length * across.length else { return }
      if let meeting = side.meeting(line) { cuts.append(meeting.share) }
    }
    cuts.sort()
    return zip(cuts, cuts.dropFirst()).compactMap { low, high in
      guard (high - low) * length > BoundaryFinder.shortest else { return nil }
      return Segment(
        from: low == 0 ? side.start : side.place(at: low),
        to: high == 1 ? side.end : side.place(at: high)
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
