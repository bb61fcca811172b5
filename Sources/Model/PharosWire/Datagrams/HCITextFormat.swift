import PharosDocuments
public import PharosModel

/// HCI events in hexadecimal digits, as ESPHome's `ble_gateway` publishes them: advertising reports of one radio.
///
/// The text names no observer; a setting says which level of the topic does.
///
/// - Shape: `04`, `3E`, length, then subevent `02` (legacy) or `0D` (extended) with its reports, all as hexadecimal digits.
/// - Source: myhomeiot/esphome-components; Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public enum HCITextFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "hci-text"
  /// The first bytes, for operators.
  public static let beginning = "043E"

  /// The longest event.
  private static let maximumLength = 3 + 255

  /// Returns whether the datagram begins with `043E` in digits.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 4 && datagram.u16(at: 0) == 0x3034 && datagram.byte(at: 2) == UInt8(ascii: "3")
      && datagram.byte(at: 3) | 0x20 == UInt8(ascii: "e")
  }

  /// Appends one advert for each report.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    guard let observer = context.observer else { throw .noObserver }
    var end = WireText.end(datagram)
    while end > 0, JSONReader.isSpace(datagram.byte(at: end - 1)) { end -= 1 }
    guard end <= 2 * maximumLength else { throw .lengthMismatch }
    let before = batch.count
    let outcome: Result<Void, DatagramRefusal>? = WireText.withHex(datagram, 0..<end) { event in
      do throws(DatagramRefusal) {
        return .success(try decode(event: event, by: observer, context.received, &batch))
      } catch {
        return .failure(error)
      }
    }
    guard let outcome else { throw .badText }
    guard case .failure(let reason) = outcome else { return }
    guard batch.count > before else { throw reason }
    notes.skip(reason)
  }

  private static func decode(
    event: RawSpan,
    by observer: ObserverID,
    _ received: Timestamp,
    _ batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    guard event.byteCount > 2 else { throw .tooShort }
    var cursor = ByteCursor(2..<event.byteCount)
    let length = Int(try cursor.u8(event))
    let isCut = length > cursor.remaining
    guard length >= cursor.remaining else { throw .lengthMismatch }
    let subevent = try cursor.u8(event)
    guard subevent == 0x02 || subevent == 0x0D else { throw .nothingUnderstood }
    for _ in 0..<(try cursor.u8(event)) {
      let advert =
        subevent == 0x02
        ? try legacy(event, &cursor, &batch) : try extended(event, &cursor, &batch)
      let index = batch.index(of: observer)
      batch.append(Report(observer: index, received: received, timing: .received, body: .advert(advert)))
    }
    if isCut || cursor.remaining > 0 { throw .lengthMismatch }
  }

  private static func legacy(
    _ event: RawSpan,
    _ cursor: inout ByteCursor,
    _ batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert {
    let kinds: [Advert.PDU] = [.connectable, .directed, .scannable, .nonConnectable, .scanResponse]
    let type = Int(try cursor.u8(event))
    let kind = try cursor.u8(event)
    let address = event.u48Reversed(at: try cursor.advance(6).lowerBound)
    let data = try cursor.advance(Int(try cursor.u8(event)))
    let level = WireLimits.level(Int(try cursor.i8(event)))
    return Advert(
      address: DeviceAddress(bits: address, kind: kind & 1 == 0 ? .public : .random),
      rssi: level,
      pdu: kinds.indices.contains(type) ? kinds[type] : .unknown,
      payload: batch.append(payload: event.extracting(data))
    )
  }

  private static func extended(
    _ event: RawSpan,
    _ cursor: inout ByteCursor,
    _ batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert {
    _ = try cursor.advance(2)
    let kind = try cursor.u8(event)
    let address = event.u48Reversed(at: try cursor.advance(6).lowerBound)
    _ = try cursor.advance(2)
    let set = try cursor.u8(event)
    _ = try cursor.advance(1)
    let level = WireLimits.level(Int(try cursor.i8(event)))
    _ = try cursor.advance(9)
    let data = try cursor.advance(Int(try cursor.u8(event)))
    return Advert(
      address: kind == 0xFF ? nil : DeviceAddress(bits: address, kind: kind & 1 == 0 ? .public : .random),
      rssi: level,
      pdu: .extended,
      advertisingSet: set,
      payload: batch.append(payload: event.extracting(data))
    )
  }
}
