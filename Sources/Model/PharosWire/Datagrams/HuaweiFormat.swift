public import PharosModel

/// Huawei access points: a small binary list of tags, each with its last advert.
///
/// Its times are whole seconds, so the receive time stands. Nothing tells public from random addresses, or
/// the PDU. Bytes behind the last tag are passed over.
///
/// - Shape: `HW`, an ignored byte, AP MAC of 6, two ignored bytes, u8 number of tags; each tag: MAC of 6, u32
///   Unix seconds, i8 dBm, two ignored bytes, u8 length, AD bytes. Big-endian.
/// - Source: reelyactive/barnowl-huawei, `lib/binarypacketdecoder.js`; unlike there, zeros that begin a MAC
///   are kept.
public enum HuaweiFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "huawei"
  /// The first bytes, for operators.
  public static let beginning = "HW"

  /// `HW`.
  private static let magic: UInt16 = 0x4857

  /// Returns whether the datagram begins with `HW`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 2 && datagram.u16(at: 0) == magic
  }

  /// Appends one advert for each tag; of a list that was cut those before the cut.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    var cursor = ByteCursor(datagram.wholeRange)
    _ = try cursor.advance(3)
    let accessPoint = try cursor.u48(datagram)
    _ = try cursor.advance(2)
    for number in 0..<(try cursor.u8(datagram)) {
      do throws(DatagramRefusal) {
        let advert = try decodeTag(datagram, &cursor, into: &batch)
        context.append(.advert(advert), of: .eui48(accessPoint), to: &batch)
      } catch {
        // Without its length nothing behind a tag can be found.
        guard number > 0 else { throw error }
        return notes.skip(error)
      }
    }
  }

  private static func decodeTag(
    _ datagram: RawSpan,
    _ cursor: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert {
    let address = DeviceAddress(bits: try cursor.u48(datagram), kind: .unknown)
    _ = try cursor.u32(datagram)
    let level = WireLimits.level(Int(try cursor.i8(datagram)))
    _ = try cursor.advance(2)
    let length = Int(try cursor.u8(datagram))
    let data = try cursor.advance(length)
    let payload = batch.append(payload: datagram.extracting(data))
    return Advert(address: address, rssi: level, payload: payload)
  }
}
