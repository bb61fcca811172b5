import PharosModel

extension Timestamp {
  /// Reads a time as RFC 3339 has it, such as `2015-01-01T00:00:00.5Z` or `2015-01-01T01:00:00+01:00`, or seconds since
  /// the epoch such as `1420070400.5`; nil where it is neither.
  ///
  /// - Source: RFC 3339, 5.6; the day count is Hinnant's `days_from_civil`
  ///   (howardhinnant.github.io/date_algorithms.html).
  package init?(text: String) {
    if let instant = Timestamp(epoch: text) {
      self = instant
      return
    }
    var scanner = DigitScanner(text)
    guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2),
      scanner.take("-"),
      let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
      let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2),
      scanner.take(":"),
      let second = scanner.number(2)
    else { return nil }
    guard (1...12).contains(month), (1...Timestamp.days(in: month, of: year)).contains(day),
      hour < 24,
      minute < 60, second <= 60
    else { return nil }
    let nanoseconds: Int64
    if scanner.take(".") {
      guard let fraction = scanner.fraction() else { return nil }
      nanoseconds = fraction
    } else {
      nanoseconds = 0
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let days = Timestamp.daysSinceEpoch(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }

  private init?(epoch text: String) {
    let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = halves.first, (1...11).contains(whole.count),
      whole.allSatisfy(\.isASCIIDigit),
      let seconds = Int64(whole)
    else { return nil }
    guard halves.count == 2 else {
      self.init(seconds: seconds)
      return
    }
    guard (1...9).contains(halves[1].count), halves[1].allSatisfy(\.isASCIIDigit),
      let fraction = Int64(halves[1] + String(repeating: "0", count: 9 - halves[1].count))
    else { return nil }
    self.init(seconds: seconds, nanoseconds: fraction)
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// Takes digits and signs from the front of a text.
private struct DigitScanner {
  private var rest: Substring

  init(_ text: String) { rest = text[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ digits: Int) -> Int64? {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(\.isASCIIDigit) else { return nil }
    rest.removeFirst(digits)
    return Int64(text)
  }

  /// A fraction of a second in nanoseconds; further digits are cut off.
  mutating func fraction() -> Int64? {
    let text = rest.prefix(while: \.isASCIIDigit)
    guard !text.isEmpty else { return nil }
    rest.removeFirst(text.count)
    let nine = text.prefix(9)
    return Int64(nine + String(repeating: "0", count: 9 - nine.count))
  }

  /// An offset from UTC in seconds.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3_600 + minutes * 60)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
