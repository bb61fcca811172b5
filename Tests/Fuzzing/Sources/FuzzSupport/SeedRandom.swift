/// Numbers for seeds that are the same in every run (SplitMix64).
package struct SeedRandom: RandomNumberGenerator {
  private var state: UInt64

  /// Starts a sequence.
  package init(_ seed: UInt64) { state = seed }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }

  /// Some bytes.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}

/// Mixes what was decoded into one number, so that two ways of decoding can be compared without keeping either (FNV-1a).
package struct Digest: Equatable {
  private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Starts with nothing mixed in.
  package init() {}

  /// Mixes a number in.
  package mutating func mix(_ word: UInt64) {
    sum = (sum ^ word) &* 0x0000_0100_0000_01B3
    sum ^= sum >> 32
  }

  /// Mixes bytes in.
  package mutating func mix(_ bytes: some Collection<UInt8>) {
    mix(UInt64(bytes.count))
    for byte in bytes { mix(UInt64(byte)) }
  }
}
