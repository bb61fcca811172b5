import PharosDocuments
import PharosModel
public import PharosSpace

/// The limit on the searches that answer one question, which another thread may end.
public struct SearchBudget: Sendable {
  /// The maximum number of pairs of ends that are compared.
  public let limit: Int
  private let isEnded: @Sendable () -> Bool

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of pairs of ends.
  ///   - isEnded: asked between searches; true ends them, and the question is not answered.
  public init(limit: Int = .max, isEnded: @escaping @Sendable () -> Bool = { false }) {
    self.limit = limit
    self.isEnded = isEnded
  }

  /// Throws if the searches were ended.
  func check() throws(RoutingError) { if isEnded() { throw .ended } }

  /// Throws if the number of pairs of ends exceeds the limit.
  func allow(_ starts: Int, times goals: Int) throws(RoutingError) {
    let (count, isLarge) = starts.multipliedReportingOverflow(by: goals)
    if isLarge || count > limit { throw .tooManySearches(isLarge ? .max : count, limit: limit) }
  }
}

/// Answers questions about ways in a venue: routes, the nearest place of a category, and matrices.
public struct Router: Sendable {
  /// The graph of the venue.
  public let graph: WalkableGraph

  /// Makes a router.
  public init(_ graph: WalkableGraph) { self.graph = graph }

  /// An end of a route in the graph.
  struct Target {
    let location: WalkableGraph.Location
    /// The display name; empty for a position.
    var name = ""
    /// The place, if it is one.
    var place: PointOfInterest?
    /// Indicates whether it is a door to the outdoors.
    var isEntrance = false
  }

  /// Finds the fastest route and alternatives to it.
  ///
  /// - Parameters:
  ///   - from: the start.
  ///   - to: the goal.
  ///   - options: the options.
  ///   - budget: the limit on the searches.
  /// - Returns: the fastest route, followed by the alternatives.
  /// - Throws: ``RoutingError``.
  public func routes(
    from: Waypoint,
    to: Waypoint,
    options: RouteOptions = RouteOptions(),
    budget: SearchBudget = SearchBudget()
  ) throws(RoutingError) -> [WalkingRoute] {
    let starts = try targets(of: from, as: RouteEnd(.origin))
    let goals = try usable(try targets(of: to, as: RouteEnd(.destination)), options)
    try budget.allow(starts.count, times: goals.count)
    let count = min(max(0, options.alternatives), RouteOptions.maximumAlternatives)
    for search in searches(options) {
      guard let (start, goal) = try fastest(from: starts, to: goals, search, budget) else { continue }
      let plans = search.plans(from: start.location, to: goal.location, alternatives: count)
      guard plans.isEmpty else { return plans.map { RouteDrawing(graph, $0, from: start, to: goal).route } }
    }
    throw noWay(options)
  }

  /// The searches of a way, one after the other until there is one: among what is meant for everyone, then among what is
  /// meant for fewer people as well.
  private func searches(_ options: RouteOptions) -> some Sequence<WaySearch> {
    graph.accessLimits.lazy.map { WaySearch(graph, options, upTo: $0) }
  }

  private func noWay(_ options: RouteOptions) -> RoutingError {
    .noWay(
      isAccessible: options.isAccessible,
      isRestricted: !options.avoided.isEmpty || options.departure != nil
    )
  }

  /// The pair of ends with the fastest way between them; the first pair where there is only one.
  private func fastest(
    from starts: [Target],
    to goals: [Target],
    _ search: WaySearch,
    _ budget: SearchBudget
  ) throws(RoutingError) -> (start: Target, goal: Target)? {
    if starts.count == 1, goals.count == 1 { return (starts[0], goals[0]) }
    var best: (start: Target, goal: Target, seconds: Double)?
    for start in starts {
      let reach = search.reach(from: start.location)
      for goal in goals {
        try budget.check()
        guard let cost = search.cost(of: reach, to: goal.location) else { continue }
        if cost.seconds < best?.seconds ?? .infinity { best = (start, goal, cost.seconds) }
      }
    }
    return best.map { ($0.start, $0.goal) }
  }

  /// A place of a category and the way to it.
  public struct Nearby: Hashable, Sendable {
    /// The place.
    public let place: PointOfInterest
    /// Its floor.
    public let floor: FloorID
    /// The length of the way in metres.
    public let distance: Double
    /// The time of the way in seconds.
    public let duration: Double
  }

  /// Finds the places of a category that are reached first.
  ///
  /// - Parameters:
  ///   - category: the category; `restroom` includes `restroom.female` and the like.
  ///   - from: the start.
  ///   - options: the options; closed places are left out where a departure is given.
  ///   - limit: the maximum number of places.
  ///   - budget: the limit on the searches.
  /// - Returns: the places, the nearest first.
  /// - Throws: ``RoutingError``.
  public func nearest(
    category: String,
    from: Waypoint,
    options: RouteOptions = RouteOptions(),
    limit: Int = 1,
    budget: SearchBudget = SearchBudget()
  ) throws(RoutingError) -> [Nearby] {
    var candidates: [(target: Target, floor: FloorID)] = []
    for (index, floor) in graph.floors.enumerated() {
      for place in floor.part.places
      where place.category == category || place.category.hasPrefix(category + ".") {
        if let target = target(of: place, floor: index) { candidates.append((target, floor.part.id)) }
      }
    }
    guard !candidates.isEmpty else {
      let known = Set(graph.places.map(\.place.category)).subtracting([""]).sorted()
      throw .unknownCategory(category, known: known)
    }
    let open = candidates.filter { isUsable($0.target, options) == nil }
    if open.isEmpty, let first = candidates.first, let error = isUsable(first.target, options) { throw error }
    var found: [Nearby] = []
    if let start = try targets(of: from, as: RouteEnd(.origin)).first {
      for search in searches(options) where found.isEmpty {
        let reach = search.reach(from: start.location)
        for (target, floor) in open {
          try budget.check()
          guard let place = target.place, let cost = search.cost(of: reach, to: target.location) else {
            continue
          }
          found.append(Nearby(place: place, floor: floor, distance: cost.meters, duration: cost.seconds))
        }
      }
    }
    guard !found.isEmpty else { throw noWay(options) }
    let ordered = found.enumerated().sorted { ($0.1.duration, $0.0) < ($1.1.duration, $1.0) }
    return ordered.prefix(limit).map(\.element)
  }

  /// Computes the ways between several starts and goals.
  ///
  /// - Parameters:
  ///   - from: the starts.
  ///   - to: the goals.
  ///   - options: the options.
  ///   - budget: the limit on the searches; a name that several places bear counts as many ends.
  /// - Returns: a row for each start with a way to each goal; nil where there is none.
  /// - Throws: ``RoutingError`` for the first end that is not found.
  public func matrix(
    from: [Waypoint],
    to: [Waypoint],
    options: RouteOptions = RouteOptions(),
    budget: SearchBudget = SearchBudget()
  ) throws(RoutingError) -> [[(distance: Double, duration: Double)?]] {
    var goals: [[Target]] = []
    for (index, goal) in to.enumerated() {
      goals.append(try targets(of: goal, as: RouteEnd(.destination, index: index)))
    }
    var starts: [[Target]] = []
    for (index, start) in from.enumerated() {
      starts.append(try targets(of: start, as: RouteEnd(.origin, index: index)))
    }
    try budget.allow(starts.reduce(0) { $0 + $1.count }, times: goals.reduce(0) { $0 + $1.count })
    var rows = starts.map { _ in goals.map { _ in nil as (distance: Double, duration: Double)? } }
    for search in searches(options) {
      for (index, start) in starts.enumerated() where rows[index].contains(where: { $0 == nil }) {
        let reaches = start.map { search.reach(from: $0.location) }
        for (column, goal) in goals.enumerated() where rows[index][column] == nil {
          try budget.check()
          let costs = reaches.flatMap { reach in goal.compactMap { search.cost(of: reach, to: $0.location) } }
          rows[index][column] = costs.min { $0.seconds < $1.seconds }.map { ($0.meters, $0.seconds) }
        }
      }
    }
    return rows
  }

  // MARK: Ends

  /// Returns the reason for which an end cannot be used; nil if it can.
  public func problem(with end: Waypoint) -> RoutingError? {
    do throws(RoutingError) {
      _ = try targets(of: end)
      return nil
    } catch {
      return error
    }
  }

  /// The maximum number of places of one name that are compared.
  private static let maximumNamesakes = 32

  /// Finds an end; an error about its position names the end.
  private func targets(of waypoint: Waypoint, as end: RouteEnd) throws(RoutingError) -> [Target] {
    do throws(RoutingError) { return try targets(of: waypoint) } catch { throw error.of(end) }
  }

  /// Finds an end: places by identifier, then by name, then entrances.
  func targets(of waypoint: Waypoint) throws(RoutingError) -> [Target] {
    switch waypoint {
    case .coordinate(let coordinate, let level):
      return [Target(location: try graph.location(of: coordinate, level: level))]
    case .place(let text):
      let all = graph.floors.enumerated().flatMap { index, floor in floor.part.places.map { (index, $0) } }
      var named = all.filter { $0.1.identifier == text }
      if named.isEmpty { named = all.filter { $0.1.name == text } }
      if named.isEmpty { named = all.filter { $0.1.name.lowercased() == text.lowercased() } }
      if !named.isEmpty {
        let found = named.prefix(Router.maximumNamesakes).compactMap { target(of: $0.1, floor: $0.0) }
        guard !found.isEmpty else { throw .unreachablePlace(text) }
        return found
      }
      let entrances = graph.floors.enumerated().flatMap { index, floor in
        floor.part.entrances.map { (index, $0) }
      }
      for (index, entrance) in entrances where entrance.identifier == text {
        let mesh = graph.floors[index].part.mesh
        guard let place = mesh.nearestPlace(to: entrance.point, within: WalkableGraph.connectorReach) else {
          throw .unreachablePlace(text)
        }
        let location = WalkableGraph.Location(floor: index, place: place)
        return [Target(location: location, name: entrance.identifier, isEntrance: true)]
      }
      let names = all.flatMap { [$0.1.name, $0.1.identifier] } + entrances.map(\.1.identifier)
      throw .unknownPlace(text, nearest: Spelling.nearest(to: text, among: names))
    }
  }

  private func target(of place: PointOfInterest, floor: Int) -> Target? {
    graph.floors[floor].part.mesh.nearestPlace(to: place.point, within: WalkableGraph.placeReach).map {
      Target(location: WalkableGraph.Location(floor: floor, place: $0), name: place.name, place: place)
    }
  }

  /// The goals that can be used under the options; an error names the reason why none can.
  private func usable(_ targets: [Target], _ options: RouteOptions) throws(RoutingError) -> [Target] {
    let usable = targets.filter { isUsable($0, options) == nil }
    if usable.isEmpty, let first = targets.first, let error = isUsable(first, options) { throw error }
    return usable
  }

  private func isUsable(_ target: Target, _ options: RouteOptions) -> RoutingError? {
    guard let place = target.place else { return nil }
    if options.isAccessible, !place.isAccessible { return .inaccessiblePlace(place.name) }
    if let time = options.departure, let hours = place.hours,
      !hours.contains(time, in: graph.localTime)
    {
      return .closed(place.name)
    }
    return nil
  }
}
