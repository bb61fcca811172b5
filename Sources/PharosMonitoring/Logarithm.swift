/// Logarithms and powers in plain arithmetic.
///
/// A pure module imports no C library, and two C libraries may differ in the last bit, which would show in events that
/// must be the same everywhere.
enum Logarithm {
  /// The natural logarithm of 2.
  static let ln2 = 0.693_147_180_559_945_309_4
  /// The logarithm of 10 to base 2.
  static let log2Of10 = 3.321_928_094_887_362_348

  /// The logarithm to base 2; minus infinity for what has none.
  ///
  /// The exponent, and for the significand m the series 2 × artanh((m − 1) ÷ (m + 1)), which for m between √½ and √2 is
  /// exact to the last bits after twelve terms.
  static func base2(_ value: Double) -> Double {
    guard value > 0 else { return -.infinity }
    guard value.isFinite else { return value }
    var exponent = Double(value.exponent)
    var significand = value.significand
    if significand > 1.414_213_562_373_095_1 {
      significand /= 2
      exponent += 1
    }
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var sum = 1.0 / 23
    sum = sum * square + 1.0 / 21
    sum = sum * square + 1.0 / 19
    sum = sum * square + 1.0 / 17
    sum = sum * square + 1.0 / 15
    sum = sum * square + 1.0 / 13
    sum = sum * square + 1.0 / 11
    sum = sum * square + 1.0 / 9
    sum = sum * square + 1.0 / 7
    sum = sum * square + 1.0 / 5
    sum = sum * square + 1.0 / 3
    sum = sum * square + 1
    return exponent + 2 * ratio * sum / ln2
  }

  /// 2 raised to a power.
  ///
  /// The whole part becomes the exponent; for the rest, at most ½, Taylor's series has converged after fifteen terms.
  static func power2(_ exponent: Double) -> Double {
    guard exponent < 1_024 else { return .infinity }
    guard exponent > -1_022 else { return 0 }
    let whole = exponent.rounded()
    let rest = (exponent - whole) * ln2
    var sum = 1.0 / 1_307_674_368_000
    sum = sum * rest + 1.0 / 87_178_291_200
    sum = sum * rest + 1.0 / 6_227_020_800
    sum = sum * rest + 1.0 / 479_001_600
    sum = sum * rest + 1.0 / 39_916_800
    sum = sum * rest + 1.0 / 3_628_800
    sum = sum * rest + 1.0 / 362_880
    sum = sum * rest + 1.0 / 40_320
    sum = sum * rest + 1.0 / 5_040
    sum = sum * rest + 1.0 / 720
    sum = sum * rest + 1.0 / 120
    sum = sum * rest + 1.0 / 24
    sum = sum * rest + 1.0 / 6
    sum = sum * rest + 1.0 / 2
    sum = sum * rest + 1
    sum = sum * rest + 1
    return sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
  }

  /// 10 raised to a power.
  static func power10(_ exponent: Double) -> Double { power2(exponent * log2Of10) }

  /// A positive number raised to a power.
  static func power(_ base: Double, _ exponent: Double) -> Double { power2(exponent * base2(base)) }
}
