import Foundation

/// The few figures that a table of samples is boiled down to.
enum Statistics {
  /// Two-sided 95 % of a normal distribution.
  private static let z = 1.959964

  /// The value below which a share of sorted numbers lies, by linear interpolation; nil of none.
  static func quantile(_ share: Double, of sorted: [Double]) -> Double? {
    guard let last = sorted.last else { return nil }
    let place = share * Double(sorted.count - 1)
    let below = Int(place)
    guard below + 1 < sorted.count else { return last }
    return sorted[below] + (place - Double(below)) * (sorted[below + 1] - sorted[below])
  }

  /// The 95 % interval of the median of sorted numbers, from their order alone; nil of none.
  ///
  /// - Source: the binomial distribution of how many samples lie below the median, in its normal approximation;
  ///   Conover, "Practical Nonparametric Statistics", 3.2.
  static func medianInterval(of sorted: [Double]) -> ClosedRange<Double>? {
    guard let first = sorted.first, let last = sorted.last else { return nil }
    let count = Double(sorted.count)
    let half = z * count.squareRoot() / 2
    let low = Int((count / 2 - half).rounded(.down)) - 1
    let high = Int((count / 2 + half).rounded(.up))
    return (low >= 0 ? sorted[low] : first)...(high < sorted.count ? sorted[high] : last)
  }

  /// The 95 % interval of the mean of a Poisson distribution of which one count is known.
  ///
  /// - Source: Byar's approximation to the exact limits, Rothman and Boice, "Epidemiologic Analysis with a Programmable
  ///   Calculator" (1979); within 1 % of them, also for a count of 0.
  static func countInterval(_ count: Int) -> ClosedRange<Double> {
    let n = Double(count)
    let low = count == 0 ? 0 : n * pow(1 - 1 / (9 * n) - z / (3 * n.squareRoot()), 3)
    let above = n + 1
    let high = above * pow(1 - 1 / (9 * above) + z / (3 * above.squareRoot()), 3)
    return max(0, low)...high
  }

  /// The middle one of numbers, the mean of the two middle ones where there are two; nil of none.
  static func median(of numbers: [Double]) -> Double? { quantile(0.5, of: numbers.sorted()) }
}
