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
struct PredictiveTail {
  /// The first parameter: how often a run went on.
  let continued: Double
  /// The second parameter: how often a run ended.
  let ended: Double

  /// The longest run that is looked for; beyond it any ceiling has long been reached.
  static let longest = 100_000.0

  /// The logarithm to base 2 of the chance that a run goes on for so many more losses.
  func logChance(of more: Double) -> Double {
    guard more > 0 else { return 0 }
    let whole = PredictiveTail.logGamma(continued + ended) - PredictiveTail.logGamma(continued)
    return whole + PredictiveTail.logGamma(continued + more)
      - PredictiveTail.logGamma(continued + ended + more)
  }

  /// The smallest whole number of further losses whose chance is at most 2 to the power of minus `bits`.
  ///
  /// Newton's method against ln(m + middle), in which the logarithm of the chance is nearly straight; a few whole steps
  /// then settle what rounding left open.
  func losses(forBits bits: Double) -> Int {
    guard bits > 0 else { return 0 }
    let whole = PredictiveTail.logGamma(continued + ended) - PredictiveTail.logGamma(continued)
    func excess(_ more: Double) -> Double {
      whole + PredictiveTail.logGamma(continued + more)
        - PredictiveTail.logGamma(continued + ended + more) + bits
    }
    let middle = continued + ended / 2
    // As if c were known: never too long, since the mean of c^m is at least the mean of c to the power of m.
    var more = min(bits / -RadioMath.binaryLog(continued / (continued + ended)), PredictiveTail.longest)
    for _ in 0..<12 {
      let over = excess(more)
      guard over > 0.002 else { break }
      let slope =
        (RadioMath.binaryLog(continued + ended + more - 0.5) - RadioMath.binaryLog(continued + more - 0.5))
        * (more + middle)
      let step = min(over / slope, 4)
      more = min(
        (more + middle) * RadioMath.powerOfTwo(step / RadioMath.naturalLogOfTwo) - middle,
        PredictiveTail.longest
      )
      if more >= PredictiveTail.longest { return Int(PredictiveTail.longest) }
    }
    var count = more.rounded(.up)
    for _ in 0..<64 {
      guard count >= 1, excess(count - 1) <= 0 else { break }
      count -= 1
    }
    for _ in 0..<64 {
      guard excess(count) > 0, count < PredictiveTail.longest else { break }
      count += 1
    }
    return Int(count)
  }

  /// The logarithm to base 2 of Γ for arguments of at least 1, but for the constant ½ ln 2π.
  ///
  /// Stirling's series; at 1, where it is worst, it is wrong by 0.0004.
  static func logGamma(_ value: Double) -> Double {
    let inverse = 1 / value
    let square = inverse * inverse
    let series = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1_260))
    return (value - 0.5) * RadioMath.binaryLog(value) + (series - value) / RadioMath.naturalLogOfTwo
  }
}
