import PharosDocuments
public import PharosModel

/// The times of a week at which a door, a place or a connector is open, in the venue's local time.
///
/// The text form is the part of OpenStreetMap's `opening_hours` that repeats every week, which IMDF uses as well:
/// `Mo-Fr 08:00-20:00; Sa 09:00-14:00; Su off`. A rule without days is for every day, a later rule replaces an earlier
/// one on the days that it names, and times that end before they start last past midnight.
///
/// - Source: OpenStreetMap wiki, Key:opening_hours/specification.
public struct OpeningHours: Hashable, Sendable {
  /// The open times in minutes since Monday 0:00: ordered, apart from each other, within one week.
  public let intervals: [Range<Int>]

  /// The number of minutes of a day.
  static let day = 24 * 60
  /// The number of minutes of a week.
  package static let week = 7 * day

  /// Makes opening hours from times in minutes since Monday 0:00.
  ///
  /// - Parameter intervals: the open times; those that last past Sunday are continued on Monday.
  public init(_ intervals: [Range<Int>]) {
    var split: [Range<Int>] = []
    for interval in intervals where !interval.isEmpty && interval.lowerBound >= 0 {
      let start = interval.lowerBound % OpeningHours.week
      let end = start + min(interval.count, OpeningHours.week)
      split.append(start..<min(end, OpeningHours.week))
      if end > OpeningHours.week { split.append(0..<end - OpeningHours.week) }
    }
    var merged: [Range<Int>] = []
    for interval in split.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, interval.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, interval.upperBound)
      } else {
        merged.append(interval)
      }
    }
    self.intervals = merged
  }

  /// Returns whether it is open at a minute of the week, counted from Monday 0:00.
  public func contains(_ minute: Int) -> Bool { intervals.contains { $0.contains(minute) } }

  /// Returns whether it is open at a time.
  ///
  /// - Parameters:
  ///   - time: the time.
  ///   - localTime: the venue's local time.
  /// - Returns: true while it is open.
  public func contains(_ time: Timestamp, in localTime: LocalTime) -> Bool {
    contains(OpeningHours.minute(of: time, utcOffset: localTime.utcOffset(at: time)))
  }

  /// Returns the minute of the week at a time, counted from Monday 0:00.
  static func minute(of time: Timestamp, utcOffset: Int) -> Int {
    let nanoseconds = time.nanoseconds
    let minutes = nanoseconds / 60_000_000_000 - (nanoseconds % 60_000_000_000 < 0 ? 1 : 0)
    // 1 January 1970 was a Thursday.
    let sinceMonday = (Int(minutes) + utcOffset + 3 * day) % week
    return sinceMonday < 0 ? sinceMonday + week : sinceMonday
  }
}

extension OpeningHours {
  private static let days = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]

  /// A valid text, for messages.
  static let example = "opening hours as in Mo-Fr 08:00-20:00; Sa,Su 10:00-18:00; or 24/7"

  /// Parses a text; nil if it is not of this form.
  public init?(_ text: String) {
    let text = text.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    if text == "24/7" {
      self.init([0..<OpeningHours.week])
      return
    }
    var times = [[Range<Int>]](repeating: [], count: 7)
    for rule in text.split(separator: ";", omittingEmptySubsequences: false) {
      guard let (days, open) = OpeningHours.rule(rule) else { return nil }
      for day in days { times[day] = open }
    }
    self.init(
      times.enumerated().flatMap { day, open in
        open.map { $0.lowerBound + day * OpeningHours.day..<$0.upperBound + day * OpeningHours.day }
      }
    )
  }

  /// Parses one rule: its days, and the times of each in minutes since midnight.
  private static func rule(_ text: Substring) -> (days: [Int], open: [Range<Int>])? {
    let words = text.split(separator: " ")
    guard let last = words.last, words.count <= 2 else { return nil }
    let days = words.count == 2 ? days(words[0]) : Array(0..<7)
    if words.count == 1, let only = self.days(last) { return (only, [0..<day]) }
    guard let days else { return nil }
    if last == "off" || last == "closed" { return (days, []) }
    var open: [Range<Int>] = []
    for text in last.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = text.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2, let start = minute(ends[0]), let end = minute(ends[1]), start < day,
        start != end
      else { return nil }
      open.append(start..<(end > start ? end : end + day))
    }
    return (days, open)
  }

  /// Parses `Mo`, `Mo-Fr` or `Mo,We-Fr`.
  private static func days(_ text: Substring) -> [Int]? {
    var found: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
        .map { name in days.firstIndex { $0 == name } }
      guard let first = ends[0], let last = ends[ends.count - 1], ends.count <= 2 else { return nil }
      found += (0...(last - first + 7) % 7).map { (first + $0) % 7 }
    }
    return found
  }

  /// Parses `08:30`; `24:00` is the end of a day.
  private static func minute(_ text: Substring) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.allSatisfy((0...9).contains) else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    guard minute < 60, hour * 60 + minute <= day else { return nil }
    return hour * 60 + minute
  }
}

extension ValueForm where Value == OpeningHours {
  /// Opening hours.
  static var openingHours: Self {
    ValueForm(expected: OpeningHours.example, mismatch: nil, text: { "\($0.intervals)" }) { OpeningHours($0) }
  }
}
