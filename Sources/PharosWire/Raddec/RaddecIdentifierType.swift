import PharosReports

/// How a raddec says who transmitted or received.
///
/// - Source: reelyactive/raddec, `lib/identifiers.js`.
enum RaddecIdentifierType: UInt8 {
  case unknown
  case eui64
  /// A public device address.
  case eui48
  /// A random device address.
  case rnd48
  case tid96
  case epc96
  case uuid128
  case eurid32

  /// Reads the type.
  init(_ code: UInt8) throws(DatagramRefusal) {
    guard let type = RaddecIdentifierType(rawValue: code) else { throw .badIdentity }
    self = type
  }

  /// How many bytes the identifier has.
  var byteCount: Int {
    switch self {
    case .unknown: 0
    case .eui64: 8
    case .eui48, .rnd48: 6
    case .tid96, .epc96: 12
    case .uuid128: 16
    case .eurid32: 4
    }
  }

  /// What the packets of such a transmitter are.
  enum Packets {
    /// Bluetooth advertising PDUs: anything else is an error.
    case advertising
    /// Bluetooth if they look like it.
    case perhapsAdvertising
    /// Those of another radio (RFID, EnOcean): only the sighting counts.
    case foreign
  }

  /// What the packets of such a transmitter are.
  var packets: Packets {
    switch self {
    case .eui48, .rnd48: .advertising
    case .unknown, .eui64, .uuid128: .perhapsAdvertising
    case .tid96, .epc96, .eurid32: .foreign
    }
  }

  /// The identifier as a device address, or nil if it is none.
  func address(_ bytes: RawSpan, at offset: Int) -> DeviceAddress? {
    switch self {
    case .eui48: DeviceAddress(bits: bytes.u48(at: offset), kind: .public)
    case .rnd48: DeviceAddress(bits: bytes.u48(at: offset), kind: .random)
    case .unknown, .eui64, .tid96, .epc96, .uuid128, .eurid32: nil
    }
  }

  /// The identifier as that of an observer; RFID and EnOcean identifiers become a name of hexadecimal digits.
  func observer(_ bytes: RawSpan, at offset: Int) throws(DatagramRefusal) -> ObserverID {
    switch self {
    case .unknown: throw .noObserver
    case .eui64: .eui64(bytes.u64(at: offset))
    case .eui48, .rnd48: .eui48(bytes.u48(at: offset))
    case .uuid128: .uuid(UUID128(high: bytes.u64(at: offset), low: bytes.u64(at: offset + 8)))
    case .tid96, .epc96:
      .name(Hex.text(UInt64(bytes.u32(at: offset)), bytes: 4) + Hex.text(bytes.u64(at: offset + 4), bytes: 8))
    case .eurid32: .name(Hex.text(UInt64(bytes.u32(at: offset)), bytes: 4))
    }
  }
}
