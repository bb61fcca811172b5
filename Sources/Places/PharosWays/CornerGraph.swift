/// The shortest ways on one floor: a graph of the corners that ways bend around.
///
/// A shortest way consists of straight lines between corners that stick out into the walkable area, and touches each of
/// them as a taut string does. Only such lines are edges, so that the graph is exact and yet small. The ways from every
/// connector are computed in advance.
///
/// - Source: tangent visibility graphs, Liu and Arimoto, International Journal of Robotics Research 11 (1992).
struct CornerGraph {
  typealias Place = WalkableMesh.Place

  /// A corner that ways bend around: a vertex and the free space on one side of its walls.
  fileprivate struct Node {
    let point: MeshPoint
    /// The far end of the wall at which the free space begins, counterclockwise.
    let first: MeshPoint
    /// The far end of the wall at which the free space ends.
    let last: MeshPoint
  }

  /// The sides of a line on which the walls of a corner lie; a way bends around them towards this side.
  fileprivate struct Sides: OptionSet {
    let rawValue: UInt8
    static let left = Sides(rawValue: 1)
    static let right = Sides(rawValue: 2)
  }

  /// A line from one corner to another.
  fileprivate struct Edge {
    let target: Int32
    /// The sides at its start.
    let departure: Sides
    /// The sides at its end.
    let arrival: Sides
  }

  /// The ways from one place to every corner.
  private struct Tree {
    /// The distance of each corner in metres; infinite if it cannot be reached.
    var distances: [Double]
    /// The corner before each one; −1 if the place itself is.
    var parents: [Int32]
  }

  let mesh: WalkableMesh
  /// The places of the connectors, in the floor's order; nil for those that cannot be walked to.
  let stops: [Place?]
  private var nodes: [Node] = []
  /// The node at each corner of a triangle, or −1.
  private var nodeOfCorner: [Int32]
  /// The corners of triangles around each node, as indices of the mesh's corners.
  private var fans: [Int32] = []
  private var fanStarts: [Int32] = [0]
  private var edges: [Edge] = []
  private var edgeStarts: [Int32] = [0]
  private var trees: [Tree?] = []
  /// The distance from each stop to each stop in metres, row by row; infinite where there is no way.
  private(set) var stopDistances: [Double] = []

  /// Computes the ways of a floor.
  init(_ mesh: WalkableMesh, stops: [Place?]) {
    self.mesh = mesh
    self.stops = stops
    nodeOfCorner = [Int32](repeating: -1, count: mesh.corners.count)
    findNodes()
    findEdges()
    trees = stops.map { stop in stop.map { tree(from: $0) } }
    stopDistances = stops.flatMap { stop in
      stop.map { distancesToStops(from: $0) } ?? [Double](repeating: .infinity, count: stops.count)
    }
  }

  /// The number of corners that ways bend around.
  var nodeCount: Int { nodes.count }
  /// The number of lines between them.
  var edgeCount: Int { edges.count }

  // MARK: Building

  private mutating func findNodes() {
    for corner in mesh.corners.indices {
      let (triangle, index) = (corner / 3, corner % 3)
      guard mesh.neighbors[3 * triangle + (index + 2) % 3] < 0 else { continue }
      let vertex = mesh.corners[corner]
      let first = mesh.vertices[Int(mesh.corners[3 * triangle + (index + 1) % 3])]
      let point = mesh.vertices[Int(vertex)]
      var fan: [Int32] = []
      var last = first
      var isReflex = false
      var (t, i) = (triangle, index)
      while true {
        fan.append(Int32(3 * t + i))
        last = mesh.vertices[Int(mesh.corners[3 * t + (i + 2) % 3])]
        if MeshPoint.orientation(point, first, last) < 0 { isReflex = true }
        let next = Int(mesh.neighbors[3 * t + (i + 1) % 3])
        guard next >= 0 else { break }
        t = next
        i = mesh.corners[3 * t] == vertex ? 0 : mesh.corners[3 * t + 1] == vertex ? 1 : 2
      }
      guard isReflex else { continue }
      for corner in fan { nodeOfCorner[Int(corner)] = Int32(nodes.count) }
      nodes.append(Node(point: point, first: first, last: last))
      fans += fan
      fanStarts.append(Int32(fans.count))
    }
  }

  private mutating func findEdges() {
    var seen = [Int32](repeating: -1, count: nodes.count)
    for number in nodes.indices {
      let node = nodes[number]
      let fan = fans[Int(fanStarts[number])..<Int(fanStarts[number + 1])]
      seen[number] = Int32(number)
      var found: [Edge] = []
      mesh.forEachVisible(fromCorners: fan) { corner in
        let other = Int(nodeOfCorner[corner])
        guard other >= 0, seen[other] != Int32(number) else { return }
        seen[other] = Int32(number)
        let target = nodes[other]
        let departure = node.sides(from: node.point, to: target.point)
        let arrival = target.sides(from: node.point, to: target.point)
        guard !departure.isEmpty, !arrival.isEmpty else { return }
        found.append(Edge(target: Int32(other), departure: departure, arrival: arrival))
      }
      edges += found
      edgeStarts.append(Int32(edges.count))
    }
  }

  // MARK: Searching

  /// The corners that a place sees and that a way to it may bend around.
  private func visibleNodes(from place: Place) -> [(node: Int, arrival: Sides, distance: Double)] {
    var found: [(node: Int, arrival: Sides, distance: Double)] = []
    var seen: Set<Int32> = []
    mesh.forEachVisible(from: place) { corner in
      let number = nodeOfCorner[corner]
      guard number >= 0, seen.insert(number).inserted else { return }
      let node = nodes[Int(number)]
      let arrival = node.sides(from: place.point, to: node.point)
      guard !arrival.isEmpty else { return }
      found.append((Int(number), arrival, place.point.distance(to: node.point)))
    }
    return found
  }

  /// A search from one place over the corners.
  private struct Search {
    var tree: Tree
    var arrivals: [Sides]
    var queue = WayQueue()

    init(count: Int) {
      tree = Tree(
        distances: [Double](repeating: .infinity, count: count),
        parents: [Int32](repeating: -1, count: count)
      )
      arrivals = [Sides](repeating: [], count: count)
    }
  }

  /// Searches the ways from a place until a function that sees each corner in the order of its key returns false.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - estimate: the least distance from a corner to the goal.
  ///   - detour: what is added to the length of a way at a corner.
  ///   - visit: takes a corner, its distance and its key.
  /// - Returns: the ways to the corners that were seen.
  private func search(
    from place: Place,
    estimate: (MeshPoint) -> Double,
    detour: (MeshPoint) -> Double = { _ in 0 },
    visit: (Int, Double, Double) -> Bool
  ) -> Tree {
    var search = Search(count: nodes.count)
    for (node, arrival, distance) in visibleNodes(from: place) {
      search.tree.distances[node] = distance
      search.arrivals[node] = arrival
      search.queue.push(key: distance + estimate(nodes[node].point), Int32(node))
    }
    while let (key, entry) = search.queue.pop() {
      let number = Int(entry)
      let node = nodes[number]
      let distance = search.tree.distances[number]
      // An entry that a shorter way has overtaken.
      guard key <= distance + estimate(node.point) else { continue }
      guard visit(number, distance, key) else { break }
      let parent = search.tree.parents[number]
      let before = parent < 0 ? place.point : nodes[Int(parent)].point
      let arrival = search.arrivals[number]
      for index in Int(edgeStarts[number])..<Int(edgeStarts[number + 1]) {
        let edge = edges[index]
        let target = Int(edge.target)
        let common = arrival.intersection(edge.departure)
        // A way bends towards the walls that it touches.
        let turn = MeshPoint.orientation(before, node.point, nodes[target].point)
        guard turn == 0 || common.contains(turn > 0 ? .left : .right) else { continue }
        let end = nodes[target].point
        let length = distance + node.point.distance(to: end) + detour(end)
        guard length < search.tree.distances[target] else { continue }
        search.tree.distances[target] = length
        search.tree.parents[target] = Int32(number)
        search.arrivals[target] = edge.arrival
        search.queue.push(key: length + estimate(nodes[target].point), edge.target)
      }
    }
    return search.tree
  }

  private func tree(from place: Place) -> Tree {
    search(from: place, estimate: { _ in 0 }) { _, _, _ in true }
  }

  /// The shortest way between two places; nil if there is none.
  ///
  /// - Parameters:
  ///   - from: the start.
  ///   - to: the goal.
  ///   - avoided: corners to go around where that costs less than `detour` metres at each.
  ///   - detour: that number of metres.
  /// - Returns: the length in metres and the points of the way.
  func way(
    from: Place,
    to: Place,
    avoiding avoided: Set<MeshPoint> = [],
    detour: Double = 0
  ) -> (length: Double, points: [MeshPoint])? {
    if mesh.isVisible(to, from: from) { return (from.point.distance(to: to.point), [from.point, to.point]) }
    var ends: [Int: Double] = [:]
    for (node, _, distance) in visibleNodes(from: to) { ends[node] = distance }
    var best: (node: Int, length: Double)?
    let extra = { avoided.contains($0) ? detour : 0 }
    let tree = search(
      from: from,
      estimate: { $0.distance(to: to.point) },
      detour: avoided.isEmpty ? { _ in 0 } : extra
    ) { node, distance, key in
      guard key < best?.length ?? .infinity else { return false }
      if let rest = ends[node], distance + rest < best?.length ?? .infinity { best = (node, distance + rest) }
      return true
    }
    guard let best else { return nil }
    let points = points(of: tree, to: best.node, from: from.point) + [to.point]
    let length = zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
    return (length, points)
  }

  private func points(of tree: Tree, to node: Int, from start: MeshPoint) -> [MeshPoint] {
    var points: [MeshPoint] = []
    var number = Int32(node)
    while number >= 0 {
      points.append(nodes[Int(number)].point)
      number = tree.parents[Int(number)]
    }
    points.append(start)
    return points.reversed()
  }

  /// The distances from a place to every stop of the floor in metres; infinite where there is no way.
  func distancesToStops(from place: Place) -> [Double] {
    let visible = visibleNodes(from: place)
    return stops.indices.map { number in
      guard let stop = stops[number], let tree = trees[number] else { return .infinity }
      if mesh.isVisible(stop, from: place) { return stop.point.distance(to: place.point) }
      var best = Double.infinity
      for (node, _, distance) in visible { best = min(best, distance + tree.distances[node]) }
      return best
    }
  }

  /// The points of the shortest way from a stop to a place.
  func way(fromStop number: Int, to place: Place) -> [MeshPoint]? {
    guard let stop = stops[number], let tree = trees[number] else { return nil }
    if mesh.isVisible(stop, from: place) { return [stop.point, place.point] }
    var best: (node: Int, length: Double)?
    for (node, _, distance) in visibleNodes(from: place) {
      let length = distance + tree.distances[node]
      if length < best?.length ?? .infinity { best = (node, length) }
    }
    guard let best else { return nil }
    return points(of: tree, to: best.node, from: stop.point) + [place.point]
  }
}

extension CornerGraph.Node {
  /// The sides of the line through two points, one of which is the corner, on which both of its walls lie.
  fileprivate func sides(from: MeshPoint, to: MeshPoint) -> CornerGraph.Sides {
    // The walls seen from the corner along the line's direction.
    let (dx, dy) = to.difference(from: from)
    func side(_ end: MeshPoint) -> Int {
      let (x, y) = end.difference(from: point)
      return dx * y - dy * x
    }
    let (one, other) = (side(first), side(last))
    var sides: CornerGraph.Sides = []
    if one >= 0, other >= 0 { sides.insert(.left) }
    if one <= 0, other <= 0 { sides.insert(.right) }
    return sides
  }
}

/// A queue of numbers in the order of their keys; equal keys come in the order of the numbers.
struct WayQueue {
  private var heap: [(key: Double, number: Int32)] = []

  mutating func push(key: Double, _ number: Int32) {
    heap.append((key, number))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child] < heap[parent] else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> (key: Double, number: Int32)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    heap[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
      guard heap[child] < heap[parent] else { break }
      heap.swapAt(child, parent)
      parent = child
    }
    return first
  }
}
