package import PharosPlaces
package import PharosReports

/// Where a surveyor was between the waypoints: as far along as the steps say, not at an even pace.
///
/// A surveyor who waits for two seconds between two waypoints is placed up to two metres off by straight time. Waypoints lie at
/// turns, so that the straight line between them is the path unless the steps lead around a corner; then the chain of
/// steps is turned and stretched until its ends meet the waypoints.
package struct WalkedPath {
  /// A time and the place at that time.
  struct Knot {
    var time: Timestamp
    var point: Point
    /// Which stretch between two waypoints leads here.
    var stretch: Int
  }

  /// Places in order of time.
  private(set) var knots: [Knot] = []
  /// Stretches that follow the steps.
  package private(set) var pacedStretches = 0
  /// Stretches taken at an even pace.
  package private(set) var evenStretches = 0

  /// How many steps a stretch must have for its pace to count.
  static let fewestSteps = 3
  /// How far the chain of steps may be turned to fit the waypoints.
  ///
  /// - Units: radians. A compass indoors errs by 22° at the 95th percentile; a chain turned by more is no witness.
  static let largestTurn: Float = 0.8
  /// How far the chain may be stretched, or shrunk by its inverse.
  static let largestStretch = 1.7
  /// How far the chain must leave the straight line, as a share of that line, to be taken for a way around a corner.
  static let smallestBow = 0.2

  /// Makes the path of a walk.
  ///
  /// - Parameters:
  ///   - waypoints: in any order.
  ///   - steps: in order of time.
  package init(waypoints: [SurveyWalk.Waypoint], steps: [Step]) {
    let sorted = waypoints.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
    guard let first = sorted.first else { return }
    knots = [Knot(time: first.time, point: first.point, stretch: 0)]
    var next = 0
    for (number, (start, end)) in zip(sorted, sorted.dropFirst()).enumerated() {
      while next < steps.count, steps[next].time <= start.time { next += 1 }
      var last = next
      while last < steps.count, steps[last].time < end.time { last += 1 }
      append(start, end, steps[next..<last], stretch: number)
      next = last
    }
  }

  /// The time from the first to the last waypoint; nil with fewer than two.
  package var span: ClosedRange<Timestamp>? {
    guard let first = knots.first, let last = knots.last, knots.count > 1 else { return nil }
    return first.time...last.time
  }

  /// The way from waypoint to waypoint in metres.
  package var length: Double {
    zip(knots, knots.dropFirst()).reduce(0) { $0 + $1.0.point.distance(to: $1.1.point) }
  }

  /// Where the surveyor was; nil before the first and after the last waypoint.
  ///
  /// - Complexity: O(log knots).
  package func position(at time: Timestamp) -> Point? {
    guard let span, span.contains(time) else { return nil }
    var low = 0
    var high = knots.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if knots[middle].time <= time { low = middle } else { high = middle }
    }
    let (before, after) = (knots[low], knots[high])
    let span0 = after.time - before.time
    let share = span0 == .zero ? 1 : (time - before.time) / span0
    return before.point.interpolated(to: after.point, share: share)
  }

  private mutating func append(
    _ start: SurveyWalk.Waypoint,
    _ end: SurveyWalk.Waypoint,
    _ steps: ArraySlice<Step>,
    stretch: Int
  ) {
    defer { knots.append(Knot(time: end.time, point: end.point, stretch: stretch)) }
    let whole = steps.reduce(0) { $0 + Double($1.length) }
    guard steps.count >= WalkedPath.fewestSteps, whole > 0, end.time > start.time else {
      evenStretches += 1
      return
    }
    pacedStretches += 1
    let chain = WalkedPath.chain(steps, from: start.point, to: end.point)
    // The stretch ends amid a step as often as not: half a step at each end belongs to its neighbours.
    var walked = 0.0
    var time = max(start.time, steps[steps.startIndex].began)
    if time > start.time { knots.append(Knot(time: time, point: start.point, stretch: stretch)) }
    for (index, step) in zip(steps.indices, steps) {
      walked += Double(step.length)
      let share = walked / whole
      let place = chain?[index - steps.startIndex] ?? start.point.interpolated(to: end.point, share: share)
      time = max(time, step.time)
      knots.append(Knot(time: time, point: place, stretch: stretch))
    }
  }

  /// Where each step ends, once their chain is turned and stretched to lead from one place to another; nil where it leads
  /// straight, or would have to be bent too far.
  private static func chain(_ steps: ArraySlice<Step>, from start: Point, to end: Point) -> [Point]? {
    var ends: [Point] = []
    var place = Point.origin
    var reference: Heading.Reference?
    for step in steps {
      guard let heading = step.heading, reference == nil || reference == heading.reference else { return nil }
      reference = heading.reference
      let (east, north) = Bearing.eastAndNorth(heading.radians)
      place = place + Point(x: Double(east), y: Double(north)) * Double(step.length)
      ends.append(place)
    }
    let way = end - start
    guard way.length > 2, place.length > 2 else { return nil }
    let bow = ends.reduce(0) { max($0, (place.cross($1) / place.length).magnitude) }
    guard bow > smallestBow * place.length else { return nil }
    let scale = way.length / place.length
    guard scale < largestStretch, scale > 1 / largestStretch else { return nil }
    // Turning and stretching is multiplying by a complex number: (way ÷ place).
    let square = place.dot(place)
    let cosine = place.dot(way) / square
    let sine = place.cross(way) / square
    if reference == .north {
      let turn = Bearing.wrapped(
        Bearing.of(east: Float(way.x), north: Float(way.y))
          - Bearing.of(east: Float(place.x), north: Float(place.y))
      )
      guard turn.magnitude <= largestTurn else { return nil }
    }
    return ends.map { start + Point(x: cosine * $0.x - sine * $0.y, y: sine * $0.x + cosine * $0.y) }
  }
}
