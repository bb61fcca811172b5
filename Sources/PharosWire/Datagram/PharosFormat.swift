public import PharosReports

/// The Pharos datagram, version 1: compact, numbered, with ages instead of times, and room for a signature.
///
/// The first report of a datagram is its head (a `Transmission`); the records follow in their order. Records
/// of unknown types are passed over by their length, and so is what a later version adds behind the fields of
/// a record of fixed length. Whether a tag is right is not judged here: ``PharosDatagramHead`` says where it
/// lies.
///
/// - Shape: see the article "The Pharos datagram, version 1".
public enum PharosFormat: DatagramFormat {
  /// Which format it is.
  public static let format = WireFormat.pharos

  /// Whether the datagram begins with `PHAR`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 4 && datagram.u32(at: 0) == PharosDatagramLayout.magic
  }

  /// Appends the head and the records of a datagram.
  public static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    let head = try PharosDatagramHead.head(of: datagram)
    let mark = batch.mark
    do throws(DatagramRefusal) {
      let sender = batch.index(of: head.observer)
      batch.append(
        Report(
          observer: sender,
          received: received,
          timing: .received,
          body: .transmission(head.transmission)
        )
      )
      try decodeRecords(datagram, in: head.records, sender: sender, received: received, into: &batch)
    } catch {
      batch.removeAll(behind: mark)
      throw error
    }
  }

  private static func decodeRecords(
    _ datagram: RawSpan,
    in records: Range<Int>,
    sender: UInt32,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    var observer = sender
    var cursor = ByteCursor(records)
    while cursor.remaining > 0 {
      let head = try cursor.take(PharosDatagramLayout.recordHeadLength).lowerBound
      let code = datagram.byte(at: head)
      let length = Int(datagram.u16(at: head + 1))
      guard length <= cursor.remaining else { throw .lengthMismatch }
      var body = ByteCursor(try cursor.take(length))
      guard let type = PharosDatagramLayout.RecordType(rawValue: code) else { continue }
      if type == .observer {
        observer = try decodeObserver(datagram, &body, sender: sender, into: &batch)
        continue
      }
      // Every record but an observer begins with its age.
      let age = TimeSpan.milliseconds(Int64(try body.u32(datagram)))
      let report = try decodeBody(type, datagram, &body, into: &batch)
      batch.append(Report(observer: observer, received: received, timing: .age(age), body: report))
    }
  }

  /// Reads who reports the records behind this one; an empty record hands them back to the sender.
  private static func decodeObserver(
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    sender: UInt32,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> UInt32 {
    guard body.remaining > 0 else { return sender }
    let kind = try body.u8(datagram)
    let identity = try body.take(body.remaining)
    return batch.index(of: try PharosDatagramHead.observer(datagram, kind: kind, in: identity))
  }

  private static func decodeBody(
    _ type: PharosDatagramLayout.RecordType,
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> ReportBody {
    switch type {
    case .advert: .advert(try decodeAdvert(datagram, &body, into: &batch))
    case .rangedBeacon: .rangedBeacon(try decodeRangedBeacon(datagram, &body))
    case .scanState: .scanState(try decodeScanState(datagram, &body))
    case .wifiScan: .wifiScan(try decodeAccessPoints(datagram, &body, into: &batch))
    case .motion: .motion(try decodeMotionSamples(datagram, &body, into: &batch))
    case .outsideFix: .outsideFix(try decodeOutsideFix(datagram, &body))
    case .heartbeat: .heartbeat(try decodeHeartbeat(datagram, &body))
    case .displayOn, .observer: .displayOn
    }
  }
}
