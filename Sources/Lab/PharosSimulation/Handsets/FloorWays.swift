import PharosModel
import PharosSpace

/// Ways over one floor: around walls and obstacles, at an arm's length from them where there is room.
struct FloorWays: Sendable {
  /// The side of a cell of the search grid.
  ///
  /// - Units: metres.
  static let cell = 0.5
  /// The free space that is needed on either side of a way.
  ///
  /// - Units: metres. Half the width of a person.
  static let clearance = 0.3
  /// The cost of a metre that is nearer to a wall than ``clearance``, relative to a metre in the open.
  static let pinchedCost = 12.0

  private let space: FloorSpace
  private let corner: Point
  private let columns, rows: Int
  /// For each cell whether its middle is walkable.
  private let isFree: [Bool]
  /// For each cell whether something stands within the clearance of its middle.
  private let isPinched: [Bool]
  /// For each cell a bit for each of the ``FloorWays/directions`` that is open to a walker.
  private let exits: [UInt8]

  /// The offsets of the eight neighbours of a cell.
  private static let directions = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]

  init(over floor: Floor) {
    let space = FloorSpace(floor)
    self.space = space
    let extent = floor.extent
    // A middle of a cell off the round numbers that walls are drawn on.
    let corner = (extent?.southWest ?? .origin) - Point(x: 0.237, y: 0.237)
    let columns = Int((extent?.width ?? 0) / FloorWays.cell) + 2
    let rows = Int((extent?.height ?? 0) / FloorWays.cell) + 2
    self.corner = corner
    self.columns = columns
    self.rows = rows
    func center(_ cell: Int) -> Point {
      corner
        + Point(
          x: (Double(cell % columns) + 0.5) * FloorWays.cell,
          y: (Double(cell / columns) + 0.5) * FloorWays.cell
        )
    }
    let isFree = (0..<columns * rows).map { space.isWalkable(center($0)) }
    self.isFree = isFree
    isPinched = (0..<columns * rows).map { cell in
      guard isFree[cell] else { return true }
      // What comes near crosses the sides of a square around the middle, or stands within it.
      let half = FloorWays.clearance + 0.05
      let corners = [(1.0, 1.0), (-1, 1), (-1, -1), (1, -1)].map {
        center(cell) + Point(x: $0.0, y: $0.1) * half
      }
      return corners.indices.contains { !space.canWalk(from: corners[$0], to: corners[($0 + 1) % 4]) }
    }
    exits = (0..<columns * rows).map { cell in
      guard isFree[cell] else { return 0 }
      var bits: UInt8 = 0
      for (number, step) in FloorWays.directions.enumerated() {
        let (x, y) = (cell % columns + step.0, cell / columns + step.1)
        guard x >= 0, y >= 0, x < columns, y < rows, isFree[y * columns + x] else { continue }
        if space.canWalk(from: center(cell), to: center(y * columns + x)) { bits |= 1 << UInt8(number) }
      }
      return bits
    }
  }

  /// The corners of a way from one place to another, both of them included; nil where there is none.
  func way(from start: Point, to end: Point) -> [Point]? {
    if isOpen(from: start, to: end) { return [start, end] }
    guard let first = freeCell(near: start), let last = freeCell(near: end) else { return nil }
    guard let cells = search(from: first, to: last) else { return nil }
    return straightened([start] + cells.map(center(of:)) + [end])
  }

  /// A walkable place drawn by chance, not in the tightest corners; nil where the floor has none.
  func place(_ random: inout RandomStream) -> Point? {
    let open = isPinched.indices.filter { !isPinched[$0] }
    guard !open.isEmpty else { return nil }
    return center(of: open[Int(random.uniform() * Double(open.count))])
  }

  private func center(of cell: Int) -> Point {
    corner
      + Point(
        x: (Double(cell % columns) + 0.5) * FloorWays.cell,
        y: (Double(cell / columns) + 0.5) * FloorWays.cell
      )
  }

  /// The maximum distance from a free cell at which a way may begin or end.
  ///
  /// - Units: metres.
  private static let reach = 2.0

  /// The nearest free cell within reach.
  private func freeCell(near point: Point) -> Int? {
    var best: (cell: Int, distance: Double)?
    for cell in isFree.indices where isFree[cell] {
      let distance = center(of: cell).distance(to: point)
      if distance < best?.distance ?? FloorWays.reach { best = (cell, distance) }
    }
    return best?.cell
  }

  /// The cheapest way over cells, by Dijkstra's method.
  ///
  /// The agenda's time is that of a person who walks a metre a second.
  private func search(from first: Int, to last: Int) -> [Int]? {
    var cost = [TimeSpan](repeating: .forever, count: isFree.count)
    var before = [Int](repeating: -1, count: isFree.count)
    var agenda = Agenda<Int>()
    cost[first] = .zero
    agenda.add(first, at: .zero)
    while let (time, cell) = agenda.removeNext() {
      if cell == last { break }
      guard time == cost[cell] else { continue }
      for (number, step) in FloorWays.directions.enumerated() where exits[cell] >> UInt8(number) & 1 == 1 {
        let next = cell + step.1 * columns + step.0
        let length = FloorWays.cell * (step.0 != 0 && step.1 != 0 ? 2.0.squareRoot() : 1)
        let reached = time + .seconds(length * (isPinched[next] ? FloorWays.pinchedCost : 1))
        guard reached < cost[next] else { continue }
        cost[next] = reached
        before[next] = cell
        agenda.add(next, at: reached)
      }
    }
    guard cost[last] < .forever else { return nil }
    var cells = [last]
    while let cell = cells.last, cell != first { cells.append(before[cell]) }
    return cells.reversed()
  }

  /// Returns the way without the corners that can be cut.
  private func straightened(_ points: [Point]) -> [Point] {
    var kept = [points[0]]
    var here = 0
    while here < points.count - 1 {
      var next = here + 1
      while next + 1 < points.count, isOpen(from: points[here], to: points[next + 1]) { next += 1 }
      kept.append(points[next])
      here = next
    }
    return kept
  }

  /// Returns whether a person fits along a straight way.
  private func isOpen(from start: Point, to end: Point) -> Bool {
    guard let forward = (end - start).direction else { return true }
    guard space.canWalk(from: start, to: end) else { return false }
    let side = Point(x: -forward.y, y: forward.x) * FloorWays.clearance
    return !space.crossesWall(from: start + side, to: end + side)
      && !space.crossesWall(from: start - side, to: end - side)
  }
}
