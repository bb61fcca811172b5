import PharosFixes
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import Testing

/// A terminal of 360 by 140 m without a radio in it, and walks through it with visual positioning.
struct VisualHall {
  static let observer: ObserverID = .name("phone")
  static let start = Timestamp(seconds: 1_750_000_000)
  /// The corners of a route of 1.1 km.
  static let route = [
    Point(x: 20, y: 20), Point(x: 320, y: 20), Point(x: 320, y: 120), Point(x: 60, y: 120),
    Point(x: 60, y: 60),
    Point(x: 260, y: 60), Point(x: 260, y: 90), Point(x: 120, y: 90),
  ]

  /// The speed of the walks along it.
  ///
  /// - Units: metres a second.
  private static let speed = 1.3

  let ground: LocatableVenue
  let plane: FloorPlane

  init() throws {
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    plane = .ground(GroundPlane(origin: origin))
    let floor = Floor(
      level: 0,
      plane: plane,
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: Point(x: 360, y: 140)))]
    )
    ground = LocatableVenue(
      venue: Venue(identifier: "terminal", buildings: [Building(identifier: "main", floors: [floor])])
    )
  }

  /// A walk along the route.
  func walk(
    _ errors: VisualWalk.Errors = VisualWalk.Errors(),
    hasSteps: Bool = true,
    scanDistance: Double = 150,
    seed: UInt64
  ) -> VisualWalk {
    let stages = zip(VisualHall.route, VisualHall.route.dropFirst()).map { from, to in
      VisualWalk.Stage(to: to, from: from, speed: VisualHall.speed)
    }
    return VisualWalk(
      from: VisualHall.route[0],
      stages,
      on: plane,
      errors: errors,
      scanDistance: scanDistance,
      hasSteps: hasSteps,
      seed: seed
    )
  }

  /// The way along the route of a walk at a time, in metres, and the place there, which the walk sways about.
  static func progress(at time: TimeSpan) -> (way: Double, place: Point) {
    let way = max(0, speed * time.seconds)
    var begin = 0.0
    for (from, to) in zip(route, route.dropFirst()) {
      let length = from.distance(to: to)
      if way <= begin + length { return (way, from.interpolated(to: to, share: (way - begin) / length)) }
      begin += length
    }
    return (begin, route[route.count - 1])
  }

  /// The fixes that a locator makes of sensings, fetched as they come.
  func fixes(_ sensings: [Sensing], seed: UInt64 = 7) -> (fixes: [FixEstimate], locator: Locator) {
    var locator = Locator(ground: ground, seed: seed)
    var fixes: [FixEstimate] = []
    for sensing in sensings {
      locator.receive(sensing)
      while let fix = locator.nextFix() { fixes.append(fix) }
    }
    if let last = sensings.last { locator.advance(to: last.decidedAt + .seconds(2)) }
    while let fix = locator.nextFix() { fixes.append(fix) }
    return (fixes, locator)
  }

  /// The distances of fixes from the truth of a walk, the least first.
  func errors(_ fixes: [FixEstimate], _ walk: VisualWalk) -> [Double] {
    fixes.compactMap { fix in
      let time = fix.time - VisualHall.start
      return time > walk.duration ? nil : fix.point.distance(to: walk.place(at: time))
    }.sorted()
  }
}

extension [Double] {
  /// The value below which a share of sorted numbers lies.
  func quantile(_ share: Double) -> Double {
    isEmpty ? .infinity : self[Swift.min(count - 1, Int(Double(count) * share))]
  }
}
