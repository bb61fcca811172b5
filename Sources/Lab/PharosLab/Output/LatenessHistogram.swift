import Histogram
package import PharosModel

/// A histogram of how much later than due datagrams were sent, read as percentiles.
///
/// - Units: recorded in microseconds, up to an hour, with three significant digits.
package struct LatenessHistogram: Sendable {
  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1,
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: .three
  )

  /// Starts empty.
  package init() {}

  /// The number of datagrams that were recorded.
  package var count: UInt64 { histogram.totalCount }

  /// Records how late one datagram was; early counts as on time.
  package mutating func record(_ lateness: TimeSpan) {
    histogram.record(min(3_600_000_000, UInt64(max(0, lateness.nanoseconds / 1_000))))
  }

  /// The lateness that so many percent of the datagrams did not exceed.
  package func percentile(_ percent: Double) -> TimeSpan {
    .microseconds(Int64(histogram.valueAtPercentile(percent)))
  }
}
