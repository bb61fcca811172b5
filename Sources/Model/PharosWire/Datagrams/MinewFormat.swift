public import PharosModel

/// Minew gateways in their binary form, as G1 and its kin post it over HTTP ("BINARY-LONG").
///
/// A frame holds, device by device, the last payloads that were heard, each with a level of its own; every one becomes an
/// advert. A payload of length 0 is an advert of which only the level was kept. The frame has no time, so the
/// receive time stands. A frame without devices still proves that the gateway lives: it gives a heartbeat.
///
/// - Shape: `bb01`, u32 length of the whole frame, gateway's MAC of 6, u16 number of devices; each device: MAC of 6, u16
///   number of payloads; each payload: u8 length, AD bytes, u8 flags (0x06: the address is random), i8 dBm; then `dd`.
///   Big-endian.
/// - Source: reelyactive/barnowl-minew, `lib/binarypacketdecoder.js`; unlike there, zeros that begin a MAC are kept.
public enum MinewFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "minew"
  /// The first bytes, for operators.
  public static let beginning = "bb01"

  private static let magic: UInt16 = 0xBB01
  private static let tail: UInt8 = 0xDD
  private static let randomAddress: UInt8 = 0x06

  /// Returns whether the datagram begins with `bb01`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 2 && datagram.u16(at: 0) == magic
  }

  /// Appends one advert for each payload; of a frame that was cut those before the cut.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    var cursor = ByteCursor(datagram.wholeRange)
    _ = try cursor.advance(2)
    guard try cursor.u32(datagram) >= datagram.byteCount else { throw .lengthMismatch }
    let gateway = try cursor.u48(datagram)
    let devices = try cursor.u16(datagram)
    let mark = batch.mark
    let before = batch.count
    let head = Report(
      observer: batch.index(of: .eui48(gateway)),
      received: context.received,
      timing: .received,
      body: .heartbeat(Heartbeat())
    )
    do throws(DatagramRefusal) {
      for _ in 0..<devices { try decodeDevice(datagram, &cursor, head, into: &batch) }
      guard cursor.remaining == 1 else { throw .lengthMismatch }
      guard try cursor.u8(datagram) == tail else { throw .badField }
      if devices == 0 { batch.append(head) }
    } catch {
      // Without its lengths nothing behind a payload can be found.
      guard batch.count > before else {
        batch.removeAll(behind: mark)
        throw error
      }
      notes.skip(error)
    }
  }

  private static func decodeDevice(
    _ datagram: RawSpan,
    _ cursor: inout ByteCursor,
    _ head: Report,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    let address = try cursor.u48(datagram)
    for _ in 0..<(try cursor.u16(datagram)) {
      let data = try cursor.advance(Int(try cursor.u8(datagram)))
      let isRandom = try cursor.u8(datagram) & randomAddress != 0
      let level = WireLimits.level(Int(try cursor.i8(datagram)))
      let payload = batch.append(payload: datagram.extracting(data))
      var report = head
      report.body = .advert(
        Advert(
          address: DeviceAddress(bits: address, kind: isRandom ? .random : .public),
          rssi: level,
          payload: payload
        )
      )
      batch.append(report)
    }
  }
}
