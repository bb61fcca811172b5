import PharosReports

/// Finds the advertising reports in packets: phone logs, HCI captures, and what sniffers heard on the air.
///
/// Packets are to be handed in in the order of the file, since extended adverts come in several. Damaged
/// link-layer packets are dropped and counted unless asked for: their addresses look like new devices.
package struct AdvertExtractor: Sendable {
  /// The longest advertising data, joined from all parts.
  ///
  /// - Units: bytes.
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 2.3.4.9.
  static let longestData = 1_650

  /// Who sends data in parts: on HCI the address and the set.
  struct SetKey: Hashable, Sendable {
    var address: DeviceAddress?
    var advertisingSet: UInt8
  }

  /// Data of which more is to come.
  struct Chain: Sendable {
    var address: DeviceAddress?
    var data: [UInt8]
  }

  /// Whether packets with a wrong checksum give reports too, marked by `isCRCRight`.
  package let keepsDamaged: Bool
  /// What was found and what was passed over.
  package var counters: CaptureCounters {
    var counters = tally
    counters.abandonedChains += controllerChains.forgotten + airChains.forgotten
    return counters
  }

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
    var reports: [AdvertisingReport] = []
    forEachReport(in: packet) { reports.append($0) }
    return reports
  }

  /// Hands over each report that a packet brings or completes.
  package mutating func forEachReport(in packet: Packet, _ body: (AdvertisingReport) -> Void) {
    tally.packets += 1
    if let time = packet.time { latest = time }
    let view = ByteView(packet.bytes)
    switch packet.linkType {
    case .btsnoopH4, .bluetoothH4: typed(view, of: packet, body)
    case .bluetoothH4WithDirection:
      guard view.count > 4 else { return count(cut: packet) }
      typed(view.dropping(4), of: packet, body)
    case .btsnoopHCI:
      // Bit 0: from the controller; bit 1: a command or event, not data.
      guard packet.flags & 3 == 3 else { return tally.unrelated += 1 }
      event(view, of: packet, body)
    case .btsnoopMonitor:
      guard packet.flags & 0xFFFF == AdvertExtractor.monitorEvent else { return tally.unrelated += 1 }
      event(view, of: packet, body)
    case .linuxMonitor:
      guard view.count >= 4 else { return count(cut: packet) }
      guard view.u16(2, .big) == AdvertExtractor.monitorEvent else { return tally.unrelated += 1 }
      event(view.dropping(4), of: packet, body)
    case .bluetoothLE:
      linkLayer(AirPacket(view), of: packet, body)
    case .bluetoothLEWithHeader: withHeader(view, of: packet, body)
    case .nordicBLE: nordic(view, of: packet, body)
    case .ppi: perPacketInformation(view, of: packet, body)
    default: tally.unsupportedLinkType += 1
    }
  }

  /// The monitor channel's number for events.
  private static let monitorEvent = 3

  /// An HCI packet behind its H4 type byte.
  private mutating func typed(_ view: ByteView, of packet: Packet, _ body: (AdvertisingReport) -> Void) {
    guard view.count > 0 else { return count(cut: packet) }
    guard view[0] == 4 else { return tally.unrelated += 1 }
    event(view.dropping(1), of: packet, body)
  }

  /// Counts a packet that ends too early, by whose fault.
  mutating func count(cut packet: Packet) {
    if packet.isSnapped { tally.snapped += 1 } else { tally.malformed += 1 }
  }

  /// Counts a report and hands it over.
  mutating func give(_ report: AdvertisingReport, _ body: (AdvertisingReport) -> Void) {
    tally.reports += 1
    body(report)
  }
}
