import PharosDocuments

/// The flags in the second byte of a record.
///
/// - Shape: bits 0 and 1 the stage (3: a byte follows), 2 a subject, 3 an application, 4 a region, 5 a decision later than the event, 6 an
///   ordinal.
private enum Flag {
  static let subject: UInt8 = 1 << 2
  static let application: UInt8 = 1 << 3
  static let region: UInt8 = 1 << 4
  static let decidedAt: UInt8 = 1 << 5
  static let ordinal: UInt8 = 1 << 6
  static let all: UInt8 = 0x7F
}

extension Event {
  /// Writes the record: kind, flags, time, id, what the flags announce, detail.
  func write(to writer: inout RecordWriter) {
    var flags = min(stage, 3)
    if subject != .none { flags |= Flag.subject }
    if !application.isEmpty { flags |= Flag.application }
    if !region.isEmpty { flags |= Flag.region }
    if decidedAt != time { flags |= Flag.decidedAt }
    if ordinal != 0 { flags |= Flag.ordinal }
    writer.byte(kind.rawValue)
    writer.byte(flags)
    writer.word(UInt64(bitPattern: time.nanoseconds))
    writer.eventTime = time
    writer.word(id.high)
    writer.word(id.low)
    if stage >= 3 { writer.byte(stage) }
    switch subject {
    case .none: break
    case .observer(let observer): writer.name(.observer(observer))
    case .beacon(let beacon): writer.name(.beacon(beacon))
    }
    if !application.isEmpty { writer.name(.text(application)) }
    if !region.isEmpty { writer.name(.text(region)) }
    if decidedAt != time { writer.time(decidedAt) }
    if ordinal != 0 { writer.number(ordinal) }
    detail.write(to: &writer)
  }

  /// Reads the record.
  init(from reader: inout RecordReader) throws(FieldError) {
    let kindByte = try reader.byte()
    guard let kind = EventKind(rawValue: kindByte) else { throw reader.failure(.kind(kindByte)) }
    let flags = try reader.byte()
    guard flags <= Flag.all else { throw reader.failure(.unknownTag(field: "an event's flags", tag: flags)) }
    let time = Timestamp(nanoseconds: Int64(bitPattern: try reader.word()))
    reader.eventTime = time
    let high = try reader.word()
    let id = EventID(high: high, low: try reader.word())
    let stage = flags & 3 == 3 ? try reader.byte() : flags & 3
    var subject = SubjectID.none
    if flags & Flag.subject != 0 {
      switch try reader.name() {
      case .observer(let observer): subject = .observer(observer)
      case .beacon(let beacon): subject = .beacon(beacon)
      case .text: throw reader.failure(.badIdentity)
      }
    }
    let application = flags & Flag.application != 0 ? try reader.textName() : ""
    let region = flags & Flag.region != 0 ? try reader.textName() : ""
    let decidedAt = flags & Flag.decidedAt != 0 ? try reader.time() : time
    let ordinal = flags & Flag.ordinal != 0 ? try reader.number() : 0
    self.init(
      id: id,
      kind: kind,
      time: time,
      decidedAt: decidedAt,
      stage: stage,
      subject: subject,
      application: application,
      region: region,
      ordinal: ordinal,
      detail: try EventDetail(from: &reader)
    )
  }
}
