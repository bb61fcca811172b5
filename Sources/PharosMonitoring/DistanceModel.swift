import PharosReports

/// How a level becomes a distance.
package enum DistanceModel: Hashable, Sendable {
  /// Log-distance path loss: d = 10^((measured power − level) ÷ (10 × exponent)).
  case logDistance(exponent: Double)
  /// A fitted curve: d = a × (level ÷ measured power)^b + c, as phones are calibrated for AltBeacon.
  case curveFit(a: Double, b: Double, c: Double)

  /// The distance and its standard deviation.
  ///
  /// - Parameters:
  ///   - level: the filtered level in dBm.
  ///   - deviation: the standard deviation of the level in dB.
  ///   - measuredPower: the level at one metre in dBm.
  /// - Returns: both in metres, or nil where the model has no answer.
  package func distance(
    level: Double,
    deviation: Double,
    measuredPower: Double
  ) -> (meters: Double, deviation: Double)? {
    guard let meters = meters(level: level, measuredPower: measuredPower) else { return nil }
    guard let nearer = self.meters(level: level + deviation / 2, measuredPower: measuredPower) else {
      return nil
    }
    guard let farther = self.meters(level: level - deviation / 2, measuredPower: measuredPower) else {
      return nil
    }
    return (meters, abs(farther - nearer))
  }

  private func meters(level: Double, measuredPower: Double) -> Double? {
    let meters: Double
    switch self {
    case .logDistance(let exponent):
      guard exponent > 0 else { return nil }
      meters = RadioMath.powerOfTwo((measuredPower - level) / (10 * exponent) * RadioMath.binaryLogOfTen)
    case .curveFit(let a, let b, let c):
      guard measuredPower != 0, level / measuredPower > 0 else { return nil }
      meters = a * DistanceModel.power(level / measuredPower, b) + c
    }
    return meters.isFinite && meters >= 0 ? meters : nil
  }

  /// The level at a distance: where a threshold in metres lies.
  ///
  /// - Returns: dBm, or nil where the model has no answer.
  func level(meters: Double, measuredPower: Double) -> Double? {
    guard meters > 0 else { return nil }
    switch self {
    case .logDistance(let exponent):
      return measuredPower - 10 * exponent * RadioMath.binaryLog(meters) / RadioMath.binaryLogOfTen
    case .curveFit(let a, let b, let c):
      guard meters > c, a > 0, b != 0, measuredPower != 0 else { return nil }
      return measuredPower * DistanceModel.power((meters - c) / a, 1 / b)
    }
  }

  /// A positive number raised to a power.
  private static func power(_ base: Double, _ exponent: Double) -> Double {
    RadioMath.powerOfTwo(exponent * RadioMath.binaryLog(base))
  }

  /// The level at one metre that would explain a level at a known distance, by log-distance only.
  package func measuredPower(level: Double, meters: Double) -> Double? {
    guard case .logDistance(let exponent) = self, meters > 0 else { return nil }
    return level + 10 * exponent * RadioMath.binaryLog(meters) / RadioMath.binaryLogOfTen
  }
}

/// How ranging smooths levels and turns them into distances.
package struct RangingModels: Hashable, Sendable {
  /// The filter of the levels.
  package var filter: LevelFilterKind
  /// The distance model, or nil for log-distance with the site's exponent.
  package var distance: DistanceModel?

  /// Makes a choice; the defaults are the design's.
  package init(filter: LevelFilterKind = .kalman, distance: DistanceModel? = nil) {
    self.filter = filter
    self.distance = distance
  }
}

extension DistanceModel {
  /// The levels in dBm that a policy enters and leaves at; not a number where it asks for none.
  func levels(of policy: PresencePolicy, measuredPower: Double?) -> (enter: Float, exit: Float) {
    (
      level(policy.enterRSSI, policy.enterDistance, power: measuredPower, without: .infinity),
      level(policy.exitRSSI, policy.exitDistance, power: measuredPower, without: -.infinity)
    )
  }

  /// The level that a threshold in dBm or in metres, or both, comes to; `without` where a power is needed and unknown.
  @inline(__always)
  private func level(_ level: Double?, _ meters: Meters?, power: Double?, without: Float) -> Float {
    guard let meters else { return level.map { Float($0) } ?? .nan }
    guard let power, let there = self.level(meters: meters.value, measuredPower: power) else {
      return without
    }
    return Float(max(there, level ?? -.infinity))
  }
}
