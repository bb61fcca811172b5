extension Timestamp {
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
