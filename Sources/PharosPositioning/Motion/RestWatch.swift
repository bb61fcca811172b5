import PharosReports

/// Tells rest from movement by how much the strength of the acceleration scatters.
struct RestWatch: Hashable, Sendable {
  private var mean: Float = 0
  private var variance: Float = 0
  private var previous = Timestamp.distantPast
  /// Since when the acceleration has been quiet, or nil while it is not.
  private var quietSince: Timestamp?
  /// The time up to which the rest has been reported.
  private var told = Timestamp.distantPast

  /// Over how long the scatter is taken.
  ///
  /// - Units: seconds.
  private static let memory: Float = 0.5

  /// Whether the handset rests: no step for a while, and little scatter.
  func isResting(at time: Timestamp, rules: MotionRules) -> Bool {
    guard let quietSince else { return false }
    return time - quietSince >= rules.restDelay
  }

  /// Takes a strength of acceleration, and gives a rest to tell.
  mutating func take(_ strength: Float, at time: Timestamp, rules: MotionRules) -> Movement? {
    defer { previous = time }
    guard previous != .distantPast, time - previous <= rules.sampleLife else {
      (mean, variance, quietSince) = (strength, 0, nil)
      return nil
    }
    let passed = Float((time - previous).seconds)
    let share = passed / (RestWatch.memory + passed)
    let difference = strength - mean
    mean += share * difference
    variance = (1 - share) * (variance + share * difference * difference)
    guard variance < rules.restScatter * rules.restScatter else {
      quietSince = nil
      return nil
    }
    let since = quietSince ?? time
    quietSince = since
    guard time - since >= rules.restDelay else { return nil }
    let from = max(since, told)
    guard time - from >= rules.restInterval else { return nil }
    told = time
    return .still(from: from, to: time)
  }

  /// A step was made: the rest is over.
  mutating func wake() { quietSince = nil }
}
