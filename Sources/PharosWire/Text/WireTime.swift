import PharosReports

/// What a time in a text format says about when something happened.
enum WireTime {
  /// The timing that a number of seconds, milliseconds, microseconds or nanoseconds since the epoch gives;
  /// its size tells which, for all times from 1973 on.
  ///
  /// Whole seconds are too coarse to be of use: the receive time stands. The digits are read as they stand,
  /// since a `Double` would lose the last of them.
  ///
  /// - Returns: nil if the number is no time.
  static func timing(_ bytes: RawSpan, _ range: Range<Int>) -> ReportTiming? {
    let point = range.first { bytes.byte(at: $0) == UInt8(ascii: ".") } ?? range.upperBound
    guard let whole = WireText.integer(bytes, range.lowerBound..<point), whole >= 0 else { return nil }
    let unit = nanoseconds(perUnitOf: whole)
    let fraction = point < range.upperBound ? point + 1..<range.upperBound : point..<point
    guard point == range.upperBound || !fraction.isEmpty else { return nil }
    guard let rest = nanoseconds(bytes, fraction: fraction, of: unit) else { return nil }
    guard unit < 1_000_000_000 || !fraction.isEmpty else { return .received }
    let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    return .sent(Timestamp(nanoseconds: nanoseconds) + TimeSpan(nanoseconds: rest))
  }

  private static func nanoseconds(perUnitOf time: Int64) -> Int64 {
    switch time {
    case ..<100_000_000_000: 1_000_000_000
    case ..<100_000_000_000_000: 1_000_000
    case ..<100_000_000_000_000_000: 1_000
    default: 1
    }
  }

  private static func nanoseconds(_ bytes: RawSpan, fraction: Range<Int>, of unit: Int64) -> Int64? {
    var sum: Int64 = 0
    var place = unit / 10
    for offset in fraction {
      let ascii = bytes.byte(at: offset)
      guard WireText.isDigit(ascii) else { return nil }
      sum += Int64(ascii - UInt8(ascii: "0")) * place
      place /= 10
    }
    return sum
  }
}
