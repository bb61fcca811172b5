import PharosReports

extension ZoneTransition {
  /// - Shape: a byte with a bit for each of from, to, margin, dwell, probability and runner-up, in this order; the reason; what the bits
  ///   announce; the hearings.
  func write(to writer: inout RecordWriter) {
    var flags: UInt8 = 0
    let isThere = [
      from != nil, to != nil, margin != nil, dwell != nil, probability != nil, runnerUp != nil,
    ]
    for (bit, flag) in isThere.enumerated() where flag { flags |= 1 << UInt8(bit) }
    writer.byte(flags)
    writer.byte(reason.code)
    if let from { writer.name(.text(from)) }
    if let to { writer.name(.text(to)) }
    if let margin { writer.decimal(margin, 2) }
    if let dwell { writer.milliseconds(dwell) }
    if let probability { writer.decimal(probability, 4) }
    if let runnerUp {
      writer.name(.text(runnerUp.zone))
      writer.decimal(runnerUp.probability, 4)
    }
    writer.number(UInt64(hearings.count))
    for hearing in hearings {
      writer.name(.observer(hearing.observer))
      writer.decimal(hearing.level, 2)
      writer.decimal(hearing.offset, 2)
    }
  }

  /// Reads what was written.
  init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 1 << 6 else { throw reader.failure(.unknownTag(field: "a change of zone", tag: flags)) }
    let code = try reader.byte()
    guard let reason = Reason(code: code) else {
      throw reader.failure(.unknownTag(field: "a reason", tag: code))
    }
    let from = flags & 1 != 0 ? try reader.textName() : nil
    let to = flags & 2 != 0 ? try reader.textName() : nil
    let margin = flags & 4 != 0 ? try reader.decimal(2) : nil
    let dwell = flags & 8 != 0 ? try reader.milliseconds() : nil
    self.init(from: from, to: to, margin: margin, dwell: dwell, reason: reason)
    if flags & 16 != 0 { probability = try reader.decimal(4) }
    if flags & 32 != 0 {
      let zone = try reader.textName()
      runnerUp = Candidate(zone: zone, probability: try reader.decimal(4))
    }
    for _ in 0..<(try reader.number()) {
      let observer = try reader.observerName()
      let level = try reader.decimal(2)
      hearings.append(Hearing(observer: observer, level: level, offset: try reader.decimal(2)))
    }
  }
}
