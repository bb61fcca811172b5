import PharosSpace

/// A constrained Delaunay triangulation of a rectangle: every constraint is an edge of it.
///
/// Coordinates are integers and the predicates exact, so that the result is the same on every machine and no degenerate
/// drawing breaks it.
///
/// - Source: incremental insertion with Lawson's flips; constraints as in S. W. Sloan, "A fast algorithm for generating
///   constrained Delaunay triangulations", Computers & Structures 47 (1993).
struct Triangulation {
  /// The coordinates of the vertices.
  private(set) var vertices: [MeshPoint]
  /// Three vertices for each triangle, counterclockwise.
  private(set) var corners: [Int32]
  /// The triangle across the edge opposite each corner; −1 at the rectangle.
  private(set) var neighbors: [Int32]
  /// The tag of the edge opposite each corner: 0 unless it is a constraint.
  private(set) var tags: [UInt16]
  /// A triangle at each vertex.
  private var anyTriangle: [Int32]
  private var last = 0

  /// Triangulates a rectangle.
  ///
  /// - Parameters:
  ///   - low: the south-western corner; every point lies strictly inside.
  ///   - high: the north-eastern corner.
  ///   - points: the vertices, each once.
  ///   - constraints: the constrained edges by the indices of their ends; they do not cross each other.
  init(
    from low: MeshPoint,
    to high: MeshPoint,
    points: [MeshPoint],
    constraints: [(start: Int, end: Int, tag: UInt16)]
  ) {
    vertices = [low, MeshPoint(x: high.x, y: low.y), high, MeshPoint(x: low.x, y: high.y)] + points
    corners = [0, 1, 2, 0, 2, 3]
    neighbors = [-1, 1, -1, -1, -1, 0]
    tags = [UInt16](repeating: 0, count: 6)
    anyTriangle = [Int32](repeating: 0, count: vertices.count)
    anyTriangle[3] = 1
    corners.reserveCapacity(6 * vertices.count)
    for number in Triangulation.insertionOrder(points, from: low, to: high) { insert(number + 4) }
    for constraint in constraints {
      constrain(constraint.start + 4, constraint.end + 4, tag: constraint.tag)
    }
  }

  /// The points row by row in alternating directions, so that each lies near the one before.
  private static func insertionOrder(_ points: [MeshPoint], from low: MeshPoint, to high: MeshPoint) -> [Int]
  {
    let rows = max(1, Int(Double(points.count).squareRoot() / 2))
    let height = max(1, (Int(high.y) - Int(low.y)) / rows + 1)
    let keys = points.map { point in
      let row = (Int(point.y) - Int(low.y)) / height
      return (row: row, x: row & 1 == 0 ? Int(point.x) : -Int(point.x))
    }
    return points.indices.sorted { (keys[$0].row, keys[$0].x, $0) < (keys[$1].row, keys[$1].x, $1) }
  }

  // MARK: Predicates

  private func orientation(_ a: Int, _ b: Int, _ c: Int) -> Int {
    MeshPoint.orientation(vertices[a], vertices[b], vertices[c])
  }

  /// Returns whether `d` lies inside of the circle through a counterclockwise triangle.
  private func isInCircle(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Bool {
    let (ax, ay) = vertices[a].difference(from: vertices[d])
    let (bx, by) = vertices[b].difference(from: vertices[d])
    let (cx, cy) = vertices[c].difference(from: vertices[d])
    let first = Int128(ax * ax + ay * ay) * Int128(bx * cy - cx * by)
    let second = Int128(bx * bx + by * by) * Int128(ax * cy - cx * ay)
    let third = Int128(cx * cx + cy * cy) * Int128(ax * by - bx * ay)
    return first - second + third > 0
  }

  // MARK: Insertion

  private mutating func insert(_ point: Int) {
    var triangle = last
    var onEdge = -1
    search: while true {
      onEdge = -1
      let base = 3 * triangle
      for index in 0..<3 {
        let a = Int(corners[base + (index + 1) % 3])
        let b = Int(corners[base + (index + 2) % 3])
        let side = orientation(a, b, point)
        if side < 0 {
          triangle = Int(neighbors[base + index])
          continue search
        }
        if side == 0 { onEdge = index }
      }
      break
    }
    if onEdge >= 0 { splitEdge(triangle, onEdge, point) } else { splitTriangle(triangle, point) }
    last = triangle
  }

  private mutating func append() -> Int {
    corners += [0, 0, 0]
    neighbors += [-1, -1, -1]
    tags += [0, 0, 0]
    return corners.count / 3 - 1
  }

  private mutating func set(
    _ triangle: Int,
    _ a: Int,
    _ b: Int,
    _ c: Int,
    neighbors n: (Int, Int, Int),
    tags k: (UInt16, UInt16, UInt16) = (0, 0, 0)
  ) {
    let base = 3 * triangle
    corners[base] = Int32(a)
    corners[base + 1] = Int32(b)
    corners[base + 2] = Int32(c)
    neighbors[base] = Int32(n.0)
    neighbors[base + 1] = Int32(n.1)
    neighbors[base + 2] = Int32(n.2)
    tags[base] = k.0
    tags[base + 1] = k.1
    tags[base + 2] = k.2
    anyTriangle[a] = Int32(triangle)
    anyTriangle[b] = Int32(triangle)
    anyTriangle[c] = Int32(triangle)
  }

  private mutating func redirect(_ triangle: Int, from old: Int, to new: Int) {
    guard triangle >= 0 else { return }
    for index in 3 * triangle..<3 * triangle + 3 where neighbors[index] == Int32(old) {
      neighbors[index] = Int32(new)
      return
    }
  }

  private mutating func splitTriangle(_ t: Int, _ p: Int) {
    let (a, b, c) = (Int(corners[3 * t]), Int(corners[3 * t + 1]), Int(corners[3 * t + 2]))
    let (na, nb, nc) = (Int(neighbors[3 * t]), Int(neighbors[3 * t + 1]), Int(neighbors[3 * t + 2]))
    let t1 = append()
    let t2 = append()
    set(t, a, b, p, neighbors: (t1, t2, nc))
    set(t1, b, c, p, neighbors: (t2, t, na))
    set(t2, c, a, p, neighbors: (t, t1, nb))
    redirect(na, from: t, to: t1)
    redirect(nb, from: t, to: t2)
    legalize([(t, p), (t1, p), (t2, p)])
  }

  private mutating func splitEdge(_ t: Int, _ index: Int, _ p: Int) {
    let (c, a, b) = corner(t, index)
    let u = Int(neighbors[3 * t + index])
    let j = side(of: u, towards: t)
    let d = Int(corners[3 * u + j])
    let nCA = Int(neighbors[3 * t + (index + 2) % 3])
    let nBC = Int(neighbors[3 * t + (index + 1) % 3])
    let nDB = Int(neighbors[3 * u + (j + 2) % 3])
    let nAD = Int(neighbors[3 * u + (j + 1) % 3])
    let second = append()
    let fourth = append()
    set(t, c, a, p, neighbors: (fourth, second, nCA))
    set(second, b, c, p, neighbors: (t, u, nBC))
    set(u, d, b, p, neighbors: (second, fourth, nDB))
    set(fourth, a, d, p, neighbors: (u, t, nAD))
    redirect(nBC, from: t, to: second)
    redirect(nAD, from: u, to: fourth)
    legalize([(t, p), (second, p), (u, p), (fourth, p)])
  }

  /// A corner of a triangle and the two after it.
  private func corner(_ triangle: Int, _ index: Int) -> (Int, Int, Int) {
    let base = 3 * triangle
    return (
      Int(corners[base + index]), Int(corners[base + (index + 1) % 3]), Int(corners[base + (index + 2) % 3])
    )
  }

  private func side(of triangle: Int, towards other: Int) -> Int {
    let base = 3 * triangle
    return neighbors[base] == Int32(other) ? 0 : neighbors[base + 1] == Int32(other) ? 1 : 2
  }

  private func index(of vertex: Int, in triangle: Int) -> Int {
    let base = 3 * triangle
    return corners[base] == Int32(vertex) ? 0 : corners[base + 1] == Int32(vertex) ? 1 : 2
  }

  private mutating func legalize(_ edges: [(triangle: Int, apex: Int)]) {
    var waiting = edges
    while let (t, p) = waiting.popLast() {
      let i = index(of: p, in: t)
      let u = Int(neighbors[3 * t + i])
      guard u >= 0, tags[3 * t + i] == 0 else { continue }
      let (_, a, b) = corner(t, i)
      let d = Int(corners[3 * u + side(of: u, towards: t)])
      guard isInCircle(p, a, b, d) else { continue }
      flip(t, i)
      waiting.append((t, p))
      waiting.append((u, p))
    }
  }

  /// Replaces the edge opposite a corner by the other diagonal of the two triangles beside it.
  ///
  /// Afterwards both triangles have the corner first.
  private mutating func flip(_ t: Int, _ i: Int) {
    let u = Int(neighbors[3 * t + i])
    let j = side(of: u, towards: t)
    let (p, a, b) = corner(t, i)
    let d = Int(corners[3 * u + j])
    let (atA, atB) = (3 * t + (i + 1) % 3, 3 * t + (i + 2) % 3)
    let (uB, uA) = (3 * u + (j + 1) % 3, 3 * u + (j + 2) % 3)
    let n = (a: Int(neighbors[atA]), b: Int(neighbors[atB]), ub: Int(neighbors[uB]), ua: Int(neighbors[uA]))
    let k = (a: tags[atA], b: tags[atB], ub: tags[uB], ua: tags[uA])
    set(t, p, a, d, neighbors: (n.ub, u, n.b), tags: (k.ub, 0, k.b))
    set(u, p, d, b, neighbors: (n.ua, n.a, t), tags: (k.ua, k.a, 0))
    redirect(n.ub, from: u, to: t)
    redirect(n.a, from: t, to: u)
  }

  // MARK: Constraints

  /// Finds the triangle to the left of an edge, and the corner opposite it.
  private func find(_ a: Int, _ b: Int) -> (triangle: Int, index: Int)? {
    let first = Int(anyTriangle[a])
    var triangle = first
    repeat {
      let i = index(of: a, in: triangle)
      if Int(corners[3 * triangle + (i + 1) % 3]) == b { return (triangle, (i + 2) % 3) }
      triangle = Int(neighbors[3 * triangle + (i + 1) % 3])
    } while triangle != first && triangle >= 0
    // At a corner of the rectangle the turn ends at its side, and goes on clockwise from where it began.
    triangle = triangle < 0 ? first : -1
    while triangle >= 0 {
      let i = index(of: a, in: triangle)
      if Int(corners[3 * triangle + (i + 1) % 3]) == b { return (triangle, (i + 2) % 3) }
      triangle = Int(neighbors[3 * triangle + (i + 2) % 3])
    }
    return nil
  }

  private mutating func tag(_ a: Int, _ b: Int, _ tag: UInt16) {
    guard let (t, i) = find(a, b) else { return }
    let u = Int(neighbors[3 * t + i])
    tags[3 * t + i] = tag
    if u >= 0 { tags[3 * u + side(of: u, towards: t)] = tag }
  }

  private mutating func constrain(_ start: Int, _ end: Int, tag: UInt16) {
    var from = start
    while from != end {
      guard let step = crossings(from, end) else { return }
      if !step.crossed.isEmpty { clear(from, step.reached, step.crossed) }
      self.tag(from, step.reached, tag)
      from = step.reached
    }
  }

  /// The edges that the way to a vertex crosses up to the first vertex that it touches; nil if a constraint is among
  /// them, which noding rules out.
  private func crossings(_ from: Int, _ end: Int) -> (reached: Int, crossed: [(Int, Int)])? {
    let first = Int(anyTriangle[from])
    var triangle = first
    var entry: (triangle: Int, index: Int, right: Int, left: Int)?
    repeat {
      let i = index(of: from, in: triangle)
      let (_, p, q) = corner(triangle, i)
      if p == end { return (end, []) }
      let (right, left) = (orientation(from, p, end), orientation(from, q, end))
      if right == 0, isAhead(from, p, end) { return (p, []) }
      if right > 0, left < 0 {
        entry = (triangle, i, p, q)
        break
      }
      triangle = Int(neighbors[3 * triangle + (i + 1) % 3])
    } while triangle != first && triangle >= 0
    guard var (t, i, right, left) = entry else { return nil }
    var crossed: [(Int, Int)] = []
    while true {
      guard tags[3 * t + i] == 0 else { return nil }
      crossed.append((right, left))
      let u = Int(neighbors[3 * t + i])
      let j = side(of: u, towards: t)
      let apex = Int(corners[3 * u + j])
      let side = orientation(from, end, apex)
      if side == 0 { return (apex, crossed) }
      t = u
      if side > 0 {
        left = apex
        i = index(of: crossed[crossed.count - 1].1, in: u)
      } else {
        right = apex
        i = index(of: crossed[crossed.count - 1].0, in: u)
      }
    }
  }

  private func isAhead(_ from: Int, _ point: Int, _ end: Int) -> Bool {
    let (px, py) = vertices[point].difference(from: vertices[from])
    let (ex, ey) = vertices[end].difference(from: vertices[from])
    return px * ex + py * ey > 0
  }

  /// Flips edges until none crosses the way between two vertices.
  private mutating func clear(_ from: Int, _ end: Int, _ crossed: [(Int, Int)]) {
    var waiting = crossed
    var next = 0
    var fresh: [(Int, Int)] = []
    while next < waiting.count {
      let (x, y) = waiting[next]
      next += 1
      guard let (t, i) = find(x, y) else { continue }
      let u = Int(neighbors[3 * t + i])
      let p = Int(corners[3 * t + i])
      let d = Int(corners[3 * u + side(of: u, towards: t)])
      guard orientation(p, x, d) > 0, orientation(p, d, y) > 0 else {
        waiting.append((x, y))
        continue
      }
      flip(t, i)
      let sides = (orientation(from, end, p), orientation(from, end, d))
      if sides.0 < 0 && sides.1 > 0 || sides.0 > 0 && sides.1 < 0 {
        waiting.append((p, d))
      } else {
        fresh.append((p, d))
      }
    }
    restore(fresh.filter { !($0 == (from, end) || $0 == (end, from)) })
  }

  /// Makes edges Delaunay again where constraints permit.
  private mutating func restore(_ edges: [(Int, Int)]) {
    var edges = edges
    var isChanged = true
    while isChanged {
      isChanged = false
      for number in edges.indices {
        let (x, y) = edges[number]
        guard let (t, i) = find(x, y), tags[3 * t + i] == 0 else { continue }
        let u = Int(neighbors[3 * t + i])
        guard u >= 0 else { continue }
        let p = Int(corners[3 * t + i])
        let d = Int(corners[3 * u + side(of: u, towards: t)])
        guard isInCircle(p, x, y, d) else { continue }
        flip(t, i)
        edges[number] = (p, d)
        isChanged = true
      }
    }
  }
}

/// A point of a mesh in whole units, so that predicates on it are exact.
struct MeshPoint: Hashable {
  var x: Int32
  var y: Int32

  /// The units of a metre: one unit is about a millimetre, and converting is exact.
  static let unitsPerMeter = 1_024.0
  /// The largest coordinate: predicates of larger ones do not fit into 64 bits.
  static let largest = 40_000.0 * unitsPerMeter

  init(x: Int32, y: Int32) {
    self.x = x
    self.y = y
  }

  /// The point nearest to a place of a floor.
  init(_ point: Point) {
    func unit(_ meters: Double) -> Int32 {
      Int32(min(max((meters * MeshPoint.unitsPerMeter).rounded(), -MeshPoint.largest), MeshPoint.largest))
    }
    self.init(x: unit(point.x), y: unit(point.y))
  }

  /// The place on the floor.
  var point: Point {
    Point(x: Double(x) / MeshPoint.unitsPerMeter, y: Double(y) / MeshPoint.unitsPerMeter)
  }

  func difference(from other: MeshPoint) -> (Int, Int) { (Int(x) - Int(other.x), Int(y) - Int(other.y)) }

  /// The distance to another point in metres.
  func distance(to other: MeshPoint) -> Double {
    let (dx, dy) = difference(from: other)
    return Double(dx * dx + dy * dy).squareRoot() / MeshPoint.unitsPerMeter
  }

  /// A positive number where `c` lies left of the line from `a` to `b`, zero on it.
  @inline(__always)
  static func orientation(_ a: MeshPoint, _ b: MeshPoint, _ c: MeshPoint) -> Int {
    (Int(b.x) - Int(a.x)) * (Int(c.y) - Int(a.y)) - (Int(b.y) - Int(a.y)) * (Int(c.x) - Int(a.x))
  }
}
