/// What the bytes of an AD structure mean.
///
/// Any byte is a type: those that Pharos does not name are walked over.
///
/// - Source: Bluetooth Assigned Numbers, section 2.3.
public struct ADType: RawRepresentable, Hashable, Sendable {
  /// The number as it stands in the advert.
  public let rawValue: UInt8

  /// Makes a type from its number.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// How the device may be found and what it speaks: one byte of bits.
  @inlinable public static var flags: ADType { ADType(rawValue: 0x01) }
  /// A list of 16-bit service UUIDs to which more could be added.
  @inlinable public static var someServices16: ADType { ADType(rawValue: 0x02) }
  /// The list of all 16-bit service UUIDs.
  @inlinable public static var allServices16: ADType { ADType(rawValue: 0x03) }
  /// The beginning of the device's name, UTF-8.
  @inlinable public static var shortenedName: ADType { ADType(rawValue: 0x08) }
  /// The device's whole name, UTF-8.
  @inlinable public static var completeName: ADType { ADType(rawValue: 0x09) }
  /// The transmit power as the antenna gets it: one signed byte in dBm.
  @inlinable public static var transmitPower: ADType { ADType(rawValue: 0x0A) }
  /// A 16-bit service UUID, least significant byte first, and data of that service.
  @inlinable public static var serviceData16: ADType { ADType(rawValue: 0x16) }
  /// A company identifier, least significant byte first, and data of that company.
  @inlinable public static var manufacturerData: ADType { ADType(rawValue: 0xFF) }
}
