/// A version of Home Assistant: a year and a month.
package struct HomeAssistantVersion: Hashable, Sendable, Comparable {
  /// The year.
  package let year: Int
  /// The month.
  package let month: Int

  /// Makes a version.
  package init(year: Int, month: Int) {
    self.year = year
    self.month = month
  }

  /// The version that no longer reads the state of an MQTT device tracker from a topic, but from its attributes.
  ///
  /// - Source: home-assistant/core, pull request 172660.
  static let withoutTrackerState = HomeAssistantVersion(year: 2027, month: 1)

  package static func < (one: HomeAssistantVersion, other: HomeAssistantVersion) -> Bool {
    (one.year, one.month) < (other.year, other.month)
  }
}

extension HomeAssistantVersion: CustomStringConvertible {
  /// Reads a version as Home Assistant writes it, `2026.11` or `2026.11.3`; nil if it is none.
  package init?(_ text: String) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (2...3).contains(numbers.count), let year = Int(numbers[0]), let month = Int(numbers[1]),
      (2000...9999).contains(year), (1...12).contains(month), numbers.count == 2 || !numbers[2].isEmpty
    else { return nil }
    self.init(year: year, month: month)
  }

  /// The year and the month.
  package var description: String { "\(year).\(month)" }
}
