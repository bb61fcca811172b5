import PharosReports

/// How each record is written: the mirror of the decoder.
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
    case .name(let name): bytes.append(contentsOf: name.utf8.prefix(ObserverID.longestName))
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
