/// The few functions of analysis that radio needs, made of exactly rounded operations only.
///
/// Not the C library's, which a pure module does not import: its last bit differs between versions and machines, and a
/// scene, a comparison and a decision must come out the same wherever they are made.
public enum RadioMath {
  private static let naturalLogOfTwo = 0.693147180559945309417
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

  /// A power ratio in decibels; ratios of zero and below count as −60 dB, deeper than any fade that matters.
  public static func decibels(_ ratio: Double) -> Double {
    ratio > 1e-6 ? 10 * decadicLog(ratio) : -60
  }
}
