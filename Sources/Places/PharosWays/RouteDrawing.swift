import PharosModel
import PharosSpace

/// Draws a plan as a route: finds its turns, doors and places, and cuts it into steps.
struct RouteDrawing {
  let graph: WalkableGraph
  let plan: WayPlan
  let start: Router.Target
  let goal: Router.Target

  /// The distance from a line up to which the bends of a way are no turns.
  ///
  /// - Units: metres.
  private static let straightness = 0.75
  /// The distance within which a door, a place's edge and a turn are one manoeuvre.
  ///
  /// - Units: metres.
  private static let nearness = 1.5

  init(_ graph: WalkableGraph, _ plan: WayPlan, from start: Router.Target, to goal: Router.Target) {
    self.graph = graph
    self.plan = plan
    self.start = start
    self.goal = goal
  }

  /// Something that happens on a walk.
  private struct Event {
    var kind: Maneuver.Kind
    var name = ""
    /// The point: at a corner of the way, or on the line after it.
    var point: Point
    /// The index of the way's corner at or before the point.
    var index: Int
    /// The distance from the start of the walk in metres.
    var meters: Double
    /// The people that what it leads through is meant for.
    var access = Access.everyone
  }

  /// The route.
  var route: WalkingRoute {
    var steps: [RouteStep] = []
    var bearing = 0.0
    var isFirst = true
    for (number, part) in plan.parts.enumerated() {
      switch part {
      case .walk(let floor, let corners, let meters):
        let points = corners.map(\.point)
        let before: WayPlan.Part? = number > 0 ? plan.parts[number - 1] : nil
        let isLast = number == plan.parts.count - 1
        // A walk of no length between two connectors is no step.
        if meters < 0.05, !isFirst, !isLast { continue }
        steps += walk(floor, points, after: before, isFirst: isFirst, isLast: isLast, &bearing)
        isFirst = false
      case .ride(let connector, let from, let to, let meters, let seconds):
        steps.append(ride(connector, from, to, meters, seconds, bearing))
      }
    }
    steps.append(arrival(bearing))
    return WalkingRoute(distance: plan.distance, duration: plan.duration, steps: steps)
  }

  // MARK: Walks

  private func walk(
    _ floor: Int,
    _ points: [Point],
    after before: WayPlan.Part?,
    isFirst: Bool,
    isLast: Bool,
    _ bearing: inout Double
  ) -> [RouteStep] {
    var lengths = [0.0]
    for (from, to) in zip(points, points.dropFirst()) {
      lengths.append(lengths[lengths.count - 1] + from.distance(to: to))
    }
    let events =
      [beginning(floor, points[0], after: before, isFirst: isFirst)]
      + merged(
        turns(points, lengths) + doors(floor, points, lengths) + gates(floor, points, lengths)
          + edges(floor, points, lengths, isFirst, isLast)
      )
    var steps: [RouteStep] = []
    for (number, event) in events.enumerated() {
      let end = number + 1 < events.count ? events[number + 1] : nil
      var part = [event.point]
      let last = end?.index ?? points.count - 1
      if event.index < last { part += points[event.index + 1...last] }
      if let end, end.point != part.last { part.append(end.point) }
      if part.count == 1 { part.append(points[points.count - 1]) }
      let meters = (end?.meters ?? lengths[lengths.count - 1]) - event.meters
      let after = RouteDrawing.bearing(part) ?? bearing
      let hasTurn = event.kind != .depart && !(event.kind == .enter && number == 0)
      let isTurnKnown = hasTurn && event.kind != .resume && !(number == 0 && event.kind == .enter)
      steps.append(
        step(
          floor,
          part,
          Maneuver(
            kind: event.kind,
            modifier: isTurnKnown ? Maneuver.Modifier(degrees: after - bearing) : nil,
            bearingBefore: number == 0 && isFirst ? 0 : RouteDrawing.whole(bearing),
            bearingAfter: RouteDrawing.whole(after),
            point: event.point,
            coordinate: coordinate(floor, event.point),
            level: graph.floors[floor].part.id.level,
            name: event.name,
            access: event.access
          ),
          meters: meters,
          seconds: meters / TravelTime.walkingSpeed
        )
      )
      bearing = RouteDrawing.bearing(part.reversed()).map { $0 + 180 } ?? after
      bearing -= 360 * (bearing / 360).rounded(.down)
    }
    return steps
  }

  /// Returns what begins a walk: a departure, an entrance, or what follows a connector.
  private func beginning(
    _ floor: Int,
    _ point: Point,
    after before: WayPlan.Part?,
    isFirst: Bool
  ) -> Event {
    var first = Event(kind: isFirst ? .depart : .resume, point: point, index: 0, meters: 0)
    var entered: String?
    if isFirst {
      if start.isEntrance { entered = graph.floors[floor].part.id.building }
    } else if case .ride(let connector, let from, let to, _, _) = before {
      let stops = graph.connectors[connector].stops
      if stops[from].floor.building != stops[to].floor.building { entered = stops[to].floor.building }
    }
    if let entered {
      first.kind = .enter
      first.name = graph.buildings[entered] ?? ""
    }
    return first
  }

  /// The corners at which the way turns.
  private func turns(_ points: [Point], _ lengths: [Double]) -> [Event] {
    let kept = RouteDrawing.simplified(points, 0...points.count - 1)
    var events: [Event] = []
    for (number, index) in kept.enumerated() where number > 0 && number < kept.count - 1 {
      let before = RouteDrawing.bearing([points[kept[number - 1]], points[index]])
      let after = RouteDrawing.bearing([points[index], points[kept[number + 1]]])
      guard let before, let after, Maneuver.Modifier(degrees: after - before) != .straight else { continue }
      events.append(Event(kind: .turn, point: points[index], index: index, meters: lengths[index]))
    }
    return events
  }

  /// The indices of the corners that remain when bends of less than a hand's breadth are left out.
  ///
  /// - Source: Douglas and Peucker, Cartographica 10 (1973).
  private static func simplified(_ points: [Point], _ range: ClosedRange<Int>) -> [Int] {
    var kept: Set<Int> = [range.lowerBound, range.upperBound]
    var waiting = [range]
    while let range = waiting.popLast() {
      guard range.count > 2 else { continue }
      let line = Segment(from: points[range.lowerBound], to: points[range.upperBound])
      var farthest = (index: range.lowerBound, distance: RouteDrawing.straightness)
      for index in range.lowerBound + 1..<range.upperBound {
        let distance = line.distance(to: points[index])
        if distance > farthest.distance { farthest = (index, distance) }
      }
      guard farthest.index > range.lowerBound else { continue }
      kept.insert(farthest.index)
      waiting.append(range.lowerBound...farthest.index)
      waiting.append(farthest.index...range.upperBound)
    }
    return kept.sorted()
  }

  /// The doors that the way goes through.
  private func doors(_ floor: Int, _ points: [Point], _ lengths: [Double]) -> [Event] {
    graph.floors[floor].part.doors.flatMap { door in
      RouteDrawing.crossings(of: points, lengths, with: door.segment, reach: 0.05).map { crossing in
        Event(
          kind: .door,
          name: door.name,
          point: crossing.point,
          index: crossing.index,
          meters: crossing.meters,
          access: door.access
        )
      }
    }
  }

  /// The lines without a door at which the way gets into an area that is not meant for everyone, or out of it.
  private func gates(_ floor: Int, _ points: [Point], _ lengths: [Double]) -> [Event] {
    graph.floors[floor].part.mesh.gates.flatMap { gate in
      RouteDrawing.crossings(of: points, lengths, with: gate.segment, reach: 0.01).map { crossing in
        Event(
          kind: .resume,
          point: crossing.point,
          index: crossing.index,
          meters: crossing.meters,
          access: gate.access
        )
      }
    }
  }

  /// The points at which the way leaves the place that it starts in and enters the one that it leads to.
  private func edges(
    _ floor: Int,
    _ points: [Point],
    _ lengths: [Double],
    _ isFirst: Bool,
    _ isLast: Bool
  ) -> [Event] {
    func crossings(_ area: Area) -> [(point: Point, index: Int, meters: Double)] {
      area.sides.flatMap { RouteDrawing.crossings(of: points, lengths, with: $0, reach: 0) }
        .sorted { $0.meters < $1.meters }
    }
    var events: [Event] = []
    if isFirst, let place = start.place, let area = place.area, area.contains(points[0]),
      let crossing = crossings(area).first
    {
      events.append(
        Event(
          kind: .leave,
          name: place.name,
          point: crossing.point,
          index: crossing.index,
          meters: crossing.meters
        )
      )
    }
    if isLast, let place = goal.place, let area = place.area, area.contains(points[points.count - 1]),
      let crossing = crossings(area).last
    {
      events.append(
        Event(
          kind: .enter,
          name: place.name,
          point: crossing.point,
          index: crossing.index,
          meters: crossing.meters
        )
      )
    }
    return events
  }

  /// The points at which a way passes from one side of a line to the other, within its ends.
  private static func crossings(
    of points: [Point],
    _ lengths: [Double],
    with line: Segment,
    reach: Double
  ) -> [(point: Point, index: Int, meters: Double)] {
    let along = line.end - line.start
    let length = along.length
    guard let forward = along.direction else { return [] }
    func isWithin(_ point: Point) -> Bool {
      let position = forward.dot(point - line.start)
      return position >= -reach && position <= length + reach
    }
    var found: [(point: Point, index: Int, meters: Double)] = []
    // The last corner that lies clearly on one side, or on the line beyond its ends: there the way runs along a wall, behind
    // which it came or goes between the ends.
    var last: (index: Int, side: Double)?
    // The corners since then that lie on the line between its ends.
    var touches: [Int] = []
    for index in points.indices {
      var side = forward.cross(points[index] - line.start)
      if side.magnitude <= 0.005 {
        guard !isWithin(points[index]) else {
          touches.append(index)
          continue
        }
        side = 0
      }
      defer {
        last = (index, side)
        touches = []
      }
      guard let before = last, before.side * side < 0 || (before.side == 0) != (side == 0) else { continue }
      // A way that bends on the line itself passes it at a corner between the line's ends.
      if let first = touches.first, let latest = touches.last {
        let corner = before.side == 0 ? latest : first
        found.append((points[corner], corner, lengths[corner]))
        continue
      }
      guard before.side != 0, side != 0 else { continue }
      let share = before.side / (before.side - side)
      let point = points[before.index].interpolated(to: points[index], share: share)
      guard isWithin(point) else { continue }
      found.append((point, before.index, lengths[before.index] + points[before.index].distance(to: point)))
    }
    return found
  }

  /// Makes one event of those that lie close together: an edge of a place hides a door, and both hide a turn.
  private func merged(_ events: [Event]) -> [Event] {
    let ranks: [Maneuver.Kind: Int] = [.turn: 0, .door: 1, .leave: 2, .enter: 3]
    var merged: [Event] = []
    for event in events.enumerated().sorted(by: { ($0.1.meters, $0.0) < ($1.1.meters, $1.0) }).map(\.element)
    {
      guard let last = merged.last, event.meters - last.meters <= RouteDrawing.nearness else {
        merged.append(event)
        continue
      }
      if event.kind == .turn, last.kind == .turn { merged.append(event) }
      if ranks[event.kind] ?? 0 > ranks[last.kind] ?? 0 { merged[merged.count - 1] = event }
      let access = max(event.access, last.access)
      merged[merged.count - 1].access = max(merged[merged.count - 1].access, access)
    }
    return merged
  }

  // MARK: Rides and the arrival

  private func ride(
    _ number: Int,
    _ from: Int,
    _ to: Int,
    _ meters: Double,
    _ seconds: Double,
    _ bearing: Double
  ) -> RouteStep {
    let connector = graph.connectors[number]
    let floor = graph.stops[number][from]?.floor ?? 0
    let point = connector.stops[from].point
    let kind: Maneuver.Kind =
      switch connector.kind {
      case .stairs: .stairs
      case .lift: .lift
      case .escalator: .escalator
      case .ramp: .ramp
      }
    return step(
      floor,
      [point],
      Maneuver(
        kind: kind,
        bearingBefore: RouteDrawing.whole(bearing),
        bearingAfter: RouteDrawing.whole(bearing),
        point: point,
        coordinate: coordinate(floor, point),
        level: connector.stops[from].floor.level,
        targetLevel: connector.stops[to].floor.level,
        name: "",
        access: connector.access
      ),
      meters: meters,
      seconds: seconds
    )
  }

  private func arrival(_ bearing: Double) -> RouteStep {
    let floor = goal.location.floor
    let point = goal.location.place.point.point
    var side: Maneuver.Modifier?
    if let place = goal.place, place.point.distance(to: point) > 1,
      let facing = RouteDrawing.bearing([point, place.point])
    {
      side = Maneuver.Modifier(degrees: facing - bearing)
    }
    return step(
      floor,
      [point],
      Maneuver(
        kind: .arrive,
        modifier: side,
        bearingBefore: RouteDrawing.whole(bearing),
        bearingAfter: 0,
        point: point,
        coordinate: coordinate(floor, point),
        level: graph.floors[floor].part.id.level,
        name: goal.name
      ),
      meters: 0,
      seconds: 0
    )
  }

  private func step(
    _ floor: Int,
    _ points: [Point],
    _ maneuver: Maneuver,
    meters: Double,
    seconds: Double
  ) -> RouteStep {
    RouteStep(
      maneuver: maneuver,
      distance: meters,
      duration: seconds,
      floor: graph.floors[floor].part.id,
      points: points,
      geometry: points.map { coordinate(floor, $0) }
    )
  }

  private func coordinate(_ floor: Int, _ point: Point) -> Coordinate {
    let plane = graph.floors[floor].part.plane
    return plane.coordinate(of: point) ?? plane.origin
  }

  /// The direction in which a way begins, clockwise from north, over its first metre; nil for one without length.
  static func bearing(_ points: [Point]) -> Double? {
    guard let first = points.first else { return nil }
    let far = points.first { $0.distance(to: first) >= 1 } ?? points[points.count - 1]
    let along = far - first
    guard along.length > 1e-6 else { return nil }
    let degrees = Trigonometry.degrees(Trigonometry.angle(y: along.x, x: along.y))
    return degrees < 0 ? degrees + 360 : degrees
  }

  private static func whole(_ degrees: Double) -> Int { Int(degrees.rounded()) % 360 }
}
