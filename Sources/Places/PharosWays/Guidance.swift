public import PharosModel
public import PharosSpace

/// Guides a subject along a route: follows its fixes, gives the next instruction, finds a new route after the subject has
/// left the old one, and notices the arrival.
///
/// It is a function of the fixes alone: the same fixes give the same guidance.
public struct Guidance: Sendable {
  /// A position of the subject.
  public struct Fix: Hashable, Sendable {
    /// The time of the position.
    public var time: Timestamp
    /// The position.
    public var coordinate: Coordinate
    /// The level.
    public var level: Int
    /// The radius around the position in metres.
    public var accuracy: Double

    /// Makes a fix.
    public init(time: Timestamp, coordinate: Coordinate, level: Int, accuracy: Double) {
      self.time = time
      self.coordinate = coordinate
      self.level = level
      self.accuracy = accuracy
    }
  }

  /// A change in the guidance.
  public enum Event: Hashable, Sendable {
    /// The first route was found.
    case started
    /// A step of the route was reached, given by its index.
    case step(Int)
    /// The subject left the route, and a new one was found.
    case rerouted
    /// The subject left the route, and there is no way from where it is.
    case lost(RoutingError)
    /// The subject reached the destination.
    case arrived
  }

  /// The progress on the route.
  public struct Progress: Hashable, Sendable {
    /// The index of the step that the subject is on.
    public var step: Int
    /// The way to the next manoeuvre in metres.
    public var toNextManeuver: Double
    /// The way to the destination in metres.
    public var distanceRemaining: Double
    /// The time to the destination in seconds.
    public var durationRemaining: Double
    /// The distance of the last fix from the route in metres.
    public var deviation: Double

    /// Makes a progress.
    package init(
      step: Int,
      toNextManeuver: Double,
      distanceRemaining: Double,
      durationRemaining: Double,
      deviation: Double
    ) {
      self.step = step
      self.toNextManeuver = toNextManeuver
      self.distanceRemaining = distanceRemaining
      self.durationRemaining = durationRemaining
      self.deviation = deviation
    }
  }

  private enum State: Sendable {
    /// No fix has given a route.
    case waiting
    /// On a route; `leftAt` is the time of the first fix off it, if the last ones were.
    case following(WalkingRoute, Progress, leftAt: Timestamp?)
    /// At the destination.
    case arrived(WalkingRoute)
  }

  private let router: Router
  private var destination: Waypoint
  private let options: RouteOptions
  /// The largest distance at which a poor accuracy makes a subject arrive.
  ///
  /// - Units: metres.
  private let largestReach: Double
  private var state = State.waiting
  /// The fix from which the present route was found.
  private var origin: Fix?

  /// The time for which fixes must lie off the route before another one is searched.
  ///
  /// One fix alone may be wrong. With a fix a second, the new route comes within two seconds of leaving the old one.
  static let patience = TimeSpan.seconds(1)
  /// The distance beyond a fix's own accuracy at which it lies off the route.
  ///
  /// - Units: metres. Half the width of a corridor.
  static let tolerance = 3.0
  /// The distance from the destination at which a subject has arrived, if its accuracy does not ask for more.
  ///
  /// - Units: metres.
  package static let arrivalDistance = 3.0
  /// The largest distance at which a poor accuracy makes a subject arrive at a place.
  ///
  /// - Units: metres.
  static let largestArrivalDistance = 8.0
  /// The distance by which fixes may fall back along the route.
  ///
  /// - Units: metres.
  static let fallback = 15.0

  /// Starts to guide to a destination; the first fix gives the route.
  public init(_ router: Router, to destination: Waypoint, options: RouteOptions = RouteOptions()) {
    self.init(router, to: destination, options: options, largestReach: Guidance.largestArrivalDistance)
  }

  /// Starts to guide to where another subject is, at which an arrival is one within ``arrivalDistance`` of fixes.
  package init(_ router: Router, toSubjectAt destination: Waypoint, options: RouteOptions) {
    self.init(router, to: destination, options: options, largestReach: Guidance.arrivalDistance)
  }

  private init(_ router: Router, to destination: Waypoint, options: RouteOptions, largestReach: Double) {
    self.router = router
    self.destination = destination
    self.options = options
    self.largestReach = largestReach
  }

  /// Finds a new route, from a fix to another destination; without one, the old route and destination stay.
  package mutating func redirect(to destination: Waypoint, from fix: Fix) -> [Event] {
    guard !hasArrived else { return [] }
    let before = self.destination
    self.destination = destination
    let events = start(fix, isFirst: route == nil)
    if case .lost? = events.first { self.destination = before }
    return events
  }

  /// Ends the guidance at the destination, where the subject is.
  package mutating func arrive() {
    if let route { state = .arrived(route) }
  }

  /// The present route; nil before the first fix.
  public var route: WalkingRoute? {
    switch state {
    case .waiting: nil
    case .following(let route, _, _), .arrived(let route): route
    }
  }

  /// The progress on the route; nil before the first fix and after the arrival.
  public var progress: Progress? {
    guard case .following(_, let progress, _) = state else { return nil }
    return progress
  }

  /// Indicates whether the subject has arrived.
  public var hasArrived: Bool {
    if case .arrived = state { true } else { false }
  }

  /// Takes a fix and returns what it changes.
  public mutating func update(_ fix: Fix) -> [Event] {
    switch state {
    case .arrived: return []
    case .waiting: return start(fix, isFirst: true)
    case .following(let route, let before, let leftAt):
      guard let progress = Guidance.progress(of: fix, on: route, after: before, router),
        progress.deviation <= fix.accuracy + Guidance.tolerance
      else {
        let since = leftAt ?? fix.time
        guard fix.time - since >= Guidance.patience else {
          state = .following(route, before, leftAt: since)
          return []
        }
        return start(fix, isFirst: false)
      }
      let reach = max(Guidance.arrivalDistance, min(fix.accuracy, largestReach))
      if progress.distanceRemaining <= reach, fix.level == route.steps.last?.floor.level {
        state = .arrived(route)
        return [.arrived]
      }
      state = .following(route, progress, leftAt: nil)
      return progress.step > before.step ? [.step(progress.step)] : []
    }
  }

  private mutating func start(_ fix: Fix, isFirst: Bool) -> [Event] {
    var options = options
    options.alternatives = 0
    if options.departure != nil { options.departure = fix.time }
    do throws(RoutingError) {
      let start = Waypoint.coordinate(fix.coordinate, level: fix.level)
      guard let route = try router.routes(from: start, to: destination, options: options).first else {
        return []
      }
      origin = fix
      let progress = Progress(
        step: 0,
        toNextManeuver: route.steps.first?.distance ?? 0,
        distanceRemaining: route.distance,
        durationRemaining: route.duration,
        deviation: 0
      )
      if route.distance <= Guidance.arrivalDistance {
        state = .arrived(route)
        return isFirst ? [.started, .arrived] : [.arrived]
      }
      state = .following(route, progress, leftAt: nil)
      return [isFirst ? .started : .rerouted]
    } catch {
      // The old route stays, and the next fix is tried.
      if case .following(let route, let progress, _) = state {
        state = .following(route, progress, leftAt: fix.time)
      }
      return [.lost(error)]
    }
  }

  /// Projects a fix onto a route, not farther back than some metres; nil if the route does not use its level from there
  /// on.
  private static func progress(
    of fix: Fix,
    on route: WalkingRoute,
    after before: Progress,
    _ router: Router
  ) -> Progress? {
    let done = route.distance - before.distanceRemaining
    var best: (step: Int, along: Double, deviation: Double)?
    var passed = 0.0
    var seconds = 0.0
    var secondsAtStep = 0.0
    for (number, step) in route.steps.enumerated() {
      defer {
        passed += step.distance
        seconds += step.duration
      }
      // On a ride, any level between its ends is on the route.
      if let target = step.maneuver.targetLevel {
        let levels = min(step.floor.level, target)...max(step.floor.level, target)
        let isCurrent = number == before.step || number == before.step + 1
        if isCurrent, levels.contains(fix.level), fix.level != step.floor.level, fix.level != target {
          best = best ?? (number, 0, 0)
          if best?.step == number { secondsAtStep = seconds }
        }
        continue
      }
      guard step.floor.level == fix.level, number >= before.step - 1,
        passed + step.distance >= done - fallback,
        let point = router.graph.point(of: fix.coordinate, on: step.floor)
      else { continue }
      var along = 0.0
      for (from, to) in zip(step.points, step.points.dropFirst()) {
        let near = Segment(from: from, to: to).nearest(to: point)
        let deviation = near.distance(to: point)
        if deviation < (best?.deviation ?? .infinity) - 1e-9 {
          best = (number, min(step.distance, along + from.distance(to: near)), deviation)
          secondsAtStep = seconds
        }
        along += from.distance(to: to)
      }
    }
    guard let best else { return nil }
    let start = route.steps[..<best.step].reduce(0) { $0 + $1.distance }
    let step = route.steps[best.step]
    let share = step.distance > 0 ? best.along / step.distance : 0
    return Progress(
      step: best.step,
      toNextManeuver: step.distance - best.along,
      distanceRemaining: max(0, route.distance - start - best.along),
      durationRemaining: max(0, route.duration - secondsAtStep - step.duration * share),
      deviation: best.deviation
    )
  }
}

/// The direction of a place as a subject sees it.
public struct RelativeDirection: Hashable, Sendable {
  /// The side on which a place lies.
  public enum Side: String, CaseIterable, Hashable, Sendable {
    /// Within 45° of straight ahead.
    case ahead
    /// To the left.
    case left
    /// To the right.
    case right
    /// Within 45° of straight back.
    case behind
  }

  /// The distance as the crow flies in metres.
  public let distance: Double
  /// The angle clockwise from the heading, −180 to 180 degrees.
  public let degrees: Double
  /// The side.
  public let side: Side

  /// Computes the direction from a position and a heading to a place.
  ///
  /// - Parameters:
  ///   - position: the position.
  ///   - heading: the direction that the subject faces, in degrees clockwise from north.
  ///   - place: the place.
  public init(from position: Coordinate, heading: Double, to place: Coordinate) {
    let point = GroundPlane(origin: position).point(of: place) ?? .origin
    distance = position.distance(to: place)
    let bearing = Trigonometry.degrees(Trigonometry.angle(y: point.x, x: point.y))
    let turn = bearing - heading
    degrees = turn - 360 * (turn / 360).rounded()
    side =
      switch degrees.magnitude {
      case ...45: .ahead
      case 135...: .behind
      default: degrees < 0 ? .left : .right
      }
  }
}

extension WalkableGraph {
  /// The place of a coordinate on a floor's plane.
  fileprivate func point(of coordinate: Coordinate, on floor: FloorID) -> Point? {
    floors.first { $0.part.id == floor }?.part.plane.point(of: coordinate)
  }
}

extension Guidance {
  /// The consequences of the fixes so far.
  ///
  /// The route itself is not part of it: it is found again from its first fix.
  package struct Standing: Hashable, Sendable {
    /// The fix from which the route was found.
    package var origin: Fix
    /// The progress on it.
    package var progress: Progress
    /// The time of the first fix off the route, if the last ones were.
    package var leftAt: Timestamp?

    /// Makes a standing.
    package init(origin: Fix, progress: Progress, leftAt: Timestamp? = nil) {
      (self.origin, self.progress, self.leftAt) = (origin, progress, leftAt)
    }
  }

  /// The standing on a route; nil before the first fix and after the arrival.
  package var standing: Standing? {
    guard case .following(_, let progress, let leftAt) = state, let origin else { return nil }
    return Standing(origin: origin, progress: progress, leftAt: leftAt)
  }

  /// Goes on exactly from a standing that was on the same graph.
  ///
  /// - Returns: false if there is no such route; nothing has changed then.
  package mutating func restore(_ standing: Standing) -> Bool {
    var restored = self
    _ = restored.start(standing.origin, isFirst: true)
    guard case .following(let route, _, _) = restored.state,
      route.steps.indices.contains(standing.progress.step)
    else { return false }
    restored.state = .following(route, standing.progress, leftAt: standing.leftAt)
    self = restored
    return true
  }
}
