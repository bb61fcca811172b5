import PharosPlaces
import PharosReports

/// How somebody turns on a journey: never at once, and at a stop just before leaving it.
///
/// The bearing at a time is that of the first way, and all turns since, the present one in part: so it never leaps, however short
/// the ways between turns are.
struct JourneyTurns: Hashable, Sendable {
  private struct Turn: Hashable, Sendable {
    /// When half of it is done.
    let time: TimeSpan
    /// How long each half takes.
    let half: TimeSpan
    /// By how much one turns, clockwise.
    let angle: Double
    /// The bearing before, had all earlier turns ended.
    let before: Double
  }

  private var first = 0.0
  private var turns: [Turn] = []

  /// How long half of a slight turn takes, and how much longer half of a turn about takes.
  ///
  /// A quarter turn takes 0.85 s, a turn about 1.2 s, as surveyors turn at the corners of their walks.
  private static let slight = 0.25, about = 0.35
  /// How long before leaving a stop one turns.
  private static let leaving = TimeSpan.milliseconds(500)
  /// The longest half of a turn.
  private static let longest = TimeSpan.milliseconds(600)

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

  /// Where one faces: radians from north, clockwise, turns added up.
  func bearing(at time: TimeSpan) -> Double {
    var low = 0
    var high = turns.count
    // The first turn that is not over for certain.
    while low < high {
      let middle = (low + high) / 2
      if turns[middle].time + JourneyTurns.longest <= time { low = middle + 1 } else { high = middle }
    }
    var bearing = low < turns.count ? turns[low].before : turns.last.map { $0.before + $0.angle } ?? first
    for turn in turns[low...] {
      guard turn.time - JourneyTurns.longest < time else { break }
      let share = max(0, min(1, ((time - turn.time) / turn.half + 1) / 2))
      bearing += turn.angle * share * share * (3 - 2 * share)
    }
    return bearing
  }

  /// The same direction between −π and π.
  static func wrapped(_ angle: Double) -> Double { angle - 2 * .pi * (angle / (2 * .pi)).rounded() }
}
