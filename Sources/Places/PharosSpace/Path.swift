public import PharosModel

/// A path along straight lines: stops, the stay at each, and the walking speed between them.
///
/// The position at a time is computed, not stepped, so that it depends on the time alone.
public struct Path: Hashable, Sendable {
  /// A place on the path and the stay there.
  public struct Stop: Hashable, Sendable {
    /// The place.
    public var point: Point
    /// The stay before the walk goes on.
    public var dwell: TimeSpan

    /// Makes a stop.
    public init(_ point: Point, dwell: TimeSpan = .zero) {
      self.point = point
      self.dwell = dwell
    }
  }

  /// A walk from one stop to the next, in time since the path began.
  struct Leg: Hashable, Sendable {
    let from, to: Point
    let starts, ends: TimeSpan
  }

  /// The stops in order.
  public let stops: [Stop]
  /// The walking speed.
  ///
  /// - Units: m/s. Visitors of a museum walk at about 0.8, people in a corridor at 1.3, hurried ones at 1.8.
  public let speed: Double
  /// Indicates whether the way leads from the last stop back to the first and starts again.
  public let loops: Bool
  /// The time that one round takes: all stays and all walks.
  public let duration: TimeSpan
  let legs: [Leg]

  /// Creates a path that stays at one place forever.
  public init(at point: Point) {
    self.init(from: Stop(point), through: [], speed: 0)
  }

  /// Creates a path.
  ///
  /// - Parameters:
  ///   - first: the stop at which it begins.
  ///   - stops: the further stops in order.
  ///   - speed: the walking speed in m/s; without a speed above zero, the path stays at the first stop.
  ///   - loops: indicates whether the path leads back to the first stop and starts again.
  public init(from first: Stop, through stops: [Stop], speed: Double, loops: Bool = false) {
    self.stops = [first] + stops
    self.speed = speed
    self.loops = loops
    var legs: [Leg] = []
    var time = first.dwell
    var here = first.point
    if speed > 0 {
      for stop in loops && !stops.isEmpty ? stops + [first] : stops {
        let arrival = time + .seconds(here.distance(to: stop.point) / speed)
        if arrival > time { legs.append(Leg(from: here, to: stop.point, starts: time, ends: arrival)) }
        here = stop.point
        time = arrival + stop.dwell
      }
    }
    self.legs = legs
    // A round ends where the first stop's stay begins again, which the last turn of the loop has added.
    duration = loops && !stops.isEmpty && speed > 0 ? time - first.dwell : time
  }
}

extension Path {
  /// Returns the position at a time since the path began; before the start, it is the first stop.
  ///
  /// - Complexity: O(log stops), without allocation.
  public func position(at time: TimeSpan) -> Point {
    let local = localTime(time)
    guard let leg = lastLeg(begunBy: local) else { return stops[0].point }
    guard local < leg.ends else { return leg.to }
    let share = (local - leg.starts) / (leg.ends - leg.starts)
    return leg.from.interpolated(to: leg.to, share: share)
  }

  /// Returns whether the walker moves at a time.
  public func isMoving(at time: TimeSpan) -> Bool {
    let local = localTime(time)
    guard let leg = lastLeg(begunBy: local) else { return false }
    return local < leg.ends
  }

  /// The direction one faces: that of the present walk, at a stop that of the walk that led there.
  ///
  /// Nil for who never walks. Before the first walk one faces where it will lead.
  public func heading(at time: TimeSpan) -> Point? {
    let leg = lastLeg(begunBy: localTime(time)) ?? (time < duration || !loops ? legs.first : legs.last)
    return leg.flatMap { ($0.to - $0.from).direction }
  }

  /// Returns the time for which the walker has stood still: zero while walking, nil before the first walk.
  public func stillness(at time: TimeSpan) -> TimeSpan? {
    let local = localTime(time)
    if let leg = lastLeg(begunBy: local) { return local < leg.ends ? .zero : local - leg.ends }
    guard loops, time >= duration, let last = legs.last else { return nil }
    return local + (duration - last.ends)
  }

  /// Returns the time of the next departure after a time; nil if there is none.
  public func nextDeparture(after time: TimeSpan) -> TimeSpan? {
    guard let first = legs.first else { return nil }
    let local = localTime(time)
    if let leg = legs.first(where: { $0.starts > local }) { return time + (leg.starts - local) }
    guard loops else { return nil }
    return time + (duration - local) + first.starts
  }

  /// The time within the present round.
  private func localTime(_ time: TimeSpan) -> TimeSpan {
    guard loops, duration > .zero, time >= duration else { return time }
    return TimeSpan(nanoseconds: time.nanoseconds % duration.nanoseconds)
  }

  private func lastLeg(begunBy time: TimeSpan) -> Leg? {
    var low = 0
    var high = legs.count
    while low < high {
      let middle = (low + high) / 2
      if legs[middle].starts <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? legs[low - 1] : nil
  }
}
