import Foundation
package import PharosReports

/// The hours of the day in which a rule publishes no notification, in the local time of a place.
///
/// A notification that falls into them is dropped, not postponed: a greeting in the morning is wrong for a visitor
/// who came at night.
package struct QuietHours: Hashable, Sendable {
  /// When they begin.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var from: Int
  /// When they end; before `from`, they last over midnight.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var to: Int
  /// The time zone, by its name in the tz database, such as `Europe/Berlin`.
  package var timeZone: String

  /// Makes quiet hours.
  package init(from: Int, to: Int, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }

  /// Whether an instant lies in them; the minute at which they end does not.
  ///
  /// Summer time counts, as the time zone's rules have it for that very instant.
  package func contains(_ instant: Timestamp) -> Bool {
    // The name was checked when the rule was made; a system that has lost it since counts in UTC.
    let zone = TimeZone(identifier: timeZone) ?? .gmt
    let seconds = instant.nanoseconds / 1_000_000_000
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let minute = ((Int(seconds) + offset) % 86_400 + 86_400) % 86_400 / 60
    return from <= to ? (from..<to).contains(minute) : minute >= from || minute < to
  }

  /// Minutes after midnight from `22:30`; nil if that is no time of day.
  static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }) else {
      return nil
    }
    guard let hour = UInt8(parts[0]), let minute = UInt8(parts[1]), hour < 24, minute < 60 else { return nil }
    return Int(hour) * 60 + Int(minute)
  }

  /// A time of day as it is written.
  static func text(_ minutes: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minutes / 60)):\(two(minutes % 60))"
  }
}

extension QuietHours: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(UInt16(clamping: from))
    writer.write(UInt16(clamping: to))
    writer.write(timeZone)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    let from = Int(try reader.number(UInt16.self))
    let to = Int(try reader.number(UInt16.self))
    self.init(from: min(from, 1_439), to: min(to, 1_439), timeZone: try reader.text())
  }
}
