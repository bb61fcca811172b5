import PharosReports

/// What every format holds values to, so that a report means the same whichever way it came.
enum WireLimits {
  /// The longest advertising data there is.
  ///
  /// - Units: bytes.
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.
  static let longestPayload = 1_650

  /// The longest time since the epoch, or since a sender started, that fits a count of nanoseconds.
  ///
  /// - Units: milliseconds, about 292 years.
  static let mostMilliseconds = Int64.max / 1_000_000

  /// The level that a sender reports, or nil if it is one of those that mean that there was none: 127, 0, and
  /// what no radio can measure (above +20 dBm, or −128).
  static func level(_ dBm: Int) -> RSSI? {
    guard let dBm = Int8(exactly: dBm), isLevel(dBm) else { return nil }
    return RSSI(dBm: dBm)
  }

  /// Whether a number that a sender reports is a level.
  static func isLevel(_ dBm: Int8) -> Bool { dBm != 0 && dBm >= -127 && dBm <= 20 }
}
