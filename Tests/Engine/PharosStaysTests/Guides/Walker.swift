import PharosModel
import PharosSimulation
import PharosSpace
import PharosWays

/// A person who walks through the simulated mall along routes.
struct Walker {
  /// A place of the mall.
  struct Place: Hashable {
    var level: Int
    var point: Point
  }

  private(set) var place: Place
  /// The metres walked so far; rides count nothing.
  private(set) var walked = 0.0
  let speed: Double
  private let venue: Venue
  /// The ride that goes on: its end, and the seconds until then.
  private var ride: (end: Place, seconds: Double)?

  init(at place: Place, speed: Double, in venue: Venue) {
    (self.place, self.speed, self.venue) = (place, speed, venue)
  }

  /// Indicates whether the walker is between two floors.
  var isRiding: Bool { ride != nil }

  /// The position on the Earth, some metres beside the true one.
  func coordinate(beside error: Point = .origin) -> Coordinate? {
    venue.floor(SimulatedMall.floor(place.level))?.plane.coordinate(of: place.point + error)
  }

  /// Walks along a route for some seconds, from its point that is nearest.
  ///
  /// - Returns: true at its end.
  mutating func walk(_ route: WalkingRoute, for seconds: Double) -> Bool {
    var left = seconds
    if let (end, remaining) = ride {
      ride = remaining > left ? (end, remaining - left) : nil
      guard ride == nil else { return false }
      place = end
      left -= remaining
    }
    guard let first = route.steps.firstIndex(where: { $0.floor.level == place.level }) else { return false }
    for number in first..<route.steps.count {
      let step = route.steps[number]
      if let target = step.maneuver.targetLevel {
        guard let point = route.steps[(number + 1)...].first?.points.first else { return true }
        let end = Place(level: target, point: point)
        ride = (end, max(0.1, step.duration - left))
        return false
      }
      guard step.floor.level == place.level else { return false }
      var points = step.points
      if number == first { points = Self.rest(of: points, from: place.point) }
      for point in points {
        let distance = place.point.distance(to: point)
        let metres = min(distance, left * speed)
        if distance > 0 { place.point = place.point.interpolated(to: point, share: metres / distance) }
        walked += metres
        left -= metres / speed
        guard left > 1e-9 else { return false }
      }
    }
    return true
  }

  /// The points of a line from its point that is nearest to another.
  private static func rest(of points: [Point], from place: Point) -> [Point] {
    var best: (distance: Double, rest: [Point])?
    for (number, (from, to)) in zip(points, points.dropFirst()).enumerated() {
      let near = Segment(from: from, to: to).nearest(to: place)
      let distance = near.distance(to: place)
      if distance < best?.distance ?? .infinity {
        best = (distance, [near] + points[(number + 1)...])
      }
    }
    return best?.rest ?? points
  }
}
