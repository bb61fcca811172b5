/// How somebody walks.
package struct Gait: Hashable, Sendable {
  /// How fast one walks.
  ///
  /// - Units: m/s. Visitors of a museum walk at about 0.8, people in a corridor at 1.3.
  package var speed: Double
  /// How long a step is.
  ///
  /// - Units: metres.
  package var stepLength: Double
  /// How far steps lie from their mean length, and from their mean strength.
  ///
  /// - Units: a share of the mean, one standard deviation.
  package var unevenness: Double

  /// How much longer a step is for each step a second more.
  ///
  /// - Units: metres a hertz.
  /// - Source: the walk ratio of adults, 0.0064 m a step a minute: Sekiya and others, Journal of Human Movement Studies 30
  ///   (1996).
  static let walkRatio = 0.39

  /// Makes a gait.
  ///
  /// - Parameters:
  ///   - speed: how fast one walks, in m/s.
  ///   - stepLength: how long a step is, in metres; nil for what people of that speed have.
  ///   - unevenness: how far steps lie from their mean, as a share of it.
  package init(speed: Double = 1.3, stepLength: Double? = nil, unevenness: Double = 0.04) {
    self.speed = speed
    self.stepLength = stepLength ?? (Gait.walkRatio * max(0, speed)).squareRoot()
    self.unevenness = unevenness
  }

  /// How high a step of a stair is.
  ///
  /// - Units: metres.
  /// - Source: ISO 21542 allows 0.15 to 0.18.
  static let stairRise = 0.17
  /// How many steps one takes on stairs.
  ///
  /// - Units: a second. With ``stairRise`` one gains 0.27 m a second.
  static let stairRate = 1.6
}
