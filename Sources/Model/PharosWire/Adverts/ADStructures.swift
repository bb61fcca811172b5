import PharosModel

/// One AD structure: its type and where its data lie in the payload that was walked.
public struct ADStructure: Hashable, Sendable {
  /// The type of the data.
  public let type: ADType
  /// The range of the data, without the length and the type in front of them; may be empty.
  public let payload: Range<Int>

  /// Makes a structure.
  @inlinable
  public init(type: ADType, payload: Range<Int>) {
    self.type = type
    self.payload = payload
  }
}

/// A walk over the AD structures of one advert, without allocation.
///
/// It holds an offset and no bytes, so it can be kept where a span cannot; every call is given the same payload.
/// Legacy payloads (31 bytes) and joined extended ones (up to 1,650) are walked alike. What stands before a fault
/// is always given:
/// * a length of zero ends the walk, and what follows is padding, zeros or not;
/// * a length that runs past the end ends the walk and sets ``isMalformed``.
///
/// The same type may come twice, and a structure of any length is given as it stands: whether it is long enough
/// for what its type says is for the reader of the type to judge.
///
/// - Shape: length L (1 byte, 0 to 255), type (1 byte), L − 1 bytes of data; and so on.
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part C, 11.
public struct ADStructures: Sendable {
  /// The offset of the next structure.
  @usableFromInline
  var offset = 0

  /// Indicates whether a length ran past the end of the payload; known once ``next(in:)`` has returned nil.
  @inlinable public var isMalformed: Bool { endsInFault }

  @usableFromInline
  var endsInFault = false

  /// Starts at the first structure.
  @inlinable
  public init() {}

  /// The next structure, or nil at the end of what can be read.
  @inlinable
  public mutating func next(in payload: RawSpan) -> ADStructure? {
    guard offset < payload.byteCount else { return nil }
    let length = Int(unsafe payload.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    let end = offset + 1 + length
    guard length > 0, end <= payload.byteCount else {
      endsInFault = length > 0
      offset = payload.byteCount
      return nil
    }
    let type = ADType(rawValue: unsafe payload.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self))
    let data = offset + 2..<end
    offset = end
    return ADStructure(type: type, payload: data)
  }
}

/// The type of an AD structure's data.
///
/// Any byte is a type: the walk passes over those that Pharos does not name.
///
/// - Source: Bluetooth Assigned Numbers, section 2.3.
public struct ADType: RawRepresentable, Hashable, Sendable {
  /// The number as it stands in the advert.
  public let rawValue: UInt8

  /// Makes a type from its number.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The discoverability and the capabilities of the device: one byte of bits.
  @inlinable public static var flags: ADType { ADType(rawValue: 0x01) }
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
  /// A 32-bit service UUID, least significant byte first, and data of that service.
  @inlinable public static var serviceData32: ADType { ADType(rawValue: 0x20) }
  /// A 128-bit service UUID, least significant byte first, and data of that service.
  @inlinable public static var serviceData128: ADType { ADType(rawValue: 0x21) }
  /// A company identifier, least significant byte first, and data of that company.
  @inlinable public static var manufacturerData: ADType { ADType(rawValue: 0xFF) }
}

/// The forms of a service's UUID.
enum BluetoothUUID {
  /// The UUID on which those of 16 and 32 bits are based: `00000000-0000-1000-8000-00805F9B34FB`.
  private static let base = UUID128(high: 0x0000_1000, low: 0x8000_0080_5F9B_34FB)

  /// The 16-bit form of a UUID, or nil if it has none.
  static func short(of uuid: UUID128) -> UInt16? {
    guard uuid.low == base.low, uuid.high & 0xFFFF_FFFF == base.high else { return nil }
    return UInt16(exactly: uuid.high >> 32)
  }
}
