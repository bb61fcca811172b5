import PharosReports

/// The records about what a radio heard.
extension PharosFormat {
  /// Reads adverts, the one record that comes by the million, up to the first record of another type.
  ///
  /// The length of each is checked once, and its fields are read from where they must stand.
  ///
  /// - Returns: where the first record of another type begins, or the end of the records.
  static func decodeAdverts(
    _ datagram: RawSpan,
    in records: Range<Int>,
    of observer: UInt32,
    _ received: Timestamp,
    _ payloads: inout CopiedPayloads,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Int {
    var next = records.lowerBound
    let end = records.upperBound
    let first = min(next + PharosDatagramLayout.leastAdvertLength, end)
    let shift = payloads.shift(from: first, in: datagram, &batch)
    let most = records.count / PharosDatagramLayout.leastAdvertLength
    try batch.append(atMost: most) { (entries: inout OutputSpan<ReportEntry>) throws(DatagramRefusal) in
      while next < end {
        let start = next + PharosDatagramLayout.recordHeadLength
        guard start <= end else { throw .tooShort }
        let code = datagram.knownByte(at: next)
        guard code == PharosDatagramLayout.RecordType.advert.rawValue else { return }
        let data = next + PharosDatagramLayout.leastAdvertLength
        let behind = start + Int(datagram.knownU16(at: next + 1))
        guard behind <= end else { throw .lengthMismatch }
        guard data <= behind else { throw .tooShort }
        // The age; then level, PDU, channel, set, kind of address and the first three bytes of the address; then the others.
        let age = datagram.knownU32(at: start)
        let fields = datagram.knownU64(at: start + 4)
        let bits = (fields & 0xFF_FFFF) << 24 | UInt64(datagram.knownU32(at: start + 11) & 0xFF_FFFF)
        let channel = UInt8(truncatingIfNeeded: fields >> 40)
        let kind = UInt8(truncatingIfNeeded: fields >> 24)
        let level = Int8(truncatingIfNeeded: fields >> 56)
        guard let pdu = Advert.PDU(rawValue: UInt8(truncatingIfNeeded: fields >> 48)),
          channel == 0 || 37...39 ~= channel,
          kind <= PharosDatagramLayout.AddressKind.anonymous.rawValue,
          behind - data <= WireLimits.longestPayload
        else { throw .badField }
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
    return RangedBeacon(beacon: beacon, rssi: level, accuracy: metres(accuracy))
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
