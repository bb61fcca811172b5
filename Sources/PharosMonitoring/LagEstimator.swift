package import PharosReports

/// An observer's lag L: the age that 99.9 % of its reports stay within, between 0.5 s and 10 s.
///
/// A histogram with eight steps to each doubling, halved every 4,096 reports. It is read at once when a report is older than
/// L (so L grows at once) and otherwise every 1,024 reports (so it shrinks slowly). Until a thousand reports have come, the
/// quantile is the oldest age seen.
package struct LagEstimator: Sendable {
  /// The least lag: what a gateway's own batching usually takes.
  package static let least = TimeSpan.milliseconds(500)
  /// The greatest lag: what waits longer is a backlog, not a lag.
  static let greatest = TimeSpan.seconds(10)

  /// What a lag that was learned has on top of the ages.
  ///
  /// A gateway that sends once a second sends its oldest advert with an age of a second, and its next datagram comes
  /// at the very moment at which that advert's deadline would fire. 30 ms, some times a network's jitter, let it in
  /// first, so that the jitter does not decide.
  static let margin = TimeSpan.milliseconds(30)

  /// How many reports there are between two looks at the histogram.
  static let pause: UInt16 = 1_024
  /// Bin 0 for the least lag, and eight for each of five doublings.
  static let binCount = 1 + 8 * 5

  /// The lag.
  package var lag: TimeSpan
  let isGiven: Bool
  /// Reports since the histogram was looked at last.
  package var sinceRead: UInt16 = 0
  /// How many of them were older than the least lag: those stand in their bins already.
  var agedSinceRead: UInt16 = 0
  /// Reports within the least lag, nearly all: those before the latest look.
  var prompt: Float = 0
  /// All of them before the latest look.
  package var total: Float = 0
  /// Those that were older than the least lag; none until there is the first.
  var bins: [Float] = []

  /// Starts from a given lag, which then stays, or from the least.
  package init(given: TimeSpan?) {
    lag = max(.zero, given ?? LagEstimator.least)
    isGiven = given != nil
  }

  /// Takes the age of a report.
  @inline(__always)
  package mutating func note(age: TimeSpan) {
    guard !isGiven else { return }
    sinceRead &+= 1
    guard age <= LagEstimator.least, sinceRead < LagEstimator.pause else { return take(age) }
  }

  /// Takes an age that is not usual, or a usual one after which the histogram is looked at.
  @inline(never)
  private mutating func take(_ age: TimeSpan) {
    if age > LagEstimator.least {
      if bins.isEmpty { bins = Array(repeating: 0, count: LagEstimator.binCount) }
      bins[LagEstimator.bin(of: age)] += 1
      agedSinceRead &+= 1
    }
    guard age > lag || sinceRead >= LagEstimator.pause else { return }
    prompt += Float(sinceRead - agedSinceRead)
    total += Float(sinceRead)
    sinceRead = 0
    agedSinceRead = 0
    lag = quantile
    guard total >= 4_096 else { return }
    prompt /= 2
    total = prompt
    for index in bins.indices {
      bins[index] /= 2
      total += bins[index]
    }
  }

  private var quantile: TimeSpan {
    var above: Float = 0
    // Without any bin all were prompt.
    var bin = bins.isEmpty ? 0 : bins.count - 1
    while bin > 0 {
      above += bins[bin]
      if above > total * 0.001 { break }
      bin -= 1
    }
    return min(LagEstimator.upperEdge(of: bin), LagEstimator.greatest)
  }

  /// Bin 0 is up to 0.5 s; then eight bins for each doubling; the last one holds all that is older.
  private static func bin(of age: TimeSpan) -> Int {
    guard age > least else { return 0 }
    var edge = least.nanoseconds
    for octave in 0..<5 {
      if age.nanoseconds <= edge * 2 {
        return 1 + octave * 8 + Int(min(7, (age.nanoseconds - edge - 1) * 8 / edge))
      }
      edge *= 2
    }
    return 40
  }

  private static func upperEdge(of bin: Int) -> TimeSpan {
    guard bin > 0 else { return least }
    let base = least.nanoseconds << Int64((bin - 1) / 8)
    return TimeSpan(nanoseconds: base + base * Int64((bin - 1) % 8 + 1) / 8) + margin
  }
}
