import PharosModel

/// The fingerprints of a plan's zones: what a look at the levels says for each of them.
///
/// The levels of a beacon in a zone are normally distributed around the learned means, all of them shifted by the same
/// amount, which is the beacon's power and is integrated out. Mean and deviation are themselves known from some looks only:
/// the predictive distribution is a multivariate t distribution. An observer that does not hear the beacon counts by the share
/// of looks at which it did not.
///
/// - Source: the Gaussian model of a place's levels, Youssef and Agrawala, Proc. MobiSys (2005), 3; its predictive
///   distribution, Gelman et al., Bayesian Data Analysis, 3.3; the shift, Sherman and Morrison's formula.
package struct FingerprintTable: Sendable {
  /// What one observer hears from one zone.
  struct Level: Sendable {
    /// - Units: dBm.
    var mean = 0.0
    /// - Units: dB².
    var variance = 0.0
    /// The share of looks at which it hears a beacon.
    var heard = 0.0
  }

  /// The fingerprint of one zone.
  struct Row: Sendable {
    /// The number of looks when it was learned.
    var looks: Double
    /// The time at which it was learned.
    var learnedAt: Timestamp
    /// The levels by the observers' places in the plan.
    var levels: [Level]
  }

  /// What one observer contributes to a look.
  package enum Observation: Hashable, Sendable {
    /// Nothing: it is down, or has not had the chance to hear the beacon.
    case none
    /// It does not hear the beacon.
    case silence
    /// It hears the beacon at a level.
    ///
    /// - Units: dBm.
    case level(Double)
  }

  /// The fingerprints by zones.
  let rows: [Row?]
  /// The usual level at each observer: the mean of the zones in which it hears beacons.
  ///
  /// - Units: dBm.
  private let usual: [Double]

  /// Prepares the fingerprints of a site's zones; nil if fewer than two have one.
  ///
  /// - Parameters:
  ///   - fingerprints: The fingerprints by zones.
  ///   - places: The observers' places in the plan.
  init?(_ fingerprints: [ZoneFingerprint?], places: [ObserverID: Int]) {
    guard fingerprints.count(where: { $0 != nil }) > 1 else { return nil }
    rows = fingerprints.map { fingerprint in
      guard let fingerprint else { return nil }
      var levels = Array(repeating: Level(), count: places.count)
      for level in fingerprint.levels {
        guard let place = places[level.observer] else { continue }
        levels[place] = Level(
          mean: level.mean,
          variance: level.deviation * level.deviation,
          heard: level.heard
        )
      }
      return Row(looks: fingerprint.looks, learnedAt: fingerprint.learnedAt, levels: levels)
    }
    let known = rows.compactMap(\.self)
    usual = (0..<places.count).map { place in
      let means = known.lazy.map { $0.levels[place] }.filter { $0.heard > 0 }.map(\.mean)
      return means.isEmpty ? ZoneRules.sensitivity : means.reduce(0, +) / Double(means.count)
    }
  }

  /// Returns the number of looks that a zone's fingerprint still counts for; nil if it has none, or too few.
  func looks(of zone: Int, at instant: Timestamp) -> Double? {
    guard let row = rows[zone] else { return nil }
    let age = max(0, (instant - row.learnedAt).seconds / ZoneRules.fingerprintHalfLife.seconds)
    let looks = row.looks * RadioMath.powerOfTwo(-min(age, FingerprintTable.maximumAge))
    return looks < ZoneRules.fingerprintLooks ? nil : looks
  }

  /// The number of half-lives beyond which an age makes no difference.
  private static let maximumAge = 64.0

  /// Returns whether an observer usually hears a beacon in a zone.
  func hears(_ observer: Int, in zone: Int) -> Bool {
    rows[zone].map { $0.levels[observer].heard >= 0.5 } ?? false
  }

  /// Returns the log-likelihood of a look in a zone, up to a constant that is the same for all zones.
  ///
  /// - Parameters:
  ///   - look: The observations by the observers' places in the plan.
  ///   - zone: The zone.
  ///   - looks: The number of looks that its fingerprint counts for.
  /// - Returns: The natural logarithm; 0 if the zone has no fingerprint.
  package func likelihood(of look: [Observation], in zone: Int, looks: Double) -> Double {
    guard let row = rows[zone] else { return 0 }
    var (shares, squares, residuals, precisions, logarithms, heard) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for (place, observation) in look.enumerated() {
      // Jeffreys' prior, half a look on either side.
      let count = row.levels[place].heard * looks
      let share = (count + 0.5) / (looks + 1)
      switch observation {
      case .none: break
      case .silence: shares += RadioMath.naturalLog(1 - share)
      case .level(let level):
        let expected = prediction(of: place, in: zone, looks: looks)
        let residual = level - expected.mean
        shares += RadioMath.naturalLog(share)
        squares += residual * residual / expected.variance
        residuals += residual / expected.variance
        precisions += 1 / expected.variance
        logarithms += RadioMath.naturalLog(expected.variance)
        heard += 1
      }
    }
    let power = ZoneRules.powerDeviation * ZoneRules.powerDeviation
    let freedom = ZoneRules.fingerprintPrior
    let distance = squares - residuals * residuals / (1 / power + precisions)
    return shares - (logarithms + RadioMath.naturalLog(1 + power * precisions)) / 2
      - (freedom + heard) / 2 * RadioMath.naturalLog(1 + max(0, distance) / freedom)
  }

  /// Returns the distribution of a level that is still to come.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - zone: The zone, which has a fingerprint.
  ///   - looks: The number of looks that the fingerprint counts for.
  /// - Returns: The mean in dBm, and the variance in dB².
  package func prediction(of observer: Int, in zone: Int, looks: Double) -> (mean: Double, variance: Double) {
    let level = rows[zone]?.levels[observer] ?? Level()
    let count = level.heard * looks
    let memory = ZoneRules.fingerprintPrior
    let place = ZoneRules.placeDeviation * ZoneRules.placeDeviation
    let within = (memory * place + count * level.variance) / (memory + count)
    let prior = within / (ZoneRules.separation * ZoneRules.separation)
    let weight = prior + count
    let mean = (prior * usual[observer] + count * level.mean) / weight
    return (mean, within * (1 + 1 / weight))
  }
}
