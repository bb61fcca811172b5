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
    let outline = try PharosDatagramOutline(datagram)
    let mark = batch.mark
    do throws(DatagramRefusal) {
      let sender = try observer(datagram, outline.observerKind, in: outline.identity, into: &batch)
      batch.append(
        Report(
          observer: sender,
          received: received,
          timing: .received,
          body: .transmission(outline.transmission)
        )
      )
      try decodeRecords(datagram, in: outline.records, sender: sender, received: received, into: &batch)
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
    var payloads = CopiedPayloads(end: records.upperBound)
    var next = records.lowerBound
    while next < records.upperBound {
      let start = next + PharosDatagramLayout.recordHeadLength
      guard start <= records.upperBound else { throw .tooShort }
      let code = datagram.knownByte(at: next)
      if code == PharosDatagramLayout.RecordType.advert.rawValue {
        next = try decodeAdverts(
          datagram,
          in: next..<records.upperBound,
          of: observer,
          received,
          &payloads,
          into: &batch
        )
        continue
      }
      next = start + Int(datagram.knownU16(at: next + 1))
      guard next <= records.upperBound else { throw .lengthMismatch }
      guard let type = PharosDatagramLayout.RecordType(rawValue: code) else { continue }
      var body = ByteCursor(start..<next)
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
    return try observer(datagram, kind, in: try body.take(body.remaining), into: &batch)
  }

  /// The index of an observer in the batch; a gateway's MAC, which nearly all have, is compared as a number.
  private static func observer(
    _ datagram: RawSpan,
    _ kind: UInt8,
    in identity: Range<Int>,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> UInt32 {
    guard kind == PharosDatagramLayout.ObserverKind.eui48.rawValue, identity.count == 6 else {
      return batch.index(of: try PharosDatagramOutline.observer(datagram, kind: kind, in: identity))
    }
    let bits = datagram.u48(at: identity.lowerBound)
    let count = batch.observers.count
    if count > 0, case .eui48(bits) = batch.observers[count - 1] { return UInt32(count - 1) }
    batch.observers.append(.eui48(bits))
    return UInt32(count)
  }

  private static func decodeBody(
    _ type: PharosDatagramLayout.RecordType,
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> ReportBody {
    switch type {
    case .rangedBeacon: .rangedBeacon(try decodeRangedBeacon(datagram, &body))
    case .scanState: .scanState(try decodeScanState(datagram, &body))
    case .wifiScan: .wifiScan(try decodeAccessPoints(datagram, &body, into: &batch))
    case .motion: .motion(try decodeMotionSamples(datagram, &body, into: &batch))
    case .outsideFix: .outsideFix(try decodeOutsideFix(datagram, &body))
    case .heartbeat: .heartbeat(try decodeHeartbeat(datagram, &body))
    case .displayOn, .observer, .advert: .displayOn
    }
  }
}
