import PharosDocuments
package import PharosModel

/// The format of written events.
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
  private let names: (@Sendable () -> SiteNames)?
  /// The number of events that were written.
  package private(set) var count = 0

  /// Makes a writer.
  ///
  /// - Parameters:
  ///   - format: the format of the events.
  ///   - selection: the kinds that are written.
  ///   - site: the site, for the stream and the names.
  ///   - style: the style of a terminal.
  ///   - names: returns the names that JSON states beside identities; those of the site at the start unless given.
  package init(
    format: EventFormat,
    selection: KindSelection,
    site: Site,
    style: TerminalStyle = .plain,
    names: (@Sendable () -> SiteNames)? = nil
  ) {
    self.names = names
    self.format = format
    self.selection = selection
    stream = site.stream
    json.names = SiteNames(site)
    table = EventTable(site: site, style: style)
  }

  /// Writes what of some events was asked for.
  package mutating func write(_ events: [Event], to sink: any OutputSink) throws(OutputError) {
    var bytes: [UInt8] = []
    if let names { json.names = names() }
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

/// The kinds of events that a command writes, as `--kinds` selects them.
package struct KindSelection: Hashable, Sendable {
  /// The kinds that are written.
  package let kinds: Set<EventKind>

  /// Makes a selection.
  package init(_ kinds: Set<EventKind>) { self.kinds = kinds }

  /// All but states: an enter or exit says what changed, a state event says it a second time.
  package static let usual = KindSelection(Set(EventKind.allCases).subtracting(EventKind.Group.state.kinds))

  /// The usual kinds without distances and fixes, of which there is one a second for each subject.
  package static let decisions = KindSelection(usual.kinds.subtracting([.ranging, .fix]))

  /// The words and what they stand for.
  package static let words: [(word: String, kinds: Set<EventKind>)] =
    EventKind.Group.allCases.map { ($0.rawValue, $0.kinds) } + [("all", Set(EventKind.allCases))]

  /// Reads words with commas between them, as in `region,zone`; nil if one of them is unknown.
  package init?(_ text: String) {
    var kinds: Set<EventKind> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let entry = KindSelection.words.first(where: { $0.word == part }) else { return nil }
      kinds.formUnion(entry.kinds)
    }
    self.init(kinds)
  }

  /// Returns whether an event is written.
  package func contains(_ event: Event) -> Bool { kinds.contains(event.kind) }
}

/// Events as lines of a table, for people; names of the site's directory stand where there are any.
///
/// The time is that of the decision, so that it never goes back from line to line.
package struct EventTable: Sendable {
  private static let table = TextTable([
    .text("TIME (UTC)", 12), .text("EVENT", 11), .text("WHERE", 14), .text("WHO", 22), .text("WHY", 17),
  ])

  private let style: TerminalStyle
  private let names: SiteNames

  /// Makes a table for a site's events.
  package init(site: Site, style: TerminalStyle = .plain) {
    self.style = style
    names = SiteNames(site)
  }

  /// The line with the titles.
  package var header: String { EventTable.table.header }

  /// The lines for an event: one, or one for each beacon that was ranged.
  package func lines(for event: Event) -> [String] {
    switch event.detail {
    case .ranging(_, let beacons):
      beacons.map { reading in
        row(event, place: names.name(of: .beacon(reading.beacon)), why: EventTable.distance(reading))
      }
    default: [row(event, place: event.region, why: event.detail.summary(of: event))]
    }
  }

  private func row(_ event: Event, place: String, why: String) -> String {
    let cells = [
      Wording.clock(event.decidedAt), event.kind.word, place, names.name(of: event.subject), why,
    ]
    return style.paint(EventTable.table.line(cells), event.kind.tone.color)
  }

  private static func distance(_ reading: RangedReading) -> String {
    guard reading.accuracy >= 0 else { return reading.proximity.rawValue }
    guard reading.accuracy.isFinite else { return reading.proximity.rawValue }
    return "\(reading.proximity.rawValue) \(Wording.decimal(reading.accuracy, places: 1)) m"
  }
}

extension EventKind.Tone {
  /// The colour that lists show it with.
  package var color: TerminalStyle.Color {
    switch self {
    case .good: .green
    case .ended: .yellow
    case .alarming: .red
    case .neutral: .gray
    }
  }
}
