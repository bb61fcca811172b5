import PharosCaptures
import PharosReports
import PharosWire

/// Turns the packets of a capture into the datagrams that a gateway sent, or would have sent.
///
/// UDP datagrams come out as they were captured. Adverts of Bluetooth captures are put into Pharos datagrams of the
/// given observer, the reports of one packet together.
struct ReplaySource {
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor()
  private var encoder: PharosDatagramEncoder
  /// The time of the capture's first packet that brought something.
  private(set) var first: Timestamp?
  /// The latest time so far; packets never go back behind it.
  private(set) var latest: Timestamp?

  /// A number that was never in use before: senders count their starts from 1.
  private static let bootID: UInt32 = 1

  init(observer: ObserverID) {
    encoder = PharosDatagramEncoder(observer: observer, bootID: ReplaySource.bootID)
  }

  /// Hands over each datagram of a packet with the time since the first one.
  mutating func forEachDatagram(
    in packet: Packet,
    _ body: (TimeSpan, ArraySlice<UInt8>) throws -> Void
  ) rethrows {
    if packet.linkType.carriesAdverts {
      for datagram in encoded(packet) { try body(offset(of: packet), datagram[...]) }
    } else if let datagram = assembler.add(packet), !datagram.isSnapped {
      try body(offset(of: packet), datagram.payload)
    }
  }

  private mutating func offset(of packet: Packet) -> TimeSpan {
    let time = max(packet.time ?? latest ?? Timestamp(nanoseconds: 0), latest ?? .distantPast)
    latest = time
    let first = first ?? time
    self.first = first
    return time - first
  }

  private mutating func encoded(_ packet: Packet) -> [[UInt8]] {
    let time = packet.time ?? latest ?? Timestamp(nanoseconds: 0)
    var found = ReportBatch()
    let observer = encoder.observer
    extractor.forEachReport(in: packet) { $0.append(to: &found, observer: observer, received: time) }
    var datagrams: [[UInt8]] = []
    let uptime = time - (first ?? time)
    for report in found.reports where !encoder.append(report, from: found) {
      if !encoder.isEmpty { datagrams.append(encoder.finish(uptime: uptime)) }
      // A payload that no datagram can hold is left out: extended adverts reach 1,650 bytes.
      _ = encoder.append(report, from: found)
    }
    if !encoder.isEmpty { datagrams.append(encoder.finish(uptime: uptime)) }
    return datagrams
  }
}

extension LinkType {
  /// Whether packets of this type are looked through for adverts rather than for UDP datagrams.
  var carriesAdverts: Bool {
    switch self {
    case .bluetoothH4, .bluetoothH4WithDirection, .bluetoothLE, .bluetoothLEWithHeader, .nordicBLE, .ppi,
      .linuxMonitor, .btsnoopHCI, .btsnoopH4, .btsnoopMonitor:
      true
    default: false
    }
  }
}
