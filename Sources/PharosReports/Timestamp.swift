/// A length of time in whole nanoseconds.
///
/// A 64-bit count: it is stored in every track and compared for every advert, where the 128 bits of
/// `Swift.Duration` would cost twice the cache.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// The length.
  ///
  /// - Units: nanoseconds.
  public var nanoseconds: Int64

  /// Makes a span from a count of nanoseconds.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// No time at all.
  @inlinable public static var zero: TimeSpan { TimeSpan(nanoseconds: 0) }

  /// The longest span there is, about 292 years: "never" where a deadline is asked for.
  @inlinable public static var forever: TimeSpan { TimeSpan(nanoseconds: .max) }

  /// The smallest difference between two times.
  @inlinable public static var oneNanosecond: TimeSpan { TimeSpan(nanoseconds: 1) }

  /// A span of whole microseconds.
  @inlinable public static func microseconds(_ count: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: count &* 1_000)
  }

  /// A span of whole milliseconds.
  @inlinable public static func milliseconds(_ count: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: count &* 1_000_000)
  }

  /// A span of seconds; what lies beyond ±292 years, and what is no number, is clamped.
  @inlinable
  public static func seconds(_ count: Double) -> TimeSpan {
    guard !count.isNaN else { return .zero }
    let nanoseconds = (count * 1e9).rounded()
    if nanoseconds >= 9.2e18 { return .forever }
    if nanoseconds <= -9.2e18 { return TimeSpan(nanoseconds: -.max) }
    return TimeSpan(nanoseconds: Int64(nanoseconds))
  }

  /// A span of whole minutes.
  @inlinable public static func minutes(_ count: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: count &* 60_000_000_000)
  }

  /// The length in seconds, for arithmetic with rates and for display.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// The length in milliseconds.
  public var milliseconds: Double { Double(nanoseconds) / 1e6 }

  /// Orders spans, the shortest first.
  @inlinable public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The sum, held at the ends of the range instead of wrapping around.
  @inlinable public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: saturatingAdd(left.nanoseconds, right.nanoseconds))
  }

  /// The difference, held at the ends of the range instead of wrapping around.
  @inlinable public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: saturatingSubtract(left.nanoseconds, right.nanoseconds))
  }

  /// The span scaled by a factor, clamped as ``seconds(_:)`` is.
  public static func * (span: TimeSpan, factor: Double) -> TimeSpan {
    span == .forever ? .forever : .seconds(span.seconds * factor)
  }

  /// How often the divisor fits into the span.
  public static func / (span: TimeSpan, divisor: TimeSpan) -> Double {
    Double(span.nanoseconds) / Double(divisor.nanoseconds)
  }
}

/// A point in time: nanoseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
///
/// Receive times, event times and deadlines are all of this type. Nothing in the pure modules asks for the
/// current one: time is an input.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// The point in time.
  ///
  /// - Units: nanoseconds since the Unix epoch.
  public var nanoseconds: Int64

  /// Makes a point in time from nanoseconds since the Unix epoch.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes a point in time from seconds since the Unix epoch and a fraction in nanoseconds, held at the ends of the range.
  public init(seconds: Int64, nanoseconds: Int64 = 0) {
    // Before the epoch a second may lie beyond the range that its end lies in.
    let isEarly = seconds < 0 && nanoseconds > 0
    let whole = isEarly ? seconds + 1 : seconds
    let fraction = isEarly ? nanoseconds - 1_000_000_000 : nanoseconds
    let (product, isBeyond) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    self.nanoseconds = isBeyond ? (whole < 0 ? .min : .max) : saturatingAdd(product, fraction)
  }

  /// Before everything.
  @inlinable public static var distantPast: Timestamp { Timestamp(nanoseconds: .min) }

  /// After everything: the deadline of what is never due.
  @inlinable public static var distantFuture: Timestamp { Timestamp(nanoseconds: .max) }

  /// Orders points in time, the earliest first.
  @inlinable public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The point a span later, held at the ends of the range instead of wrapping around.
  @inlinable public static func + (time: Timestamp, span: TimeSpan) -> Timestamp {
    Timestamp(nanoseconds: saturatingAdd(time.nanoseconds, span.nanoseconds))
  }

  /// The point a span earlier, held at the ends of the range instead of wrapping around.
  @inlinable public static func - (time: Timestamp, span: TimeSpan) -> Timestamp {
    Timestamp(nanoseconds: saturatingSubtract(time.nanoseconds, span.nanoseconds))
  }

  /// The span from one point to another, negative when `right` is the later one.
  @inlinable public static func - (left: Timestamp, right: Timestamp) -> TimeSpan {
    TimeSpan(nanoseconds: saturatingSubtract(left.nanoseconds, right.nanoseconds))
  }
}

@inlinable
func saturatingAdd(_ left: Int64, _ right: Int64) -> Int64 {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? (right < 0 ? .min : .max) : sum
}

@inlinable
func saturatingSubtract(_ left: Int64, _ right: Int64) -> Int64 {
  let (difference, overflow) = left.subtractingReportingOverflow(right)
  return overflow ? (right < 0 ? .max : .min) : difference
}
