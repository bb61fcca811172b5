import PharosCaptures
import PharosDocuments
import PharosFiles
package import PharosModel
import PharosPipeline
package import PharosTerminal
import PharosWire

/// `pharos inspect`: what a capture holds, as a summary, advert by advert or datagram by datagram.
package struct InspectRunner: Sendable {
  /// The view of a capture.
  package enum View: Sendable {
    /// Counts, times, observers and beacons.
    case summary
    /// One line for each advertising report.
    case adverts
    /// One line for each UDP datagram.
    case datagrams
  }

  private let captures: [String]
  private let view: View
  private let format: EventFormat

  /// Makes a runner; `-` is standard input.
  package init(captures: [String], view: View = .summary, format: EventFormat = .table) {
    self.captures = captures
    self.view = view
    self.format = format
  }

  /// Shows the captures one behind the other.
  ///
  /// - Returns: 0; 1 if one was damaged, everything before the damage having been shown, or nothing in one is understood.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      var status = CommandStatus.success
      for path in captures {
        let (damage, isUnderstood) = try inspect(path, on: console)
        if !isUnderstood { status = .failure }
        guard let damage else { continue }
        status = .failure
        try console.output.flush()
        console.say(damage)
      }
      return status
    }
  }

  /// Shows one capture.
  ///
  /// - Returns: what is wrong with it, by its path, if anything is; and false if all that it holds was passed over.
  private func inspect(
    _ path: String,
    on console: Console
  ) throws -> (damage: String?, isUnderstood: Bool) {
    var chunks = try FileChunks(named: path)
    var inspection = Inspection(view: view, format: format, isWhole: !console.outputStyle.isTerminal)
    if view != .summary, format == .table { try console.print(inspection.header) }
    var reader = CaptureReader()
    var bar = ProgressBar(path, on: console)
    let showsBar = view == .summary || !console.outputStyle.isTerminal
    var damage: String?
    do {
      while let chunk = try chunks.next() {
        reader.append(chunk)
        while let item = try reader.next() { inspection.inspect(item) }
        try console.output.write(inspection.drainLines())
        if showsBar {
          bar.show(Int(clamping: chunks.progress.read), of: chunks.progress.total.map { Int(clamping: $0) })
        }
      }
      try reader.finish()
    } catch let error as OutputError {
      bar.clear()
      throw error
    } catch let error as FileError {
      damage = "\(error)"
    } catch {
      damage = "\(path): \(error)"
    }
    bar.clear()
    try console.output.write(inspection.drainLines())
    if !reader.foreign.isEmpty { console.say("\(path): \(reader.foreign).") }
    let summary = inspection.summary(of: path, reader)
    for line in summary.passedOver + summary.remarks + summary.hints {
      console.say("\(path): \(line).")
    }
    // Nothing can be summarised of a file in no known format.
    if view == .summary, format == .jsonl || reader.format != nil {
      switch format {
      case .jsonl: try console.print(summary.json)
      case .table:
        for line in summary.lines {
          try console.print(console.outputStyle.isTerminal ? PlainText.cut(line, to: TextTable.widest) : line)
        }
      }
    }
    return (damage, summary.isUnderstood)
  }
}

/// The findings about a capture so far, and the lines about it that were not written yet.
package struct Inspection {
  private let view: InspectRunner.View
  private let format: EventFormat
  /// Indicates whether cells are written whole, since no terminal limits the width of a line.
  private let isWhole: Bool
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor()
  private var decoder = DatagramDecoder()
  private var batch = ReportBatch()
  private var json = JSONText()
  private var text: [UInt8] = []
  private var tally = CaptureSummary()
  private var parts = PartAssembly()

  init(view: InspectRunner.View, format: EventFormat, isWhole: Bool) {
    self.view = view
    self.format = format
    self.isWhole = isWhole
  }

  /// The titles of the table of a view.
  var header: String {
    switch view {
    case .summary: ""
    case .adverts: Inspection.adverts.header
    case .datagrams: Inspection.datagrams.header
    }
  }

  mutating func inspect(_ item: CaptureItem) {
    let packet: Packet
    switch item {
    case .packet(let found): packet = found
    case .block(let block):
      tally.blocks += 1
      if let datagram = datagram(of: block) { inspect(datagram) }
      return
    }
    tally.record(packet)
    if packet.linkType.carriesAdverts {
      for report in extractor.reports(in: packet) { show(AdvertLine(report)) }
    } else if let datagram = assembler.add(packet) {
      inspect(datagram)
    }
  }

  /// The datagram that a block of a recording completes: one that is longer than a packet can hold.
  private mutating func datagram(of block: LocalBlock) -> UDPDatagram? {
    guard block.type == RecordedInput.blockType, let content = block.content,
      case .datagram(let part, from: let source, to: let destination, at: let time)? = try? RecordedInput(
        decoding: content
      ),
      let whole = try? parts.add(part)
    else { return nil }
    return UDPDatagram(frame: 0, time: time, source: source, destination: destination, payload: whole[...])
  }

  /// The lines that were not written yet.
  mutating func drainLines() -> [UInt8] {
    defer {
      text.removeAll(keepingCapacity: true)
      json.removeAll()
    }
    return format == .jsonl && view != .summary ? json.utf8 : text
  }

  /// Returns the summary at the end of the capture.
  func summary(of path: String, _ reader: CaptureReader) -> CaptureSummary {
    var summary = tally
    summary.path = path
    summary.format = reader.format
    summary.foreign = reader.foreign
    summary.bluetooth = extractor.counters
    summary.udp = assembler.counters
    summary.datagrams = decoder.counters
    return summary
  }

  private mutating func inspect(_ datagram: UDPDatagram) {
    batch.removeAll()
    let received = datagram.time ?? Timestamp(nanoseconds: 0)
    let payload = datagram.payload.span.bytes
    let outcome: Result<WireFormat, DatagramRefusal> =
      datagram.isSnapped
      ? .failure(decoder.refuseTruncated(payload))
      : decoder.decode(payload, received: received, into: &batch)
    if view == .datagrams { show(datagram, outcome) }
    var index = 0
    for report in batch.reports {
      if case .rangedBeacon(let ranged) = report.body {
        show(ranged, by: batch.observers[Int(report.observer)], datagram, index: index)
      } else if let line = AdvertLine(report, in: batch, frame: datagram.frame, index: index) {
        show(line)
      } else {
        continue
      }
      index += 1
    }
    for observer in batch.observers { tally.record(observer) }
  }

  // MARK: Adverts

  private static let adverts = TextTable([
    .number("FRAME", 7), .text("TIME (UTC)", 12), .text("ADDRESS", 17), .number("dBm", 4),
    .text("CONTENT", 36),
  ])

  private mutating func show(_ line: AdvertLine) {
    tally.record(line)
    guard view == .adverts else { return }
    guard format == .table else { return line.append(to: &json) }
    let level = if case .dBm(let level) = line.level { "\(level)" } else { "" }
    append(
      Inspection.adverts,
      [
        "\(line.frame)", line.time.map { Wording.clock($0) } ?? "",
        line.address?.description ?? "anonymous",
        level, content(of: line.data),
      ]
    )
  }

  /// A beacon that its sender has identified, without the advert.
  private mutating func show(
    _ ranged: RangedBeacon,
    by observer: ObserverID,
    _ datagram: UDPDatagram,
    index: Int
  ) {
    tally.record(ranged)
    guard view == .adverts else { return }
    let level = ranged.rssi.map { Int($0.dBm) }
    guard format == .table else {
      json.openObject()
      json.member("frame", datagram.frame)
      json.member("index", index)
      if let time = datagram.time { json.member("time", time.epochText) } else { json.null("time") }
      json.member("beacon", ranged.beacon.description)
      if let level { json.member("rssi", level) } else { json.null("rssi") }
      if let power = ranged.measuredPower { json.member("tx_power", power) }
      if let accuracy = ranged.accuracy { json.member("accuracy", accuracy.value, decimals: 2) }
      json.member("observer", observer.description)
      json.closeObject()
      return json.newLine()
    }
    append(
      Inspection.adverts,
      [
        "\(datagram.frame)", datagram.time.map { Wording.clock($0) } ?? "",
        ranged.beacon.address?.description ?? "", level.map { "\($0)" } ?? "",
        fitted(ranged.beacon),
      ]
    )
  }

  /// The beacon that a payload holds, or the device's name, or the bytes.
  private func content(of data: ArraySlice<UInt8>) -> String {
    let payload = data.span.bytes
    for frame in FrameDecoder().frames(in: payload) {
      if let beacon = frame.beacon { return fitted(beacon) }
    }
    if let company = FrameDecoder().unreadIBeaconCompany(in: payload) {
      return "iBeacon layout of company \(Hex.text(UInt64(company), bytes: 2))"
    }
    if let name = AdvertSummary(of: payload).localName, !name.isEmpty { return "\"\(name)\"" }
    return Hex.text(data.prefix(32))
  }

  /// Returns a beacon as its column holds it.
  private func fitted(_ beacon: BeaconID) -> String {
    isWhole ? beacon.description : Inspection.shortened(beacon, to: 36)
  }

  /// Returns a beacon in so many columns; major and minor distinguish beacons, so the UUID is cut.
  package static func shortened(_ beacon: BeaconID, to width: Int) -> String {
    let text = beacon.description
    guard text.count > width, let uuid = beacon.uuid?.description else { return text }
    let rest = text.dropFirst(uuid.count)
    return "\(uuid.prefix(max(4, width - rest.count - 1)))…\(rest)"
  }

  // MARK: Datagrams

  private static let datagrams = TextTable([
    .number("FRAME", 7), .text("TIME (UTC)", 12), .text("FROM", 21), .number("BYTES", 6),
    .text("CONTENT", 30),
  ])

  private mutating func show(_ datagram: UDPDatagram, _ outcome: Result<WireFormat, DatagramRefusal>) {
    guard format == .table else { return datagram.append(to: &json) }
    let content =
      switch outcome {
      case .success(let format):
        "\(format), \(Wording.count(batch.reports.count, "report"))"
          + decoder.notes.skipped.sorted { $0.key.rawValue < $1.key.rawValue }
          .map { ", skipped \($0.value): \($0.key.name)" }.joined()
      case .failure(let reason): "refused: \(reason.name)"
      }
    append(
      Inspection.datagrams,
      [
        "\(datagram.frame)", datagram.time.map { Wording.clock($0) } ?? "", datagram.source.description,
        "\(datagram.originalLength)", content,
      ]
    )
  }

  private mutating func append(_ table: TextTable, _ cells: [String]) {
    text.append(contentsOf: table.line(cells, isWhole: isWhole).utf8)
    text.append(UInt8(ascii: "\n"))
  }
}

/// A summary of a capture: counts, times, and the most frequent observers and beacons.
struct CaptureSummary {
  var path = ""
  var format: CaptureReader.Format?
  var foreign = ForeignBytes()
  var bluetooth = CaptureCounters()
  var udp = CaptureCounters()
  var datagrams = DatagramCounters()
  var blocks = 0
  /// How far packets go back in time.
  private(set) var timeline = CaptureTimeline()
  /// The identities that several tags send.
  private var shared = SharedIdentities()
  private var packets = 0
  private var adverts = 0
  private var first: Timestamp?
  private var last: Timestamp?
  private var linkTypes: [LinkType: Int] = [:]
  private var observers: [ObserverID: Int] = [:]
  private var addresses: Set<DeviceAddress> = []
  private var beacons: [BeaconID: Int] = [:]
  /// The number of beacons that came identified, without an advert.
  private var ranged = 0
  /// The adverts in the layout of an iBeacon that are not taken for one, by their company.
  private var unreadCompanies: [UInt16: Int] = [:]

  /// The maximum number of distinct identities of each kind, so that a city's random addresses do not fill the memory.
  private static let identityLimit = 1_000_000
  /// The maximum number of beacons, and of observers, that are listed by name.
  private static let listed = 10

  mutating func record(_ packet: Packet) {
    packets += 1
    linkTypes[packet.linkType, default: 0] += 1
    guard let time = packet.time else { return }
    _ = timeline.receive(time)
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }

  mutating func record(_ observer: ObserverID) {
    guard observers.count < CaptureSummary.identityLimit || observers[observer] != nil else { return }
    observers[observer, default: 0] += 1
  }

  mutating func record(_ line: AdvertLine) {
    adverts += 1
    if let address = line.address, addresses.count < CaptureSummary.identityLimit {
      addresses.insert(address)
    }
    let payload = line.data.span.bytes
    for beacon in FrameDecoder().frames(in: payload).compactMap(\.beacon) {
      record(beacon)
      if let address = line.address, let time = line.time { shared.record(beacon, from: address, at: time) }
    }
    if let company = FrameDecoder().unreadIBeaconCompany(in: payload) {
      unreadCompanies[company, default: 0] += 1
    }
  }

  mutating func record(_ ranged: RangedBeacon) {
    self.ranged += 1
    record(ranged.beacon)
  }

  private mutating func record(_ beacon: BeaconID) {
    guard beacons.count < CaptureSummary.identityLimit || beacons[beacon] != nil else { return }
    beacons[beacon, default: 0] += 1
  }

  /// Indicates whether the capture holds something that is understood, or nothing at all.
  var isUnderstood: Bool {
    let isEmpty = passedOver.isEmpty && datagrams.totalRefusals == 0
    return isEmpty || blocks > 0 || adverts > 0 || datagrams.totalReports > 0
  }

  /// What a setting would read, as sentences without their ends.
  var hints: [String] { unreadCompanies.keys.sorted().map { IBeaconHint.text($0) } }

  /// What the capture proves to be wrong, as sentences without their ends.
  var remarks: [String] { timeline.remarks + shared.remarks() }

  /// What was passed over, as sentences without their ends.
  var passedOver: [String] { udp.passedOverLines + bluetooth.passedOverLines }

  // MARK: Text

  /// The summary for people.
  var lines: [String] {
    var lines = [PlainText.clean(path)]
    lines.append(row("format", "\(formatName), \(linkTypeNames)"))
    lines.append(row("packets", "\(packets)\(blocks > 0 ? ", and \(blocks) other blocks" : "")"))
    lines.append(row("time", span))
    if udp.packets > 0 { lines += datagramLines }
    for remark in remarks { lines.append(row("conflict", remark)) }
    for line in passedOver { lines.append(row("passed over", line.replacing(" passed over:", with: ":"))) }
    lines.append(row("adverts", "\(adverts) of \(Wording.count(addresses.count, "device"))"))
    if ranged > 0 {
      lines.append(row("ranged", "\(Wording.count(ranged, "sighting")) of identified beacons"))
    }
    for (company, count) in unreadCompanies.sorted(by: { $0.key < $1.key }) {
      let number = Hex.text(UInt64(company), bytes: 2)
      lines.append(
        row("iBeacons", "\(count) of company \(number): `iBeaconCompanies: [0x\(number)]` reads them")
      )
    }
    if foreign.malformedPackets > 0 {
      lines.append(row("malformed", Wording.count(foreign.malformedPackets, "packet")))
    }
    if foreign.bytes > 0 {
      lines.append(row("foreign", "\(foreign.bytes) bytes in \(Wording.count(foreign.places, "place"))"))
    }
    if damagedAdverts > 0 {
      lines.append(
        row("damaged", "\(damagedAdverts) Bluetooth packets (\(bluetooth.badCRC) by their checksum)")
      )
    }
    lines += ranking("observers", observers) { "\($0)" }
    lines += ranking("beacons", beacons) { "\($0)" }
    return lines
  }

  private var datagramLines: [String] {
    var lines = [
      row("datagrams", "\(udp.datagrams)\(udp.fragments > 0 ? ", \(udp.fragments) fragments" : "")")
    ]
    for format in WireFormat.allCases where datagrams.datagrams(format) > 0 {
      let reports = Wording.count(Int(clamping: datagrams.reports(format)), "report")
      lines.append(row("  \(format)", "\(datagrams.datagrams(format)) with \(reports)"))
    }
    for entry in datagrams.refusals {
      lines.append(
        row("  refused", "\(entry.count) \(entry.format.map { "\($0): " } ?? "")\(entry.reason.name)")
      )
    }
    for entry in datagrams.skips {
      lines.append(
        row(
          "  skipped",
          "\(Wording.count(Int(clamping: entry.count), "element")) \(entry.format.map { "\($0): " } ?? "")\(entry.reason.name)"
        )
      )
    }
    for (name, count) in datagrams.ignoredIdentities.sorted {
      lines.append(row("  ignored", "\(count) JSON members \"\(name)\" that look like an identity"))
    }
    return lines
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
    guard let first, let last else { return "unknown" }
    let length = TimeSpan.milliseconds(Int64((last - first).milliseconds.rounded()))
    return "\(first.rfc3339.prefix(19))Z, for \(length.written)"
  }

  private var formatName: String {
    switch format {
    case .pcap: "pcap"
    case .pcapng: "pcapng"
    case .btsnoop: "btsnoop"
    case .packetLogger: "pklg"
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
    JSONText.object { json in
      json.member("capture", path)
      json.member("format", formatName)
      json.member("packets", packets)
      json.member("first", ifPresent: first?.epochText)
      json.member("last", ifPresent: last?.epochText)
      json.member("backwards", timeline.backwards)
      json.member("datagrams", udp.datagrams)
      json.member("decoded", datagrams.totalDatagrams)
      json.member("refused", datagrams.totalRefusals)
      json.member("reports", datagrams.totalReports)
      json.member("skipped", datagrams.totalSkips)
      json.objects("refusals", datagrams.refusals) { CaptureSummary.write($1, to: &$0) }
      json.objects("skips", datagrams.skips) { CaptureSummary.write($1, to: &$0) }
      json.strings("passedOver", passedOver)
      json.strings("conflicts", remarks)
      json.member("adverts", adverts)
      json.member("rangedBeacons", ranged)
      json.strings(
        "unreadIBeaconCompanies",
        unreadCompanies.keys.sorted().map { "0x" + Hex.text(UInt64($0), bytes: 2) }
      )
      json.member("devices", addresses.count)
      json.member("damagedAdverts", damagedAdverts)
      if foreign.malformedPackets > 0 { json.member("malformedPackets", foreign.malformedPackets) }
      if foreign.bytes > 0 { json.member("foreignBytes", foreign.bytes) }
      json.strings("observers", observers.keys.sorted().map(\.description))
      json.strings("beacons", beacons.keys.sorted().map(\.description))
    }
  }

  private static func write(_ entry: DatagramCounters.Reason, to json: inout JSONText) {
    json.member("format", ifPresent: entry.format?.name)
    json.member("reason", entry.reason.name)
    json.member("count", entry.count)
  }

  private var damagedAdverts: Int { bluetooth.badCRC + bluetooth.malformed + bluetooth.cutShort }
}

/// What to say about adverts in the layout of an iBeacon under another company than Apple.
package enum IBeaconHint {
  /// The layout, and the setting that reads it.
  package static func text(_ company: UInt16) -> String {
    let number = Hex.text(UInt64(company), bytes: 2)
    return "iBeacon layout of company \(number); `iBeaconCompanies: [0x\(number)]` in the site file reads it"
  }
}
