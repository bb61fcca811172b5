import PharosAdvertising
import PharosCaptures
import PharosReports
import PharosWire

/// What has been found in a capture so far, and the lines about it that were not written yet.
struct Inspection {
  private let view: InspectRunner.View
  private let format: EventFormat
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor()
  private var decoder = DatagramDecoder()
  private var batch = ReportBatch()
  private var json = JSONText()
  private var text: [UInt8] = []
  private var tally = CaptureSummary()

  init(view: InspectRunner.View, format: EventFormat) {
    self.view = view
    self.format = format
  }

  /// The titles of the table of a view.
  var header: String {
    switch view {
    case .summary: ""
    case .adverts: Inspection.adverts.header
    case .datagrams: Inspection.datagrams.header
    }
  }

  mutating func take(_ item: CaptureItem) {
    guard case .packet(let packet) = item else {
      tally.blocks += 1
      return
    }
    tally.note(packet)
    if packet.linkType.carriesAdverts {
      for report in extractor.reports(in: packet) { show(AdvertLine(report)) }
    } else if let datagram = assembler.add(packet) {
      take(datagram)
    }
  }

  /// The lines that were not written yet.
  mutating func takeLines() -> [UInt8] {
    defer {
      text.removeAll(keepingCapacity: true)
      json.removeAll()
    }
    return format == .jsonl && view != .summary ? json.utf8 : text
  }

  /// What there is to say at the end.
  func summary(of path: String, format: CaptureReader.Format?) -> CaptureSummary {
    var summary = tally
    summary.path = path
    summary.format = format
    summary.bluetooth = extractor.counters
    summary.udp = assembler.counters
    summary.datagrams = decoder.counters
    return summary
  }

  private mutating func take(_ datagram: UDPDatagram) {
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
      guard let line = AdvertLine(report, in: batch, frame: datagram.frame, index: index) else { continue }
      index += 1
      show(line)
    }
    for observer in batch.observers { tally.note(observer) }
  }

  // MARK: Adverts

  private static let adverts = TextTable([
    .init("FRAME", width: 7, alignment: .right), .init("TIME (UTC)", width: 12),
    .init("ADDRESS", width: 17), .init("dBm", width: 4, alignment: .right), .init("CONTENT", width: 36),
  ])

  private mutating func show(_ line: AdvertLine) {
    tally.note(line)
    guard view == .adverts else { return }
    guard format == .table else { return line.append(to: &json) }
    let level = if case .dBm(let level) = line.level { "\(level)" } else { "" }
    append(
      Inspection.adverts.line([
        "\(line.frame)", line.time.map { EventTable.clock($0) } ?? "",
        line.address?.description ?? "anonymous",
        level, Inspection.content(of: line.data),
      ])
    )
  }

  /// The beacon that a payload holds, or the device's name, or the bytes.
  private static func content(of data: ArraySlice<UInt8>) -> String {
    let payload = data.span.bytes
    for frame in FrameDecoder().frames(in: payload) {
      if let beacon = frame.beacon { return shortened(beacon, to: 36) }
    }
    if let name = AdvertSummary(of: payload).localName, !name.isEmpty { return "\"\(name)\"" }
    return Hex.text(data.prefix(32))
  }

  /// A beacon in so many columns; major and minor tell beacons apart, so the UUID gives way.
  static func shortened(_ beacon: BeaconID, to width: Int) -> String {
    let text = beacon.description
    guard text.count > width, let uuid = beacon.uuid?.description else { return text }
    let rest = text.dropFirst(uuid.count)
    return "\(uuid.prefix(max(4, width - rest.count - 1)))…\(rest)"
  }

  // MARK: Datagrams

  private static let datagrams = TextTable([
    .init("FRAME", width: 7, alignment: .right), .init("TIME (UTC)", width: 12), .init("FROM", width: 21),
    .init("BYTES", width: 6, alignment: .right), .init("CONTENT", width: 30),
  ])

  private mutating func show(_ datagram: UDPDatagram, _ outcome: Result<WireFormat, DatagramRefusal>) {
    guard format == .table else { return datagram.append(to: &json) }
    let content =
      switch outcome {
      case .success(let format):
        "\(format), \(CheckRunner.count(batch.reports.count, "report"))"
      case .failure(let reason): "refused: \(reason.name)"
      }
    append(
      Inspection.datagrams.line([
        "\(datagram.frame)", datagram.time.map { EventTable.clock($0) } ?? "", datagram.source.description,
        "\(datagram.originalLength)", content,
      ])
    )
  }

  private mutating func append(_ line: String) {
    text.append(contentsOf: line.utf8)
    text.append(UInt8(ascii: "\n"))
  }
}
