import PharosDocuments
import PharosModel

/// Link-layer packets spelt byte by byte, with the checksum that belongs to them.
enum AirBytes {
  static let accessAddress = "d6be898e"

  /// A packet: access address, what the coded PHY puts behind it, the PDU and its checksum.
  static func packet(_ pdu: String, codingIndicator: String = "", damage: UInt8 = 0) -> String {
    var checksum = checksum(CaptureBytes.hex(pdu))
    checksum[0] ^= damage
    return accessAddress + codingIndicator + pdu + Hex.text(checksum)
  }

  /// An extended advertising PDU with the given header fields and data.
  static func extended(flags: UInt8, fields: String, data: String = "", random: Bool = true) -> String {
    let header = CaptureBytes.hex(fields).count + 1
    let payload = Hex.text([UInt8(header), flags]) + fields + data
    return Hex.text([random ? 0x47 : 0x07, UInt8(CaptureBytes.hex(payload).count)]) + payload
  }

  /// The checksum bit by bit, written apart from the table that is tested.
  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    var state: UInt32 = 0xAA_AAAA
    for byte in bytes {
      for bit in 0..<8 {
        let isSet = (state ^ UInt32(byte >> UInt8(bit))) & 1 == 1
        state >>= 1
        if isSet { state = (state | 0x80_0000) ^ 0x5A_6000 }
      }
    }
    return [
      UInt8(truncatingIfNeeded: state), UInt8(truncatingIfNeeded: state >> 8),
      UInt8(truncatingIfNeeded: state >> 16),
    ]
  }
}
