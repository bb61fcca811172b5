/// Random numbers for particles: the same ones for the same seed, on every machine.
///
/// - Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
package struct FusionNoise: Sendable, Hashable {
  private var state: UInt64

  /// Starts from a seed.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 up to but not including 1.
  mutating func share() -> Float { Float(next() >> 40) * 0x1p-24 }

  /// A number of about a normal distribution: the sum of four evenly distributed ones.
  ///
  /// Its tails end at ±3.46; none of what it is used for has tails that are known better.
  mutating func normal() -> Float {
    let bits = next()
    let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48)
    return (Float(sum) - 131_070) * (1 / 37_837.2)
  }
}

/// Exponentials of weights.
enum FusionMath {
  /// e to the power of a number of at most 80; 0 below −80.
  ///
  /// - Source: 2 to the power of the whole part is an exponent; for the rest, at most ½, Taylor's series, whose first term left
  ///   out is below 10⁻⁷.
  @inline(__always)
  static func exponential(_ number: Float) -> Float {
    guard number > -80 else { return 0 }
    let power = min(number, 80) * 1.442_695_04
    let whole = power.nearestWhole
    let rest = (power - whole) * 0.693_147_18
    let sum =
      1 + rest
      * (1 + rest * (0.5 + rest * (1.0 / 6 + rest * (1.0 / 24 + rest * (1.0 / 120 + rest / 720)))))
    return sum * Float(bitPattern: UInt32(Int32(whole) + 127) << 23)
  }
}
