package import PharosFixes
import PharosModel

/// A fit of the position of an emitter and of its path loss to levels at known places.
///
/// Every place of a raster is tried; for each the power and the slope follow from least squares with a prior on the
/// slope. The uncertainty of the place follows from the increase of the misfit away from the best place.
package struct PathLossFit {
  /// A level at a place, with its weight.
  package struct Level {
    package var x: Float
    package var y: Float
    /// In dBm.
    package var level: Float
    /// One divided by the variance in dB².
    package var weight: Float

    package init(x: Float, y: Float, level: Float, weight: Float) {
      self.x = x
      self.y = y
      self.level = level
      self.weight = weight
    }
  }

  /// The best path loss.
  package private(set) var best: PathLoss
  /// The place in the middle of all that fit, weighed by how well they do.
  private(set) var middle: (x: Float, y: Float)
  /// The uncertainty of the place along each axis, in metres.
  package private(set) var deviation: Float

  /// The step of the raster.
  ///
  /// - Units: metres.
  static let step: Float = 3
  /// The distance beyond the strong levels within which the emitter may hang.
  ///
  /// - Units: metres.
  static let reach: Float = 15
  /// The range below the strongest level within which a level counts as strong.
  ///
  /// - Units: dB.
  static let strongSpan: Float = 12
  /// The most places tried.
  static let maximumPlaces = 1_200

  /// Fits; nil without levels.
  ///
  /// - Parameters:
  ///   - heard: the levels at the places where it was heard.
  ///   - silent: the levels assumed at the places where a walk passed and it was not heard; such a level counts only
  ///     if the fit lies above it.
  ///   - rules: the prior on the slope.
  package init?(heard: [Level], silent: [Level], rules: SurveyRules) {
    guard let strongest = heard.map(\.level).max() else { return nil }
    let strong = heard.filter { $0.level >= strongest - PathLossFit.strongSpan }
    let xs = strong.map(\.x)
    let ys = strong.map(\.y)
    guard let west = xs.min(), let east = xs.max(), let south = ys.min(), let north = ys.max() else {
      return nil
    }
    let reach = PathLossFit.reach
    let area = (east - west + 2 * reach) * (north - south + 2 * reach)
    let step = max(PathLossFit.step, (area / Float(PathLossFit.maximumPlaces)).squareRoot())
    let columns = Int((east - west + 2 * reach) / step) + 1
    let rows = Int((north - south + 2 * reach) / step) + 1
    var tried: [(loss: PathLoss, misfit: Float)] = []
    tried.reserveCapacity(columns * rows)
    var logs = [Float](repeating: 0, count: heard.count)
    for row in 0..<rows {
      for column in 0..<columns {
        let place = PathLoss(
          x: west - reach + Float(column) * step,
          y: south - reach + Float(row) * step,
          power: 0,
          slope: 0
        )
        tried.append(PathLossFit.fit(at: place, heard, silent, rules, &logs))
      }
    }
    guard let found = tried.min(by: { $0.misfit < $1.misfit }) else { return nil }
    best = found.loss
    var (sum, x, y, xx, yy) = (0.0 as Float, 0.0 as Float, 0.0 as Float, 0.0 as Float, 0.0 as Float)
    for (loss, misfit) in tried where misfit - found.misfit < 20 {
      // A likelihood of e to the minus half the misfit, by powers of two, which need no library.
      let share = Float(sign: .plus, exponent: -Int((misfit - found.misfit) * 0.721_35), significand: 1)
      sum += share
      x += share * loss.x
      y += share * loss.y
      xx += share * loss.x * loss.x
      yy += share * loss.y * loss.y
    }
    let (meanX, meanY) = (x / sum, y / sum)
    middle = (meanX, meanY)
    let variance = max(0, xx / sum - meanX * meanX) + max(0, yy / sum - meanY * meanY)
    deviation = (variance / 2 + step * step / 12).squareRoot()
  }

  /// Power, slope and misfit for one place.
  private static func fit(
    at place: PathLoss,
    _ heard: [Level],
    _ silent: [Level],
    _ rules: SurveyRules,
    _ logs: inout [Float]
  ) -> (loss: PathLoss, misfit: Float) {
    var (weights, meanLog, meanLevel) = (0.0 as Float, 0.0 as Float, 0.0 as Float)
    for (index, level) in heard.enumerated() {
      let log = place.logDistance(level.x, level.y)
      logs[index] = log
      weights += level.weight
      meanLog += level.weight * log
      meanLevel += level.weight * level.level
    }
    meanLog /= weights
    meanLevel /= weights
    let prior = 1 / (rules.slopeDeviation * rules.slopeDeviation)
    var (square, product) = (prior, prior * -rules.usualSlope)
    for (index, level) in heard.enumerated() {
      let log = logs[index] - meanLog
      square += level.weight * log * log
      product += level.weight * log * (level.level - meanLevel)
    }
    var loss = place
    loss.slope = min(60, max(12, -product / square))
    loss.power = meanLevel + loss.slope * meanLog
    var misfit = prior * (loss.slope - rules.usualSlope) * (loss.slope - rules.usualSlope)
    for (index, level) in heard.enumerated() {
      let rest = level.level - (loss.power - loss.slope * logs[index])
      misfit += level.weight * rest * rest
    }
    for level in silent {
      let above = loss.level(level.x, level.y) - level.level
      if above > 0 { misfit += level.weight * above * above }
    }
    return (loss, misfit)
  }
}
