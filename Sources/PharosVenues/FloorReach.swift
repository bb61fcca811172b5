/// The part of a floor that people can walk to, found by a flood fill of cells from the ways in.
struct FloorReach {
  /// The walkable areas that people cannot walk to, by their index in the floor's list.
  let unreachable: [Int]
  /// The share of the walkable cells that people can walk to, 0 to 1.
  let share: Double

  /// The side of a cell.
  ///
  /// - Units: metres. Doors are 0.8 m wide and more, so that at least one pair of cells meets in each.
  private static let cell = 0.4
  /// The distance from a cell's middle within which an entrance or a lift counts as standing in the cell.
  ///
  /// - Units: metres. The points of lifts lie in their shafts, those of entrances on the doorstep.
  private static let nearness = 4.0

  /// Floods a floor.
  ///
  /// - Parameters:
  ///   - floor: the floor.
  ///   - space: the same floor as a floor space.
  ///   - seeds: the ways in; where none of them leads in, the largest piece counts as reached.
  init(of floor: Floor, in space: FloorSpace, from seeds: [Point]) {
    let corners = floor.walkable.flatMap(\.outline.corners)
    let frame = GridFrame(over: corners, cell: FloorReach.cell)
    var flood = Flood(frame: frame, space: space)
    flood.fill()
    let reached = flood.pieces(near: seeds, within: FloorReach.nearness)
    share = flood.share(of: reached)
    unreachable = floor.walkable.indices.filter { flood.isCutOff(floor.walkable[$0], from: reached) }
  }
}

/// The pieces that a floor falls into.
private struct Flood {
  private static let blocked: Int32 = -1
  let frame: GridFrame
  let space: FloorSpace
  /// The piece that each cell belongs to; −1 where its middle is not walkable.
  private var piece: [Int32]
  /// The number of cells in each piece.
  private var sizes: [Int] = []

  init(frame: GridFrame, space: FloorSpace) {
    self.frame = frame
    self.space = space
    piece = [Int32](repeating: Flood.blocked, count: frame.count)
  }

  /// Numbers the pieces.
  mutating func fill() {
    let isFree = (0..<frame.count).map { space.isWalkable(frame.center(of: $0)) }
    var waiting: [Int] = []
    for start in isFree.indices where isFree[start] && piece[start] == Flood.blocked {
      let number = Int32(sizes.count)
      sizes.append(0)
      piece[start] = number
      waiting.append(start)
      while let cell = waiting.popLast() {
        sizes[Int(number)] += 1
        for next in neighbours(of: cell) where isFree[next] && piece[next] == Flood.blocked {
          guard space.canWalk(from: frame.center(of: cell), to: frame.center(of: next)) else { continue }
          piece[next] = number
          waiting.append(next)
        }
      }
    }
  }

  private func neighbours(of cell: Int) -> [Int] {
    let (row, column) = (cell / frame.columns, cell % frame.columns)
    var found: [Int] = []
    if column > 0 { found.append(cell - 1) }
    if column + 1 < frame.columns { found.append(cell + 1) }
    if row > 0 { found.append(cell - frame.columns) }
    if row + 1 < frame.rows { found.append(cell + frame.columns) }
    return found
  }

  /// The pieces that one comes into at some places; the largest one where none of them leads in.
  func pieces(near seeds: [Point], within reach: Double) -> Set<Int32> {
    let entered = Set(seeds.compactMap { nearestPiece(to: $0, within: reach) })
    guard entered.isEmpty else { return entered }
    return Set(sizes.indices.max { sizes[$0] < sizes[$1] }.map { [Int32($0)] } ?? [])
  }

  private func nearestPiece(to seed: Point, within reach: Double) -> Int32? {
    guard let place = Extent(around: CollectionOfOne(seed)) else { return nil }
    var best: (piece: Int32, distance: Double)?
    frame.forEachCell(in: place, margin: reach) { cell in
      guard piece[cell] != Flood.blocked else { return }
      let distance = frame.center(of: cell).distance(to: seed)
      if distance <= best?.distance ?? reach { best = (piece[cell], distance) }
    }
    return best?.piece
  }

  /// Returns the share of all cells that belongs to some pieces.
  func share(of reached: Set<Int32>) -> Double {
    let all = sizes.reduce(0, +)
    guard all > 0 else { return 1 }
    return Double(reached.reduce(0) { $0 + sizes[Int($1)] }) / Double(all)
  }

  /// Returns whether an area has cells, and none of them is reached.
  func isCutOff(_ area: Area, from reached: Set<Int32>) -> Bool {
    guard let extent = area.outline.extent else { return false }
    var hasCells = false
    var isReached = false
    frame.forEachCell(in: extent, margin: 0) { cell in
      guard !isReached, piece[cell] != Flood.blocked, area.contains(frame.center(of: cell)) else { return }
      hasCells = true
      isReached = reached.contains(piece[cell])
    }
    return hasCells && !isReached
  }
}
