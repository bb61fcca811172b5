public import PharosModel

/// Builds Pharos datagrams, version 1, from the reports of batches.
///
/// Append reports until one does not fit, finish, send, append it again to the next datagram:
///
/// ```swift
/// if !encoder.append(report, from: batch) {
///   send(encoder.finish(uptime: uptime))
///   _ = encoder.append(report, from: batch)
/// }
/// ```
///
/// The buffer is kept from one datagram to the next.
public struct PharosDatagramEncoder: Sendable {
  /// The sender; a record that names another observer precedes that observer's reports.
  public let observer: ObserverID
  /// A number that increases with each start of the sender.
  public let bootID: UInt32
  /// The key that will sign, or nil for unsigned datagrams.
  ///
  /// With a key, the last ``PharosDatagramLayout/tagLength`` bytes of a datagram are zero; the holder of the key
  /// writes the tag over them.
  public let signingKeyID: UInt32?
  /// The number of the datagram that is being built.
  public private(set) var sequence: UInt32

  /// The datagram so far, without its tag; lengths and the like are filled in at the end.
  var bytes: [UInt8] = []
  private var headLength = 0
  /// The observer whose records are being written.
  private var current: ObserverID

  /// Starts the first datagram of a sender.
  ///
  /// - Parameters:
  ///   - observer: the sender.
  ///   - bootID: a number that increases with each start of the sender.
  ///   - sequence: the number of the first datagram.
  ///   - signingKeyID: the key that will sign, or nil.
  public init(observer: ObserverID, bootID: UInt32, sequence: UInt32 = 0, signingKeyID: UInt32? = nil) {
    self.observer = observer
    self.bootID = bootID
    self.sequence = sequence
    self.signingKeyID = signingKeyID
    current = observer
    bytes.reserveCapacity(PharosDatagramLayout.maximumLength)
    appendHead()
  }

  /// Indicates whether no record has been appended since the datagram was begun.
  public var isEmpty: Bool { bytes.count == headLength }

  /// The number of bytes of the datagram so far, its tag included.
  public var byteCount: Int { bytes.count + tagLength }

  /// Appends a report, or returns false and leaves the datagram unchanged if the report no longer fits.
  ///
  /// A report that does not even fit into an empty datagram (some 1,300 bytes of payload, 100 access points or 79
  /// motion samples) never will: split it. Heads of datagrams (`.transmission`) count as appended: every datagram has
  /// its own.
  ///
  /// - Parameters:
  ///   - report: the report to append.
  ///   - batch: the batch that holds it.
  ///   - sent: the time at which the datagram will be sent, by the clock of the report's times. The age written is the
  ///     time from the report's event until then. Without it, the encoder uses the time of receipt in its place, so
  ///     that a report keeps the age it has.
  /// - Returns: true if the report was appended.
  public mutating func append(
    _ report: Report,
    from batch: borrowing ReportBatch,
    sent: Timestamp? = nil
  ) -> Bool {
    if case .transmission = report.body { return true }
    let before = bytes.count
    let reporter = batch.observers[Int(report.observer)]
    if reporter != current { appendObserverRecord(reporter) }
    let age = (sent ?? report.received) - report.sendersTime
    appendRecord(report.body, from: batch, milliseconds: PharosDatagramEncoder.milliseconds(age))
    guard byteCount <= PharosDatagramLayout.maximumLength else {
      bytes.removeSubrange(before...)
      return false
    }
    current = reporter
    return true
  }

  /// Ends the datagram and begins the next one, whose number is one higher.
  ///
  /// - Parameters:
  ///   - uptime: the time for which the sender has been up.
  ///   - datagram: replaced by the finished datagram; its storage is reused.
  public mutating func finish(uptime: TimeSpan, into datagram: inout [UInt8]) {
    for _ in 0..<tagLength { bytes.append(0) }
    bytes.put(UInt64(bytes.count), bytes: 2, at: PharosDatagramLayout.lengthOffset)
    bytes.put(UInt64(sequence), bytes: 4, at: PharosDatagramLayout.sequenceOffset)
    let milliseconds = UInt64(max(0, uptime.nanoseconds)) / 1_000_000
    bytes.put(milliseconds, bytes: 8, at: PharosDatagramLayout.uptimeOffset)
    datagram.removeAll(keepingCapacity: true)
    datagram.append(contentsOf: bytes)
    sequence &+= 1
    current = observer
    bytes.removeSubrange(headLength...)
  }

  /// Ends the datagram, begins the next one, and returns the finished one.
  public mutating func finish(uptime: TimeSpan) -> [UInt8] {
    var datagram: [UInt8] = []
    finish(uptime: uptime, into: &datagram)
    return datagram
  }

  private var tagLength: Int { signingKeyID == nil ? 0 : PharosDatagramLayout.tagLength }

  private mutating func appendHead() {
    bytes.append(u32: PharosDatagramLayout.magic)
    bytes.append(PharosDatagramLayout.version)
    bytes.append(signingKeyID == nil ? 0 : PharosDatagramLayout.signedFlag)
    bytes.append(u16: 0)
    bytes.append(u32: signingKeyID ?? 0)
    bytes.append(u32: bootID)
    bytes.append(u32: sequence)
    bytes.append(u64: 0)
    bytes.append(PharosDatagramEncoder.kind(of: observer).rawValue)
    bytes.append(0)
    appendIdentity(observer)
    bytes[PharosDatagramLayout.observerOffset + 1] = UInt8(
      bytes.count - PharosDatagramLayout.observerOffset - 2
    )
    headLength = bytes.count
  }
}

/// The encoding of each record: the mirror of the decoder.
extension PharosDatagramEncoder {
  mutating func appendObserverRecord(_ identity: ObserverID) {
    appendRecord(.observer) { encoder in
      guard identity != encoder.observer else { return }
      encoder.bytes.append(PharosDatagramEncoder.kind(of: identity).rawValue)
      encoder.appendIdentity(identity)
    }
  }

  mutating func appendRecord(_ body: ReportBody, from batch: borrowing ReportBatch, milliseconds: UInt32) {
    guard let type = PharosDatagramEncoder.type(of: body) else { return }
    let start = openRecord(type)
    bytes.append(u32: milliseconds)
    switch body {
    case .advert(let advert): append(advert, from: batch)
    case .rangedBeacon(let beacon): append(beacon)
    case .scanState(let state): bytes.append(state.rawValue)
    case .wifiScan(let range):
      for point in batch.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)] { append(point) }
    case .motion(let range):
      for sample in batch.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)] { append(sample) }
    case .outsideFix(let fix): append(fix)
    case .relativePose(let pose): append(pose)
    case .visualStatus(let status): append(status)
    case .heartbeat(let heartbeat): append(heartbeat)
    case .displayOn, .transmission: break
    }
    closeRecord(start)
  }

  mutating func appendIdentity(_ identity: ObserverID) {
    switch identity {
    case .eui48(let bits): bytes.append(bits, bytes: 6)
    case .eui64(let bits): bytes.append(u64: bits)
    case .uuid(let uuid):
      bytes.append(u64: uuid.high)
      bytes.append(u64: uuid.low)
    case .name(let name): bytes.append(contentsOf: name.utf8.prefix(ObserverID.maximumName))
    }
  }

  static func kind(of identity: ObserverID) -> PharosDatagramLayout.ObserverKind {
    switch identity {
    case .eui48: .eui48
    case .eui64: .eui64
    case .uuid: .uuid
    case .name: .name
    }
  }

  /// An age in whole milliseconds, rounded, held between none at all and some 49 days.
  static func milliseconds(_ age: TimeSpan) -> UInt32 {
    let milliseconds = max(0, age.nanoseconds / 1_000_000 + (age.nanoseconds % 1_000_000 >= 500_000 ? 1 : 0))
    return UInt32(clamping: milliseconds)
  }

  private static func type(of body: ReportBody) -> PharosDatagramLayout.RecordType? {
    switch body {
    case .advert: .advert
    case .rangedBeacon: .rangedBeacon
    case .scanState: .scanState
    case .wifiScan: .wifiScan
    case .motion: .motion
    case .outsideFix: .outsideFix
    case .relativePose: .relativePose
    case .visualStatus: .visualStatus
    case .displayOn: .displayOn
    case .heartbeat: .heartbeat
    case .transmission: nil
    }
  }

  private mutating func appendRecord(
    _ type: PharosDatagramLayout.RecordType,
    _ write: (inout PharosDatagramEncoder) -> Void
  ) {
    let start = openRecord(type)
    write(&self)
    closeRecord(start)
  }

  private mutating func openRecord(_ type: PharosDatagramLayout.RecordType) -> Int {
    bytes.append(type.rawValue)
    bytes.append(u16: 0)
    return bytes.count
  }

  /// Fills in the length; a record that is too long for it will not fit the datagram either and is taken
  /// back.
  private mutating func closeRecord(_ start: Int) {
    bytes.put(UInt64(min(bytes.count - start, Int(UInt16.max))), bytes: 2, at: start - 2)
  }

  private mutating func append(_ advert: Advert, from batch: borrowing ReportBatch) {
    appendLevel(advert.rssi)
    bytes.append(advert.pdu.rawValue)
    bytes.append(37...39 ~= advert.channel ? advert.channel : 0)
    bytes.append(advert.advertisingSet)
    let kind: PharosDatagramLayout.AddressKind =
      switch advert.address?.kind {
      case .public: .public
      case .random: .random
      case .unknown: .unknown
      case nil: .anonymous
      }
    bytes.append(kind.rawValue)
    bytes.append(advert.address?.bits ?? 0, bytes: 6)
    bytes.append(
      contentsOf: batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
    )
  }

  private mutating func append(_ ranged: RangedBeacon) {
    appendLevel(ranged.rssi)
    bytes.append(f32: ranged.accuracy.map { Float($0.value) } ?? -1)
    let beacon = ranged.beacon
    let keyed = beacon.kind != .address && beacon.address != nil
    bytes.append(beacon.kind.rawValue | (keyed ? PharosDatagramLayout.keyedByAddressBit : 0))
    switch beacon.kind {
    case .proximity:
      bytes.append(u64: beacon.uuid?.high ?? 0)
      bytes.append(u64: beacon.uuid?.low ?? 0)
      bytes.append(u16: beacon.major ?? 0)
      bytes.append(u16: beacon.minor ?? 0)
    case .eddystone:
      bytes.append(u64: beacon.namespace?.high ?? 0)
      bytes.append(u16: beacon.namespace?.low ?? 0)
      bytes.append(beacon.instance ?? 0, bytes: 6)
    case .address:
      bytes.append(beacon.address?.bits ?? 0, bytes: 6)
    }
    if keyed { bytes.append(beacon.address?.bits ?? 0, bytes: 6) }
    if let power = ranged.measuredPower { bytes.append(UInt8(bitPattern: power)) }
  }

  private mutating func append(_ point: AccessPoint) {
    bytes.append(point.bssid.bits, bytes: 6)
    appendLevel(point.rssi)
    bytes.append(u16: point.frequency)
    bytes.append(u32: PharosDatagramEncoder.milliseconds(point.lastHeard))
  }

  private mutating func append(_ sample: MotionSample) {
    // A sensor that gives no number gave no sample; a decoder would refuse the whole datagram for it.
    guard sample.x.isFinite, sample.y.isFinite, sample.z.isFinite else { return }
    bytes.append(sample.kind.rawValue)
    bytes.append(u32: UInt32(clamping: sample.age.nanoseconds / 1_000))
    bytes.append(f32: sample.x)
    bytes.append(f32: sample.y)
    bytes.append(f32: sample.z)
  }

  private mutating func append(_ fix: OutsideFix) {
    bytes.append(fix.source.rawValue)
    bytes.append(f64: fix.latitude)
    bytes.append(f64: fix.longitude)
    bytes.append(f32: Float(fix.horizontalAccuracy.value))
    bytes.append(f32: fix.speed ?? -1)
    let details = [
      fix.verticalAccuracy.map { Float($0.value) }, fix.course, fix.courseAccuracy, fix.speedAccuracy,
    ]
    let hasDetails = !fix.information.isEmpty || details.contains { $0 != nil }
    guard fix.altitude != nil || fix.attitude != nil || hasDetails else { return }
    bytes.append(f32: fix.altitude.map { Float($0.value) } ?? .nan)
    append(fix.attitude)
    guard hasDetails else { return }
    for detail in details {
      var hundredths = Hundredths()
      hundredths.value = detail
      bytes.append(u16: hundredths.bits)
    }
    bytes.append(fix.information.rawValue)
  }

  private mutating func append(_ rotation: Rotation?) {
    let rotation = rotation ?? Rotation(w: 0, x: 0, y: 0, z: 0)
    bytes.append(f32: rotation.w)
    bytes.append(f32: rotation.x)
    bytes.append(f32: rotation.y)
    bytes.append(f32: rotation.z)
  }

  private mutating func append(_ pose: RelativePose) {
    bytes.append(pose.quality.rawValue)
    bytes.append(u32: pose.session)
    bytes.append(u32: UInt32(clamping: pose.interval.nanoseconds / 1_000))
    bytes.append(f32: pose.x)
    bytes.append(f32: pose.y)
    bytes.append(f32: pose.z)
    append(pose.rotation)
  }

  private mutating func append(_ status: VisualStatus) {
    bytes.append(status.state.rawValue)
    bytes.append(u16: status.reasons.rawValue)
    bytes.append(status.scan.rawValue)
    bytes.append(status.backgroundScan.rawValue)
  }

  private mutating func append(_ heartbeat: Heartbeat) {
    bytes.append(u32: heartbeat.advertsHeard ?? PharosDatagramLayout.notCounted)
    bytes.append(f32: heartbeat.scanDuty ?? -1)
    bytes.append(u32: heartbeat.dropped)
  }

  private mutating func appendLevel(_ level: RSSI?) {
    bytes.append(UInt8(bitPattern: level?.dBm ?? PharosDatagramLayout.noLevel))
  }
}

extension Report {
  /// The time of the report's event, as far as the report itself states it: the receive time less the age, or the
  /// sender's time.
  package var sendersTime: Timestamp {
    switch timing {
    case .received: received
    case .age(let age): received - age
    case .sent(let time): time
    }
  }
}
