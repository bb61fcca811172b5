package import PharosModel
package import PharosSpace

/// The movement of a person through a venue over time, from floor to floor.
///
/// Like a `Path` it is computed, not stepped: the place depends on the time alone. A ``JourneyPlanner`` makes journeys.
package struct Journey: Hashable, Sendable {
  /// The manner of movement.
  package enum Manner: Hashable, Sendable {
    /// Standing.
    case standing
    /// Walking.
    case walking
    /// Walking up or down: stairs, a ramp.
    case climbing
    /// Standing on moving steps.
    case escalator
    /// Standing in a moving cabin.
    case lift
  }

  /// The position of a person at a time, with the manner of movement.
  package struct Place: Hashable, Sendable {
    /// The floor whose plane ``point`` is measured on; outdoors that of the door that the person went through.
    package var floor: FloorID
    /// The place on that plane.
    package var point: Point
    /// Metres above the ground floor.
    package var height: Double
    /// Indicates whether the person is outdoors.
    package var isOutdoors: Bool
    /// The manner of movement.
    package var manner: Manner

    package init(floor: FloorID, point: Point, height: Double, isOutdoors: Bool, manner: Manner) {
      self.floor = floor
      self.point = point
      self.height = height
      self.isOutdoors = isOutdoors
      self.manner = manner
    }
  }

  /// A place in the house.
  struct Spot: Hashable, Sendable {
    var floor: FloorID
    var point: Point
    var height: Double
  }

  /// A straight piece of the journey, on the plane of one floor.
  struct Stage: Hashable, Sendable {
    /// The height profile: steady, or the first or second half of a way that begins and ends gently.
    enum Rise: Hashable, Sendable {
      case steady, gentleStart, gentleEnd
    }

    let starts, ends: TimeSpan
    let from, to: Spot
    let manner: Manner
    let rise: Rise
    let isOutdoors: Bool
    /// The number of steps taken before the stage, and the number taken on it.
    let stepsBefore, steps: Double
  }

  /// The gait of the person.
  package let gait: SimulatedGait
  let stages: [Stage]
  let turns: JourneyTurns
  /// The duration; after it the person stays at the last place.
  package let duration: TimeSpan

  /// Strings stages together; there is at least one.
  init(gait: SimulatedGait, stages: [Stage]) {
    self.gait = gait
    self.stages = stages
    turns = JourneyTurns(of: stages)
    duration = stages.last?.ends ?? .zero
  }

  /// The ends of rides by stair, lift or escalator: the time, and the floor that the person steps onto.
  package var arrivals: [Arrival] {
    stages.indices.compactMap { index in
      let stage = stages[index]
      let isLast = index + 1 == stages.count || !stages[index + 1].isRide
      return stage.isRide && isLast
        ? Arrival(time: stage.ends, floor: stage.to.floor, manner: stage.manner) : nil
    }
  }

  /// The end of a way from floor to floor.
  package struct Arrival: Hashable, Sendable {
    /// The time at which the person steps off, since the journey began.
    package var time: TimeSpan
    /// The floor that the person steps onto.
    package var floor: FloorID
    /// The manner of movement of the ride.
    package var manner: Manner
  }
}

extension Journey.Stage {
  /// Indicates whether the stage leads from floor to floor.
  var isRide: Bool {
    switch manner {
    case .climbing, .escalator, .lift: true
    case .standing, .walking: false
    }
  }
}

extension Journey {
  /// Returns the place at a time since the journey began: before the journey its start, after it its end.
  ///
  /// - Complexity: O(log stages), without allocation.
  package func place(at time: TimeSpan) -> Place {
    let stage = stage(at: time)
    let share = Journey.share(of: stage, at: time)
    return Place(
      floor: stage.from.floor,
      point: stage.from.point.interpolated(to: stage.to.point, share: share),
      height: stage.from.height + (stage.to.height - stage.from.height) * Journey.rise(stage.rise, share),
      isOutdoors: stage.isOutdoors,
      manner: share < 1 ? stage.manner : .standing
    )
  }

  /// Returns the number of steps taken by a time, including the part of the current step.
  package func steps(at time: TimeSpan) -> Double {
    let stage = stage(at: time)
    return stage.stepsBefore + stage.steps * Journey.share(of: stage, at: time)
  }

  /// Returns the direction that the person faces, as a unit vector.
  ///
  /// It is that of the present way, at a stop that of the way that led there until the person turns to leave.
  package func heading(at time: TimeSpan) -> Point {
    let direction = Trigonometry.sineAndCosine(turns.bearing(at: time))
    return Point(x: direction.sine, y: direction.cosine)
  }

  private func stage(at time: TimeSpan) -> Stage { stages[max(0, index(at: time))] }

  /// The last stage begun by a time, or −1 before the first.
  private func index(at time: TimeSpan) -> Int {
    var low = 0
    var high = stages.count
    while low < high {
      let middle = (low + high) / 2
      if stages[middle].starts <= time { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  private static func share(of stage: Stage, at time: TimeSpan) -> Double {
    guard time > stage.starts else { return 0 }
    guard time < stage.ends else { return 1 }
    return (time - stage.starts) / (stage.ends - stage.starts)
  }

  /// Returns the share of a stage's height that is gained by a share of its time.
  ///
  /// A gentle way as a whole follows 3u² − 2u³, the shortest polynomial that begins and ends at rest.
  private static func rise(_ rise: Stage.Rise, _ share: Double) -> Double {
    func gentle(_ u: Double) -> Double { u * u * (3 - 2 * u) }
    return switch rise {
    case .steady: share
    case .gentleStart: 2 * gentle(share / 2)
    case .gentleEnd: 2 * gentle(0.5 + share / 2) - 1
    }
  }
}

/// The turns of a person on a journey: never instantaneous, and at a stop just before leaving it.
///
/// The bearing at a time is that of the first way plus all turns since, the present one in part. So it never jumps,
/// however short the ways between turns are.
struct JourneyTurns: Hashable, Sendable {
  private struct Turn: Hashable, Sendable {
    /// The time at which half of it is done.
    let time: TimeSpan
    /// The duration of each half.
    let half: TimeSpan
    /// The angle of the turn, clockwise.
    let angle: Double
    /// The bearing before, had all earlier turns ended.
    let before: Double
  }

  private var first = 0.0
  private var turns: [Turn] = []

  /// The duration of half of a slight turn, and the additional duration of half of a turn about, in seconds.
  ///
  /// A quarter turn takes 0.85 s, a turn about 1.2 s, as surveyors turn at the corners of their walks.
  private static let slight = 0.25, about = 0.35
  /// The time from the turn at a stop to leaving it.
  private static let leaving = TimeSpan.milliseconds(500)
  /// The longest half of a turn.
  private static let maximumHalf = TimeSpan.milliseconds(600)

  /// Finds the turns between the stages that lead somewhere.
  init(of stages: [Journey.Stage]) {
    var last: (bearing: Double, end: TimeSpan)?
    for stage in stages {
      let way = stage.to.point - stage.from.point
      guard way.length > 0 else { continue }
      let bearing = Trigonometry.angle(y: way.x, x: way.y)
      if let last {
        let angle = JourneyTurns.wrapped(bearing - last.bearing)
        if angle != 0 {
          turns.append(
            Turn(
              time: last.end == stage.starts
                ? stage.starts : max(last.end, stage.starts - JourneyTurns.leaving),
              half: .seconds(JourneyTurns.slight + JourneyTurns.about * angle.magnitude / .pi),
              angle: angle,
              before: turns.last.map { $0.before + $0.angle } ?? first
            )
          )
        }
      } else {
        first = bearing
      }
      last = (bearing, stage.ends)
    }
  }

  /// Returns the bearing: radians from north, clockwise, with the turns added up.
  func bearing(at time: TimeSpan) -> Double {
    var low = 0
    var high = turns.count
    // The first turn that is not over for certain.
    while low < high {
      let middle = (low + high) / 2
      if turns[middle].time + JourneyTurns.maximumHalf <= time { low = middle + 1 } else { high = middle }
    }
    var bearing = low < turns.count ? turns[low].before : turns.last.map { $0.before + $0.angle } ?? first
    for turn in turns[low...] {
      guard turn.time - JourneyTurns.maximumHalf < time else { break }
      let share = max(0, min(1, ((time - turn.time) / turn.half + 1) / 2))
      bearing += turn.angle * share * share * (3 - 2 * share)
    }
    return bearing
  }

  /// The same direction between −π and π.
  static func wrapped(_ angle: Double) -> Double { angle - 2 * .pi * (angle / (2 * .pi)).rounded() }
}

/// The gait of a person.
package struct SimulatedGait: Hashable, Sendable {
  /// The walking speed.
  ///
  /// - Units: m/s. Visitors of a museum walk at about 0.8, people in a corridor at 1.3.
  package var speed: Double
  /// The length of a step.
  ///
  /// - Units: metres.
  package var stepLength: Double
  /// The deviation of steps from their mean length, and from their mean strength.
  ///
  /// - Units: a share of the mean, one standard deviation.
  package var unevenness: Double

  /// The increase in step length for each additional step a second.
  ///
  /// - Units: metres a hertz.
  /// - Source: the walk ratio of adults, 0.0064 m a step a minute: Sekiya and others, Journal of Human Movement Studies 30
  ///   (1996).
  static let walkRatio = 0.39

  /// Makes a gait.
  ///
  /// - Parameters:
  ///   - speed: the walking speed, in m/s.
  ///   - stepLength: the length of a step, in metres; nil for the usual length at that speed.
  ///   - unevenness: the deviation of steps from their mean, as a share of it.
  package init(speed: Double = 1.3, stepLength: Double? = nil, unevenness: Double = 0.04) {
    self.speed = speed
    self.stepLength = stepLength ?? (SimulatedGait.walkRatio * max(0, speed)).squareRoot()
    self.unevenness = unevenness
  }

  /// The height of a step of a stair.
  ///
  /// - Units: metres.
  /// - Source: ISO 21542 allows 0.15 to 0.18.
  static let stairRise = 0.17
  /// The step rate on stairs.
  ///
  /// - Units: steps a second. With ``stairRise`` the person gains 0.27 m a second.
  static let stairRate = 1.6
}
