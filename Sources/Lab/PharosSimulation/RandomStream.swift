import PharosModel

/// Random numbers from a seed, with a stream of its own for everything that is random.
///
/// Each link, transmitter and observer draws from its own stream, so that one more observer in a scene changes
/// nothing that the others hear.
///
/// - Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
package struct RandomStream: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts the stream that a seed and some numbers name.
  package init(seed: UInt64, _ names: UInt64...) {
    state = seed
    for name in names {
      let mixed = next()
      state = mixed ^ (name &* 0xD6E8_FEB8_6659_FD93)
    }
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 up to, but not including, 1.
  package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number from one bound up to the other.
  package mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * uniform() }

  /// Returns true with the given probability.
  package mutating func chance(_ probability: Double) -> Bool { uniform() < probability }

  /// A number with the given mean whose chance falls off exponentially: a delay in a queue.
  package mutating func exponential(mean: Double) -> Double { -RadioMath.naturalLog(1 - uniform()) * mean }

  /// A normally distributed number with mean 0 and deviation 1.
  ///
  /// - Source: Marsaglia and Bray, "A convenient method for generating normal variables", SIAM Review 6 (1964).
  package mutating func normal() -> Double {
    while true {
      let x = uniform(-1, 1)
      let y = uniform(-1, 1)
      let square = x * x + y * y
      if square > 0, square < 1 { return x * (-2 * RadioMath.naturalLog(square) / square).squareRoot() }
    }
  }
}
