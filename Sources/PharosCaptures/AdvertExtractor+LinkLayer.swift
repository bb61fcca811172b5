import PharosReports

/// Advertising PDUs as they were on the air.
///
/// - Shape: 0 access address u32, on the coded PHY one coding indicator, then the PDU: 0 type in the low 4
///   bits and TxAdd in bit 6, 1 length, 2 payload, and 3 bytes of checksum.
/// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.1 to 2.3.
extension AdvertExtractor {
  /// The access address of all advertising.
  private static let advertising: UInt32 = 0x8E89_BED6
  private static let extendedType: UInt8 = 7

  /// Reads a link-layer packet.
  mutating func linkLayer(_ air: AirPacket, of packet: Packet, _ body: (AdvertisingReport) -> Void) {
    guard air.bytes.count >= 4 else { return count(short: packet) }
    guard air.bytes.u32(0, .little) == AdvertExtractor.advertising else { return tally.unrelated += 1 }
    let start = air.phy == .coded ? 5 : 4
    guard air.bytes.count >= start + 2 else { return count(short: packet) }
    let header = air.bytes[start]
    let type = header & 15
    // Legacy lengths have 6 bits; the two above were reserved and may hold anything.
    let length = Int(air.bytes[start + 1] & (type >= AdvertExtractor.extendedType ? 0xFF : 0x3F))
    let end = start + 2 + length
    guard air.bytes.count >= end + 3 else { return count(short: packet) }
    let isRight = isCRCRight(air, from: start, to: end)
    if !isRight {
      tally.badCRC += 1
      guard keepsDamaged else { return }
    }
    let payload = ByteView(air.bytes.slice(start + 2, length))
    var report = AdvertisingReport(
      frame: packet.number,
      time: packet.time,
      address: nil,
      pdu: .advExtInd,
      hasRSSI: air.hasRSSI,
      level: air.level,
      data: payload.bytes,
      channel: air.channel,
      primaryPHY: air.phy,
      isCRCRight: isRight
    )
    let kind = header & 0x40 != 0 ? DeviceAddress.Kind.random : .public
    if type == AdvertExtractor.extendedType {
      extended(payload, addressKind: kind, role: air.role, &report, body)
    } else if let pdu = AdvertisingPDU(linkLayerType: type) {
      // An advertiser's address and up to 31 bytes of data, or in directed ones a second address.
      let isDirected = pdu == .advDirectInd
      guard isDirected ? length == 12 : (6...37).contains(length) else { return tally.malformed += 1 }
      report.pdu = pdu
      report.channel = AirPacket.legacyChannel(air.channel)
      report.address = DeviceAddress(bits: payload.address(0), kind: kind)
      report.data = isDirected ? payload.slice(6, 0) : payload.dropping(6).bytes
      give(report, body)
    } else if isRight {
      tally.unrelated += 1
    }
  }

  private func isCRCRight(_ air: AirPacket, from start: Int, to end: Int) -> Bool {
    switch air.verdict {
    case .passed: return true
    case .failed: return false
    case .unchecked:
      let written = UInt32(air.bytes.u16(end, .little)) | UInt32(air.bytes[end + 2]) << 16
      return LinkLayerCRC.checksum(air.bytes.slice(start, end - start)) == written
    }
  }

  private mutating func count(short packet: Packet) {
    if packet.isSnapped { tally.snapped += 1 } else { tally.cutShort += 1 }
  }
}

extension AdvertExtractor {
  /// Reads an extended advertising PDU and joins it to those of the same data before it.
  private mutating func extended(
    _ payload: ByteView,
    addressKind: DeviceAddress.Kind,
    role: AirPacket.Role?,
    _ report: inout AdvertisingReport,
    _ body: (AdvertisingReport) -> Void
  ) {
    guard let header = ExtendedHeader(payload) else { return tally.malformed += 1 }
    let time = report.time ?? latest
    report.data = header.data
    report.advertisingSet = header.advertisingSet
    report.transmitPower = header.transmitPower == 127 ? nil : header.transmitPower
    report.address = header.address.map { DeviceAddress(bits: $0, kind: addressKind) }
    switch role ?? guess(header, at: time) {
    case .primary: primary(header, report, at: time, body)
    case .auxAdv: auxiliary(header, .auxAdvInd, &report, at: time, body)
    case .auxScanRsp: auxiliary(header, .auxScanRsp, &report, at: time, body)
    case .auxChain: chained(header, &report, at: time, body)
    case .auxSync: tally.unrelated += 1
    }
  }

  /// The kind of a PDU whose framing does not tell it.
  ///
  /// On the primary channel there is never data; a chain's links never name the advertiser.
  private func guess(_ header: ExtendedHeader, at time: Timestamp) -> AirPacket.Role {
    if header.data.isEmpty, header.hasPointer || header.dataInfo == nil { return .primary }
    guard header.address == nil, let info = header.dataInfo else { return .auxAdv }
    return airChains.value(of: info, at: time) == nil ? .auxAdv : .auxChain
  }

  /// ADV_EXT_IND: a sighting where it names its advertiser, otherwise only a pointer to one.
  private mutating func primary(
    _ header: ExtendedHeader,
    _ report: AdvertisingReport,
    at time: Timestamp,
    _ body: (AdvertisingReport) -> Void
  ) {
    guard let address = report.address else { return tally.pointers += 1 }
    if let info = header.dataInfo, report.isCRCRight == true { advertisers.put(address, for: info, at: time) }
    give(report, body)
  }

  /// AUX_ADV_IND or AUX_SCAN_RSP: given at once, marked if more data follows; that then comes with the whole.
  private mutating func auxiliary(
    _ header: ExtendedHeader,
    _ pdu: AdvertisingPDU,
    _ report: inout AdvertisingReport,
    at time: Timestamp,
    _ body: (AdvertisingReport) -> Void
  ) {
    report.pdu = pdu
    if report.address == nil, let info = header.dataInfo {
      report.address = advertisers.value(of: info, at: time)
    }
    report.isComplete = !header.hasPointer
    if header.hasPointer, let info = header.dataInfo, report.isCRCRight == true {
      airChains.put(Chain(address: report.address, data: Array(header.data)), for: info, at: time)
    }
    give(report, body)
  }

  /// AUX_CHAIN_IND: the last one gives a report with all data from the first on.
  private mutating func chained(
    _ header: ExtendedHeader,
    _ report: inout AdvertisingReport,
    at time: Timestamp,
    _ body: (AdvertisingReport) -> Void
  ) {
    guard let info = header.dataInfo, report.isCRCRight == true else { return tally.pointers += 1 }
    guard var chain = airChains.take(info, at: time) else { return tally.pointers += 1 }
    guard chain.data.count + header.data.count <= AdvertExtractor.longestData else {
      return tally.abandonedChains += 1
    }
    chain.data.append(contentsOf: header.data)
    guard !header.hasPointer else { return airChains.put(chain, for: info, at: time) }
    report.pdu = .auxChainInd
    report.address = chain.address
    report.data = chain.data[...]
    give(report, body)
  }
}
