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
