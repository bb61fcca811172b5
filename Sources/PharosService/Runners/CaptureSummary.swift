import PharosAdvertising
import PharosCaptures
import PharosReports
import PharosSite
import PharosWire

/// What a capture holds: counts, times, and who is most often in it.
struct CaptureSummary {
  var path = ""
  var format: CaptureReader.Format?
  var bluetooth = CaptureCounters()
  var udp = CaptureCounters()
  var datagrams = DatagramCounters()
  var blocks = 0
  private var packets = 0
  private var adverts = 0
  private var first: Timestamp?
  private var last: Timestamp?
  private var linkTypes: [LinkType: Int] = [:]
  private var observers: [ObserverID: Int] = [:]
  private var addresses: Set<DeviceAddress> = []
  private var beacons: [BeaconID: Int] = [:]

  /// The maximum number of distinct identities of each kind, so that a city's random addresses do not fill the memory.
  private static let mostIdentities = 1_000_000
  /// How many beacons and observers are listed by name.
  private static let listed = 10

  mutating func note(_ packet: Packet) {
    packets += 1
    linkTypes[packet.linkType, default: 0] += 1
    guard let time = packet.time else { return }
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }

  mutating func note(_ observer: ObserverID) {
    guard observers.count < CaptureSummary.mostIdentities || observers[observer] != nil else { return }
    observers[observer, default: 0] += 1
  }

  mutating func note(_ line: AdvertLine) {
    adverts += 1
    if let address = line.address, addresses.count < CaptureSummary.mostIdentities {
      addresses.insert(address)
    }
    let found = FrameDecoder().frames(in: line.data.span.bytes).compactMap(\.beacon)
    for beacon in found where beacons.count < CaptureSummary.mostIdentities || beacons[beacon] != nil {
      beacons[beacon, default: 0] += 1
    }
  }

  // MARK: Text

  /// The summary for people.
  var lines: [String] {
    var lines = [PlainText.cut(PlainText.clean(path), to: TextTable.widest)]
    lines.append(row("format", "\(formatName), \(linkTypeNames)"))
    lines.append(row("packets", "\(packets)\(blocks > 0 ? ", and \(blocks) other blocks" : "")"))
    lines.append(row("time", span))
    if udp.packets > 0 { lines += datagramLines }
    lines.append(row("adverts", "\(adverts) of \(CheckRunner.count(addresses.count, "device"))"))
    let damaged = bluetooth.badCRC + bluetooth.malformed + bluetooth.cutShort
    if damaged > 0 {
      lines.append(row("damaged", "\(damaged) Bluetooth packets (\(bluetooth.badCRC) by their checksum)"))
    }
    lines += ranking("observers", observers) { "\($0)" }
    lines += ranking("beacons", beacons) { "\($0)" }
    return lines.map { PlainText.cut($0, to: TextTable.widest) }
  }

  private var datagramLines: [String] {
    var lines = [
      row("datagrams", "\(udp.datagrams)\(udp.fragments > 0 ? ", \(udp.fragments) fragments" : "")")
    ]
    for format in WireFormat.allCases where datagrams.datagrams(format) > 0 {
      let reports = CheckRunner.count(Int(clamping: datagrams.reports(format)), "report")
      lines.append(row("  \(format)", "\(datagrams.datagrams(format)) with \(reports)"))
    }
    for (format, reason, count) in refusals {
      lines.append(row("  refused", "\(count) \(format.map { "\($0): " } ?? "")\(reason.name)"))
    }
    return lines
  }

  private var refusals: [(WireFormat?, DatagramRefusal, UInt64)] {
    let formats: [WireFormat?] = WireFormat.allCases + [nil]
    return formats.flatMap { format in
      DatagramRefusal.allCases.compactMap { reason in
        let count = datagrams.refusals(format, reason)
        return count > 0 ? (format, reason, count) : nil
      }
    }
  }

  private func ranking<Key: Hashable & Comparable>(
    _ title: String,
    _ counts: [Key: Int],
    _ name: (Key) -> String
  ) -> [String] {
    let ranked = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let shown = ranked.prefix(CaptureSummary.listed).map { row("  \($0.value)", name($0.key)) }
    let rest = ranked.count - shown.count
    return [row(title, "\(ranked.count)")] + shown + (rest > 0 ? [row("", "and \(rest) more")] : [])
  }

  private func row(_ name: String, _ value: String) -> String {
    name.padded(to: 12) + PlainText.clean(value)
  }

  private var span: String {
    guard let first, let last else { return "not told" }
    let length = TimeSpan.milliseconds(Int64((last - first).milliseconds.rounded()))
    return "\(first.rfc3339.prefix(19))Z, for \(length.written)"
  }

  private var formatName: String {
    switch format {
    case .pcap: "pcap"
    case .pcapng: "pcapng"
    case .btsnoop: "btsnoop"
    case nil: "unknown"
    }
  }

  private var linkTypeNames: String {
    linkTypes.sorted { ($1.value, $0.key.number) < ($0.value, $1.key.number) }
      .map { "link type \($0.key)" }.joined(separator: ", ")
  }

  // MARK: JSON

  /// The summary for machines.
  var json: String {
    var json = JSONText()
    json.openObject()
    json.member("capture", path)
    json.member("format", formatName)
    json.member("packets", packets)
    json.member("first", ifPresent: first?.epochText)
    json.member("last", ifPresent: last?.epochText)
    json.member("datagrams", udp.datagrams)
    json.member("decoded", datagrams.totalDatagrams)
    json.member("refused", datagrams.totalRefusals)
    json.member("reports", datagrams.totalReports)
    json.member("adverts", adverts)
    json.member("devices", addresses.count)
    json.member("damagedAdverts", bluetooth.badCRC + bluetooth.malformed + bluetooth.cutShort)
    json.openArray("observers")
    for observer in observers.keys.sorted() { json.element(observer.description) }
    json.closeArray()
    json.openArray("beacons")
    for beacon in beacons.keys.sorted() { json.element(beacon.description) }
    json.closeArray()
    json.closeObject()
    return json.text
  }
}
