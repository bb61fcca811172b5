import PharosModel
import PharosSimulation

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
