import PharosDocuments
package import PharosModel
import PharosSpace

/// An itinerary on the floors of a venue, and how far the subject has come.
///
/// A route may cross itself, so places are matched near the progress so far. A subject that has left the route is looked
/// for on all of it.
struct ItineraryTrack: Sendable {
  /// A straight piece on one floor.
  private struct Leg: Sendable {
    var floor: UInt8
    var east: Float
    var north: Float
    /// The direction, of length one.
    var alongEast: Float
    var alongNorth: Float
    var length: Float
    /// The way before it.
    var start: Float
  }

  /// The nearest place on the route.
  struct Match: Sendable {
    /// The way along the route in metres.
    var distance: Float
    /// The distance from the route in metres.
    var deviation: Float
    /// The place on the floor's plane.
    var east: Float
    var north: Float
  }

  private var legs: [Leg] = []
  /// The length of the route in metres.
  private(set) var length: Float = 0
  /// The way of the last fix along the route, or nil before the first one near it.
  private(set) var progress: Float?
  /// Indicates whether the subject has left the route.
  private(set) var isOffRoute = false
  private var strayedSince: Timestamp?
  private var window: Range<Int>

  /// The stretch of the route, behind the progress and ahead of it, in which places are matched.
  ///
  /// - Units: metres.
  private static let behind: Float = 20
  private static let ahead: Float = 40
  /// The distance from the route, beyond what the accuracy explains, at which the subject has left it, and the one at
  /// which it is back.
  ///
  /// - Units: metres.
  private static let leave: Double = 6
  private static let back: Double = 4
  /// The time for which it must be away.
  private static let patience = TimeSpan.seconds(4)
  /// The width of the way that people take along a route: one standard deviation.
  ///
  /// - Units: metres.
  private static let width: Float = 0.8
  /// The distance after which another deviation counts as independent.
  ///
  /// - Units: metres. People keep to their side of a corridor that long.
  private static let memory: Float = 8
  /// The most that a deviation counts: farther away every place is as likely, since the subject may have left the route.
  ///
  /// - Units: nats.
  private static let maximumDeviation: Float = 4

  /// Puts an itinerary on the floors of a venue; nil if no two waypoints in a row lie on them.
  init?(_ itinerary: Itinerary, on floors: [GroundFloor]) {
    window = 0..<0
    var last: (floor: Int, point: Point)?
    for waypoint in itinerary.waypoints {
      let coordinate = Coordinate(latitude: waypoint.latitude, longitude: waypoint.longitude)
      let place = floors.indices.lazy.filter { floors[$0].id.level == waypoint.level }
        .compactMap { number in
          coordinate.flatMap { floors[number].plane.point(of: $0) }.map { (number, $0) }
        }
        // Of several buildings the one that the place lies in.
        .min { floors[$0.0].distance(to: $0.1) < floors[$1.0].distance(to: $1.1) }
      guard let (floor, point) = place else {
        last = nil
        continue
      }
      if let last, last.floor == floor, let direction = (point - last.point).direction {
        let leg = Leg(
          floor: UInt8(truncatingIfNeeded: floor),
          east: Float(last.point.x),
          north: Float(last.point.y),
          alongEast: Float(direction.x),
          alongNorth: Float(direction.y),
          length: Float(last.point.distance(to: point)),
          start: length
        )
        legs.append(leg)
        length += leg.length
      }
      last = (floor, point)
    }
    guard !legs.isEmpty else { return nil }
    window = legs.indices
  }

  /// Returns the nearest place on the route to a place on a floor; nil if the route does not pass the floor here.
  private func match(
    _ east: Float,
    _ north: Float,
    _ floor: UInt8,
    in range: Range<Int>,
    from low: Float,
    to high: Float
  )
    -> Match?
  {
    var best: Match?
    for leg in legs[range] where leg.floor == floor {
      let (dx, dy) = (east - leg.east, north - leg.north)
      let first = max(0, low - leg.start)
      let final = min(leg.length, high - leg.start)
      guard first <= final else { continue }
      let along = min(final, max(first, dx * leg.alongEast + dy * leg.alongNorth))
      let (x, y) = (leg.east + along * leg.alongEast, leg.north + along * leg.alongNorth)
      let deviation = ((east - x) * (east - x) + (north - y) * (north - y)).squareRoot()
      if deviation < best?.deviation ?? .infinity {
        best = Match(distance: leg.start + along, deviation: deviation, east: x, north: y)
      }
    }
    return best
  }

  /// Matches the place of a fix, and learns the progress and whether the subject has left the route.
  mutating func follow(_ point: Point, floor: Int, radius: Double, at time: Timestamp) -> Match? {
    let (east, north, number) = (Float(point.x), Float(point.y), UInt8(truncatingIfNeeded: floor))
    let near = progress.flatMap { progress in
      match(
        east,
        north,
        number,
        in: legs.indices,
        from: progress - ItineraryTrack.behind,
        to: progress + ItineraryTrack.ahead
      )
    }
    let leave = ItineraryTrack.leave + radius
    // Who has left the route, or was not on it yet, may be anywhere along it.
    let isLost = near == nil || isOffRoute || Double(near?.deviation ?? 0) > leave
    let anywhere = isLost ? match(east, north, number, in: legs.indices, from: 0, to: length) : near
    guard let found = anywhere else { return nil }
    let limit = isOffRoute ? ItineraryTrack.back : leave
    let isAway = Double(found.deviation) > limit
    if isAway != isOffRoute {
      let since = strayedSince ?? time
      strayedSince = since
      // A start beside the route is off it at once.
      if time - since >= ItineraryTrack.patience || progress == nil {
        isOffRoute = isAway
        strayedSince = nil
      }
    } else {
      strayedSince = nil
    }
    if !isAway { progress = found.distance }
    narrow()
    return found
  }

  /// Keeps the legs near the progress, among which particles are matched.
  private mutating func narrow() {
    guard let progress else { return }
    let (low, high) = (progress - ItineraryTrack.behind, progress + ItineraryTrack.ahead)
    let first = legs.firstIndex { $0.start + $0.length >= low } ?? 0
    let end = legs.firstIndex { $0.start > high } ?? legs.count
    window = first..<max(first + 1, end)
  }

  /// Indicates whether places beside the route are less likely than those on it.
  var constrains: Bool { progress != nil && !isOffRoute && strayedSince == nil }

  /// Returns the cost of a place after a way of some metres, in nats.
  func cost(_ east: Float, _ north: Float, _ floor: UInt8, way: Float) -> Float {
    let progress = progress ?? 0
    let found = match(
      east,
      north,
      floor,
      in: window,
      from: progress - ItineraryTrack.behind,
      to: progress + ItineraryTrack.ahead
    )
    let deviation = (found?.deviation ?? .infinity) / ItineraryTrack.width
    return min(ItineraryTrack.maximumDeviation, 0.5 * deviation * deviation)
      * min(1, way / ItineraryTrack.memory)
  }
}

extension Locator {
  /// Assigns an itinerary, or takes it away.
  package mutating func assign(_ itinerary: Itinerary?) {
    self.itinerary = itinerary.flatMap { ItineraryTrack($0, on: content.floors) }
  }

  /// Weighs the particles by their distance from the itinerary, after a movement of some metres.
  mutating func constrain(way: Float) {
    guard let itinerary, itinerary.constrains, way > 0, !cloud.isEmpty else { return }
    for index in 0..<cloud.count {
      cloud.weight[index] -= itinerary.cost(
        cloud.east[index],
        cloud.north[index],
        cloud.floor[index],
        way: way
      )
    }
    cloud.resample(rules, on: content.floors, &noise)
  }

  /// Matches a fix with the itinerary.
  mutating func follow(_ fix: inout FixEstimate) {
    guard var track = itinerary, let id = fix.floor,
      let floor = content.floors.firstIndex(where: { $0.id == id })
    else { return }
    let match = track.follow(fix.point, floor: floor, radius: fix.horizontalAccuracy, at: fix.time)
    itinerary = track
    guard let match else { return }
    let place = content.floors[floor].plane.coordinate(
      of: Point(x: Double(match.east), y: Double(match.north))
    )
    fix.progress = ItineraryProgress(
      distance: Double(match.distance),
      share: Double(match.distance / track.length),
      deviation: Double(match.deviation),
      isOffRoute: track.isOffRoute,
      latitude: place?.latitude,
      longitude: place?.longitude
    )
  }
}

extension ItineraryTrack {
  /// Hands the progress to a coder; the legs follow from the itinerary.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&progress)
    try coder.code(&isOffRoute)
    try coder.code(&strayedSince)
    var (first, end) = (window.lowerBound, window.upperBound)
    try coder.code(place: &first)
    try coder.code(place: &end)
    try coder.check(first <= end && end <= legs.count, "a leg")
    if C.isReader { window = first..<end }
  }
}
