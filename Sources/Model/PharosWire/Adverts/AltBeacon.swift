public import PharosModel

/// The contents of an AltBeacon frame.
///
/// Its identifier is 20 bytes, of which the specification asks that the first 16 be the owner's. Everyone divides
/// them as an iBeacon's: UUID, major, minor.
///
/// - Shape: manufacturer data: 0 company (little-endian, any), 2 `BE AC`, 4 identifier, 24 reference RSSI,
///   25 reserved for the manufacturer; 26 bytes, the last of which some senders leave out.
/// - Source: AltBeacon Protocol Specification 1.0.
public struct AltBeacon: Hashable, Sendable {
  /// Identifier bytes 0 to 15.
  public var uuid: UUID128
  /// Identifier bytes 16 and 17.
  public var major: UInt16
  /// Identifier bytes 18 and 19.
  public var minor: UInt16
  /// The level at which a receiver 1 m away hears it; the specification's "reference RSSI".
  ///
  /// - Units: dBm.
  public var measuredPower: Int8
  /// The maker of the beacon.
  public var company: UInt16
  /// A byte that the maker uses as it likes, 0 if it was left out.
  public var manufacturerByte: UInt8

  /// Makes a frame.
  public init(
    uuid: UUID128,
    major: UInt16,
    minor: UInt16,
    measuredPower: Int8,
    company: UInt16,
    manufacturerByte: UInt8 = 0
  ) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.measuredPower = measuredPower
    self.company = company
    self.manufacturerByte = manufacturerByte
  }

  /// The two bytes behind the company identifier.
  package static let code: UInt16 = 0xBEAC
  /// The shortest manufacturer data that hold the frame: those without the manufacturer's byte.
  static let length = 25

  /// Reads manufacturer data that begin with ``code`` and are at least ``length`` long.
  init(manufacturerData data: RawSpan, company: UInt16) {
    self.init(
      uuid: data.uuid(at: 4),
      major: data.u16(at: 20),
      minor: data.u16(at: 22),
      measuredPower: Int8(bitPattern: data.byte(at: 24)),
      company: company,
      manufacturerByte: data.byteCount > AltBeacon.length ? data.byte(at: 25) : 0
    )
  }
}
