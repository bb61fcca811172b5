import Histogram
import NIOCore
import ServedProcess
import Synchronization

/// The delays of decisions since the last reading.
final class DelayMeter: Sendable {
  private static var empty: Histogram<UInt32> { Histogram(numberOfSignificantValueDigits: .three) }

  private let histogram = Mutex(DelayMeter.empty)
  private let markers: Markers

  init(_ markers: Markers) { self.markers = markers }

  /// Takes an event as it was read.
  func record(_ event: EventStream.Event) {
    guard let delay = markers.delay(of: event) else { return }
    histogram.withLock { _ = $0.record(UInt64(max(0, delay.nanoseconds))) }
  }

  /// Returns the delays so far, in milliseconds, and starts again.
  func drain() -> (count: Int, p50: Double, p99: Double, maximum: Double) {
    histogram.withLock { histogram in
      defer { histogram = DelayMeter.empty }
      guard histogram.totalCount > 0 else { return (0, 0, 0, 0) }
      return (
        Int(histogram.totalCount), Double(histogram.valueAtPercentile(50)) / 1e6,
        Double(histogram.valueAtPercentile(99)) / 1e6, Double(histogram.maxRecorded) / 1e6
      )
    }
  }
}
