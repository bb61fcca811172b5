import PharosFixes
import PharosModel
import PharosPipeline
import PharosSimulatedWorlds
import PharosSimulation
import PharosSpace
import PharosWays

/// A terminal of 360 by 140 m without a radio in it.
private struct Terminal {
  static let observer: ObserverID = .name("phone")
  static let start = Timestamp(seconds: 1_750_000_000)
  /// The corners of a route of 1.1 km.
  static let route = [
    Point(x: 20, y: 20), Point(x: 320, y: 20), Point(x: 320, y: 120), Point(x: 60, y: 120),
    Point(x: 60, y: 60),
    Point(x: 260, y: 60), Point(x: 260, y: 90), Point(x: 120, y: 90),
  ]

  let ground: LocatableVenue
  let plane: FloorPlane

  init?() {
    guard let origin = Coordinate(latitude: 52.5, longitude: 13.4) else { return nil }
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

  /// The events that stage two makes of a walk, on an itinerary or without one.
  func events(_ sensings: [Sensing], along route: [Point]?) -> [Event] {
    var stage = StageTwo(site: Site(stream: "s"), venues: [ground])
    var events: [Event] = []
    if let route {
      let waypoints = route.compactMap { plane.coordinate(of: $0) }
        .map { Itinerary.Waypoint(latitude: $0.latitude, longitude: $0.longitude) }
      stage.apply(
        .setItinerary(subject: .observer(Terminal.observer), Itinerary(waypoints)),
        at: Terminal.start,
        into: &events
      )
    }
    for sensing in sensings { stage.restore(.sensing(sensing), into: &events) }
    if let last = sensings.last { stage.advance(to: last.decidedAt + .seconds(2), into: &events) }
    return events
  }
}

/// The distances of places from the truth.
private struct Distances {
  private var all: [Double] = []
  private var within = 0

  mutating func add(_ distance: Double, radius: Double = 0) {
    all.append(distance)
    if distance <= radius { within += 1 }
  }

  /// The share of truths within the stated accuracy, in percent.
  var coverage: Double { all.isEmpty ? 0 : 100 * Double(within) / Double(all.count) }

  func quantile(_ share: Double) -> Double {
    let sorted = all.sorted()
    return sorted.isEmpty ? .infinity : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  var text: String { "median \(rounded(quantile(0.5))) m, p95 \(rounded(quantile(0.95))) m" }
}

private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

/// Measures the fusion of scans and odometry: 2 % drift, a jump of 1 m every 2 min, scans every 150 m; ten walks of
/// 1.1 km.
func measureVisualPositioning(_ input: PlacesInput) throws -> [PlacesRow] {
  guard let terminal = Terminal() else { return [] }
  var (routed, free, alone, hard) = (Distances(), Distances(), Distances(), Distances())
  for number in 0..<10 as Range<UInt64> {
    let seed = input.seed &* 1_000 &+ number
    let stages = zip(Terminal.route, Terminal.route.dropFirst()).map {
      VisualWalk.Stage(to: $1, from: $0, speed: 1.3)
    }
    func walk(_ errors: VisualWalk.Errors) -> VisualWalk {
      VisualWalk(from: Terminal.route[0], stages, on: terminal.plane, errors: errors, seed: seed)
    }
    func add(_ events: [Event], of walk: VisualWalk, to distances: inout Distances) {
      for event in events {
        guard case .fix(let fix) = event.detail, event.time - Terminal.start <= walk.duration else {
          continue
        }
        let truth = walk.place(at: event.time - Terminal.start)
        distances.add(Point(x: fix.x, y: fix.y).distance(to: truth), radius: fix.horizontalAccuracy)
      }
    }
    let usual = walk(VisualWalk.Errors())
    let sensings = usual.sensings(of: Terminal.observer, since: Terminal.start)
    add(terminal.events(sensings, along: Terminal.route), of: usual, to: &routed)
    add(terminal.events(sensings, along: nil), of: usual, to: &free)
    for (time, place) in usual.alone(sensings, since: Terminal.start) {
      alone.add(place.distance(to: usual.place(at: time)))
    }
    let harder = walk(
      VisualWalk.Errors(pauseInterval: .minutes(3), pause: .seconds(4), direction: nil, wrongScans: 0.1)
    )
    let harderSensings = harder.sensings(of: Terminal.observer, since: Terminal.start)
    add(terminal.events(harderSensings, along: Terminal.route), of: harder, to: &hard)
  }
  return [
    PlacesRow(
      quantity: "VPS fusion on an itinerary",
      target: "median <= 1.2 m, p95 <= 3 m",
      seen: routed.text,
      isMet: routed.quantile(0.5) <= 1.2 && routed.quantile(0.95) <= 3
    ),
    PlacesRow(quantity: "the same without an itinerary", target: "none", seen: free.text, isMet: nil),
    PlacesRow(quantity: "the source alone", target: "none", seen: alone.text, isMet: nil),
    PlacesRow(
      quantity: "on an itinerary with pauses, wrong scans (10 %) and no attitudes",
      target: "none",
      seen: hard.text,
      isMet: nil
    ),
    PlacesRow(
      quantity: "truths within the accuracy, on an itinerary",
      target: "68 %, for comparison",
      seen: "\(routed.coverage.rounded()) %",
      isMet: nil
    ),
  ]
}

/// Measures the detection of conveyors and escalators: 100 rides, and ten hours of walking with missed steps.
func measureConveyors(_ input: PlacesInput) throws -> [PlacesRow] {
  guard let terminal = Terminal() else { return [] }
  let errors = VisualWalk.Errors(missedSteps: 0.03, missedStretches: .minutes(2))
  let (board, east) = (Point(x: 60, y: 20), Point(x: 1, y: 0))
  var (detected, requested, named) = (0, 0, 0)
  var delays: [Double] = []
  for ride in 0..<100 {
    let rises = ride % 2 == 0
    let speed = [0.5, 0.65, 0.75][ride % 3]
    let way = 12 + Double(ride % 7) * 6
    let end = board + east * way
    let stages = [
      VisualWalk.Stage(to: board, from: Point(x: 20, y: 20), speed: 1.3),
      // What climbs at 30 degrees covers less on the level.
      VisualWalk.Stage(
        to: end,
        from: board,
        speed: rises ? speed * 0.866 : speed,
        manner: rises ? .escalator(rise: (ride % 4 < 2 ? 1 : -1) * way * 0.577) : .conveyor
      ),
      VisualWalk.Stage(to: end + east * 60, from: end, speed: 1.3),
    ]
    let seed = input.seed &* 1_000 &+ UInt64(ride)
    let walk = VisualWalk(from: Point(x: 20, y: 20), stages, on: terminal.plane, errors: errors, seed: seed)
    let events = terminal.events(walk.sensings(of: Terminal.observer, since: Terminal.start), along: nil)
    let boards = Terminal.start + walk.beginnings[1]
    let leaves = Terminal.start + walk.beginnings[2]
    let first = events.first { event in
      guard case .positioning(let transition) = event.detail else { return false }
      return transition.conveyance != .none && event.decidedAt > boards
        && event.decidedAt <= leaves + .seconds(1)
    }
    if let first {
      let delay = (first.decidedAt - boards).seconds
      delays.append(delay)
      if delay <= 5 { detected += 1 }
    }
    let expected: PositioningTransition.Conveyance = rises ? .escalator : .conveyor
    let isNamed = events.contains { event in
      guard case .positioning(let transition) = event.detail else { return false }
      return transition.conveyance == expected
    }
    if isNamed { named += 1 }
    let isAsked = events.contains { event in
      guard case .scanRequest(let request) = event.detail else { return false }
      return request.reason == .conveyor && event.time >= leaves
    }
    if isAsked { requested += 1 }
  }
  let steady = falseDetections(VisualWalk.Errors(missedSteps: 0.03), in: terminal, input)
  let broken = falseDetections(errors, in: terminal, input)
  delays.sort()
  let median = delays.isEmpty ? "none" : "\(rounded(delays[delays.count / 2])) s"
  return [
    PlacesRow(
      quantity: "conveyors and escalators detected within 5 s",
      target: ">= 95 %",
      seen: "\(detected) % (median \(median) until decided)",
      isMet: detected >= 95
    ),
    PlacesRow(
      quantity: "false detections an hour of walking, 3 % of steps missed",
      target: "<= 0.1",
      seen: "\(rounded(Double(steady.count) / steady.hours)) (\(steady.count) in \(rounded(steady.hours)) h)",
      isMet: Double(steady.count) <= 0.1 * steady.hours
    ),
    PlacesRow(
      quantity: "the same if also all steps of 1 to 2.5 s are missed every 2 min",
      target: "none",
      seen: "\(rounded(Double(broken.count) / broken.hours))",
      isMet: nil
    ),
    PlacesRow(quantity: "the right one of the two named", target: "none", seen: "\(named) %", isMet: nil),
    PlacesRow(quantity: "a scan asked for behind it", target: "none", seen: "\(requested) %", isMet: nil),
  ]
}

/// The number of times that a conveyance is taken for one where there is none, in walks at 0.7 to 1.6 m/s.
private func falseDetections(
  _ errors: VisualWalk.Errors,
  in terminal: Terminal,
  _ input: PlacesInput
) -> (count: Int, hours: Double) {
  var (hours, count) = (0.0, 0)
  for number in 0..<40 as Range<UInt64> {
    let stages = zip(Terminal.route, Terminal.route.dropFirst()).map { from, to in
      VisualWalk.Stage(to: to, from: from, speed: [0.7, 1.0, 1.3, 1.6][Int(number % 4)])
    }
    let seed = input.seed &* 1_000 &+ 500 &+ number
    let walk = VisualWalk(from: Terminal.route[0], stages, on: terminal.plane, errors: errors, seed: seed)
    hours += walk.duration.seconds / 3_600
    var last = PositioningTransition.Conveyance.none
    for event in terminal.events(walk.sensings(of: Terminal.observer, since: Terminal.start), along: nil) {
      guard case .positioning(let transition) = event.detail else { continue }
      if transition.conveyance != .none, last == .none { count += 1 }
      last = transition.conveyance
    }
  }
  return (count, hours)
}
