public import PharosModel

/// Minew gateways with MINEW-CONNECT (G2, MG3, MG4): a binary list of adverts, each with its level.
///
/// The frame names no gateway; the topic of an MQTT message does (`/gw/GATEWAY/status`). Nothing tells the kind of an
/// address. A record that is cut, with all behind it, is skipped.
///
/// - Shape: `bb02`; u32 little-endian at 6 the length of the whole, at 10 that less 14; `843e` at 14; u32 at 16 the length less
///   20. From 20 on records: u16 little-endian length of what follows, u8 receiver, u8 flags, address of 6 as printed, i8 dBm,
///   u8 length, AD bytes, and perhaps a block about angles.
/// - Source: reelyactive/barnowl-minew, `lib/connectpacketdecoder.js`.
public enum MinewConnectFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "minew-connect"
  /// The first bytes, for operators.
  public static let beginning = "bb02"

  private static let magic: UInt16 = 0xBB02
  /// The offset of the first record.
  private static let records = 20
  /// The length of a record's fields before the AD bytes, without its own length.
  private static let fields = 10

  /// Returns whether the datagram begins with `bb02`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 2 && datagram.u16(at: 0) == magic
  }

  /// Appends one advert for each record.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    guard datagram.byteCount >= records else { throw .tooShort }
    guard datagram.littleEndian(UInt32.self, at: 6) >= datagram.byteCount else { throw .lengthMismatch }
    guard let observer = context.observer else { throw .noObserver }
    let before = batch.count
    let isCut = datagram.littleEndian(UInt32.self, at: 6) > datagram.byteCount
    var cursor = ByteCursor(records..<datagram.byteCount)
    while cursor.remaining >= 2 {
      let length = Int(datagram.littleEndian(UInt16.self, at: try cursor.advance(2).lowerBound))
      guard let record = try? cursor.advance(length) else {
        notes.skip(.tooShort)
        break
      }
      notes.attempt(&batch) { batch throws(DatagramRefusal) in
        guard record.count >= fields else { throw .tooShort }
        let start = record.lowerBound
        let data = start + fields..<start + fields + Int(datagram.byte(at: start + 9))
        guard data.upperBound <= record.upperBound else { throw .lengthMismatch }
        let advert = Advert(
          address: DeviceAddress(bits: datagram.u48(at: start + 2), kind: .unknown),
          rssi: WireLimits.level(Int(Int8(bitPattern: datagram.byte(at: start + 8)))),
          payload: batch.append(payload: datagram.extracting(data))
        )
        context.append(.advert(advert), of: observer, to: &batch)
      }
    }
    if isCut, notes.firstReason == nil { notes.skip(.tooShort) }
    if batch.count == before, let reason = notes.firstReason { throw reason }
  }
}
