package import PharosModel
import PharosSimulation
package import PharosSpace

/// A walk with a handset whose visual positioning drifts, jumps and pauses, beside the truth.
///
/// Walkers keep near their route, not on it. Moving walkways and escalators carry them without a step, and a lift
/// without any movement that odometry sees.
package struct VisualWalk: Sendable {
  /// The manner of a piece of the walk.
  package enum Manner: Hashable, Sendable {
    /// Walking.
    case walking
    /// Standing on a moving walkway.
    case conveyor
    /// Standing on an escalator that rises by some metres.
    case escalator(rise: Double)
    /// Standing in a lift that rises by some metres; the piece leads nowhere.
    case lift(rise: Double)
    /// Standing.
    case standing
  }

  /// A piece of the walk.
  package struct Stage: Hashable, Sendable {
    /// The place at which it ends.
    package var end: Point
    /// The time that it takes.
    package var duration: TimeSpan
    /// The manner.
    package var manner: Manner

    /// Makes a piece on foot, or on what carries, at a speed in m/s.
    package init(to end: Point, from start: Point, speed: Double, manner: Manner = .walking) {
      self.end = end
      duration = .seconds(start.distance(to: end) / speed)
      self.manner = manner
    }

    /// Makes a piece at one place.
    package init(at place: Point, for duration: TimeSpan, manner: Manner = .standing) {
      end = place
      self.duration = duration
      self.manner = manner
    }
  }

  /// The errors of the odometry and of scans.
  package struct Errors: Hashable, Sendable {
    /// The drift as a share of the way.
    package var drift: Double
    /// The time between jumps, and their length in metres.
    package var jumpInterval: TimeSpan
    package var jump: Double
    /// The time between pauses, and their length.
    package var pauseInterval: TimeSpan
    package var pause: TimeSpan
    /// One standard deviation of a scan along an axis, in metres.
    package var scan: Double
    /// One standard deviation of a scan's direction, in radians; nil for scans without an attitude.
    package var direction: Double?
    /// The share of scans that are wrong by 30 m.
    package var wrongScans: Double
    /// The share of steps that the handset misses, and the time between stretches in which it misses all of them for 1
    /// to 2.5 s.
    package var missedSteps: Double
    package var missedStretches: TimeSpan

    /// Makes errors.
    package init(
      drift: Double = 0.02,
      jumpInterval: TimeSpan = .minutes(2),
      jump: Double = 1,
      pauseInterval: TimeSpan = .forever,
      pause: TimeSpan = .zero,
      scan: Double = 0.3,
      direction: Double? = 0.0175,
      wrongScans: Double = 0,
      missedSteps: Double = 0,
      missedStretches: TimeSpan = .forever
    ) {
      self.drift = drift
      self.jumpInterval = jumpInterval
      self.jump = jump
      self.pauseInterval = pauseInterval
      self.pause = pause
      self.scan = scan
      self.direction = direction
      self.wrongScans = wrongScans
      self.missedSteps = missedSteps
      self.missedStretches = missedStretches
    }
  }

  /// The time that the walk takes.
  package let duration: TimeSpan
  private let start: Point
  private let stages: [Stage]
  private let begins: [TimeSpan]
  private let plane: FloorPlane
  private let errors: Errors
  private let scanDistance: Double
  private let hasSteps: Bool
  private let seed: UInt64
  private let sway: NoiseField

  /// The period of poses, and that of datagrams.
  private static let posePeriod = TimeSpan.milliseconds(200)
  private static let sendPeriod = TimeSpan.milliseconds(400)
  /// The time from step to step.
  private static let stepPeriod = TimeSpan.milliseconds(540)
  /// One standard deviation of the way beside the route, and the time over which it changes, in metres and seconds.
  private static let swayWidth = 0.4
  private static let swayTime = 8.0

  /// Makes a walk.
  ///
  /// - Parameters:
  ///   - start: the first place.
  ///   - stages: the pieces in order.
  ///   - plane: the plane of the floor.
  ///   - errors: the errors of visual positioning.
  ///   - scanDistance: the way between scans in metres; the first one is made at the start.
  ///   - hasSteps: true if the handset detects steps.
  ///   - seed: the seed of everything drawn.
  package init(
    from start: Point,
    _ stages: [Stage],
    on plane: FloorPlane,
    errors: Errors = Errors(),
    scanDistance: Double = 150,
    hasSteps: Bool = true,
    seed: UInt64
  ) {
    self.start = start
    self.stages = stages
    self.plane = plane
    self.errors = errors
    self.scanDistance = scanDistance
    self.hasSteps = hasSteps
    self.seed = seed
    sway = NoiseField(seed: seed, 71, length: VisualWalk.swayTime)
    var begins: [TimeSpan] = []
    var time = TimeSpan.zero
    for stage in stages {
      begins.append(time)
      time = time + stage.duration
    }
    self.begins = begins
    duration = time
  }

  /// The time at which each piece begins.
  package var beginnings: [TimeSpan] { begins }

  /// The piece of a time.
  package func stage(at time: TimeSpan) -> Stage { stages[number(at: time)] }

  private func number(at time: TimeSpan) -> Int { max(0, begins.lastIndex { $0 <= time } ?? 0) }

  /// The true place at a time.
  package func place(at time: TimeSpan) -> Point {
    let number = number(at: time)
    let (from, stage) = (number == 0 ? start : stages[number - 1].end, stages[number])
    let share = stage.duration > .zero ? min(1, max(0, (time - begins[number]) / stage.duration)) : 1
    let point = from.interpolated(to: stage.end, share: share)
    // The sway fades towards the ends of a piece, so that the walk is steady.
    let edge = min(1, 4 * min(share, 1 - share))
    guard stage.manner == .walking, let direction = (stage.end - from).direction else { return point }
    let side = Point(x: -direction.y, y: direction.x)
    return point + side * (VisualWalk.swayWidth * edge * sway.value(at: time.seconds))
  }

  /// The true height at a time, in metres.
  private func height(at time: TimeSpan) -> Double {
    var height = 0.0
    for (stage, begin) in zip(stages, begins) where begin < time {
      guard case .escalator(let rise) = stage.manner else { continue }
      height += rise * min(1, (time - begin) / stage.duration)
    }
    return height
  }

  /// The pressure that a barometer shows, lifts included.
  private func pressure(at time: TimeSpan) -> Double {
    var height = 0.0
    for (stage, begin) in zip(stages, begins) where begin < time {
      switch stage.manner {
      case .escalator(let rise), .lift(let rise): height += rise * min(1, (time - begin) / stage.duration)
      case .walking, .conveyor, .standing: break
      }
    }
    return 1_000 - height * 0.1165
  }

  /// The datagrams' worth of sensings in order, each with the time at which it was sent.
  package func sensings(of observer: ObserverID, since origin: Timestamp) -> [Sensing] {
    var random = RandomStream(seed: seed, 72)
    var drawn = Drawn(errors, &random)
    var found: [(time: TimeSpan, body: Sensing.Body)] = []
    var time = TimeSpan.zero
    var (walked, scanned) = (0.0, -Double.infinity)
    var lastStep = TimeSpan.zero
    var heading = 0.0
    let bias = 0.12 * random.normal()
    var (deaf, hears) = (errors.missedStretches, TimeSpan.zero)
    while time < duration {
      let next = time + VisualWalk.posePeriod
      let (from, to) = (place(at: time), place(at: next))
      let way = to - from
      walked += way.length
      let isOnFoot = stage(at: next).manner == .walking && way.length > 0.05
      if let pose = drawn.pose(way, up: height(at: next) - height(at: time), at: next, &random) {
        found.append((next, .relativePose(pose)))
      }
      if isOnFoot { heading = Trigonometry.angle(y: way.x, x: way.y) }
      if hasSteps {
        if isOnFoot, next - lastStep >= VisualWalk.stepPeriod {
          lastStep = next
          if next >= deaf {
            hears = next + .seconds(random.uniform(1, 2.5))
            deaf = next + errors.missedStretches * random.uniform(0.5, 1.5)
          }
          let isMissed = next < hears || errors.missedSteps > 0 && random.chance(errors.missedSteps)
          let sample = MotionSample(
            kind: .step,
            age: .zero,
            x: Float(0.7 * (1 + 0.05 * random.normal())),
            y: Float(heading + bias + 0.06 * random.normal()),
            z: 0
          )
          if !isMissed { found.append((next, .motion([sample]))) }
        }
        let strength = 9.81 + (isOnFoot ? 0 : 0.03 * random.normal())
        let rest = MotionSample(kind: .accelerometer, age: .zero, x: 0, y: 0, z: Float(strength))
        let air = MotionSample(
          kind: .barometer,
          age: .zero,
          x: Float(pressure(at: next) + 0.01 * random.normal()),
          y: 0,
          z: 0
        )
        found.append((next, .motion([rest, air])))
      }
      if walked - scanned >= scanDistance, next > .seconds(1) {
        scanned = walked
        if let fix = scan(to, drawn, &random) { found.append((next, .outside(fix))) }
      }
      time = next
    }
    return found.enumerated().map { index, entry in
      let sends = entry.time.nanoseconds / VisualWalk.sendPeriod.nanoseconds + 1
      return Sensing(
        observer: observer,
        time: origin + entry.time,
        decidedAt: origin + TimeSpan(nanoseconds: sends * VisualWalk.sendPeriod.nanoseconds),
        ordinal: UInt64(index),
        body: entry.body
      )
    }
  }

  private func scan(_ place: Point, _ drawn: Drawn, _ random: inout RandomStream) -> OutsideFix? {
    var seen = place + Point(x: errors.scan * random.normal(), y: errors.scan * random.normal())
    if random.chance(errors.wrongScans) {
      let direction = random.uniform(0, 2 * .pi)
      seen = seen + Point(x: Angle.cosine(direction), y: Angle.sine(direction)) * 30
    }
    guard let coordinate = plane.coordinate(of: seen) else { return nil }
    return OutsideFix(
      latitude: coordinate.latitude,
      longitude: coordinate.longitude,
      horizontalAccuracy: Meters(errors.scan * 1.5),
      speed: nil,
      source: .vps,
      attitude: errors.direction.map { drawn.attitude(error: $0 * random.normal()) }
    )
  }

  /// The state of the odometry as it drifts.
  private struct Drawn {
    let errors: Errors
    let scale: Double
    /// The change of direction with the way, in radians a metre.
    let bend: Double
    var session: UInt32 = 1
    /// The direction of the frame in the plane, counter-clockwise, and that of the handset in the frame.
    var frame: Double
    var jumps: TimeSpan
    var pauses: TimeSpan

    init(_ errors: Errors, _ random: inout RandomStream) {
      self.errors = errors
      let direction = random.uniform(0, 2 * .pi)
      let (along, aside) = (Angle.cosine(direction), Angle.sine(direction))
      scale = 1 + errors.drift * along
      // A bend of b radians a metre leads b s² ÷ 2 aside after s metres; the drift is meant after 150 m.
      bend = 2 * errors.drift * aside / 150
      frame = random.uniform(0, 2 * .pi)
      jumps = errors.jumpInterval == .forever ? .forever : errors.jumpInterval * random.uniform()
      pauses = errors.pauseInterval == .forever ? .forever : errors.pauseInterval * random.uniform()
    }

    mutating func pose(
      _ way: Point,
      up: Double,
      at time: TimeSpan,
      _ random: inout RandomStream
    ) -> RelativePose? {
      if time >= pauses, time < pauses + errors.pause { return nil }
      if time >= pauses + errors.pause { pauses = time + errors.pauseInterval }
      frame += bend * way.length
      let (cosine, sine) = (Angle.cosine(frame), Angle.sine(frame))
      // The plane's way in the frame, which is turned by `frame` against the plane.
      var seen = Point(x: way.x * cosine + way.y * sine, y: way.y * cosine - way.x * sine) * scale
      seen = seen + Point(x: 0.005 * random.normal(), y: 0.005 * random.normal())
      if time >= jumps {
        jumps = jumps + errors.jumpInterval
        let direction = random.uniform(0, 2 * .pi)
        seen = seen + Point(x: Angle.cosine(direction), y: Angle.sine(direction)) * errors.jump
      }
      return RelativePose(
        session: session,
        interval: VisualWalk.posePeriod,
        x: Float(seen.x),
        y: Float(seen.y),
        z: Float(up + 0.003 * random.normal()),
        rotation: .identity
      )
    }

    /// The handset's axes are those of the frame; a scan sees them turned by the frame's direction.
    func attitude(error: Double) -> Rotation {
      let half = (frame + error) / 2
      return Rotation(w: Float(Angle.cosine(half)), x: 0, y: 0, z: Float(Angle.sine(half)))
    }
  }

  /// The places by the source alone, one a second: the last scan, and the odometry since in the scan's direction.
  package func alone(_ sensings: [Sensing], since origin: Timestamp) -> [(time: TimeSpan, place: Point)] {
    var found: [(time: TimeSpan, place: Point)] = []
    var place: Point?
    var turn = 0.0
    for sensing in sensings {
      switch sensing.body {
      case .outside(let fix):
        place = Coordinate(latitude: fix.latitude, longitude: fix.longitude).flatMap { plane.point(of: $0) }
        if let attitude = fix.attitude {
          turn = 2 * Trigonometry.angle(y: Double(attitude.z), x: Double(attitude.w))
        }
      case .relativePose(let pose):
        guard let last = place else { continue }
        let (cosine, sine) = (Angle.cosine(turn), Angle.sine(turn))
        let (x, y) = (Double(pose.x), Double(pose.y))
        place = last + Point(x: x * cosine - y * sine, y: y * cosine + x * sine)
        let time = sensing.time - origin
        if time.nanoseconds % 1_000_000_000 == 0, let place { found.append((time, place)) }
      case .accessPoints, .beacon, .motion, .visualStatus: break
      }
    }
    return found
  }
}

/// Sines and cosines, and directions on the plane.
private enum Angle {
  static func cosine(_ angle: Double) -> Double { Trigonometry.sineAndCosine(angle).cosine }
  static func sine(_ angle: Double) -> Double { Trigonometry.sineAndCosine(angle).sine }
}
