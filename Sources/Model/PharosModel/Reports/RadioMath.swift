/// The few functions of analysis that radio needs, made of exactly rounded operations only.
///
/// Not the C library's, which a pure module does not import: its last bit differs between versions and machines, and a
/// scene, a comparison and a decision must come out the same wherever they are made.
public enum RadioMath {
  /// The natural logarithm of 2.
  public static let naturalLogOfTwo = 0.693147180559945309417
  /// The logarithm of 10 to base 2.
  public static let binaryLogOfTen = 3.321_928_094_887_362_348
  private static let naturalLogOfTen = 2.302585092994045684018

  /// The natural logarithm of a finite number above zero; of all else, minus infinity.
  ///
  /// - Source: the series of the inverse hyperbolic tangent; with |s| ≤ 0.172 the first term left out is below
  ///   10⁻¹⁷.
  public static func naturalLog(_ number: Double) -> Double {
    guard number > 0, number.isFinite else { return -.infinity }
    var significand = number.significand
    var exponent = Double(number.exponent)
    if significand > 1.4142135623730951 {
      significand /= 2
      exponent += 1
    }
    let s = (significand - 1) / (significand + 1)
    let square = s * s
    var sum = 0.0
    var odd = 21.0
    while odd >= 1 {
      sum = sum * square + 1 / odd
      odd -= 2
    }
    return exponent * naturalLogOfTwo + 2 * s * sum
  }

  /// The decadic logarithm of a finite number above zero; of all else, minus infinity.
  public static func decadicLog(_ number: Double) -> Double { naturalLog(number) / naturalLogOfTen }

  /// e to the power of a number, held between e⁻⁷⁰⁰ and e⁷⁰⁰.
  ///
  /// - Source: Taylor's series after taking out powers of two; with |r| ≤ 0.347 the first term left out is below
  ///   10⁻¹⁷.
  public static func exponential(_ number: Double) -> Double {
    let held = min(700, max(-700, number))
    let power = (held / naturalLogOfTwo).rounded()
    let r = held - power * naturalLogOfTwo
    var sum = 1.0
    var term = 15.0
    while term >= 1 {
      sum = 1 + sum * r / term
      term -= 1
    }
    return Double(sign: .plus, exponent: Int(power), significand: sum)
  }

  /// Ten to the power of a number.
  public static func powerOfTen(_ number: Double) -> Double { exponential(number * naturalLogOfTen) }

  /// A number above zero raised to a power; of all else, as if the number were the smallest there is.
  public static func power(_ base: Double, _ exponent: Double) -> Double {
    exponential(max(-700, naturalLog(base)) * exponent)
  }

  /// The logarithm to base 2; minus infinity for what has none.
  ///
  /// The exponent, and for the significand m the series 2 × artanh((m − 1) ÷ (m + 1)), which for m between √½ and √2 is
  /// exact to the last bits after twelve terms.
  public static func binaryLog(_ value: Double) -> Double {
    guard value >= .leastNormalMagnitude, value.isFinite else {
      // Below the normal numbers there is no exponent to take out.
      return value > 0 && value.isFinite ? binaryLog(value * 0x1p64) - 64 : value > 0 ? value : -.infinity
    }
    let bits = value.bitPattern
    var exponent = Double(Int(bits >> 52) - 1_023)
    var significand = Double(bitPattern: bits & (1 << 52 - 1) | 1_023 << 52)
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
    return exponent + 2 * ratio * sum / naturalLogOfTwo
  }

  /// 2 raised to a power; nothing below the least normal number, infinity above the greatest.
  ///
  /// The whole part becomes the exponent; for the rest, at most ½, Taylor's series has converged after fifteen terms.
  public static func powerOfTwo(_ exponent: Double) -> Double {
    guard exponent < 1_024 else { return .infinity }
    guard exponent > -1_022 else { return 0 }
    let whole = exponent.rounded()
    let rest = (exponent - whole) * naturalLogOfTwo
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

  /// A power ratio in decibels; ratios of zero and below count as −60 dB, deeper than any fade that matters.
  public static func decibels(_ ratio: Double) -> Double {
    ratio > 1e-6 ? 10 * decadicLog(ratio) : -60
  }
}
