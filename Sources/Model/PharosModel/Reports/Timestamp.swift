public import PharosDocuments

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

  /// Divides a span by another and returns the ratio.
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

extension Timestamp: CustomStringConvertible {
  /// Seconds since the epoch with nine decimals, as text: no digit is lost as it would be in a `Double`.
  public var epochText: String {
    let (whole, fraction) = splitSeconds
    return "\(whole).\(padded(fraction, to: 9))"
  }

  /// The time in RFC 3339 with nine decimals in UTC, as in `2015-01-01T00:00:00.000000000Z`.
  ///
  /// - Source: the civil calendar from a day count is Hinnant's `civil_from_days`
  ///   (howardhinnant.github.io/date_algorithms.html).
  public var rfc3339: String {
    let (whole, fraction) = splitSeconds
    let day = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
    let second = whole - day * 86_400
    let (year, month, dayOfMonth) = civilDate(daysSinceEpoch: day)
    return unsafe String(unsafeUninitializedCapacity: 30) { text in
      var end = 0
      unsafe append(year, width: 4, text, &end, behind: UInt8(ascii: "-"))
      unsafe append(month, width: 2, text, &end, behind: UInt8(ascii: "-"))
      unsafe append(dayOfMonth, width: 2, text, &end, behind: UInt8(ascii: "T"))
      unsafe append(second / 3_600, width: 2, text, &end, behind: UInt8(ascii: ":"))
      unsafe append(second / 60 % 60, width: 2, text, &end, behind: UInt8(ascii: ":"))
      unsafe append(second % 60, width: 2, text, &end, behind: UInt8(ascii: "."))
      unsafe append(fraction, width: 9, text, &end, behind: UInt8(ascii: "Z"))
      return end
    }
  }

  /// The time as a date of ISO 8601 in UTC with as many decimals as it has, as in `2015-01-01T00:00:00.25Z`.
  public var description: String {
    var text = rfc3339.dropLast()
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text + "Z"
  }

  /// Reads a time as RFC 3339 has it, such as `2015-01-01T00:00:00.5Z` or `2015-01-01T01:00:00+01:00`, or seconds since
  /// the epoch such as `1420070400.5`; nil where it is neither.
  ///
  /// - Source: RFC 3339, 5.6.
  package init?(text: String) {
    if let epoch = text.wholeMatch(of: /([0-9]{1,11})(?:\.([0-9]{1,9}))?/), let seconds = Int64(epoch.1) {
      self.init(seconds: seconds, nanoseconds: fractionNanoseconds(epoch.2))
      return
    }
    guard
      let date = text.prefixMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]/),
      let year = Int64(date.1), let month = Int64(date.2), let dayOfMonth = Int64(date.3),
      let time = text[date.range.upperBound...].wholeMatch(
        of: /([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))/
      ),
      let hour = Int64(time.1), let minute = Int64(time.2), let second = Int64(time.3),
      let offsetHours = Int64(time.6 ?? "0"), let offsetMinutes = Int64(time.7 ?? "0")
    else { return nil }
    let day = daysSinceEpoch(year: year, month: month, day: dayOfMonth)
    guard civilDate(daysSinceEpoch: day) == (year, month, dayOfMonth), hour < 24, minute < 60, second <= 60,
      offsetHours < 24, offsetMinutes < 60
    else { return nil }
    let offset = (offsetHours * 3_600 + offsetMinutes * 60) * (time.5 == "-" ? -1 : 1)
    self.init(
      seconds: day * 86_400 + hour * 3_600 + minute * 60 + second - offset,
      nanoseconds: fractionNanoseconds(time.4)
    )
  }

  private var splitSeconds: (whole: Int64, fraction: Int64) {
    var whole = nanoseconds / 1_000_000_000
    var fraction = nanoseconds % 1_000_000_000
    if fraction < 0 {
      fraction += 1_000_000_000
      whole -= 1
    }
    return (whole, fraction)
  }
}

/// The nanoseconds that the digits of a fraction of a second spell; further digits are cut off.
private func fractionNanoseconds(_ digits: Substring?) -> Int64 {
  let nine = (digits ?? "").prefix(9)
  return Int64(nine + String(repeating: "0", count: 9 - nine.count)) ?? 0
}

/// - Source: Hinnant's `days_from_civil` (howardhinnant.github.io/date_algorithms.html).
private func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let era = (shifted >= 0 ? shifted : shifted - 399) / 400
  let yearOfEra = shifted - era * 400
  let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private func civilDate(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let shifted = daysSinceEpoch + 719_468
  let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
  let dayOfEra = shifted - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthShifted = (5 * dayOfYear + 2) / 153
  let month = monthShifted < 10 ? monthShifted + 3 : monthShifted - 9
  let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return (year, month, dayOfYear - (153 * monthShifted + 2) / 5 + 1)
}

/// Appends a number that is not negative and has at most so many digits, zeros before it, and a sign behind it.
///
/// An `Int64` of nanoseconds reaches from 1677 to 2262: years have four digits.
private func append(
  _ number: Int64,
  width: Int,
  _ text: UnsafeMutableBufferPointer<UInt8>,
  _ end: inout Int,
  behind sign: UInt8
) {
  var rest = number
  var place = end + width
  while place > end {
    place -= 1
    unsafe text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
    rest /= 10
  }
  unsafe text[end + width] = sign
  end += width + 1
}

private func padded(_ number: Int64, to width: Int) -> String {
  let digits = String(number.magnitude)
  let padding = String(repeating: "0", count: max(0, width - digits.count))
  return (number < 0 ? "-" : "") + padding + digits
}

extension TimeSpan {
  /// The units that a time may be written in, the shortest first, and their lengths in nanoseconds.
  private static let units: [(name: String, nanoseconds: Double)] = [
    ("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9), ("d", 86_400e9),
  ]

  /// Reads a time as people write it: a number and its unit, as in `350ms`, `1.5s`, `5m` or `1h`.
  ///
  /// A bare number is no time: ten seconds and ten milliseconds look alike then.
  public init?(written text: some StringProtocol) {
    let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let name = text.dropFirst(number.count)
    guard let unit = TimeSpan.units.first(where: { $0.name == name }) else { return nil }
    guard number.first?.isNumber == true, number.last?.isNumber == true else { return nil }
    guard let count = Double(number) else { return nil }
    let nanoseconds = (count * unit.nanoseconds).rounded()
    guard nanoseconds < 9.2e18 else { return nil }
    self.init(nanoseconds: Int64(nanoseconds))
  }

  /// The time with the largest unit that keeps it a short number, as in `350ms`, `1.5s` or `2h`.
  public var written: String {
    guard nanoseconds > 0 else { return nanoseconds == 0 ? "0s" : "-" + (TimeSpan.zero - self).written }
    let unit = TimeSpan.units.last { Double(nanoseconds) >= $0.nanoseconds } ?? TimeSpan.units[0]
    let count = Double(nanoseconds) / unit.nanoseconds
    let thousandths = (count * 1_000).rounded() / 1_000
    guard thousandths != thousandths.rounded() else { return "\(Int64(thousandths))\(unit.name)" }
    return "\(thousandths)\(unit.name)"
  }

  /// The time as it is read back to the nanosecond: a whole number of the largest unit that divides it.
  public var exactlyWritten: String {
    let unit = TimeSpan.units.last { nanoseconds % Int64($0.nanoseconds) == 0 } ?? TimeSpan.units[0]
    guard nanoseconds != 0 else { return "0s" }
    return "\(nanoseconds / Int64(unit.nanoseconds))\(unit.name)"
  }
}

extension TimeSpan: FieldForm {
  /// The length in nanoseconds.
  @inlinable public var form: Int64 { nanoseconds }
  /// Makes a length from nanoseconds.
  @inlinable
  public init(form: Int64) { self.init(nanoseconds: form) }
}

extension Timestamp: FieldForm {
  /// The time in nanoseconds.
  @inlinable public var form: Int64 { nanoseconds }
  /// Makes a time from nanoseconds.
  @inlinable
  public init(form: Int64) { self.init(nanoseconds: form) }
}

extension Timestamp {
  /// Core Location's distant future, 4001-01-01, as the JSON of visits spells it.
  package static let visitDistantFuture = "4001-01-01T00:00:00Z"
}
