/// How much louder than the survey's the subject's receiver hears, or a tag sends: one number for all levels, learned slowly.
package struct LevelOffset: Sendable, Hashable {
  /// What is to be taken from every level.
  ///
  /// - Units: dB.
  private(set) var decibels: Float = 0
  /// The uncertainty of that in dB².
  private var variance: Float
  private var isSender = false

  /// The uncertainty of one look: its readings err together by the subject's body, the crowd, and an error of the place.
  ///
  /// - Units: dB².
  private static let lookVariance: Float = 36
  /// How fast the offset may change: a phone goes into a pocket.
  ///
  /// - Units: dB² a look.
  private static let wander: Float = 0.02

  /// Starts with no offset.
  init(deviation: Float) { variance = deviation * deviation }

  /// Starts with what tags differ by, if the subject turns out to be one.
  mutating func expectSender(deviation: Float) {
    guard !isSender else { return }
    isSender = true
    variance = deviation * deviation
  }

  /// Offsets to try while nothing was learned: none, and one standard deviation either way, with the logarithms of how
  /// probable they are.
  package var trials: [(decibels: Float, prior: Float)] {
    guard variance > 0.25 else { return [(0, 0)] }
    let deviation = variance.squareRoot()
    return [(-deviation, -0.5), (0, 0), (deviation, -0.5)]
  }

  /// Takes what the trials came to; how certain that is, the looks that follow tell.
  mutating func guess(_ decibels: Float) { self.decibels = decibels }

  /// Learns from the median of how much louder readings were than expected where the subject is believed to be.
  mutating func learn(_ residual: Float) {
    guard residual.isFinite else { return }
    let variance = self.variance + LevelOffset.wander
    let gain = variance / (variance + LevelOffset.lookVariance)
    decibels = min(25, max(-25, decibels + gain * (residual - decibels)))
    self.variance = variance * (1 - gain)
  }
}
