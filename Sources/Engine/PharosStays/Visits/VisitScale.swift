import PharosModel
import PharosSpace

/// The constants of visit detection, derived from the settings of a site.
struct VisitScale: Hashable, Sendable {
  /// The settings.
  let settings: VisitSettings
  /// The time that one sample of the track covers: a fifteenth of the shortest visit, so that its ends can be dated to a
  /// tenth of it.
  let grain: Double
  /// The longest time that counts as presence between two samples; a longer gap counts as this much.
  let coverage: Double
  /// The variance that moving about within the radius adds to each coordinate, in square metres.
  let wander: Double

  init(_ settings: VisitSettings) {
    self.settings = settings
    grain = max(1, settings.minimum.seconds / 15)
    coverage = max(2 * grain, settings.minimum.seconds / 2)
    wander = settings.radius * settings.radius / 4
  }

  /// The presence after which a stay that lasts is published.
  var minimum: Double { settings.minimum.seconds }
  /// The presence after which a stay that has ended is published.
  ///
  /// Nine tenths of the minimum, because both ends of a stop of exactly the minimum are estimates.
  var tolerated: Double { 0.9 * settings.minimum.seconds }

  /// The number of samples of a track that are compared at a time: more than four times the shortest visit.
  static let window = 64
  /// The number of samples that leave the window together.
  static let step = 16
  /// The fewest samples of a stay, so that two fixes before and after a gap are none.
  static let minimumSamples = 3
  /// The time for which the error of a fix persists.
  ///
  /// 10 s: a fix shares most of its readings with those of the seconds before it.
  static let correlation = 10.0
  /// The ratio of the radius that holds 68 % of a plane normal distribution to its standard deviation.
  static let radiusOfDeviation = 1.5096
  /// The least standard deviation of a fix, in metres.
  static let minimumDeviation = 0.5
  /// The permitted speeds of a movement, in m/s: slower is staying, faster is a jump of the fixes.
  ///
  /// A stay whose fixes without measured speeds move at the least of them, on the root mean square, is none.
  static let speeds = 0.35...3.0
  /// The usual speed of a walk in m/s, for the way between a last fix here and a first one there.
  static let walk = 1.2
  /// The longest gap in which the moment of a departure is estimated, in seconds.
  static let datableGap = 60.0
  /// The time without fixes after which a track that is no visit is forgotten.
  static let memory = TimeSpan.minutes(10)
  /// The consecutive fixes on another floor, and the time between the first and the last of them in seconds, that show a
  /// change of floor.
  static let floorChange = (fixes: 5, seconds: 8.0)

  /// Returns whether a later piece of a track lies elsewhere than a visit.
  ///
  /// Errors that persist shift the fixes of a long stay by some metres, now this way and now that, so that two pieces are
  /// one place up to twice the accuracy of a fix, and as much more as the centre of the visit scatters. A walk between
  /// them that the speeds show makes smaller distances believable.
  func isApart(_ visit: StaySums, _ later: StaySums, walked: Bool = false) -> Bool {
    guard visit.weight > 0, later.fixes > 0 else { return false }
    let accuracy = later.accuracies / Double(later.fixes)
    let minimum =
      walked
      ? max(2 * settings.radius, 1.2 * accuracy)
      : max(2 * settings.radius, 2 * accuracy) + min(accuracy, visit.scatterOfCenter)
    return visit.center.distance(to: later.center) >= minimum
  }

  // Costs are twice the negative logarithm of a likelihood.

  /// The cost of beginning a stay.
  static let stayCost = 3.0
  /// The costs of beginning a movement or of a turn, with and without speeds; a movement has two more parameters than a
  /// stay, with which it follows errors that no speed contradicts.
  static let moveCost = (measured: 4.0, unmeasured: 8.0)
  /// The leads over the best track without it that publish a stay, with and without speeds.
  static let arrivalMargin = (measured: 10.0, unmeasured: 3.0)
  /// The lead over staying that publishes a departure.
  static let departureMargin = 20.0
  /// The cost of the speeds of a stay between two others that shows a walk.
  static let walkEvidence = 9.0
  /// The improvement by a straight movement from which on the fixes of a stay drift: one in a hundred by chance.
  ///
  /// The quantile of a chi-squared distribution of two degrees of freedom.
  static let drift = 9.2
  /// The cost for each second of a speed that contradicts a segment for certain, and the deviation of a speed in m/s.
  static let speedEvidence = (costPerSecond: 3.0, deviation: 0.3)
}
