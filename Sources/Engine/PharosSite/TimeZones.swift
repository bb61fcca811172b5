import Foundation
import PharosModel
package import PharosSpace
import PharosTerminal

extension KnownTimeZones {
  /// The time zones of the machine.
  package static let machine = KnownTimeZones(
    named: { TimeZone(identifier: $0).map { LocalTime($0) } },
    around: { ReferenceCities.machine.localTime(around: $0) }
  )
}

extension LocalTime {
  /// The years whose changes are kept: those of routes that are asked for.
  private static let years =
    Date(timeIntervalSince1970: 1_577_836_800)..<Date(timeIntervalSince1970: 4_102_444_800)

  /// The local time of a time zone from 2020 to 2099.
  fileprivate init(_ zone: TimeZone) {
    var changes: [Change] = []
    var date = LocalTime.years.lowerBound
    while let next = zone.nextDaylightSavingTimeTransition(after: date), next > date, LocalTime.years ~= next
    {
      let seconds = next.timeIntervalSince1970.rounded()
      let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds + 1)) / 60
      changes.append(Change(at: Timestamp(seconds: Int64(seconds)), utcOffset: offset))
      date = next
    }
    let before = zone.secondsFromGMT(for: LocalTime.years.lowerBound) / 60
    self.init(utcOffset: before, changes: changes, zone: zone.identifier)
  }
}

/// The cities after which time zones are named, with their places.
///
/// A place has the local time of the nearest city if that is near, and all cities that are not much farther away have the same.
/// Otherwise a border between time zones may lie before the nearest city, and nothing is derived: the only city of a large country
/// is often farther away than one of its neighbours.
///
/// - Source: `zone1970.tab` of the time zone database.
struct ReferenceCities {
  private let cities: [(place: Coordinate, zone: String)]

  /// The cities of the machine's time zone database; none where it has none.
  static let machine = ReferenceCities(
    (try? WholeFile.read("/usr/share/zoneinfo/zone1970.tab", limit: 1 << 20)).map {
      String(decoding: $0, as: UTF8.self)
    } ?? ""
  )
  /// The largest distance of the nearest city.
  ///
  /// - Units: metres. Bhuj in India is 330 km from Karachi, and 1,900 km from Kolkata.
  private static let reach = 250_000.0
  /// The distance beyond twice that of the nearest city up to which others count.
  ///
  /// - Units: metres.
  private static let margin = 300_000.0

  /// Reads the table: lines of countries, a place as ISO 6709 has it, and a name, between tabs.
  init(_ table: String) {
    cities = table.split(whereSeparator: \.isNewline).compactMap { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard line.first != "#", parts.count >= 3, let place = ReferenceCities.place(parts[1]) else {
        return nil
      }
      return (place, String(parts[2]))
    }
  }

  /// Reads a place in degrees, minutes and perhaps seconds, as in `+5230+01322`.
  private static func place(_ text: Substring) -> Coordinate? {
    guard let middle = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }),
      let latitude = angle(text[..<middle], degrees: 2), let longitude = angle(text[middle...], degrees: 3)
    else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  private static func angle(_ text: Substring, degrees: Int) -> Double? {
    let digits = text.dropFirst()
    guard let whole = Double(digits.prefix(degrees)) else { return nil }
    let rest = digits.dropFirst(degrees)
    let minutes = Double(rest.prefix(2)) ?? 0
    let seconds = Double(rest.dropFirst(2).prefix(2)) ?? 0
    return (text.first == "-" ? -1 : 1) * (whole + minutes / 60 + seconds / 3_600)
  }

  /// Returns the local time at a place; nil where the time zones about it differ.
  func localTime(around place: Coordinate) -> LocalTime? {
    let distances = cities.map { ($0.zone, $0.place.distance(to: place)) }
    guard let nearest = distances.min(by: { $0.1 < $1.1 }), nearest.1 <= ReferenceCities.reach else {
      return nil
    }
    guard let local = KnownTimeZones.machine.named(nearest.0) else { return nil }
    for (zone, distance) in distances where distance <= 2 * nearest.1 + ReferenceCities.margin {
      guard zone == nearest.0 || KnownTimeZones.machine.named(zone)?.isAlike(local) == true else {
        return nil
      }
    }
    return local
  }
}
