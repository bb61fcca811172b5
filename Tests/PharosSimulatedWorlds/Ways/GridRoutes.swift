package import PharosSpace

/// Lengths of ways found without any cleverness, as the reference of routes: Dijkstra over the eight neighbours of cells
/// of 25 cm, and then every corner left out that a straight line makes needless.
///
/// A grid alone overestimates by up to 8 %, since it knows eight directions; the straight lines take that away, but for
/// about half a cell at each corner.
package struct GridRoutes {
  /// The side of a cell in metres.
  package static let cell = 0.25

  private let space: FloorSpace
  private let corner: Point
  private let columns: Int
  private let rows: Int
  private let exits: [UInt8]

  private static let directions = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]

  /// Lays the grid over a floor.
  package init(_ floor: Floor) {
    let space = FloorSpace(floor)
    let extent = floor.extent
    let corner = (extent?.southWest ?? .origin) - Point(x: 0.1137, y: 0.1137)
    let columns = Int((extent?.width ?? 0) / GridRoutes.cell) + 2
    let rows = Int((extent?.height ?? 0) / GridRoutes.cell) + 2
    self.space = space
    self.corner = corner
    self.columns = columns
    self.rows = rows
    let isFree = (0..<columns * rows).map { cell in
      space.isWalkable(GridRoutes.center(of: cell, corner, columns))
    }
    exits = isFree.indices.map { cell in
      guard isFree[cell] else { return 0 }
      let here = GridRoutes.center(of: cell, corner, columns)
      var bits: UInt8 = 0
      for (number, step) in GridRoutes.directions.enumerated() {
        let (x, y) = (cell % columns + step.0, cell / columns + step.1)
        guard x >= 0, y >= 0, x < columns, y < rows, isFree[y * columns + x] else { continue }
        let there = GridRoutes.center(of: y * columns + x, corner, columns)
        if space.canWalk(from: here, to: there) { bits |= 1 << UInt8(number) }
      }
      return bits
    }
  }

  private static func center(of cell: Int, _ corner: Point, _ columns: Int) -> Point {
    corner
      + Point(x: (Double(cell % columns) + 0.5) * self.cell, y: (Double(cell / columns) + 0.5) * self.cell)
  }

  private func center(of cell: Int) -> Point { GridRoutes.center(of: cell, corner, columns) }

  /// The middle of the free cell with a number, counted among those with a neighbour; for draws of places.
  package func freePlace(_ share: Double) -> Point? {
    let first = min(exits.count - 1, Int(share * Double(exits.count)))
    guard first >= 0 else { return nil }
    return (0..<exits.count).lazy.map { (first + $0) % exits.count }.first { exits[$0] != 0 }
      .map { center(of: $0) }
  }

  /// The lengths of the ways from a cell's middle to other ones in metres; nil where there is none.
  package func lengths(from start: Point, to ends: [Point]) -> [Double?] {
    guard let first = index(of: start) else { return ends.map { _ in nil } }
    var cost = [Float](repeating: .infinity, count: exits.count)
    var before = [Int32](repeating: -1, count: exits.count)
    // Lengths are small multiples of two numbers, so that buckets of a twentieth of a cell keep them in order.
    var buckets: [[Int32]] = [[Int32(first)]]
    let width = Float(GridRoutes.cell / 20)
    cost[first] = 0
    var bucket = 0
    while bucket < buckets.count {
      var next = 0
      while next < buckets[bucket].count {
        let cell = Int(buckets[bucket][next])
        next += 1
        guard Int(cost[cell] / width) == bucket else { continue }
        for (number, step) in GridRoutes.directions.enumerated() where exits[cell] >> UInt8(number) & 1 == 1 {
          let other = cell + step.1 * columns + step.0
          let length = Float(GridRoutes.cell) * (step.0 != 0 && step.1 != 0 ? Float(2).squareRoot() : 1)
          let reached = cost[cell] + length
          guard reached < cost[other] else { continue }
          cost[other] = reached
          before[other] = Int32(cell)
          let place = Int(reached / width)
          while buckets.count <= place { buckets.append([]) }
          buckets[place].append(Int32(other))
        }
      }
      buckets[bucket] = []
      bucket += 1
    }
    return ends.map { end in
      guard let last = index(of: end), cost[last].isFinite else { return nil }
      var points = [center(of: last)]
      var cell = last
      while before[cell] >= 0 {
        cell = Int(before[cell])
        points.append(center(of: cell))
      }
      return pulled(points)
    }
  }

  private func index(of point: Point) -> Int? {
    let (x, y) = ((point.x - corner.x) / GridRoutes.cell, (point.y - corner.y) / GridRoutes.cell)
    guard x >= 0, y >= 0, x < Double(columns), y < Double(rows) else { return nil }
    return Int(y) * columns + Int(x)
  }

  /// The length of a way pulled taut: corners are left out as long as that makes it shorter.
  private func pulled(_ points: [Point]) -> Double {
    var points = points
    var length = Double.infinity
    while true {
      points = shortened(points).reversed()
      points = shortened(points).reversed()
      let now = zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
      guard now < length - 1e-6 else { return min(now, length) }
      length = now
      points = divided(points)
    }
  }

  /// Goes from each point straight to the last one that it sees.
  private func shortened(_ points: [Point]) -> [Point] {
    var kept = [points[0]]
    var here = 0
    while here < points.count - 1 {
      var next = here + 1
      var step = 1
      // Farther points are tried in growing steps, and the last success is refined.
      while here + 2 * step < points.count, space.canWalk(from: points[here], to: points[here + 2 * step]) {
        step *= 2
        next = here + step
      }
      var far = min(points.count - 1, next + step)
      while far > next {
        if space.canWalk(from: points[here], to: points[far]) {
          next = far
          break
        }
        far -= max(1, (far - next) / 4)
      }
      kept.append(points[next])
      here = next
    }
    return kept
  }

  /// The same way with a point every metre, so that corners can move along it.
  private func divided(_ points: [Point]) -> [Point] {
    var divided = [points[0]]
    for (from, to) in zip(points, points.dropFirst()) {
      let count = max(1, Int(from.distance(to: to)))
      for step in 1...count { divided.append(from.interpolated(to: to, share: Double(step) / Double(count))) }
    }
    return divided
  }
}
