import PharosReports

extension EventDetail {
  /// Writes a byte for the case, then what belongs to it; times as spans from that of the event.
  func write(to writer: inout RecordWriter, time: Timestamp) {
    switch self {
    case .region(let transition):
      writer.byte(0)
      transition.write(to: &writer, time: time)
    case .regionLimit(let limit, let refused):
      writer.byte(1)
      writer.signed(Int64(limit))
      writer.text(refused)
    case .ranging(let constraint, let beacons):
      writer.byte(2)
      writer.value(constraint)
      writer.number(UInt64(beacons.count))
      for beacon in beacons { beacon.write(to: &writer) }
    case .zone(let transition):
      writer.byte(3)
      transition.write(to: &writer)
    case .observer(let transition):
      writer.byte(4)
      transition.write(to: &writer, time: time)
    case .battery(let millivolts, let observer):
      writer.byte(5)
      writer.number(UInt64(millivolts))
      writer.name(.observer(observer))
    case .clockStep(let span):
      writer.byte(6)
      writer.span(span)
    case .authorisation(let transition):
      writer.byte(7)
      writer.value(transition)
    case .notification(let detail):
      writer.byte(8)
      writer.value(detail)
    case .fix(let detail):
      writer.byte(9)
      detail.write(to: &writer)
    }
  }

  /// Reads what was written.
  init(from reader: inout RecordReader, time: Timestamp) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .region(try RegionTransition(from: &reader, time: time))
    case 1:
      let limit = Int(try reader.signed())
      self = .regionLimit(limit: limit, refused: try reader.text())
    case 2:
      let constraint = try reader.value(BeaconConstraint.self)
      var beacons: [RangedReading] = []
      for _ in 0..<(try reader.number()) { beacons.append(try RangedReading(from: &reader)) }
      self = .ranging(constraint: constraint, beacons: beacons)
    case 3: self = .zone(try ZoneTransition(from: &reader))
    case 4: self = .observer(try ObserverTransition(from: &reader, time: time))
    case 5:
      let millivolts = try reader.number()
      guard let exact = UInt16(exactly: millivolts) else {
        throw reader.failure(.unknownTag(field: "millivolts", tag: UInt8(truncatingIfNeeded: millivolts)))
      }
      self = .battery(millivolts: exact, observer: try reader.observerName())
    case 6: self = .clockStep(try reader.span())
    case 7: self = .authorisation(try reader.value(AuthorisationTransition.self))
    case 8: self = .notification(try reader.value(NotificationDetail.self))
    case 9: self = .fix(try FixDetail(from: &reader))
    case let tag: throw reader.failure(.unknownTag(field: "an event's detail", tag: tag))
    }
  }
}

extension RegionTransition {
  /// - Shape: a byte with the states before (bits 0, 1) and after (2, 3), then refinement (4), observer (5), beginning (6), answer (7).
  fileprivate func write(to writer: inout RecordWriter, time: Timestamp) {
    var flags = from.rawValue | to.rawValue << 2
    if refinement != nil { flags |= 1 << 4 }
    if observer != nil { flags |= 1 << 5 }
    if enteredAt != nil { flags |= 1 << 6 }
    if isAnswer { flags |= 1 << 7 }
    writer.byte(flags)
    if let refinement { writer.name(.beacon(refinement)) }
    if let observer { writer.name(.observer(observer)) }
    if let enteredAt { writer.time(enteredAt, from: time) }
    evidence.write(to: &writer, time: time)
  }

  fileprivate init(from reader: inout RecordReader, time: Timestamp) throws(FieldError) {
    let flags = try reader.byte()
    guard let from = RegionState(rawValue: flags & 3), let to = RegionState(rawValue: flags >> 2 & 3) else {
      throw reader.failure(.unknownTag(field: "a region's states", tag: flags))
    }
    let refinement = flags & 1 << 4 != 0 ? try reader.beaconName() : nil
    let observer = flags & 1 << 5 != 0 ? try reader.observerName() : nil
    let enteredAt = flags & 1 << 6 != 0 ? try reader.time(from: time) : nil
    self.init(
      from: from,
      to: to,
      refinement: refinement,
      observer: observer,
      enteredAt: enteredAt,
      isAnswer: flags & 1 << 7 != 0,
      evidence: try Evidence(from: &reader, time: time)
    )
  }
}

extension ObserverTransition {
  fileprivate func write(to writer: inout RecordWriter, time: Timestamp) {
    writer.byte((lastHeard == nil ? 0 : 1) | (allowedGap == nil ? 0 : 2) | (bootID == nil ? 0 : 4))
    if let lastHeard { writer.time(lastHeard, from: time) }
    if let allowedGap { writer.milliseconds(allowedGap) }
    if let bootID { writer.number(UInt64(bootID)) }
  }

  fileprivate init(from reader: inout RecordReader, time: Timestamp) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 8 else { throw reader.failure(.unknownTag(field: "an observer's change", tag: flags)) }
    self.init()
    if flags & 1 != 0 { lastHeard = try reader.time(from: time) }
    if flags & 2 != 0 { allowedGap = try reader.milliseconds() }
    if flags & 4 != 0 { bootID = UInt32(truncatingIfNeeded: try reader.number()) }
  }
}

extension RangedReading {
  fileprivate func write(to writer: inout RecordWriter) {
    writer.name(.beacon(beacon))
    writer.byte(proximity.code)
    writer.decimal(rssi, 1)
    writer.decimal(accuracy, 2)
    writer.decimal(deviation, 2)
    writer.signed(Int64(samples))
  }

  fileprivate init(from reader: inout RecordReader) throws(FieldError) {
    let beacon = try reader.beaconName()
    let code = try reader.byte()
    guard let proximity = Proximity(code: code) else {
      throw reader.failure(.unknownTag(field: "a proximity", tag: code))
    }
    let rssi = try reader.decimal(1)
    let accuracy = try reader.decimal(2)
    let deviation = try reader.decimal(2)
    self.init(
      beacon: beacon,
      rssi: rssi,
      accuracy: accuracy,
      deviation: deviation,
      proximity: proximity,
      samples: Int(try reader.signed())
    )
  }
}
