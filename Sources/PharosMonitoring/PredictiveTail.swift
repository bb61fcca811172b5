import PharosReports

/// How long a run of losses may become, when it is only known from some runs how likely one goes on.
///
/// If the chance c that a run goes on were known, m more losses would have the chance c^m. It is known only as well as so
/// many runs tell: its posterior is Beta(continued, ended), and the chance of m more is the mean of c^m over it,
/// Γ(a+m) Γ(a+b) ÷ (Γ(a) Γ(a+b+m)). That is tight after hundreds of runs and has a heavy tail after few, which is the
/// caution that little history calls for, and no more.
///
/// - Source: A. Gelman et al., "Bayesian Data Analysis", third edition, 2013, 2.1 and 2.4 (posterior predictive of the
///   binomial); Stirling's series for ln Γ.
package struct PredictiveTail {
  /// The first parameter: how often a run went on.
  let continued: Double
  /// The second parameter: how often a run ended.
  let ended: Double

  package init(continued: Double, ended: Double) {
    self.continued = continued
    self.ended = ended
  }

  /// The longest run that is looked for; beyond it any ceiling has long been reached.
  package static let longest = 100_000.0

  /// The logarithm to base 2 of the chance that a run goes on for so many more losses.
  package func logChance(of more: Double) -> Double {
    guard more > 0 else { return 0 }
    let whole = PredictiveTail.logGamma(continued + ended) - PredictiveTail.logGamma(continued)
    return whole + PredictiveTail.logGamma(continued + more)
      - PredictiveTail.logGamma(continued + ended + more)
  }

  /// The smallest whole number of further losses whose chance is at most 2 to the power of minus `bits`.
  ///
  /// Newton's method against ln(m + middle), in which the logarithm of the chance is nearly straight; a few whole steps
  /// then settle what rounding left open. Every track asks for it now and then, so no logarithm is taken twice.
  package func losses(forBits bits: Double) -> Int {
    guard bits > 0 else { return 0 }
    let sum = continued + ended
    let (logContinued, logSum) = (RadioMath.binaryLog(continued), RadioMath.binaryLog(sum))
    let whole =
      PredictiveTail.logGamma(sum, log: logSum) - PredictiveTail.logGamma(continued, log: logContinued)
    /// By how many bits so many losses are too likely, and how many bits one more of them takes off.
    func excess(_ more: Double) -> (over: Double, slope: Double) {
      let (low, high) = (RadioMath.binaryLog(continued + more), RadioMath.binaryLog(sum + more))
      let over =
        whole + PredictiveTail.logGamma(continued + more, log: low)
        - PredictiveTail.logGamma(sum + more, log: high) + bits
      return (over, high - low)
    }
    let middle = continued + ended / 2
    // As if c were known: never too long, since the mean of c^m is at least the mean of c to the power of m.
    var more = min(bits / (logSum - logContinued), PredictiveTail.longest)
    var last = excess(more)
    for _ in 0..<12 where last.over > 0.002 {
      let step = min(last.over / (last.slope * (more + middle)), 4)
      more = min((more + middle) * PredictiveTail.exponential(step) - middle, PredictiveTail.longest)
      if more >= PredictiveTail.longest { return Int(PredictiveTail.longest) }
      last = excess(more)
    }
    var count = more.rounded(.up)
    // From one loss to the next the slope falls by less than half.
    let isEnough = last.over - last.slope / 2 * (count - more) < -1e-6
    let isLeast = last.over + last.slope * (more - count + 1) > 1e-6
    if isEnough, isLeast { return Int(count) }
    for _ in 0..<64 {
      guard count >= 1, excess(count - 1).over <= 0 else { break }
      count -= 1
    }
    for _ in 0..<64 {
      guard excess(count).over > 0, count < PredictiveTail.longest else { break }
      count += 1
    }
    return Int(count)
  }

  /// e to the power of a step between 0 and 4, well enough to step by: Padé's approximant of the second order.
  private static func exponential(_ step: Double) -> Double {
    let even = 1 + step * step / 12
    return (even + step / 2) / (even - step / 2)
  }

  /// The logarithm to base 2 of Γ for arguments of at least 1, but for the constant ½ ln 2π.
  ///
  /// Stirling's series; at 1, where it is worst, it is wrong by 0.0004.
  static func logGamma(_ value: Double) -> Double {
    logGamma(value, log: RadioMath.binaryLog(value))
  }

  private static func logGamma(_ value: Double, log: Double) -> Double {
    let inverse = 1 / value
    let square = inverse * inverse
    let series = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1_260))
    return (value - 0.5) * log + (series - value) / RadioMath.naturalLogOfTwo
  }
}
