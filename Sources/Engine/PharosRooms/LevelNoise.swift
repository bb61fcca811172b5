package import PharosDocuments
import PharosModel

/// The slow deviations of the levels at a site: how far people and doors shift the level of a beacon that lies still, and
/// for how long.
///
/// The differences of levels that are some seconds apart grow with the lag as far as the deviations change in that time,
/// while the noise of the single second adds the same to all of them. So the rise from lag to lag gives the variance and
/// the time of the deviations, without the mean. It is learned from all beacons of the site that lie still.
///
/// - Source: the variogram of a process with exponential covariance, Cressie, Statistics for Spatial Data, 2.3.
package struct LevelNoise: Hashable, Sendable {
  /// Half the mean square of the differences at one lag.
  struct Rise: Hashable, Sendable {
    /// - Units: dB².
    var mean: Double
    /// The number of differences.
    var count = LevelNoise.guesses
  }

  /// The lags: a tenth, two fifths and one and a half times the `guessedTime`.
  ///
  /// - Units: seconds.
  private static let lags = (near: 2.0, middle: 8.0, far: 32.0)
  /// The number of lags.
  static let lagCount = 3
  /// The amount by which a difference may miss its lag.
  ///
  /// - Units: seconds; a beacon is heard once a second or less often as a rule.
  private static let tolerance = 0.75
  /// The variance of the deviations before any has been seen.
  ///
  /// 2² dB²: between a quiet room and a busy one, so that the first decision about a beacon near a border waits.
  ///
  /// - Units: dB².
  private static let guessedVariance = 4.0
  /// The initial estimate of that time: as long as a person stands or a door stays open.
  ///
  /// - Units: seconds.
  private static let guessedTime = 20.0
  /// The shortest and the longest time that is learned: those that the lags can tell from noise and from a new place.
  ///
  /// - Units: seconds.
  private static let times = (minimum: 3.0, maximum: 60.0)
  /// The number of differences as which the guess counts: eight beacons with four observers for half a minute.
  private static let guesses = 32.0
  /// The number of differences over which the means are taken.
  private static let memory = 16_384.0
  /// The greatest square that counts: that of a deviation of 8.5 dB, beyond which the beacon has moved.
  ///
  /// - Units: dB².
  private static let maximumSquare = 36.0
  /// The least and the greatest variance.
  ///
  /// - Units: dB².
  private static let variances = (minimum: 0.01, maximum: 25.0)

  private var near = Rise(mean: guessedVariance * (1 - RadioMath.exponential(-lags.near / guessedTime)))
  private var middle = Rise(mean: guessedVariance * (1 - RadioMath.exponential(-lags.middle / guessedTime)))
  private var far = Rise(mean: guessedVariance * (1 - RadioMath.exponential(-lags.far / guessedTime)))
  /// The variance of the deviations.
  ///
  /// - Units: dB².
  private(set) var variance = LevelNoise.guessedVariance
  /// The time in which a deviation falls to 1/e.
  ///
  /// - Units: seconds.
  private(set) var time = LevelNoise.guessedTime

  /// Compares a level with an earlier one whose shorter lags have been taken already.
  ///
  /// Returns the number of lags that have been taken, or nil if the earlier level must be replaced.
  mutating func compare(_ level: Double, with earlier: Double, after lag: Double, accepted: Int) -> Int? {
    let due =
      accepted == 0 ? LevelNoise.lags.near : accepted == 1 ? LevelNoise.lags.middle : LevelNoise.lags.far
    if lag < due - LevelNoise.tolerance { return accepted }
    guard lag <= due + LevelNoise.tolerance else { return nil }
    let square = min((level - earlier) * (level - earlier) / 2, LevelNoise.maximumSquare)
    switch accepted {
    case 0: near.learn(square, memory: LevelNoise.memory)
    case 1: middle.learn(square, memory: LevelNoise.memory)
    default:
      far.learn(square, memory: LevelNoise.memory)
      solve()
      return nil
    }
    return accepted + 1
  }

  /// Computes variance and time from the means at the three lags.
  ///
  /// A rise within two of its standard errors counts as none.
  private mutating func solve() {
    let error = 2 * (near.mean * near.mean / near.count + far.mean * far.mean / far.count)
    let rise = far.mean - near.mean - 2 * error.squareRoot()
    guard rise > LevelNoise.variances.minimum else {
      (variance, time) = (LevelNoise.variances.minimum, LevelNoise.guessedTime)
      return
    }
    // The time at which the model's rises are in the ratio of those seen, by bisection: a longer one rises later.
    let early = max(middle.mean - near.mean, LevelNoise.variances.minimum)
    let late = max(far.mean - middle.mean, LevelNoise.variances.minimum)
    var (low, high) = LevelNoise.times
    for _ in 0..<6 {
      let time = (low * high).squareRoot()
      let model = LevelNoise.rises(time)
      if model.late * early < late * model.early { low = time } else { high = time }
    }
    time = (low * high).squareRoot()
    let model = LevelNoise.rises(time)
    variance = min(rise / (model.early + model.late), LevelNoise.variances.maximum)
  }

  /// Returns the rises from lag to lag of deviations of variance one.
  private static func rises(_ time: Double) -> (early: Double, late: Double) {
    let middle = RadioMath.exponential(-lags.middle / time)
    return (
      RadioMath.exponential(-lags.near / time) - middle, middle - RadioMath.exponential(-lags.far / time)
    )
  }
}

extension LevelNoise.Rise {
  fileprivate mutating func learn(_ square: Double, memory: Double) {
    count = min(count + 1, memory)
    mean += (square - mean) / count
  }
}

/// The probability that a beacon is carried, which all of its observers share.
package struct Carriage: Hashable, Sendable {
  /// The greatest probability, so that the end of a carriage is noticed.
  private static let maximumProbability = 0.999

  /// The probability.
  package var probability = 0.0
  /// The time that it is of.
  private var at = Timestamp.distantPast

  /// Returns the chances that a beacon at rest is picked up within a time, and that one that is carried is set down.
  static func changes(in seconds: Double) -> (starts: Double, ends: Double) {
    let (start, end) = (ZoneRules.pickUpRate * seconds, ZoneRules.setDownRate * seconds)
    return (start / (1 + start + end), end / (1 + start + end))
  }

  /// Advances to an instant.
  mutating func advance(to instant: Timestamp) {
    if at != .distantPast, instant > at {
      let changes = Carriage.changes(in: (instant - at).seconds)
      probability += (1 - probability) * changes.starts - probability * changes.ends
    }
    at = max(at, instant)
  }

  /// Takes the logarithm of a likelihood ratio, that of a carriage over that of rest.
  mutating func update(_ evidence: Double) {
    let bounded = min(max(evidence, -ZoneRules.maximumEvidence), ZoneRules.maximumEvidence)
    let odds = probability * RadioMath.powerOfTwo(bounded / RadioMath.naturalLogOfTwo)
    probability = min(odds / (odds + 1 - probability), Carriage.maximumProbability)
  }
}

extension LevelNoise.Rise: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(mean: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(finite: &mean)
    try coder.code(finite: &count)
    try coder.check(mean >= 0 && count >= 1, "differences of levels")
  }
}

extension LevelNoise {
  /// Hands what was learned to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&near)
    try coder.code(&middle)
    try coder.code(&far)
    try coder.code(finite: &variance)
    try coder.code(finite: &time)
    try coder.check(variance > 0 && time > 0, "the deviations of levels")
  }
}

extension Carriage {
  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(finite: &probability)
    try coder.code(&at)
    try coder.check(probability >= 0 && probability <= 1, "a probability")
  }
}
