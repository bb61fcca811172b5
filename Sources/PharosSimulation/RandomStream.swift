import PharosModel
package import PharosVenues

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

extension RandomStream {
  /// A number with mean 0 and deviation 1 that is nearly normal, in a few nanoseconds.
  ///
  /// The sum of eight uniform numbers of 16 bits: it never reaches 4.9, and is normal to within 0.01 of probability
  /// below 3. What lies further out is what spikes and bodies in the way are for.
  mutating func bell() -> Double {
    let one = next()
    let other = next()
    let mask: UInt64 = 0xFFFF
    let low = (one & mask) + (one >> 16 & mask) + (one >> 32 & mask) + one >> 48
    let high = (other & mask) + (other >> 16 & mask) + (other >> 32 & mask) + other >> 48
    return (Double(low + high) - 262_140) / 53_509.92
  }

  /// A length of time from a range, each tenfold length being as likely as the next.
  mutating func logarithmic(_ range: ClosedRange<TimeSpan>) -> Int64 {
    let (low, high) = (range.lowerBound.seconds, range.upperBound.seconds)
    guard low > 0, high > low else { return range.lowerBound.nanoseconds }
    let power = RadioMath.naturalLog(low) + uniform() * RadioMath.naturalLog(high / low)
    return Int64(RadioMath.exponential(power) * 1e9)
  }

  /// A length of time from a range, any being as likely as any other.
  mutating func span(_ low: Double, _ high: Double) -> Int64 { Int64(uniform(low, high) * 1e9) }
}

/// A number that differs from place to place by chance, always the same at the same place.
///
/// Normally distributed with deviation one, and alike within its length: drawn at the corners of a lattice and blended
/// between them, with the blend's loss of spread made up for. Nothing is stored.
package struct NoiseField: Hashable, Sendable {
  /// The distance over which the field varies.
  ///
  /// - Units: those of the given places.
  let length: Double
  private let key: UInt64

  package init(seed: UInt64, _ name: UInt64, length: Double) {
    var random = RandomStream(seed: seed, 21, name)
    key = random.next()
    self.length = length
  }

  /// The value at a place.
  ///
  /// - Complexity: O(1), four draws, without allocation.
  package func value(at point: Point, layer: Int = 0) -> Double {
    let (x, y) = (point.x / length, point.y / length)
    guard x.magnitude < 1e9, y.magnitude < 1e9 else { return 0 }
    let (west, south) = (x.rounded(.down), y.rounded(.down))
    let (column, row) = (Int(west), Int(south))
    let (east, north) = (NoiseField.eased(x - west), NoiseField.eased(y - south))
    var sum = 0.0
    var squares = 0.0
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
      let weight = (dx == 1 ? east : 1 - east) * (dy == 1 ? north : 1 - north)
      sum += weight * draw(column + dx, row + dy, layer)
      squares += weight * weight
    }
    return sum / squares.squareRoot()
  }

  /// The value at a place on a line, for what differs with time.
  func value(at position: Double) -> Double { value(at: Point(x: position, y: 0)) }

  private static func eased(_ share: Double) -> Double { share * share * (3 - 2 * share) }

  /// The draw at a corner of the lattice: four uniform numbers added up, near enough to a normal one.
  private func draw(_ column: Int, _ row: Int, _ layer: Int) -> Double {
    var bits = key
    for number in [column, row, layer] {
      bits ^= UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
      bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
      bits ^= bits >> 31
    }
    let parts = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + bits >> 48
    // Four uniform numbers from 0 to 1 have the mean 2 and the variance 4/12.
    return (Double(parts) / 65_535 - 2) * 3.0.squareRoot()
  }
}
