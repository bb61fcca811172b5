import Histogram
package import PharosReports

/// How much later than due datagrams were sent, as percentiles.
///
/// - Units: recorded in microseconds, up to an hour, with three significant digits.
package struct LatenessHistogram: Sendable {
  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1,
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: .three
  )

  /// The percentiles that a summary shows.
  package static let percentiles = [50.0, 90.0, 99.0, 99.9, 100.0]

  /// Starts empty.
  package init() {}

  /// How many datagrams were recorded.
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
