public import PharosModel

/// The Pharos datagram, version 1: compact, numbered, with ages instead of times, and room for a signature.
///
/// The first report of a datagram is its head (a `Transmission`); the records follow in their order. Records
/// of unknown types are passed over by their length, and so is what a later version adds behind the fields of
/// a record of fixed length. Whether a tag is right is not judged here: ``PharosDatagramHead`` says where it
/// lies.
///
/// - Shape: see the article "The Pharos datagram, version 1".
public enum PharosFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "pharos"
  /// The first bytes, for operators.
  public static let beginning = "PHAR"

  /// Returns whether the datagram begins with `PHAR`.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 4 && datagram.u32(at: 0) == PharosDatagramLayout.magic
  }

  /// Appends the head and the records of a datagram; of one that is signed all of them or none.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let outline = try PharosDatagramOutline(datagram)
    let mark = batch.mark
    do throws(DatagramRefusal) {
      let sender = try observer(datagram, outline.observerKind, in: outline.identity, into: &batch)
      batch.append(
        Report(
          observer: sender,
          received: context.received,
          timing: .received,
          body: .transmission(outline.transmission)
        )
      )
      let head = batch.count
      try decodeRecords(
        datagram,
        outline,
        sender: sender,
        received: context.received,
        into: &batch,
        notes: &notes
      )
      if outline.isCut { notes.skip(.lengthMismatch) }
      if let reason = notes.firstReason, outline.tag != nil || batch.count == head { throw reason }
    } catch {
      batch.removeAll(behind: mark)
      throw error
    }
  }

  private static func decodeRecords(
    _ datagram: RawSpan,
    _ outline: PharosDatagramOutline,
    sender: UInt32,
    received: Timestamp,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let records = outline.records
    // Nil behind an observer that cannot be read: the records that follow are not those of the one before.
    var observer: UInt32? = sender
    var payloads = CopiedPayloads(end: records.upperBound)
    var next = records.lowerBound
    while next < records.upperBound {
      let start = next + PharosDatagramLayout.recordHeadLength
      guard start <= records.upperBound else { return outline.isCut ? () : notes.skip(.tooShort) }
      let code = datagram.knownByte(at: next)
      if code == PharosDatagramLayout.RecordType.advert.rawValue, let observer {
        next = try decodeAdverts(
          datagram,
          in: next..<records.upperBound,
          of: observer,
          received,
          &payloads,
          into: &batch,
          notes: &notes
        )
        // Adverts end where another record begins, or at one whose end is missing.
        guard next >= records.upperBound || datagram.knownByte(at: next) == code else { continue }
        return next >= records.upperBound || outline.isCut ? () : notes.skip(.lengthMismatch)
      }
      next = start + Int(datagram.knownU16(at: next + 1))
      guard next <= records.upperBound else { return outline.isCut ? () : notes.skip(.lengthMismatch) }
      guard let type = PharosDatagramLayout.RecordType(rawValue: code) else { continue }
      let place = start..<next
      if type == .observer { observer = nil }
      notes.attempt(&batch) { batch throws(DatagramRefusal) in
        var body = ByteCursor(place)
        if type == .observer {
          observer = try decodeObserver(datagram, &body, sender: sender, into: &batch)
          return
        }
        guard let observer else { throw .noObserver }
        // Every record but an observer begins with its age.
        let age = TimeSpan.milliseconds(Int64(try body.u32(datagram)))
        let report = try decodeBody(type, datagram, &body, into: &batch)
        batch.append(Report(observer: observer, received: received, timing: .age(age), body: report))
      }
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
    return try observer(datagram, kind, in: try body.advance(body.remaining), into: &batch)
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
    case .relativePose: .relativePose(try decodeRelativePose(datagram, &body))
    case .visualStatus: .visualStatus(try decodeVisualStatus(datagram, &body))
    case .heartbeat: .heartbeat(try decodeHeartbeat(datagram, &body))
    case .displayOn, .observer, .advert: .displayOn
    }
  }
}

/// The records about what a radio heard.
extension PharosFormat {
  /// Decodes adverts, by far the most frequent records, up to the first record of another type.
  ///
  /// The length of each is checked once, and its fields are read at fixed offsets.
  ///
  /// - Returns: the start of the first record of another type, of the first whose end is missing, or the end of the records.
  static func decodeAdverts(
    _ datagram: RawSpan,
    in records: Range<Int>,
    of observer: UInt32,
    _ received: Timestamp,
    _ payloads: inout CopiedPayloads,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) -> Int {
    var next = records.lowerBound
    let end = records.upperBound
    let first = min(next + PharosDatagramLayout.minimumAdvertLength, end)
    let shift = payloads.shift(from: first, in: datagram, &batch)
    let maximum = records.count / PharosDatagramLayout.minimumAdvertLength
    var oldest = notes.oldestAge ?? 0
    batch.append(atMost: maximum) { (entries: inout OutputSpan<ReportEntry>) in
      while next < end {
        let start = next + PharosDatagramLayout.recordHeadLength
        guard start <= end else { return }
        let code = datagram.knownByte(at: next)
        guard code == PharosDatagramLayout.RecordType.advert.rawValue else { return }
        let data = next + PharosDatagramLayout.minimumAdvertLength
        let behind = start + Int(datagram.knownU16(at: next + 1))
        guard behind <= end else { return }
        guard data <= behind else {
          notes.skip(.tooShort)
          next = behind
          continue
        }
        // The age; then level, PDU, channel, set, kind of address and the first three bytes of the address; then the others.
        let age = datagram.knownU32(at: start)
        oldest = max(oldest, age)
        let fields = datagram.knownU64(at: start + 4)
        let bits = (fields & 0xFF_FFFF) << 24 | UInt64(datagram.knownU32(at: start + 11) & 0xFF_FFFF)
        let channel = UInt8(truncatingIfNeeded: fields >> 40)
        let kind = UInt8(truncatingIfNeeded: fields >> 24)
        let level = Int8(truncatingIfNeeded: fields >> 56)
        guard let pdu = Advert.PDU(rawValue: UInt8(truncatingIfNeeded: fields >> 48)),
          channel == 0 || 37...39 ~= channel,
          kind <= PharosDatagramLayout.AddressKind.anonymous.rawValue,
          behind - data <= WireLimits.maximumPayload
        else {
          notes.skip(.badField)
          next = behind
          continue
        }
        // The first kinds are those of a device's own addresses; what is none of them is no address.
        let hasAddress = kind < PharosDatagramLayout.AddressKind.anonymous.rawValue
        entries.append(
          ReportEntry(
            advertOf: observer,
            received: received,
            age: .milliseconds(Int64(age)),
            address: (hasAddress ? bits : 0) | (fields >> 32 & 0xFF) << 48 | UInt64(kind) << 56,
            level: WireLimits.isLevel(level) ? level : ReportEntry.noLevel,
            pdu: pdu,
            channel: channel,
            payload: UInt32(truncatingIfNeeded: data &+ shift),
            length: UInt16(truncatingIfNeeded: behind &- data)
          )
        )
        next = behind
      }
    }
    notes.oldestAge = oldest
    return next
  }

  static func decodeRangedBeacon(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> RangedBeacon {
    let level = try decodeLevel(datagram, &body)
    let accuracy = try body.f32(datagram)
    let code = try body.u8(datagram)
    guard let kind = BeaconID.Kind(rawValue: code & ~PharosDatagramLayout.keyedByAddressBit) else {
      throw .badField
    }
    var beacon: BeaconID
    switch kind {
    case .proximity:
      let uuid = UUID128(high: try body.u64(datagram), low: try body.u64(datagram))
      beacon = .proximity(uuid, major: try body.u16(datagram), minor: try body.u16(datagram))
    case .eddystone:
      let namespace = EddystoneNamespace(high: try body.u64(datagram), low: try body.u16(datagram))
      beacon = .eddystone(namespace, instance: try body.u48(datagram))
    case .address:
      beacon = .address(DeviceAddress(bits: try body.u48(datagram), kind: .unknown))
    }
    if code & PharosDatagramLayout.keyedByAddressBit != 0 {
      beacon = beacon.keyed(by: DeviceAddress(bits: try body.u48(datagram), kind: .unknown))
    }
    // The first senders do not write it.
    let power = body.remaining > 0 ? try body.i8(datagram) : 0
    return RangedBeacon(
      beacon: beacon,
      rssi: level,
      accuracy: metres(accuracy),
      measuredPower: power
    )
  }

  static func decodeScanState(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> ScanState {
    guard let state = ScanState(rawValue: try body.u8(datagram)) else { throw .badField }
    return state
  }

  static func decodeAccessPoints(
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Range<UInt32> {
    guard body.remaining.isMultiple(of: PharosDatagramLayout.accessPointLength) else { throw .lengthMismatch }
    let start = UInt32(batch.accessPoints.count)
    while body.remaining > 0 {
      let point = AccessPoint(
        bssid: DeviceAddress(bits: try body.u48(datagram), kind: .unknown),
        rssi: try decodeLevel(datagram, &body),
        frequency: try body.u16(datagram),
        lastHeard: .milliseconds(Int64(try body.u32(datagram)))
      )
      _ = batch.append(accessPoints: CollectionOfOne(point))
    }
    return start..<UInt32(batch.accessPoints.count)
  }

  static func decodeHeartbeat(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> Heartbeat {
    let heard = try body.u32(datagram)
    let duty = try body.f32(datagram)
    // A negative share, or none, says that the sender does not know.
    guard !(duty > 1) else { throw .badField }
    return Heartbeat(
      advertsHeard: heard == PharosDatagramLayout.notCounted ? nil : heard,
      scanDuty: duty >= 0 ? duty : nil,
      dropped: try body.u32(datagram)
    )
  }

  private static func decodeLevel(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> RSSI? {
    WireLimits.level(Int(try body.i8(datagram)))
  }

  /// A length that may be missing: negative, or no number.
  private static func metres(_ value: Float) -> Meters? {
    value.isFinite && value >= 0 ? Meters(Double(value)) : nil
  }
}

/// The records about where an observer is and how it moves.
extension PharosFormat {
  static func decodeMotionSamples(
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Range<UInt32> {
    guard body.remaining.isMultiple(of: PharosDatagramLayout.motionSampleLength) else {
      throw .lengthMismatch
    }
    let start = UInt32(batch.motionSamples.count)
    while body.remaining > 0 {
      let code = try body.u8(datagram)
      let age = TimeSpan.microseconds(Int64(try body.u32(datagram)))
      let (x, y, z) = (try body.f32(datagram), try body.f32(datagram), try body.f32(datagram))
      // A sensor that this version does not know is passed over.
      guard let kind = MotionSample.Kind(rawValue: code) else { continue }
      guard x.isFinite, y.isFinite, z.isFinite else { throw .badField }
      let sample = MotionSample(kind: kind, age: age, x: x, y: y, z: z)
      _ = batch.append(motionSamples: CollectionOfOne(sample))
    }
    return start..<UInt32(batch.motionSamples.count)
  }

  static func decodeOutsideFix(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> OutsideFix {
    guard let source = OutsideFix.Source(rawValue: try body.u8(datagram)) else { throw .badField }
    let latitude = try body.f64(datagram)
    let longitude = try body.f64(datagram)
    let accuracy = try body.f32(datagram)
    let speed = try body.f32(datagram)
    guard var fix = WireLimits.fix(latitude, longitude, Double(accuracy), speed, source) else {
      throw .badField
    }
    guard body.remaining >= PharosDatagramLayout.fixPoseLength else { return fix }
    let altitude = try body.f32(datagram)
    fix.altitude = altitude.isFinite ? Meters(Double(altitude)) : nil
    fix.attitude = try decodeRotation(datagram, &body)
    guard body.remaining >= PharosDatagramLayout.fixDetailsLength else { return fix }
    fix.verticalAccuracy = Hundredths(bits: try body.u16(datagram)).value.map { Meters(Double($0)) }
    fix.course = WireLimits.course(Hundredths(bits: try body.u16(datagram)).value)
    fix.courseAccuracy = Hundredths(bits: try body.u16(datagram)).value
    fix.speedAccuracy = Hundredths(bits: try body.u16(datagram)).value
    fix.information = SourceInformation(rawValue: try body.u8(datagram)).intersection(.reported)
    return fix
  }

  static func decodeRelativePose(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> RelativePose {
    guard let quality = RelativePose.Quality(rawValue: try body.u8(datagram)) else { throw .badField }
    let session = try body.u32(datagram)
    let interval = TimeSpan.microseconds(Int64(try body.u32(datagram)))
    let (x, y, z) = (try body.f32(datagram), try body.f32(datagram), try body.f32(datagram))
    let rotation = try decodeRotation(datagram, &body)
    guard let pose = WireLimits.pose(session, interval, x, y, z, rotation, quality) else { throw .badField }
    return pose
  }

  static func decodeVisualStatus(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> VisualStatus {
    let state = PositioningState(rawValue: try body.u8(datagram))
    let reasons = PositioningReasons(rawValue: try body.u16(datagram))
    let scan = ScanStatus(rawValue: try body.u8(datagram))
    let background = ScanStatus(rawValue: try body.u8(datagram))
    guard let state, let scan, let background else { throw .badField }
    // Reasons that this version does not know are passed over.
    return VisualStatus(
      state: state,
      reasons: reasons.intersection(.reported),
      scan: scan,
      backgroundScan: background
    )
  }

  /// Reads a rotation; four zeros say that there is none.
  private static func decodeRotation(
    _ datagram: RawSpan,
    _ body: inout ByteCursor
  ) throws(DatagramRefusal) -> Rotation? {
    let rotation = Rotation(
      w: try body.f32(datagram),
      x: try body.f32(datagram),
      y: try body.f32(datagram),
      z: try body.f32(datagram)
    )
    if rotation == Rotation(w: 0, x: 0, y: 0, z: 0) { return nil }
    guard rotation.isUnit else { throw .badField }
    return rotation
  }
}

/// The position in a batch of the AD structures of a datagram's adverts.
///
/// They are copied in one go, from the first advert's to the end of the records, with the few bytes between them: that
/// costs less than a copy for each.
struct CopiedPayloads {
  /// The end of the records in the datagram.
  let end: Int
  /// The difference between an offset in the batch and one in the datagram.
  private var shift = 0
  private var isCopied = false

  /// Starts before the first copy of a datagram whose records end at an offset.
  init(end: Int) { self.end = end }

  /// Returns the difference between an offset in the batch and one in the datagram.
  ///
  /// The first call copies all bytes from `first` to the end of the records.
  mutating func shift(from first: Int, in datagram: RawSpan, _ batch: inout ReportBatch) -> Int {
    guard !isCopied else { return shift }
    let copy = batch.append(payload: datagram.extracting(first..<end))
    shift = Int(copy.lowerBound) - first
    isCopied = true
    return shift
  }
}
