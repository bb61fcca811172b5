public import PharosReports

/// A way along straight lines: stops, how long one stays at each, and how fast one walks between them.
///
/// Where somebody is at any time is computed, not stepped, so that it depends on the time alone.
public struct Path: Hashable, Sendable {
  /// A place on the way and how long one stays there.
  public struct Stop: Hashable, Sendable {
    /// Where.
    public var point: Point
    /// How long one stays before walking on.
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
  /// How fast one walks.
  ///
  /// - Units: m/s. Visitors of a museum walk at about 0.8, people in a corridor at 1.3, hurried ones at 1.8.
  public let speed: Double
  /// Indicates whether the way leads from the last stop back to the first and starts again.
  public let loops: Bool
  /// How long one round takes: all stays and all walks.
  public let duration: TimeSpan
  let legs: [Leg]

  /// Stays at one place for ever.
  public init(at point: Point) {
    self.init(from: Stop(point), through: [], speed: 0)
  }

  /// Creates a path.
  ///
  /// - Parameters:
  ///   - first: the stop at which it begins.
  ///   - stops: the further stops in order.
  ///   - speed: the walking speed in m/s; without a speed above zero, the path stays at the first stop.
  ///   - loops: whether it leads back to the first stop and starts again.
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
