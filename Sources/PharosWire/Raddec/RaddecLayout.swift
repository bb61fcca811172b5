/// Where the parts of a raddec lie: found by walking it once, with every length checked, before anything is
/// reported.
///
/// - Shape: flag 0x10, u16 total length, u8 transmitter type, transmitter, u8 number of receivers, receivers,
///   options, u8 checksum.
/// - Source: reelyactive/raddec, `lib/raddec.js`.
struct RaddecLayout {
  static let flag: UInt8 = 0x10
  static let timestampFlag: UInt8 = 0xF0
  static let packetsFlag: UInt8 = 0xF1
  static let eventsFlag: UInt8 = 0xF2
  static let positionFlag: UInt8 = 0xF3
  /// What ends a position whose further axes are absent.
  static let endOfPosition: UInt64 = 0x7FFF_FFFF_FFFF_FFFF
  /// The flag, the length, a transmitter of type 0, no receiver, and the checksum.
  static let shortest = 6
  static let mostPackets = 15

  let transmitterType: RaddecIdentifierType
  /// Where the transmitter's identifier lies.
  let transmitter: Range<Int>
  let receiverCount: Int
  /// Where the receivers lie.
  let receivers: Range<Int>
  /// When the transmitter was heard, by the sender's clock; milliseconds since the epoch.
  private(set) var timestamp: Int64?
  private(set) var packetCount = 0
  /// Where the packets lie, each behind a byte that says its length.
  private(set) var packets: Range<Int>

  /// Walks a datagram.
  init(_ bytes: RawSpan) throws(DatagramRefusal) {
    guard bytes.byteCount >= RaddecLayout.shortest else { throw .tooShort }
    guard Int(bytes.u16(at: 1)) == bytes.byteCount else { throw .lengthMismatch }
    try RaddecLayout.verifyChecksum(bytes)
    var cursor = ByteCursor(3..<bytes.byteCount - 1)
    transmitterType = try RaddecIdentifierType(try cursor.u8(bytes))
    transmitter = try cursor.take(transmitterType.byteCount)
    receiverCount = Int(try cursor.u8(bytes) & 0x0F)
    let start = cursor.offset
    for _ in 0..<receiverCount { _ = try RaddecReceiver(bytes, &cursor) }
    receivers = start..<cursor.offset
    packets = cursor.offset..<cursor.offset
    try readOptions(bytes, &cursor)
  }

  private static func verifyChecksum(_ bytes: RawSpan) throws(DatagramRefusal) {
    let last = bytes.byteCount - 1
    var sum: UInt8 = 0
    for offset in 0..<last { sum &+= bytes.byte(at: offset) }
    guard sum == bytes.byte(at: last) else { throw .checksum }
  }

  private mutating func readOptions(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    while cursor.remaining > 0 {
      switch try cursor.u8(bytes) {
      case RaddecLayout.timestampFlag:
        let milliseconds = Int64(try cursor.u48(bytes))
        guard milliseconds <= WireLimits.mostMilliseconds else { throw .badField }
        timestamp = milliseconds
      case RaddecLayout.packetsFlag:
        try readPackets(bytes, &cursor)
      case RaddecLayout.eventsFlag:
        // Appearance, displacement and the like are the sender's own decisions; Pharos takes its own.
        _ = try cursor.u8(bytes)
      case RaddecLayout.positionFlag:
        // Where the sender believes the transmitter to be.
        for _ in 0..<3 {
          if try cursor.u64(bytes) == RaddecLayout.endOfPosition { break }
        }
      default:
        // An option of a later version has no length to skip it by: what was read stands.
        return
      }
    }
  }

  private mutating func readPackets(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    packetCount = Int(try cursor.u8(bytes))
    guard packetCount <= RaddecLayout.mostPackets else { throw .badField }
    let start = cursor.offset
    for _ in 0..<packetCount {
      let length = Int(try cursor.u8(bytes))
      let packet = try cursor.take(length)
      if transmitterType.packets == .advertising { _ = try AdvertisingPDU(bytes, in: packet) }
    }
    packets = start..<cursor.offset
  }
}

/// One receiver of a raddec: its level, and where its identifier lies.
struct RaddecReceiver {
  /// The level in dBm; the wire holds it plus 127.
  let dBm: Int
  let type: RaddecIdentifierType
  let identifier: Range<Int>

  /// Reads a receiver.
  init(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(DatagramRefusal) {
    dBm = Int(try cursor.u8(bytes)) - 127
    // The number of decodings: how many packets the level is the mean of. It stays one sighting.
    _ = try cursor.u8(bytes)
    type = try RaddecIdentifierType(try cursor.u8(bytes))
    guard type != .unknown else { throw .noObserver }
    identifier = try cursor.take(type.byteCount)
  }
}
