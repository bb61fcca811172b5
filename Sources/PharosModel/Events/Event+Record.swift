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
    if decidedAt != time { writer.time(decidedAt, from: time) }
    if ordinal != 0 { writer.number(ordinal) }
    detail.write(to: &writer, time: time)
  }

  /// Reads the record.
  init(from reader: inout RecordReader) throws(FieldError) {
    let kindByte = try reader.byte()
    guard let kind = EventKind(rawValue: kindByte) else { throw reader.failure(.kind(kindByte)) }
    let flags = try reader.byte()
    guard flags <= Flag.all else { throw reader.failure(.unknownTag(field: "an event's flags", tag: flags)) }
    let time = Timestamp(nanoseconds: Int64(bitPattern: try reader.word()))
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
    let decidedAt = flags & Flag.decidedAt != 0 ? try reader.time(from: time) : time
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
      detail: try EventDetail(from: &reader, time: time)
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

extension Evidence {
  /// - Shape: the rule; a number with a bit for each member in the order of their declaration; the members that are there.
  func write(to writer: inout RecordWriter, time: Timestamp) {
    writer.byte(rule.code)
    writer.number(presence)
    if let samples { writer.signed(Int64(samples)) }
    if let counted { writer.signed(Int64(counted)) }
    if let window { writer.milliseconds(window) }
    if let spread { writer.milliseconds(spread) }
    if let gap { writer.milliseconds(gap) }
    if let allowedGap { writer.milliseconds(allowedGap) }
    if let stretch { writer.decimal(stretch, 3) }
    if let interval { writer.milliseconds(interval) }
    if let receptionShare { writer.decimal(receptionShare, 3) }
    if let lossRun { writer.decimal(lossRun, 2) }
    if let level { writer.decimal(level, 2) }
    if let levelDeviation { writer.decimal(levelDeviation, 2) }
    if let sampleLevel { writer.decimal(sampleLevel, 2) }
    if let threshold { writer.decimal(threshold, 2) }
    if let distance { writer.decimal(distance, 3) }
    if let belowFor { writer.milliseconds(belowFor) }
    if let margin { writer.decimal(margin, 3) }
    if let lastHeard { writer.time(lastHeard, from: time) }
    if let fixedRuleAt { writer.time(fixedRuleAt, from: time) }
    if let deafFor { writer.milliseconds(deafFor) }
    if let waitedForProof { writer.milliseconds(waitedForProof) }
    if let silence { silence.write(to: &writer) }
  }

  /// Reads what was written.
  init(from reader: inout RecordReader, time: Timestamp) throws(FieldError) {
    let code = try reader.byte()
    guard let rule = Rule(code: code) else { throw reader.failure(.unknownTag(field: "a rule", tag: code)) }
    self.init(rule: rule)
    let there = Presence(bits: try reader.number())
    if there[0] { samples = Int(try reader.signed()) }
    if there[1] { counted = Int(try reader.signed()) }
    if there[2] { window = try reader.milliseconds() }
    if there[3] { spread = try reader.milliseconds() }
    if there[4] { gap = try reader.milliseconds() }
    if there[5] { allowedGap = try reader.milliseconds() }
    if there[6] { stretch = try reader.decimal(3) }
    if there[7] { interval = try reader.milliseconds() }
    if there[8] { receptionShare = try reader.decimal(3) }
    if there[9] { lossRun = try reader.decimal(2) }
    if there[10] { level = try reader.decimal(2) }
    if there[11] { levelDeviation = try reader.decimal(2) }
    if there[12] { sampleLevel = try reader.decimal(2) }
    if there[13] { threshold = try reader.decimal(2) }
    if there[14] { distance = try reader.decimal(3) }
    if there[15] { belowFor = try reader.milliseconds() }
    if there[16] { margin = try reader.decimal(3) }
    if there[17] { lastHeard = try reader.time(from: time) }
    if there[18] { fixedRuleAt = try reader.time(from: time) }
    if there[19] { deafFor = try reader.milliseconds() }
    if there[20] { waitedForProof = try reader.milliseconds() }
    if there[21] { silence = try SilenceBasis(from: &reader) }
  }

  private var presence: UInt64 {
    var bits: UInt64 = 0
    if samples != nil { bits |= 1 << 0 }
    if counted != nil { bits |= 1 << 1 }
    if window != nil { bits |= 1 << 2 }
    if spread != nil { bits |= 1 << 3 }
    if gap != nil { bits |= 1 << 4 }
    if allowedGap != nil { bits |= 1 << 5 }
    if stretch != nil { bits |= 1 << 6 }
    if interval != nil { bits |= 1 << 7 }
    if receptionShare != nil { bits |= 1 << 8 }
    if lossRun != nil { bits |= 1 << 9 }
    if level != nil { bits |= 1 << 10 }
    if levelDeviation != nil { bits |= 1 << 11 }
    if sampleLevel != nil { bits |= 1 << 12 }
    if threshold != nil { bits |= 1 << 13 }
    if distance != nil { bits |= 1 << 14 }
    if belowFor != nil { bits |= 1 << 15 }
    if margin != nil { bits |= 1 << 16 }
    if lastHeard != nil { bits |= 1 << 17 }
    if fixedRuleAt != nil { bits |= 1 << 18 }
    if deafFor != nil { bits |= 1 << 19 }
    if waitedForProof != nil { bits |= 1 << 20 }
    if silence != nil { bits |= 1 << 21 }
    return bits
  }
}

/// The members of the evidence that are present.
private struct Presence {
  let bits: UInt64

  subscript(_ place: UInt64) -> Bool { bits >> place & 1 == 1 }
}

extension SilenceBasis {
  /// - Shape: a byte with the surroundings (bits 0, 1) and whether there is a tail (2); the numbers in the order of their declaration.
  fileprivate func write(to writer: inout RecordWriter) {
    writer.byte(surroundings.code | (tail == nil ? 0 : 4))
    writer.milliseconds(pace)
    writer.decimal(opportunities, 3)
    writer.decimal(runChance, 9)
    writer.decimal(budget, 12)
    writer.decimal(continued, 3)
    writer.decimal(ended, 3)
    if let tail {
      writer.signed(Int64(tail.from))
      writer.decimal(tail.chance, 9)
      writer.decimal(tail.continuation, 9)
    }
    writer.signed(Int64(misses))
    writer.span(floor)
    writer.span(ceiling)
  }

  fileprivate init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 8, let surroundings = LevelClass(code: flags & 3) else {
      throw reader.failure(.unknownTag(field: "a silence", tag: flags))
    }
    self.init(untouched: try reader.milliseconds(), surroundings: surroundings)
    opportunities = try reader.decimal(3)
    runChance = try reader.decimal(9)
    budget = try reader.decimal(12)
    continued = try reader.decimal(3)
    ended = try reader.decimal(3)
    if flags & 4 != 0 {
      var tail = Tail(from: Int(try reader.signed()), chance: 0, continuation: 0)
      tail.chance = try reader.decimal(9)
      tail.continuation = try reader.decimal(9)
      self.tail = tail
    }
    misses = Int(try reader.signed())
    floor = try reader.span()
    ceiling = try reader.span()
  }
}
