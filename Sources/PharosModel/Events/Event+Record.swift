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

  private init(
    id: EventID,
    kind: EventKind,
    time: Timestamp,
    decidedAt: Timestamp,
    stage: UInt8,
    subject: SubjectID,
    application: String,
    region: String,
    ordinal: UInt64,
    detail: EventDetail
  ) {
    self.id = id
    self.kind = kind
    self.time = time
    self.decidedAt = decidedAt
    self.stage = stage
    self.subject = subject
    self.application = application
    self.region = region
    self.ordinal = ordinal
    self.detail = detail
  }
}

extension EventDetail {
  /// Writes a byte for the case, then what belongs to it.
  func write(to writer: inout RecordWriter) {
    switch self {
    case .region(let transition):
      writer.byte(0)
      writer.write(transition)
    case .regionLimit(let limit, let refused):
      writer.byte(1)
      writer.signed(Int64(limit))
      writer.text(refused)
    case .ranging(let constraint, let beacons):
      writer.byte(2)
      writer.value(constraint)
      writer.write(beacons)
    case .zone(let transition):
      writer.byte(3)
      writer.write(transition)
    case .observer(let transition):
      writer.byte(4)
      writer.write(transition)
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
  init(from reader: inout RecordReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .region(try reader.part())
    case 1: self = .regionLimit(limit: Int(try reader.signed()), refused: try reader.text())
    case 2: self = .ranging(constraint: try reader.value(BeaconConstraint.self), beacons: try reader.parts())
    case 3: self = .zone(try reader.part())
    case 4: self = .observer(try reader.part())
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

extension FixDetail {
  /// The course in degrees from north clockwise, 0 to 360, as JSON tells it.
  var courseInDegrees: Double? {
    // More turns than that are no course, and their digits tell no direction any more.
    guard let course, course.magnitude < 1_000 else { return nil }
    let degrees = course * 180 / .pi
    let turned = degrees - (degrees / 360).rounded(.down) * 360
    // What rounds up to a whole turn is north.
    return turned >= 359.95 ? 0 : turned
  }

  /// - Shape: a byte with a bit for each of floor name, coordinate, speed, course and satellites that are not needed, in this order;
  ///   the sources; venue and building; floor and place if there is a building; what the bits announce; accuracy and age.
  func write(to writer: inout RecordWriter) {
    let hasCoordinate = latitude != nil && longitude != nil
    var flags: UInt8 = 0
    let isThere = [
      isIndoors && !floorName.isEmpty, hasCoordinate, speed != nil, courseInDegrees != nil,
      satellites == .notNeeded,
    ]
    for (bit, flag) in isThere.enumerated() where flag { flags |= 1 << UInt8(bit) }
    writer.byte(flags)
    writer.byte(sources.rawValue)
    writer.name(.text(venue))
    writer.name(.text(building))
    if isIndoors {
      writer.signed(Int64(level))
      if !floorName.isEmpty { writer.name(.text(floorName)) }
      writer.decimal(x, 3)
      writer.decimal(y, 3)
    }
    if hasCoordinate, let latitude, let longitude {
      writer.decimal(latitude, 8)
      writer.decimal(longitude, 8)
    }
    if let speed { writer.decimal(speed, 2) }
    if let courseInDegrees { writer.decimal(courseInDegrees, 1) }
    writer.decimal(horizontalAccuracy, 2)
    writer.milliseconds(age)
  }

  /// Reads what was written.
  init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 1 << 5 else { throw reader.failure(.unknownTag(field: "a fix", tag: flags)) }
    let bits = try reader.byte()
    guard bits & ~FixSources.all.rawValue == 0 else {
      throw reader.failure(.unknownTag(field: "a fix's sources", tag: bits))
    }
    let venue = try reader.textName()
    let building = try reader.textName()
    self.init(
      venue: venue,
      building: building,
      horizontalAccuracy: 0,
      sources: FixSources(rawValue: bits),
      age: .zero,
      satellites: flags & 16 != 0 ? .notNeeded : .needed
    )
    if isIndoors {
      level = Int(try reader.signed())
      if flags & 1 != 0 { floorName = try reader.textName() }
      x = try reader.decimal(3)
      y = try reader.decimal(3)
    }
    if flags & 2 != 0 {
      latitude = try reader.decimal(8)
      longitude = try reader.decimal(8)
    }
    if flags & 4 != 0 { speed = try reader.decimal(2) }
    if flags & 8 != 0 { course = try reader.decimal(1) * .pi / 180 }
    horizontalAccuracy = try reader.decimal(2)
    age = try reader.milliseconds()
  }
}
