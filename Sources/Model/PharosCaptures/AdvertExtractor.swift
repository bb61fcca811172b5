import PharosModel

/// Finds the advertising reports in packets: phone logs, HCI captures, and the captures of sniffers.
///
/// The caller passes packets in the order of the file, since an extended advert spans several. Damaged link-layer
/// packets are dropped and counted unless ``keepsDamaged`` is set: their addresses look like new devices.
package struct AdvertExtractor: Sendable {
  /// The longest advertising data, joined from all parts.
  ///
  /// - Units: bytes.
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.4.9.
  static let maximumData = 1_650

  /// The key of a chain that a controller reports in parts: the address and the advertising set.
  struct SetKey: Hashable, Sendable {
    var address: DeviceAddress?
    var advertisingSet: UInt8
  }

  /// Data of which more is to come.
  struct Chain: Sendable {
    var address: DeviceAddress?
    var data: [UInt8]
  }

  /// Indicates whether packets with a wrong checksum produce reports too, marked by `isCRCRight`.
  package let keepsDamaged: Bool
  /// The counts of reports found and of packets skipped.
  package var counters: CaptureCounters {
    var counters = tally
    if tally.unrelated > 0 { counters.passedOver[.otherBluetooth] = tally.unrelated }
    counters.abandonedChains += controllerChains.forgotten + airChains.forgotten
    return counters
  }

  /// The reports that the present packet has brought so far.
  private var found: [AdvertisingReport] = []
  var tally = CaptureCounters()
  var latest = Timestamp(nanoseconds: 0)
  /// Data that controllers deliver in parts, one behind the other.
  var controllerChains = RecentStore<SetKey, Chain>(limit: 64, patience: .seconds(5))
  /// Data in chains on the air, by advertising data information; a pointer reaches 2.5 s ahead at most.
  var airChains = RecentStore<UInt16, Chain>(limit: 64, patience: .seconds(5))
  /// Advertisers who name themselves on the primary channel only, by advertising data information.
  var advertisers = RecentStore<UInt16, DeviceAddress>(limit: 256, patience: .seconds(5))

  /// Makes an extractor that has seen nothing.
  package init(keepsDamaged: Bool = false) { self.keepsDamaged = keepsDamaged }

  /// The reports that a packet brings or completes, for tools; the loop of a program takes
  /// ``forEachReport(in:_:)``.
  package mutating func reports(in packet: Packet) -> [AdvertisingReport] {
    defer { found = [] }
    read(packet)
    return found
  }

  /// Hands over each report that a packet brings or completes.
  package mutating func forEachReport(in packet: Packet, _ body: (AdvertisingReport) -> Void) {
    read(packet)
    for report in found { body(report) }
    found.removeAll(keepingCapacity: true)
  }

  private mutating func read(_ packet: Packet) {
    tally.packets += 1
    if let time = packet.time { latest = time }
    let view = ByteView(packet.bytes)
    switch packet.linkType {
    case .btsnoopH4, .bluetoothH4: typed(view, of: packet)
    case .bluetoothH4WithDirection:
      guard view.count > 4 else { return count(cut: packet) }
      typed(view.dropping(4), of: packet)
    case .btsnoopHCI:
      // Bit 0: from the controller; bit 1: a command or event, not data.
      guard packet.flags & 3 == 3 else { return tally.unrelated += 1 }
      event(view, of: packet)
    case .btsnoopMonitor:
      guard packet.flags & 0xFFFF == AdvertExtractor.monitorEvent else { return tally.unrelated += 1 }
      event(view, of: packet)
    case .linuxMonitor:
      guard view.count >= 4 else { return count(cut: packet) }
      guard view.u16(2, .big) == AdvertExtractor.monitorEvent else { return tally.unrelated += 1 }
      event(view.dropping(4), of: packet)
    case .bluetoothLE:
      linkLayer(AirPacket(view), of: packet)
    case .bluetoothLEWithHeader: withHeader(view, of: packet)
    case .nordicBLE: nordic(view, of: packet)
    case .ppi: perPacketInformation(view, of: packet)
    default: pass(packet.linkType)
    }
  }

  private mutating func pass(_ linkType: LinkType) {
    tally.unsupportedLinkType += 1
    tally.passedOver[.linkType(linkType), default: 0] += 1
  }

  /// The monitor channel's number for events.
  private static let monitorEvent = 3

  /// An HCI packet behind its H4 type byte.
  private mutating func typed(_ view: ByteView, of packet: Packet) {
    guard view.count > 0 else { return count(cut: packet) }
    guard view[0] == 4 else { return tally.unrelated += 1 }
    event(view.dropping(1), of: packet)
  }

  /// Counts a packet that ends too early: cut by the capture, or malformed.
  mutating func count(cut packet: Packet) {
    if packet.isSnapped { tally.snapped += 1 } else { tally.malformed += 1 }
  }

  /// Counts a report and keeps it for the caller.
  mutating func give(_ report: AdvertisingReport) {
    tally.reports += 1
    found.append(report)
  }
}

/// Advertising reports as a controller sends them to its host.
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
  mutating func event(_ view: ByteView, of packet: Packet) {
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
        ? legacyReport(parameters, at: at, index, of: packet)
        : extendedReport(parameters, at: at, index, of: packet)
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
    of packet: Packet
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
      )
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
    of packet: Packet
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
    join(report, status: type >> 5 & 3)
    return 24 + length
  }

  /// Joins data that comes in parts: status 0 is whole or the last part, 1 more to come, 2 cut off for good.
  ///
  /// As on the air, the first part is given at once and marked, since the others may never come; the last one
  /// brings the whole.
  private mutating func join(_ report: AdvertisingReport, status: UInt16) {
    let key = SetKey(address: report.address, advertisingSet: report.advertisingSet)
    let time = report.time ?? latest
    let isLegacy = report.pdu != .advExtInd && report.pdu != .auxScanRsp
    // Legacy reports are never in parts, and one of another set in between does not end a chain.
    guard !isLegacy else { return give(report) }
    let earlier = controllerChains.remove(key, at: time)
    var whole = report
    if let earlier {
      guard earlier.data.count + report.data.count <= AdvertExtractor.maximumData else {
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
      give(whole)
    } else {
      whole.isComplete = status == 0
      give(whole)
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

/// The headers that sniffers put in front of packets.
extension AdvertExtractor {
  /// LE_LL_WITH_PHDR.
  ///
  /// - Shape: 0 RF channel, 1 signal i8, 2 noise i8, 3 access-address errors, 4 reference access address u32,
  ///   8 flags u16 little-endian: 0x0001 dewhitened, 0x0002 signal valid, 0x0380 PDU type, 0x0400 CRC
  ///   checked, 0x0800 CRC right, 0x3000 kind of an auxiliary PDU, 0xC000 PHY; 10 the packet.
  mutating func withHeader(_ view: ByteView, of packet: Packet) {
    guard view.count >= 10 else { return count(cut: packet) }
    let flags = view.u16(8, .little)
    let type = flags >> 7 & 7
    guard type <= 1 else { return tally.unrelated += 1 }
    var air = AirPacket(view.dropping(10))
    air.hasRSSI = true
    air.level = flags & 0x0002 != 0 ? Int8(bitPattern: view[1]) : nil
    air.channel = AirPacket.channelIndex(physical: view[0])
    // Ubertooth does not say "checked": only where a tool does is its word taken. Nor do all tools say
    // "dewhitened"; of bytes that are still whitened the checksum is wrong.
    if flags & 0x0401 == 0x0401 { air.verdict = flags & 0x0800 != 0 ? .passed : .failed }
    air.phy = AdvertisingReport.PHY(rawValue: UInt8(flags >> 14) + 1)
    if type == 1 { air.role = AirPacket.Role(auxiliaryBits: flags >> 12) }
    linkLayer(air, of: packet)
  }

  /// Nordic's sniffer, versions 1 to 3; version 0, which begins with `beef`, is counted as unsupported.
  ///
  /// - Shape: version 1: 0 board, 1 header length, 2 payload length, 3 version; versions 2 and 3: 1 payload
  ///   length u16; then 4 counter u16, 6 packet type, 7 inner length, 8 flags, 9 channel index, 10 RSSI
  ///   without its sign, 11 event counter u16, 13 time u32, and the packet at 7 + inner length.
  mutating func nordic(_ view: ByteView, of packet: Packet) {
    guard view.count >= 7 else { return count(cut: packet) }
    let version = view.u16(0, .big) == 0xBEEF ? 0 : view[3]
    // Types: 6 a packet (in version 3: of a connection), 2 in version 3 an advertising packet.
    let wanted: UInt8
    switch version {
    case 1, 2: wanted = 6
    case 3: wanted = 2
    default: return pass(packet.linkType)
    }
    guard view[6] == wanted else { return tally.unrelated += 1 }
    guard view.count >= 11 else { return count(cut: packet) }
    let inner = Int(view[7])
    guard inner >= 4, view.count >= 7 + inner else { return count(cut: packet) }
    let flags = view[8]
    var air = AirPacket(view.dropping(7 + inner))
    air.hasRSSI = true
    air.level = Int8(clamping: -Int(view[10]))
    air.channel = view[9] < 40 ? view[9] : nil
    air.verdict = flags & 1 != 0 ? .passed : .failed
    air.phy = .oneMegabit
    if version == 3 {
      air.phy = AdvertisingReport.PHY(rawValue: (flags >> 4 & 7) + 1)
      if let channel = air.channel {
        air.role = channel < 37 ? AirPacket.Role(auxiliaryBits: UInt16(flags >> 1)) : .primary
      }
    }
    linkLayer(air, of: packet)
  }

  /// Per-packet information; in Ubertooth's captures around the link layer.
  ///
  /// - Shape: 0 version, 1 flags, 2 header length u16, 4 link type u32, all little-endian; the packet behind
  ///   the header.
  mutating func perPacketInformation(_ view: ByteView, of packet: Packet) {
    guard view.count >= 8 else { return count(cut: packet) }
    let inner = view.u32(4, .little)
    // 147 is the first of the numbers free for own use; with it Ubertooth means the LE link layer.
    guard inner == 147 || inner == 251 else { return pass(LinkType(pcap: UInt16(truncatingIfNeeded: inner))) }
    let length = Int(view.u16(2, .little))
    guard length >= 8, view.count >= length else { return count(cut: packet) }
    linkLayer(AirPacket(view.dropping(length)), of: packet)
  }
}

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
  mutating func linkLayer(_ air: AirPacket, of packet: Packet) {
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
      extended(payload, addressKind: kind, role: air.role, &report)
    } else if let pdu = AdvertisingPDU(linkLayerType: type) {
      // An advertiser's address and up to 31 bytes of data, or in directed ones a second address.
      let isDirected = pdu == .advDirectInd
      guard isDirected ? length == 12 : (6...37).contains(length) else { return tally.malformed += 1 }
      report.pdu = pdu
      report.channel = AirPacket.legacyChannel(air.channel)
      report.address = DeviceAddress(bits: payload.address(0), kind: kind)
      report.data = isDirected ? payload.slice(6, 0) : payload.dropping(6).bytes
      give(report)
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
    _ report: inout AdvertisingReport
  ) {
    guard let header = ExtendedHeader(payload) else { return tally.malformed += 1 }
    let time = report.time ?? latest
    report.data = header.data
    report.advertisingSet = header.advertisingSet
    report.transmitPower = header.transmitPower == 127 ? nil : header.transmitPower
    report.address = header.address.map { DeviceAddress(bits: $0, kind: addressKind) }
    switch role ?? guess(header, at: time) {
    case .primary: primary(header, report, at: time)
    case .auxAdv: auxiliary(header, .auxAdvInd, &report, at: time)
    case .auxScanRsp: auxiliary(header, .auxScanRsp, &report, at: time)
    case .auxChain: chained(header, &report, at: time)
    case .auxSync: tally.unrelated += 1
    }
  }

  /// Guesses the kind of a PDU whose framing does not record it.
  ///
  /// On the primary channel there is never data; a chain's links never name the advertiser.
  private func guess(_ header: ExtendedHeader, at time: Timestamp) -> AirPacket.Role {
    if header.data.isEmpty, header.hasPointer || header.dataInfo == nil { return .primary }
    guard header.address == nil, let info = header.dataInfo else { return .auxAdv }
    return airChains.value(of: info, at: time) == nil ? .auxAdv : .auxChain
  }

  /// ADV_EXT_IND: a sighting where it names its advertiser, otherwise only a pointer to one.
  private mutating func primary(_ header: ExtendedHeader, _ report: AdvertisingReport, at time: Timestamp) {
    guard let address = report.address else { return tally.pointers += 1 }
    if let info = header.dataInfo, report.isCRCRight == true { advertisers.put(address, for: info, at: time) }
    give(report)
  }

  /// AUX_ADV_IND or AUX_SCAN_RSP: given at once, marked if more data follows; that then comes with the whole.
  private mutating func auxiliary(
    _ header: ExtendedHeader,
    _ pdu: AdvertisingPDU,
    _ report: inout AdvertisingReport,
    at time: Timestamp
  ) {
    report.pdu = pdu
    if report.address == nil, let info = header.dataInfo {
      report.address = advertisers.value(of: info, at: time)
    }
    report.isComplete = !header.hasPointer
    if header.hasPointer, let info = header.dataInfo, report.isCRCRight == true {
      airChains.put(Chain(address: report.address, data: Array(header.data)), for: info, at: time)
    }
    give(report)
  }

  /// AUX_CHAIN_IND: the last one gives a report with all data from the first on.
  private mutating func chained(
    _ header: ExtendedHeader,
    _ report: inout AdvertisingReport,
    at time: Timestamp
  ) {
    guard let info = header.dataInfo, report.isCRCRight == true else { return tally.pointers += 1 }
    guard var chain = airChains.remove(info, at: time) else { return tally.pointers += 1 }
    guard chain.data.count + header.data.count <= AdvertExtractor.maximumData else {
      return tally.abandonedChains += 1
    }
    chain.data.append(contentsOf: header.data)
    guard !header.hasPointer else { return airChains.put(chain, for: info, at: time) }
    report.pdu = .auxChainInd
    report.address = chain.address
    report.data = chain.data[...]
    give(report)
  }
}

/// A few values by key, dropped when they are too old or when too many others arrived.
///
/// It holds the state that joins packets: the advertiser of an extended advert, and the data of its chain so far. A
/// lookup searches from the newest end, which nearly always holds the match.
struct RecentStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    var key: Key
    var value: Value
    var time: Timestamp
  }

  private let limit: Int
  private let patience: TimeSpan
  private var entries: [Entry] = []
  /// The number of values dropped because they were replaced, evicted or too old.
  private(set) var forgotten = 0

  init(limit: Int, patience: TimeSpan) {
    self.limit = limit
    self.patience = patience
  }

  /// The value of a key, if it is young enough.
  func value(of key: Key, at time: Timestamp) -> Value? {
    guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
    return time - entries[index].time <= patience ? entries[index].value : nil
  }

  /// Removes and gives the value of a key, if it is young enough.
  mutating func remove(_ key: Key, at time: Timestamp) -> Value? {
    guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
    let entry = entries.remove(at: index)
    guard time - entry.time <= patience else {
      forgotten += 1
      return nil
    }
    return entry.value
  }

  /// Stores a value; an earlier one of the same key is forgotten.
  mutating func put(_ value: Value, for key: Key, at time: Timestamp) {
    if let index = entries.lastIndex(where: { $0.key == key }) {
      entries.remove(at: index)
      forgotten += 1
    } else if entries.count == limit {
      entries.removeFirst()
      forgotten += 1
    }
    entries.append(Entry(key: key, value: value, time: time))
  }
}
