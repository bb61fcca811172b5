public import PharosModel

/// The contents of an iBeacon frame.
///
/// - Shape: manufacturer data: 0 company (little-endian), 2 `02 15`, 4 UUID, 20 major, 22 minor (both big-endian),
///   24 measured power; 25 bytes, and whatever stands behind them is ignored.
/// - Source: Apple, "Proximity Beacon Specification", release R1.
public struct IBeacon: Hashable, Sendable {
  /// The proximity UUID, shared by the beacons of one owner.
  public var uuid: UUID128
  /// The number of a group of beacons.
  public var major: UInt16
  /// The number of a beacon in its group.
  public var minor: UInt16
  /// The level at which a receiver 1 m away hears it.
  ///
  /// - Units: dBm.
  public var measuredPower: Int8
  /// The company identifier that it was sent under: Apple's unless the decoder accepts others.
  public var company: UInt16

  /// Apple's company identifier, under which iBeacons are sent.
  @inlinable public static var appleCompany: UInt16 { 0x004C }

  /// Makes a frame.
  public init(
    uuid: UUID128,
    major: UInt16,
    minor: UInt16,
    measuredPower: Int8,
    company: UInt16 = IBeacon.appleCompany
  ) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.measuredPower = measuredPower
    self.company = company
  }

  /// The two bytes behind the company identifier: the kind of frame and the count of bytes that follow.
  package static let code: UInt16 = 0x0215
  /// The shortest manufacturer data that hold the frame.
  static let length = 25

  /// Reads manufacturer data that begin with ``code`` and are at least ``length`` long.
  init(manufacturerData data: RawSpan, company: UInt16) {
    self.init(
      uuid: data.uuid(at: 4),
      major: data.u16(at: 20),
      minor: data.u16(at: 22),
      measuredPower: Int8(bitPattern: data.byte(at: 24)),
      company: company
    )
  }
}
