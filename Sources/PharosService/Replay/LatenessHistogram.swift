import Histogram
public import PharosReports

/// How much later than due datagrams were sent, as percentiles.
///
/// - Units: recorded in microseconds, up to an hour, with three significant digits.
public struct LatenessHistogram: Sendable {
  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1,
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: .three
  )

  /// The percentiles that a summary shows.
  public static let percentiles = [50.0, 90.0, 99.0, 99.9, 100.0]

  /// Starts empty.
  public init() {}

  /// How many datagrams were recorded.
  public var count: UInt64 { histogram.totalCount }

  /// Records how late one datagram was; early counts as on time.
  public mutating func record(_ lateness: TimeSpan) {
    histogram.record(min(3_600_000_000, UInt64(max(0, lateness.nanoseconds / 1_000))))
  }

  /// The lateness that so many percent of the datagrams did not exceed.
  public func percentile(_ percent: Double) -> TimeSpan {
    .microseconds(Int64(histogram.valueAtPercentile(percent)))
  }
}
