import PharosSpace

/// The walkable part of a floor in triangles, and the walls and doors between them.
///
/// It answers which triangle a place lies in, whether one place sees another, and which corners a place sees. All
/// decisions are made on whole numbers.
struct WalkableMesh: Hashable {
  /// The vertices.
  let vertices: [MeshPoint]
  /// Three vertices for each triangle, counterclockwise.
  let corners: [Int32]
  /// The triangle across the edge opposite each corner, −1 where people cannot pass.
  private(set) var neighbors: [Int32]
  /// The tag of the edge opposite each corner: 0, ``MeshDrawing/blocked`` or a door's.
  private(set) var tags: [UInt16]
  private let frame: GridFrame
  private let lists: CellLists

  /// A place in the mesh.
  struct Place: Hashable {
    var point: MeshPoint
    var triangle: Int
  }

  /// The side of a cell in which triangles are looked for.
  ///
  /// - Units: metres.
  private static let cell = 4.0
  /// The distance around the drawing that belongs to the mesh, since floors without areas are walkable outside of it.
  ///
  /// - Units: metres.
  private static let margin = 10.0

  /// Builds the mesh of a floor.
  init(_ floor: Floor) {
    let space = FloorSpace(floor)
    let drawing = MeshDrawing(floor, boundary: space.boundary)
    var numbers: [MeshPoint: Int] = [:]
    var points: [MeshPoint] = []
    func number(_ point: MeshPoint) -> Int {
      if let number = numbers[point] { return number }
      numbers[point] = points.count
      points.append(point)
      return points.count - 1
    }
    let constraints = drawing.lines.map { line in
      (start: number(line.start), end: number(line.end), tag: line.tag)
    }
    let extent = Extent(around: points.map(\.point)) ?? Extent(around: [Point.origin])
    let margin = Point(x: WalkableMesh.margin, y: WalkableMesh.margin)
    let whole = Triangulation(
      from: MeshPoint((extent?.southWest ?? .origin) - margin),
      to: MeshPoint((extent?.northEast ?? .origin) + margin),
      points: points,
      constraints: constraints
    )
    let isWalkable = WalkableMesh.withoutSlivers(WalkableMesh.walkableTriangles(of: whole, space), of: whole)
    let wholeTags = WalkableMesh.withGates(whole, isWalkable, floor.walkable)
    // Only walkable triangles are kept, and only vertices that they use.
    var kept: [Int32] = [Int32](repeating: -1, count: isWalkable.count)
    var count: Int32 = 0
    for triangle in isWalkable.indices where isWalkable[triangle] {
      kept[triangle] = count
      count += 1
    }
    var vertexNumbers = [Int32](repeating: -1, count: whole.vertices.count)
    var vertices: [MeshPoint] = []
    var corners: [Int32] = []
    var tags: [UInt16] = []
    var neighbors: [Int32] = []
    for triangle in isWalkable.indices where isWalkable[triangle] {
      for index in 3 * triangle..<3 * triangle + 3 {
        let vertex = Int(whole.corners[index])
        if vertexNumbers[vertex] < 0 {
          vertexNumbers[vertex] = Int32(vertices.count)
          vertices.append(whole.vertices[vertex])
        }
        corners.append(vertexNumbers[vertex])
        let neighbor = Int(whole.neighbors[index])
        let tag = wholeTags[index]
        let isOpen = neighbor >= 0 && isWalkable[neighbor] && tag != MeshDrawing.blocked
        neighbors.append(isOpen ? kept[neighbor] : -1)
        tags.append(isOpen ? tag : MeshDrawing.blocked)
      }
    }
    self.init(vertices: vertices, corners: corners, neighbors: neighbors, tags: tags)
  }

  /// Makes a mesh of triangles whose neighbours are found by their common edges; nil if they do not fit together.
  init?(vertices: [MeshPoint], corners: [Int32], tags: [UInt16]) {
    guard corners.count % 3 == 0, tags.count == corners.count else { return nil }
    var neighbors = [Int32](repeating: -1, count: corners.count)
    var open: [UInt64: Int] = [:]
    for corner in corners.indices {
      let base = corner - corner % 3
      let (from, to) = (corners[base + (corner + 1 - base) % 3], corners[base + (corner + 2 - base) % 3])
      if corner == base {
        let points = (0..<3).map { vertices[Int(corners[base + $0])] }
        guard MeshPoint.orientation(points[0], points[1], points[2]) > 0 else { return nil }
      }
      guard tags[corner] != MeshDrawing.blocked else { continue }
      let key = UInt64(UInt32(bitPattern: from)) << 32 | UInt64(UInt32(bitPattern: to))
      let twin = UInt64(UInt32(bitPattern: to)) << 32 | UInt64(UInt32(bitPattern: from))
      guard let other = open.removeValue(forKey: twin) else {
        guard open.updateValue(corner, forKey: key) == nil else { return nil }
        continue
      }
      guard tags[other] == tags[corner] else { return nil }
      neighbors[corner] = Int32(other / 3)
      neighbors[other] = Int32(corner / 3)
    }
    guard open.isEmpty else { return nil }
    self.init(vertices: vertices, corners: corners, neighbors: neighbors, tags: tags)
  }

  /// Makes a mesh of its parts.
  private init(vertices: [MeshPoint], corners: [Int32], neighbors: [Int32], tags: [UInt16]) {
    self.vertices = vertices
    self.corners = corners
    self.neighbors = neighbors
    self.tags = tags
    let points = vertices.map(\.point)
    let extents = stride(from: 0, to: corners.count, by: 3).map { base in
      Extent(around: (0..<3).map { points[Int(corners[base + $0])] })
    }
    let frame = GridFrame(over: points, cell: WalkableMesh.cell)
    lists = CellLists(cells: frame.count, count: extents.count) { triangle, note in
      guard let extent = extents[triangle] else { return }
      frame.forEachCell(in: extent, margin: GridFrame.margin, note)
    }
    self.frame = frame
  }

  /// The triangles in which people can walk.
  ///
  /// A triangle is asked at its middle. One so narrow that rounding could move its middle over an edge takes the answer
  /// of the widest neighbour across an edge that is no constraint.
  private static func walkableTriangles(of whole: Triangulation, _ space: FloorSpace) -> [Bool] {
    let count = whole.corners.count / 3
    var answers = [Bool?](repeating: nil, count: count)
    for triangle in 0..<count {
      let points = (0..<3).map { whole.vertices[Int(whole.corners[3 * triangle + $0])] }
      let maximum = max(
        points[0].distance(to: points[1]),
        points[1].distance(to: points[2]),
        points[2].distance(to: points[0])
      )
      let twice = Double(MeshPoint.orientation(points[0], points[1], points[2]))
      let height = twice / (MeshPoint.unitsPerMeter * MeshPoint.unitsPerMeter) / maximum
      guard height > 0.012 else { continue }
      let middle = (points[0].point + points[1].point + points[2].point) * (1.0 / 3)
      answers[triangle] = space.isWalkable(middle)
    }
    // Narrow triangles lie in short rows, so that a few rounds reach all of them.
    for _ in 0..<8 {
      var isChanged = false
      let before = answers
      for triangle in 0..<count where before[triangle] == nil {
        for index in 3 * triangle..<3 * triangle + 3 where whole.tags[index] != MeshDrawing.blocked {
          let neighbor = Int(whole.neighbors[index])
          guard neighbor >= 0, let answer = before[neighbor] else { continue }
          answers[triangle] = answer
          isChanged = true
          break
        }
      }
      if !isChanged { break }
    }
    return answers.map { $0 ?? false }
  }

  /// Leaves out pieces that are cut off from all others and too small to stand in: slivers between drawn lines.
  private static func withoutSlivers(_ isWalkable: [Bool], of whole: Triangulation) -> [Bool] {
    var isWalkable = isWalkable
    var isSeen = [Bool](repeating: false, count: isWalkable.count)
    for start in isWalkable.indices where isWalkable[start] && !isSeen[start] {
      var piece = [start]
      var next = 0
      var twice = 0
      isSeen[start] = true
      while next < piece.count {
        let triangle = piece[next]
        next += 1
        let points = (0..<3).map { whole.vertices[Int(whole.corners[3 * triangle + $0])] }
        twice += MeshPoint.orientation(points[0], points[1], points[2])
        for index in 3 * triangle..<3 * triangle + 3 where whole.tags[index] != MeshDrawing.blocked {
          let neighbor = Int(whole.neighbors[index])
          guard neighbor >= 0, isWalkable[neighbor], !isSeen[neighbor] else { continue }
          isSeen[neighbor] = true
          piece.append(neighbor)
        }
      }
      let size = Double(twice) / 2 / (MeshPoint.unitsPerMeter * MeshPoint.unitsPerMeter)
      if size < WalkableMesh.smallestPiece { for triangle in piece { isWalkable[triangle] = false } }
    }
    return isWalkable
  }

  /// Returns the tags with the sides of restricted areas as gates, where other people may be on one side than on the
  /// other, and without tags elsewhere.
  ///
  /// Triangles that no tagged edge separates are one piece, which is judged at the middle of its largest triangle.
  private static func withGates(_ whole: Triangulation, _ isWalkable: [Bool], _ areas: [Area]) -> [UInt16] {
    let restricted = areas.filter { $0.access != .everyone }
    guard !restricted.isEmpty else { return whole.tags }
    var accesses = [Access?](repeating: nil, count: isWalkable.count)
    for start in isWalkable.indices where isWalkable[start] && accesses[start] == nil {
      var piece = [start]
      var next = 0
      var largest = (triangle: start, twice: 0)
      accesses[start] = .everyone
      while next < piece.count {
        let triangle = piece[next]
        next += 1
        let points = (0..<3).map { whole.vertices[Int(whole.corners[3 * triangle + $0])] }
        let twice = MeshPoint.orientation(points[0], points[1], points[2])
        if twice > largest.twice { largest = (triangle, twice) }
        for index in 3 * triangle..<3 * triangle + 3 where whole.tags[index] == 0 {
          let neighbor = Int(whole.neighbors[index])
          guard neighbor >= 0, isWalkable[neighbor], accesses[neighbor] == nil else { continue }
          accesses[neighbor] = .everyone
          piece.append(neighbor)
        }
      }
      let points = (0..<3).map { whole.vertices[Int(whole.corners[3 * largest.triangle + $0])].point }
      let middle = (points[0] + points[1] + points[2]) * (1.0 / 3)
      guard let access = restricted.filter({ $0.contains(middle) }).map(\.access).max() else { continue }
      for triangle in piece { accesses[triangle] = access }
    }
    return whole.tags.indices.map { index in
      guard whole.tags[index] == MeshDrawing.side else { return whole.tags[index] }
      let neighbor = Int(whole.neighbors[index])
      guard neighbor >= 0, let own = accesses[index / 3], let other = accesses[neighbor], own != other else {
        return 0
      }
      return MeshDrawing.gate(max(own, other))
    }
  }

  /// The lines of the gates, each once.
  var gates: [(segment: Segment, access: Access)] {
    tags.indices.compactMap { index in
      guard let access = MeshDrawing.access(ofGate: tags[index]), Int(neighbors[index]) > index / 3 else {
        return nil
      }
      let base = index - index % 3
      let ends = [base + (index + 1) % 3, base + (index + 2) % 3].map { vertices[Int(corners[$0])].point }
      return (Segment(from: ends[0], to: ends[1]), access)
    }
  }

  /// The smallest piece of a floor in which people can be.
  ///
  /// - Units: square metres.
  static let smallestPiece = 0.5

  /// The mesh with some doors closed, given by their tags.
  func closing(_ doors: Set<UInt16>) -> WalkableMesh {
    var closed = self
    for corner in tags.indices where tags[corner] != 0 && doors.contains(tags[corner]) {
      closed.neighbors[corner] = -1
      closed.tags[corner] = MeshDrawing.blocked
    }
    return closed
  }

  /// The number of triangles.
  var count: Int { corners.count / 3 }

  /// The pieces into which closed edges divide the mesh: the number of the piece of each triangle, and the size of each
  /// piece in square metres.
  var pieces: (of: [Int], sizes: [Double]) {
    var numbers = [Int](repeating: -1, count: count)
    var sizes: [Double] = []
    for start in numbers.indices where numbers[start] < 0 {
      var waiting = [start]
      var twice = 0
      numbers[start] = sizes.count
      while let triangle = waiting.popLast() {
        let (a, b, c) = triangleCorners(triangle)
        twice += MeshPoint.orientation(a, b, c)
        for next in neighbors[3 * triangle..<3 * triangle + 3].lazy.map(Int.init)
        where next >= 0 && numbers[next] < 0 {
          numbers[next] = sizes.count
          waiting.append(next)
        }
      }
      sizes.append(Double(twice) / 2 / (MeshPoint.unitsPerMeter * MeshPoint.unitsPerMeter))
    }
    return (numbers, sizes)
  }

  /// The middle of a triangle.
  func center(of triangle: Int) -> Point {
    let (a, b, c) = triangleCorners(triangle)
    return (a.point + b.point + c.point) * (1.0 / 3)
  }

  // MARK: Places

  private func contains(_ triangle: Int, _ point: MeshPoint) -> Bool {
    let (a, b, c) = triangleCorners(triangle)
    return MeshPoint.orientation(a, b, point) >= 0 && MeshPoint.orientation(b, c, point) >= 0
      && MeshPoint.orientation(c, a, point) >= 0
  }

  func triangleCorners(_ triangle: Int) -> (MeshPoint, MeshPoint, MeshPoint) {
    (
      vertices[Int(corners[3 * triangle])], vertices[Int(corners[3 * triangle + 1])],
      vertices[Int(corners[3 * triangle + 2])]
    )
  }

  /// Finds a place; nil if it is not walkable.
  func place(of point: Point) -> Place? {
    let unit = MeshPoint(point)
    guard let cell = frame.index(of: unit.point) else { return nil }
    for place in lists.places(in: cell) {
      let triangle = lists.number(at: place)
      if contains(triangle, unit) { return interiorPlace(unit, in: triangle) }
    }
    return nil
  }

  /// A place that is no vertex: at one, nothing could be said about directions.
  private func interiorPlace(_ point: MeshPoint, in triangle: Int) -> Place {
    let (a, b, c) = triangleCorners(triangle)
    guard point == a || point == b || point == c else { return Place(point: point, triangle: triangle) }
    let middle = (a.point + b.point + c.point) * (1.0 / 3)
    for share in [0.002, 0.02, 0.2, 1.0] {
      let moved = MeshPoint(point.point.interpolated(to: middle, share: share))
      if moved != a, moved != b, moved != c, contains(triangle, moved) {
        return Place(point: moved, triangle: triangle)
      }
    }
    return Place(point: point, triangle: triangle)
  }

  /// Finds the walkable place nearest to a point; nil where nothing is walkable within the distance.
  func nearestPlace(to point: Point, within reach: Double) -> Place? {
    if let place = place(of: point) { return place }
    guard point.x.isFinite, point.y.isFinite, frame.count > 0 else { return nil }
    guard let middle = frame.index(of: frame.clamped(point)) else { return nil }
    let (row, column) = (middle / frame.columns, middle % frame.columns)
    var best: (triangle: Int, point: Point, distance: Double)?
    for ring in 0..<max(frame.rows, frame.columns) {
      let clear = Double(ring - 1) * frame.cell
      if clear > reach || best.map({ $0.distance <= clear }) ?? false { break }
      for y in max(0, row - ring)...min(frame.rows - 1, row + ring) {
        let isWhole = y == row - ring || y == row + ring
        for x in stride(from: column - ring, through: column + ring, by: isWhole ? 1 : 2 * ring)
        where x >= 0 && x < frame.columns {
          for place in lists.places(in: y * frame.columns + x) {
            let triangle = lists.number(at: place)
            let near = nearest(in: triangle, to: point)
            let distance = near.distance(to: point)
            if distance < best?.distance ?? .infinity { best = (triangle, near, distance) }
          }
        }
      }
    }
    guard let best, best.distance <= reach else { return nil }
    let (a, b, c) = triangleCorners(best.triangle)
    let center = (a.point + b.point + c.point) * (1.0 / 3)
    // The nearest point of an edge, rounded, may lie outside of the triangle by a unit.
    for share in [0, 0.001, 0.01, 0.1, 0.5] {
      let unit = MeshPoint(best.point.interpolated(to: center, share: share))
      if contains(best.triangle, unit) { return interiorPlace(unit, in: best.triangle) }
    }
    return contains(best.triangle, MeshPoint(center))
      ? Place(point: MeshPoint(center), triangle: best.triangle) : nil
  }

  private func nearest(in triangle: Int, to point: Point) -> Point {
    let (a, b, c) = triangleCorners(triangle)
    let ends = [a.point, b.point, c.point]
    var best = ends[0]
    for index in 0..<3 {
      let near = Segment(from: ends[index], to: ends[(index + 1) % 3]).nearest(to: point)
      if near.distance(to: point) < best.distance(to: point) { best = near }
    }
    return best
  }

  // MARK: Sight

  /// Returns whether people can walk straight from one place to another.
  func isVisible(_ to: Place, from: Place) -> Bool {
    if from.triangle == to.triangle { return true }
    var isFound = false
    // Only windows that hold the target are followed.
    forEachWindow(from: from, towards: to.point) { window in
      isFound = Int(window.triangle) == to.triangle
      return !isFound
    }
    return isFound
  }

  /// Calls a function with each corner of a triangle, as an index into ``corners``, that a place sees; a vertex comes
  /// once for each of its triangles that is seen.
  func forEachVisible(from place: Place, _ body: (Int) -> Void) {
    for index in 0..<3 { body(3 * place.triangle + index) }
    forEachWindow(from: place, towards: nil) { window in
      report(window, place.point, body)
      return true
    }
  }

  /// The same for what a vertex sees through some of its triangles, each given by the index of the vertex in
  /// ``corners``.
  func forEachVisible(fromCorners fan: ArraySlice<Int32>, _ body: (Int) -> Void) {
    guard let first = fan.first else { return }
    let origin = vertices[Int(corners[Int(first)])]
    for entry in fan {
      let triangle = Int(entry) / 3
      let index = Int(entry) % 3
      let (right, left) = (3 * triangle + (index + 1) % 3, 3 * triangle + (index + 2) % 3)
      body(right)
      body(left)
      var stack: [Window] = []
      push(across: Int(entry), vertices[Int(corners[left])], vertices[Int(corners[right])], &stack)
      expand(&stack, origin, nil) { window in
        report(window, origin, body)
        return true
      }
    }
  }

  /// A triangle seen through an edge between two rays.
  private struct Window {
    let triangle: Int32
    /// The corner opposite the edge.
    let apex: Int32
    let left: MeshPoint
    let right: MeshPoint
  }

  /// Calls a function with the corner opposite a window's edge if it lies between the rays; the two others were seen with
  /// the triangle before it.
  @inline(__always)
  private func report(_ window: Window, _ origin: MeshPoint, _ body: (Int) -> Void) {
    let corner = 3 * Int(window.triangle) + Int(window.apex)
    let point = vertices[Int(corners[corner])]
    guard MeshPoint.orientation(origin, window.right, point) >= 0,
      MeshPoint.orientation(origin, window.left, point) <= 0
    else { return }
    body(corner)
  }

  private func forEachWindow(
    from place: Place,
    towards target: MeshPoint?,
    _ visit: (Window) -> Bool
  ) {
    var stack: [Window] = []
    for index in 0..<3 {
      let corner = 3 * place.triangle + index
      let left = vertices[Int(corners[3 * place.triangle + (index + 2) % 3])]
      let right = vertices[Int(corners[3 * place.triangle + (index + 1) % 3])]
      push(across: corner, left, right, &stack)
    }
    expand(&stack, place.point, target, visit)
  }

  @inline(__always)
  private func push(
    across corner: Int,
    _ left: MeshPoint,
    _ right: MeshPoint,
    _ stack: inout [Window]
  ) {
    let next = neighbors[corner]
    guard next >= 0 else { return }
    let from = Int32(corner / 3)
    let base = 3 * Int(next)
    let apex = neighbors[base] == from ? 0 : neighbors[base + 1] == from ? 1 : 2
    stack.append(Window(triangle: next, apex: Int32(apex), left: left, right: right))
  }

  /// Follows windows through the mesh until a function returns false.
  ///
  /// - Source: the triangular expansion algorithm, Bungiu et al., "Efficient computation of visibility polygons",
  ///   EuroCG 2014.
  private func expand(
    _ stack: inout [Window],
    _ origin: MeshPoint,
    _ target: MeshPoint?,
    _ visit: (Window) -> Bool
  ) {
    while let window = stack.popLast() {
      if let target {
        guard MeshPoint.orientation(origin, window.right, target) >= 0,
          MeshPoint.orientation(origin, window.left, target) <= 0
        else { continue }
      }
      let triangle = Int(window.triangle)
      guard visit(window) else { return }
      let apex = Int(window.apex)
      let point = vertices[Int(corners[3 * triangle + apex])]
      let toLeft = 3 * triangle + (apex + 2) % 3
      let toRight = 3 * triangle + (apex + 1) % 3
      let isLeftOfRight = MeshPoint.orientation(origin, window.right, point)
      let isRightOfLeft = -MeshPoint.orientation(origin, window.left, point)
      if isRightOfLeft > 0 {
        let right = isLeftOfRight > 0 ? point : window.right
        push(across: toLeft, window.left, right, &stack)
      }
      if isLeftOfRight > 0 {
        let left = isRightOfLeft > 0 ? point : window.left
        push(across: toRight, left, window.right, &stack)
      }
    }
  }
}
