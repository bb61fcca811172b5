/// A received signal strength as a radio reports it.
///
/// - Units: dBm, −127 to +20; the values 127 and 0, with which radios and wire formats say "not available",
///   never become an `RSSI`.
public struct RSSI: Hashable, Comparable, Sendable {
  /// The level in dBm.
  public let dBm: Int8

  /// A level, or nil for the two values that mean that the radio had none: 127 and 0.
  public init?(reported dBm: Int8) {
    guard dBm != 127, dBm != 0 else { return nil }
    self.dBm = dBm
  }

  /// A level that is known to be one.
  public init(dBm: Int8) { self.dBm = dBm }

  /// Orders levels, the weakest first.
  public static func < (left: RSSI, right: RSSI) -> Bool { left.dBm < right.dBm }
}

/// A distance.
///
/// - Units: metres.
public struct Meters: Hashable, Comparable, Sendable {
  /// The distance in metres.
  public let value: Double

  /// Makes a distance from a count of metres.
  public init(_ value: Double) { self.value = value }

  /// Orders distances, the shortest first.
  public static func < (left: Meters, right: Meters) -> Bool { left.value < right.value }
}
