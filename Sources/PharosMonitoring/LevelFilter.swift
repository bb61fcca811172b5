/// Which filter smooths the levels of a track.
package enum LevelFilterKind: UInt8, Hashable, Sendable {
  /// A Kalman filter of one state: the default.
  case kalman
  /// The mean of the last ten samples without the highest and the lowest tenth, as AltBeacon's running average.
  case trimmedMean
  /// The median of the last ten samples.
  case median
  /// The mean of the last ten samples.
  case movingAverage
}

/// The level of a track, smoothed, and how sure it is.
///
/// A random walk seen through noise. The walk's rate is that of somebody who walks: 1 to 3 dB a second a few metres
/// from a beacon. The noise is measured: from the innovations, which is how far each sample lies from what the samples
/// before it let one expect.
///
/// - Source: R. K. Mehra, "On the identification of variances and adaptive Kalman filtering", IEEE Transactions on
///   Automatic Control 15, 1970.
package struct KalmanLevel: Hashable, Sendable {
  /// By how much the true level wanders.
  ///
  /// - Units: dB² a second; 2 is a walk of 1.4 dB in one second.
  package static let drift = 2.0
  /// The variance of one sample before it has been measured.
  ///
  /// - Units: dB²; 16 is a deviation of 4 dB, the middle of what indoor measurements report (3 to 6 dB).
  package static let noise = 16.0
  /// Between which bounds the measured noise is kept.
  ///
  /// - Units: dB²; deviations of 0.7 to 10 dB. A receiver rounds to whole decibels, and beyond 10 dB it is no noise.
  static let bounds: ClosedRange<Float> = 0.5...100
  /// How much one innovation says about the noise: about one in thirty.
  private static let rate: Float = 1.0 / 32
  /// Innovations beyond three deviations say no more than one of three: a spike is no noise.
  private static let clip: Float = 9
  /// From how many variances on an innovation is far off.
  private static let far: Float = 4

  var estimate: Float
  var spread: Float
  var measured = Float(KalmanLevel.noise)
  /// Whether the last innovation was far off: below, above, or not.
  var push: Int8 = 0

  /// The estimate.
  ///
  /// - Units: dBm.
  package var level: Double { Double(estimate) }
  /// The variance of the estimate.
  ///
  /// - Units: dB².
  package var variance: Double { Double(spread) }
  /// The measured variance of one sample.
  ///
  /// - Units: dB².
  package var sampleVariance: Double { Double(measured) }

  /// Whether there is no sample yet.
  var isEmpty: Bool { estimate.isNaN }

  /// Starts from a first sample.
  package init(first level: Double) {
    estimate = Float(level)
    spread = Float(KalmanLevel.noise)
  }

  /// A filter in a known state.
  @inline(__always)
  init(estimate: Float, spread: Float, measured: Float, push: Int8) {
    self.estimate = estimate
    self.spread = spread
    self.measured = measured
    self.push = push
  }

  /// Takes a sample that came so many seconds after the last one.
  package mutating func add(_ sample: Double, after seconds: Double) {
    take(Float(sample), after: Float(seconds))
  }

  /// Takes a sample that came so many seconds after the last one.
  @inline(__always)
  mutating func take(_ sample: Float, after seconds: Float) {
    // Beyond a minute the old estimate says nothing any more; the cap keeps the variance finite.
    let predicted = spread + Float(KalmanLevel.drift) * min(max(seconds, 0), 60)
    let expected = predicted + measured
    let gain = predicted / expected
    let innovation = sample - estimate
    let square = innovation * innovation
    estimate += gain * innovation
    spread = (1 - gain) * predicted
    // Two in a row that are far off on one side are a step of the level, and no noise.
    let pushed: Int8 = square <= KalmanLevel.far * expected ? 0 : innovation < 0 ? -1 : 1
    if pushed == 0 || pushed != push {
      measured += (min(square, KalmanLevel.clip * expected) - expected) * KalmanLevel.rate
      measured = min(max(measured, KalmanLevel.bounds.lowerBound), KalmanLevel.bounds.upperBound)
    }
    push = pushed
  }

  /// Raises the sample taken last by so many dB: a stronger report of the same transmission.
  ///
  /// The gain of that sample was its variance divided by the noise.
  package mutating func raiseLast(by difference: Double) { estimate += spread / measured * Float(difference) }
}

extension KalmanLevel {
  /// Time passes without a sample.
  mutating func age(by seconds: Float) {
    spread = min(spread + Float(KalmanLevel.drift) * max(seconds, 0), Float(KalmanLevel.drift) * 60)
  }
}
