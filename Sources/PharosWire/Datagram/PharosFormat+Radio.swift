import PharosReports

/// The records about what a radio heard.
extension PharosFormat {
  /// Reads an advert, the one record that comes by the million: its length is checked once, and its fields are read
  /// from where they must stand.
  static func decodeAdvert(
    _ datagram: RawSpan,
    _ body: inout ByteCursor,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert {
    let fields = try body.take(PharosDatagramLayout.advertFieldsLength).lowerBound
    let data = try body.take(body.remaining)
    guard data.count <= WireLimits.longestPayload else { throw .badField }
    guard let pdu = Advert.PDU(rawValue: datagram.byte(at: fields + 1)) else { throw .badField }
    let channel = datagram.byte(at: fields + 2)
    guard channel == 0 || 37...39 ~= channel else { throw .badField }
    let bits = datagram.u48(at: fields + 5)
    let address: DeviceAddress?
    switch datagram.byte(at: fields + 4) {
    case PharosDatagramLayout.AddressKind.public.rawValue: address = DeviceAddress(bits: bits, kind: .public)
    case PharosDatagramLayout.AddressKind.random.rawValue: address = DeviceAddress(bits: bits, kind: .random)
    case PharosDatagramLayout.AddressKind.unknown.rawValue:
      address = DeviceAddress(bits: bits, kind: .unknown)
    case PharosDatagramLayout.AddressKind.anonymous.rawValue: address = nil
    default: throw .badField
    }
    return Advert(
      address: address,
      rssi: WireLimits.level(Int(Int8(bitPattern: datagram.byte(at: fields)))),
      pdu: pdu,
      channel: channel,
      advertisingSet: datagram.byte(at: fields + 3),
      payload: batch.append(payload: datagram.extracting(data))
    )
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
