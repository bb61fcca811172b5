package import PharosEvents
package import PharosReports

/// How a command writes events.
package enum EventFormat: String, CaseIterable, Sendable {
  /// One CloudEvent in JSON a line, for machines.
  case jsonl
  /// A table, for people.
  case table
}

/// Writes events to a sink, one line or more for each.
package struct EventWriter: Sendable {
  private let format: EventFormat
  private let selection: KindSelection
  private let stream: String
  private let table: EventTable
  private var json = JSONText()
  private var hasHeader = false
  /// How many events were written.
  package private(set) var count = 0

  /// Makes a writer.
  package init(format: EventFormat, selection: KindSelection, site: Site, style: TerminalStyle = .plain) {
    self.format = format
    self.selection = selection
    stream = site.stream
    table = EventTable(site: site, style: style)
  }

  /// Writes what of some events was asked for.
  package mutating func write(_ events: [Event], to sink: any OutputSink) throws(OutputError) {
    var bytes: [UInt8] = []
    for event in events where selection.contains(event) {
      count += 1
      switch format {
      case .jsonl:
        event.write(to: &json, stream: stream)
        json.newLine()
      case .table:
        if !hasHeader { bytes.append(contentsOf: (table.header + "\n").utf8) }
        hasHeader = true
        for line in table.lines(for: event) { bytes.append(contentsOf: (line + "\n").utf8) }
      }
    }
    if format == .jsonl {
      bytes.append(contentsOf: json.utf8)
      json.removeAll()
    }
    guard !bytes.isEmpty else { return }
    try sink.write(bytes)
  }
}
