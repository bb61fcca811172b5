/// A link-layer packet with the reception data of its framing.
struct AirPacket {
  /// The result of the checksum test that the framing records.
  enum Verdict {
    case passed
    case failed
    /// Not recorded: the checksum has to be computed.
    case unchecked
  }

  /// The kind of an extended advertising PDU that the framing records.
  enum Role {
    case primary
    case auxAdv
    case auxChain
    case auxSync
    case auxScanRsp

    /// The kind that the two bits of LE_LL_WITH_PHDR and of Nordic's header stand for.
    init(auxiliaryBits bits: UInt16) {
      switch bits & 3 {
      case 0: self = .auxAdv
      case 1: self = .auxChain
      case 2: self = .auxSync
      default: self = .auxScanRsp
      }
    }
  }

  /// The packet from its access address on.
  var bytes: ByteView
  var hasRSSI = false
  /// - Units: dBm.
  var level: Int8?
  var channel: UInt8?
  var phy: AdvertisingReport.PHY?
  var verdict = Verdict.unchecked
  var role: Role?

  init(_ bytes: ByteView) { self.bytes = bytes }

  /// The channel index of a physical channel, counted in steps of 2 MHz from 2402 MHz.
  static func channelIndex(physical: UInt8) -> UInt8? {
    switch physical {
    case 0: 37
    case 12: 38
    case 39: 39
    case 1...11: physical - 1
    case 13...38: physical - 2
    default: nil
    }
  }

  /// The channel of a legacy PDU, which comes on 37, 38 and 39 alone.
  ///
  /// whad writes indices where physical channels belong: 37 and 38 were then read as 35 and 36.
  static func legacyChannel(_ index: UInt8?) -> UInt8? {
    switch index {
    case 35: 37
    case 36: 38
    case 37, 38, 39: index
    default: nil
    }
  }
}

/// The header of an extended advertising PDU's payload.
///
/// - Shape: 0 length in the low 6 bits, mode above; if the length is not 0: 1 flags, then where their bits
///   are set AdvA 6 bytes, TargetA 6, CTE 1, ADI 2, AuxPtr 3, SyncInfo 18, TX power 1; the rest of the header
///   is ACAD.
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.4.
struct ExtendedHeader {
  /// The advertiser's address as 48 bits.
  var address: UInt64?
  /// Advertising data information: the set (SID) in the top 4 bits, the number of its data (DID) below.
  var dataInfo: UInt16?
  /// Indicates whether the header points to another PDU.
  var hasPointer = false
  var transmitPower: Int8?
  /// The advertising data.
  var data: ArraySlice<UInt8>

  /// The advertising set, or 255 for none.
  var advertisingSet: UInt8 { dataInfo.map { UInt8($0 >> 12) } ?? 255 }

  /// Reads a payload, or nil if a field runs past the header or the header past the payload.
  init?(_ payload: ByteView) {
    guard payload.count >= 1 else { return nil }
    let length = Int(payload[0] & 0x3F)
    guard payload.count >= 1 + length else { return nil }
    data = payload.dropping(1 + length).bytes
    guard length > 0 else { return }
    let flags = payload[1]
    let end = 1 + length
    var at = 2
    /// Returns the offset of the next field, of `size` bytes, if its flag is set.
    func field(_ bit: UInt8, _ size: Int) -> Int? {
      guard flags & 1 << bit != 0 else { return nil }
      defer { at += size }
      return at
    }
    let addressAt = field(0, 6)
    _ = field(1, 6)
    _ = field(2, 1)
    let dataInfoAt = field(3, 2)
    let pointerAt = field(4, 3)
    _ = field(5, 18)
    let powerAt = field(6, 1)
    guard at <= end else { return nil }
    address = addressAt.map { payload.address($0) }
    dataInfo = dataInfoAt.map { payload.u16($0, .little) }
    hasPointer = pointerAt != nil
    transmitPower = powerAt.map { Int8(bitPattern: payload[$0]) }
  }
}

/// The 24-bit checksum of advertising PDUs.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 3.1.1; polynomial x^24 + x^10 + x^9 + x^6 + x^4
///   + x^3 + x + 1, started from 0x555555. In the order in which bits go on the air the register runs
///   reflected.
enum LinkLayerCRC {
  /// The effect of each byte on the reflected register.
  private static let table: [UInt32] = (0..<256).map { byte in
    var register = UInt32(byte)
    for _ in 0..<8 { register = register & 1 != 0 ? register >> 1 ^ 0xDA_6000 : register >> 1 }
    return register
  }

  /// The checksum of a PDU's header and payload; the three bytes behind them hold it little-endian.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var register: UInt32 = 0xAA_AAAA
    for byte in bytes { register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] }
    return register
  }
}
