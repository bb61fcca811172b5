import PharosSpace

/// A way through a venue: walks on floors, and rides on connectors between them.
struct WayPlan {
  /// A part of it.
  enum Part {
    /// A walk on a floor along points.
    case walk(floor: Int, points: [MeshPoint], meters: Double)
    /// A ride on a connector from one of its stops to another, given by their order.
    case ride(connector: Int, from: Int, to: Int, meters: Double, seconds: Double)
  }

  var parts: [Part]
  /// The time in seconds.
  var duration: Double

  /// The length in metres, rides counted by the horizontal distance of their stops.
  var distance: Double {
    parts.reduce(0) { sum, part in
      switch part {
      case .walk(_, _, let meters): sum + meters
      case .ride(_, _, _, let meters, _): sum + meters
      }
    }
  }

  /// A straight line of a walk, or a ride, by which plans are compared.
  private struct Piece: Hashable {
    let floor: Int
    let start: MeshPoint
    let end: MeshPoint
  }

  /// Returns the share of the walks, 0 to 1, that another plan contains as well.
  func overlap(with other: WayPlan) -> Double {
    let (own, others) = (pieces, Set(other.pieces.map(\.piece)))
    let whole = own.reduce(0) { $0 + $1.meters }
    guard whole > 0 else { return others.isEmpty ? 1 : 0 }
    return own.reduce(0) { $0 + (others.contains($1.piece) ? $1.meters : 0) } / whole
  }

  private var pieces: [(piece: Piece, meters: Double)] {
    parts.flatMap { part -> [(piece: Piece, meters: Double)] in
      guard case .walk(let floor, let points, _) = part else { return [] }
      return zip(points, points.dropFirst()).map { start, end in
        (Piece(floor: floor, start: start, end: end), start.distance(to: end))
      }
    }
  }

  /// The connectors that it rides on.
  var connectors: [Int] {
    parts.compactMap { part in
      guard case .ride(let connector, _, _, _, _) = part else { return nil }
      return connector
    }
  }
}

/// A search for plans under one set of options.
///
/// The shortest ways on each floor between its connectors are known in advance, so that a search over all floors goes from
/// connector to connector.
struct WaySearch {
  let graph: WalkableGraph
  let options: RouteOptions
  /// The ways of each floor under the options.
  private let ways: [CornerGraph]
  /// The first number of each floor's stops when all stops are numbered.
  private let offsets: [Int]
  private let stopCount: Int
  /// The connectors that may be used.
  private let isUsable: [Bool]

  /// Prepares a search.
  ///
  /// - Parameters:
  ///   - graph: the graph.
  ///   - options: the options.
  ///   - limit: the fewest people that a door, an area or a connector may be meant for.
  init(_ graph: WalkableGraph, _ options: RouteOptions, upTo limit: Access) {
    self.graph = graph
    self.options = options
    func isOpen(_ hours: OpeningHours?) -> Bool {
      guard let hours, let time = options.departure else { return true }
      return hours.contains(time, in: graph.localTime)
    }
    ways = graph.floors.map { floor in
      floor.ways(upTo: limit, isAccessible: options.isAccessible) { isOpen($0.hours) }
    }
    var offsets: [Int] = []
    var count = 0
    for floor in graph.floors {
      offsets.append(count)
      count += floor.stops.count
    }
    self.offsets = offsets
    stopCount = count
    isUsable = graph.connectors.map { connector in
      (connector.isAccessible || !options.isAccessible) && !options.avoided.contains(connector.kind)
        && isOpen(connector.hours) && connector.access <= limit
    }
  }

  /// The least times from a place to every connector's stop.
  struct Reach {
    let from: WalkableGraph.Location
    /// The time to each stop in seconds; infinite where there is no way.
    fileprivate var seconds: [Double]
    /// The stop before each one; −1 if the place itself is.
    fileprivate var parents: [Int32]
    /// Indicates whether each stop is reached by riding.
    fileprivate var isRide: [Bool]
  }

  /// Searches the ways from a place to all connectors.
  func reach(from: WalkableGraph.Location, without banned: Set<Int> = []) -> Reach {
    var reach = Reach(
      from: from,
      seconds: [Double](repeating: .infinity, count: stopCount),
      parents: [Int32](repeating: -1, count: stopCount),
      isRide: [Bool](repeating: false, count: stopCount)
    )
    var queue = WayQueue()
    func relax(_ stop: Int, _ time: Double, parent: Int, isRide: Bool) {
      guard time < reach.seconds[stop] else { return }
      reach.seconds[stop] = time
      reach.parents[stop] = Int32(parent)
      reach.isRide[stop] = isRide
      queue.push(key: time, Int32(stop))
    }
    for (number, meters) in ways[from.floor].distancesToStops(from: from.place).enumerated() {
      relax(offsets[from.floor] + number, meters / TravelTime.walkingSpeed, parent: -1, isRide: false)
    }
    var floorOfStop = [Int](repeating: 0, count: stopCount)
    for floor in graph.floors.indices {
      for number in graph.floors[floor].stops.indices { floorOfStop[offsets[floor] + number] = floor }
    }
    while let (time, entry) = queue.pop() {
      let stop = Int(entry)
      guard time <= reach.seconds[stop] else { continue }
      let floor = floorOfStop[stop]
      let number = stop - offsets[floor]
      let stops = graph.floors[floor].stops
      if reach.isRide[stop] {
        for other in stops.indices {
          let meters = ways[floor].stopDistances[number * stops.count + other]
          relax(offsets[floor] + other, time + meters / TravelTime.walkingSpeed, parent: stop, isRide: false)
        }
      }
      let (connector, order) = (stops[number].connector, stops[number].order)
      guard isUsable[connector], !banned.contains(connector) else { continue }
      for (next, target) in graph.stops[connector].enumerated() {
        guard let target, let ride = ride(connector, from: order, to: next) else { continue }
        relax(offsets[target.floor] + target.number, time + ride.seconds, parent: stop, isRide: true)
      }
    }
    return reach
  }

  /// The length and the time of a ride; nil if the connector does not lead that way.
  private func ride(_ number: Int, from: Int, to: Int) -> (meters: Double, seconds: Double)? {
    let connector = graph.connectors[number]
    let (start, end) = (connector.stops[from], connector.stops[to])
    let levels = end.floor.level - start.floor.level
    guard from != to else { return nil }
    switch connector.direction {
    case .both: break
    case .up: guard levels >= 0 else { return nil }
    case .down: guard levels <= 0 else { return nil }
    }
    let meters = graph.rideLength(number, from: from, to: to)
    guard meters.isFinite else { return nil }
    return (meters, TravelTime.seconds(on: connector.kind, levels: levels, distance: meters))
  }

  /// The time and the length of the fastest way to a place; nil if there is none.
  func cost(of reach: Reach, to: WalkableGraph.Location) -> (seconds: Double, meters: Double)? {
    plan(of: reach, to: to).map { ($0.duration, $0.distance) }
  }

  /// The fastest plan to a place; nil if there is none.
  ///
  /// - Parameters:
  ///   - reach: the ways from the start.
  ///   - to: the goal.
  ///   - avoided: corners to avoid on the way on one floor.
  ///   - detour: the metres that avoiding one of them may cost.
  /// - Returns: the plan.
  func plan(
    of reach: Reach,
    to: WalkableGraph.Location,
    avoiding avoided: Set<MeshPoint> = [],
    detour: Double = 0
  ) -> WayPlan? {
    var best: (stop: Int, seconds: Double)?
    for (number, meters) in ways[to.floor].distancesToStops(from: to.place).enumerated() {
      let stop = offsets[to.floor] + number
      let seconds = reach.seconds[stop] + meters / TravelTime.walkingSpeed
      if reach.isRide[stop], seconds < best?.seconds ?? .infinity { best = (stop, seconds) }
    }
    if reach.from.floor == to.floor {
      let way = ways[to.floor].way(from: reach.from.place, to: to.place, avoiding: avoided, detour: detour)
      if let way, way.length / TravelTime.walkingSpeed <= best?.seconds ?? .infinity {
        let part = WayPlan.Part.walk(floor: to.floor, points: way.points, meters: way.length)
        return WayPlan(parts: [part], duration: way.length / TravelTime.walkingSpeed)
      }
    }
    guard let best else { return nil }
    return plan(of: reach, through: best.stop, to: to)
  }

  /// Puts the parts of a plan together whose last ride ends at a stop.
  private func plan(of reach: Reach, through last: Int, to: WalkableGraph.Location) -> WayPlan? {
    var chain = [last]
    while let first = chain.last, reach.parents[first] >= 0 { chain.append(Int(reach.parents[first])) }
    chain.reverse()
    var parts: [WayPlan.Part] = []
    func floor(_ stop: Int) -> (floor: Int, number: Int) {
      let floor = (offsets.lastIndex { $0 <= stop } ?? 0)
      return (floor, stop - offsets[floor])
    }
    func walk(_ floor: Int, _ points: [MeshPoint]?) -> Bool {
      guard let points else { return false }
      let meters = zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
      parts.append(.walk(floor: floor, points: points, meters: meters))
      return true
    }
    for (index, stop) in chain.enumerated() {
      let (floorIndex, number) = floor(stop)
      let own = graph.floors[floorIndex].stops[number]
      if index == 0 {
        let points = ways[floorIndex].way(fromStop: number, to: reach.from.place)
        guard walk(floorIndex, points.map { $0.reversed() }) else { return nil }
        continue
      }
      let (beforeFloor, beforeNumber) = floor(chain[index - 1])
      if reach.isRide[stop] {
        let before = graph.floors[beforeFloor].stops[beforeNumber]
        guard let ride = ride(own.connector, from: before.order, to: own.order) else { return nil }
        parts.append(
          .ride(
            connector: own.connector,
            from: before.order,
            to: own.order,
            meters: ride.meters,
            seconds: ride.seconds
          )
        )
      } else {
        guard let place = own.place,
          walk(floorIndex, ways[floorIndex].way(fromStop: beforeNumber, to: place))
        else { return nil }
      }
    }
    let (floorIndex, number) = floor(last)
    guard walk(floorIndex, ways[floorIndex].way(fromStop: number, to: to.place)) else { return nil }
    let seconds = parts.reduce(0.0) { sum, part in
      switch part {
      case .walk(_, _, let meters): sum + meters / TravelTime.walkingSpeed
      case .ride(_, _, _, _, let seconds): sum + seconds
      }
    }
    return WayPlan(parts: parts, duration: seconds)
  }

  // MARK: Alternatives

  /// The share of a walk that an alternative may have in common with routes before it.
  private static let largestOverlap = 0.7
  /// How much longer than the fastest one an alternative may take: a factor, and seconds.
  private static let slowest = (factor: 1.6, seconds: 60.0)

  /// The fastest plan, followed by at most so many that differ from it and from each other.
  func plans(
    from: WalkableGraph.Location,
    to: WalkableGraph.Location,
    alternatives: Int
  ) -> [WayPlan] {
    let reach = reach(from: from)
    guard let best = plan(of: reach, to: to) else { return [] }
    guard alternatives > 0 else { return [best] }
    var candidates: [WayPlan] = []
    // Each connector of the fastest way left out, and then all of those that were found before.
    for connector in best.connectors where best.connectors.count > 1 {
      if let other = plan(of: self.reach(from: from, without: [connector]), to: to) {
        candidates.append(other)
      }
    }
    var banned = Set(best.connectors)
    for _ in 0...alternatives where !banned.isEmpty {
      guard let other = plan(of: self.reach(from: from, without: banned), to: to) else { break }
      candidates.append(other)
      let count = banned.count
      banned.formUnion(other.connectors)
      if banned.count == count { break }
    }
    // The corners of the fastest way made expensive.
    if from.floor == to.floor {
      var corners: Set<MeshPoint> = []
      for part in best.parts {
        guard case .walk(_, let points, _) = part else { continue }
        corners.formUnion(points.dropFirst().dropLast())
      }
      for share in [0.1, 0.3] where !corners.isEmpty {
        let detour = best.distance * share
        if let other = plan(of: reach, to: to, avoiding: corners, detour: detour) {
          candidates.append(other)
        }
      }
    }
    var chosen = [best]
    let limit = best.duration * WaySearch.slowest.factor + WaySearch.slowest.seconds
    for other in candidates.enumerated().sorted(by: { ($0.1.duration, $0.0) < ($1.1.duration, $1.0) }) {
      guard chosen.count <= alternatives, other.element.duration <= limit else { break }
      let isDifferent = chosen.allSatisfy {
        other.element.overlap(with: $0) <= WaySearch.largestOverlap
      }
      if isDifferent { chosen.append(other.element) }
    }
    return chosen
  }
}
