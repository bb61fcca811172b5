import PharosReports

/// Advertising reports as a controller tells them to its host.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13. It writes the fields of
///   several reports as arrays per field; every controller and tool puts report behind report, as read here.
extension AdvertExtractor {
  /// The first octets of an LE Meta event.
  ///
  /// - Shape: 0 event code, 1 parameter length, 2 subevent, 3 number of reports.
  private enum Event {
    static let leMeta: UInt8 = 0x3E
    static let advertisingReport: UInt8 = 0x02
    static let extendedAdvertisingReport: UInt8 = 0x0D
  }

  /// Reads an HCI event.
  mutating func event(_ view: ByteView, of packet: Packet, _ body: (AdvertisingReport) -> Void) {
    guard view.count >= 2 else { return count(cut: packet) }
    guard view[0] == Event.leMeta else { return tally.unrelated += 1 }
    guard view.count >= 3 else { return count(cut: packet) }
    let subevent = view[2]
    guard subevent == Event.advertisingReport || subevent == Event.extendedAdvertisingReport else {
      return tally.unrelated += 1
    }
    // A report has to lie within what the event says it holds and within what was captured.
    let end = min(2 + Int(view[1]), view.count)
    guard end >= 4 else { return count(cut: packet) }
    let parameters = ByteView(view.slice(0, end))
    var at = 4
    for index in 0..<Int(view[3]) {
      let length =
        subevent == Event.advertisingReport
        ? legacyReport(parameters, at: at, index, of: packet, body)
        : extendedReport(parameters, at: at, index, of: packet, body)
      // Where a report does not fit, nothing is known of where the next would begin.
      guard let length else { return count(cut: packet) }
      at += length
    }
  }

  /// One report of subevent 0x02, giving its length or nil if it does not fit.
  ///
  /// - Shape: 0 event type, 1 address type, 2 address reversed, 8 data length, 9 data, then RSSI i8.
  private mutating func legacyReport(
    _ view: ByteView,
    at start: Int,
    _ index: Int,
    of packet: Packet,
    _ body: (AdvertisingReport) -> Void
  ) -> Int? {
    guard view.count >= start + 10 else { return nil }
    let length = Int(view[start + 8])
    guard view.count >= start + 10 + length else { return nil }
    guard let pdu = AdvertisingPDU(hciEventType: view[start]) else {
      tally.malformed += 1
      return 10 + length
    }
    give(
      AdvertisingReport(
        frame: packet.number,
        index: index,
        time: packet.time,
        address: AdvertExtractor.address(view.address(start + 2), type: view[start + 1]),
        pdu: pdu,
        level: Int8(bitPattern: view[start + 9 + length]),
        data: view.slice(start + 9, length),
        primaryPHY: .oneMegabit
      ),
      body
    )
    return 10 + length
  }

  /// One report of subevent 0x0D, giving its length or nil if it does not fit.
  ///
  /// - Shape: 0 event type u16, 2 address type, 3 address reversed, 9 primary PHY, 10 secondary PHY, 11 SID,
  ///   12 TX power i8, 13 RSSI i8, 14 periodic interval u16, 16 direct address type and address, 23 data
  ///   length, 24 data.
  private mutating func extendedReport(
    _ view: ByteView,
    at start: Int,
    _ index: Int,
    of packet: Packet,
    _ body: (AdvertisingReport) -> Void
  ) -> Int? {
    guard view.count >= start + 24 else { return nil }
    let length = Int(view[start + 23])
    guard view.count >= start + 24 + length else { return nil }
    let type = view.u16(start, .little)
    let report = AdvertisingReport(
      frame: packet.number,
      index: index,
      time: packet.time,
      address: AdvertExtractor.address(view.address(start + 3), type: view[start + 2]),
      pdu: AdvertisingPDU(hciExtendedEventType: type),
      level: Int8(bitPattern: view[start + 13]),
      data: view.slice(start + 24, length),
      advertisingSet: view[start + 11],
      primaryPHY: AdvertisingReport.PHY(rawValue: view[start + 9]),
      transmitPower: Int8(bitPattern: view[start + 12])
    )
    join(report, status: type >> 5 & 3, body)
    return 24 + length
  }

  /// Joins data that comes in parts: status 0 is whole or the last part, 1 more to come, 2 cut off for good.
  ///
  /// As on the air, the first part is given at once and marked, since the others may never come; the last one
  /// brings the whole.
  private mutating func join(
    _ report: AdvertisingReport,
    status: UInt16,
    _ body: (AdvertisingReport) -> Void
  ) {
    let key = SetKey(address: report.address, advertisingSet: report.advertisingSet)
    let time = report.time ?? latest
    let isLegacy = report.pdu != .advExtInd && report.pdu != .auxScanRsp
    // Legacy reports are never in parts, and one of another set in between does not end a chain.
    guard !isLegacy else { return give(report, body) }
    let earlier = controllerChains.take(key, at: time)
    var whole = report
    if let earlier {
      guard earlier.data.count + report.data.count <= AdvertExtractor.longestData else {
        tally.abandonedChains += 1
        return
      }
      whole.data = (earlier.data + report.data)[...]
    }
    if status == 1 {
      let chain = Chain(address: report.address, data: Array(whole.data))
      controllerChains.put(chain, for: key, at: time)
      guard earlier == nil else { return }
      whole.isComplete = false
      give(whole, body)
    } else {
      whole.isComplete = status == 0
      give(whole, body)
    }
  }

  /// An address as HCI types it: 0 public, 1 random, 2 and 3 the same resolved from a private one, 0xFF none.
  private static func address(_ bits: UInt64, type: UInt8) -> DeviceAddress? {
    switch type {
    case 0xFF: nil
    case 0, 2: DeviceAddress(bits: bits, kind: .public)
    case 1, 3: DeviceAddress(bits: bits, kind: .random)
    default: DeviceAddress(bits: bits, kind: .unknown)
    }
  }
}
