import PharosReports
import PharosSite

extension ExplainReport {
  /// The widest that lines of paragraphs get.
  static let widest = 100
  /// The column at which paragraphs begin: behind the time of day and two spaces.
  private static let indent = 14

  /// The report as lines for people.
  func lines(style: TerminalStyle) -> [String] {
    let width = style.isTerminal ? min(style.width, ExplainReport.widest) : ExplainReport.widest
    var lines = heading(width: width)
    for decision in told { lines += [""] + self.lines(of: decision, style: style, width: width) }
    lines += leftOut(width: width)
    lines += considered(style: style, width: width)
    lines += comparison(style: style, width: width)
    return lines
  }

  private func heading(width: Int) -> [String] {
    guard let span = findings.span else { return [] }
    let text =
      "\(options.captures.joined(separator: ", ")): \(Wording.date(span.lowerBound)) \(Wording.clock(span.lowerBound)) to "
      + "\(Wording.clock(span.upperBound)) UTC, \(Wording.span(span.upperBound - span.lowerBound)), "
      + "\(Wording.count(findings.adverts, "advert")), \(Wording.count(findings.observers.count, "observer")), "
      + "\(Wording.count(findings.beacons.count, "beacon")) that some region asks about."
    var lines = Paragraph.lines(text, width: width)
    let filters = [
      filter.observer.map { "observer \(narrator.name($0))" },
      filter.beacon.map { "beacon \(narrator.name($0))" },
      filter.region.map { "region \($0)" },
    ]
    let named = filters.compactMap { $0 }
    let what = named.isEmpty ? "" : " about \(named.joined(separator: ", "))"
    lines.append("\(Wording.count(decisions.count, "decision"))\(what).")
    return lines
  }

  private func lines(of decision: Decision, style: TerminalStyle, width: Int) -> [String] {
    let word = decision.kind.rawValue.uppercased()
    let head = "\(Wording.clock(decision.time))  "
    let headline = PlainText.clean(narrator.headline(decision))
    let title = "\(style.paint(word, ExplainReport.color(of: decision.kind)))  \(headline)"
    let telling = narrator.telling(decision)
    let indent = String(repeating: " ", count: ExplainReport.indent)
    var lines = [head + title]
    if !telling.why.isEmpty {
      lines += Paragraph.lines(telling.why.joined(separator: " "), behind: indent, width: width)
    }
    if !telling.compared.isEmpty {
      lines += Paragraph.lines(telling.compared.joined(separator: " "), behind: indent + "≠ ", width: width)
    }
    return lines
  }

  private static func color(of kind: Decision.Kind) -> TerminalStyle.Color {
    switch kind {
    case .enter, .online: .green
    case .exit, .zone: .yellow
    case .unmonitored, .offline, .holdExceeded, .refused, .clock: .red
    case .state, .restarted, .quarantined: .gray
    }
  }

  /// What was not told, and how to have it told.
  private func leftOut(width: Int) -> [String] {
    guard untold > 0 else { return [] }
    let busiest = tracks.prefix(3).map { track in
      "--observer \(ExplainReport.quoted(narrator.name(track.observer))) --beacon \(ending(of: track.beacon))"
    }
    let text =
      "\(untold) more \(untold == 1 ? "decision is" : "decisions are") not told here. Narrow it with --observer, "
      + "--beacon or --region, or raise --limit. Most happened at: \(busiest.joined(separator: "; "))."
    return [""] + Paragraph.lines(text, width: width)
  }

  private func ending(of beacon: BeaconID) -> String {
    let name = narrator.name(beacon)
    guard name.contains("…") else { return ExplainReport.quoted(name) }
    let short = Vocabulary.ending(of: beacon)
    let isPlain = findings.beacons.count { $0.description.hasSuffix("/" + short) } == 1
    return isPlain ? short : beacon.description
  }

  private static func quoted(_ text: String) -> String { text.contains(" ") ? "\"\(text)\"" : text }

  // MARK: What was considered

  private func considered(style: TerminalStyle, width: Int) -> [String] {
    var lines: [String] = []
    for track in weighed {
      let groups = narrator.considered(track).filter { group in
        filter.region.map { wanted in group.regions.contains { $0.region == wanted } } ?? true
      }
      for group in groups {
        let regions = group.regions.map(\.region).joined(separator: ", ")
        let name = "\(narrator.name(track.beacon)) at \(narrator.name(track.observer))"
        lines.append(PlainText.clean("  \(regions) · \(name)"))
        for sentence in group.sentences { lines += Paragraph.lines(sentence, behind: "    – ", width: width) }
      }
    }
    guard !lines.isEmpty else { return [] }
    let left = tracks.count - weighed.count
    if left > 0 { lines.append("  and \(Wording.count(left, "more track")): name one to see it.") }
    return ["", style.paint("CONSIDERED, AND NOT DONE", .gray)] + lines
  }

  // MARK: Fixed rules

  /// How many rows the comparison shows on the whole.
  private static let mostCompared = 20

  private static let table = TextTable([
    .init("", width: 1), .init("REGION", width: 14), .init("WHO", width: 24),
    .init("PHAROS", width: 8, alignment: .right), .init("FIXED 30 s", width: 13, alignment: .right),
    .init("FIXED 10 s", width: 13, alignment: .right),
  ])

  private func comparison(style: TerminalStyle, width: Int) -> [String] {
    let rows = compared
    guard !rows.isEmpty else { return [] }
    let note =
      "In brackets those taken back: of Pharos by an enter within a minute, of a fixed rule while Pharos had it inside "
      + "all the time."
    var lines = ["", style.paint("EXITS AGAINST FIXED RULES", .gray)]
    lines += Paragraph.lines(note, width: width) + [ExplainReport.table.header]
    let ranked = rows.sorted { left, right in
      let (more, less) = (ExplainReport.mistakes(left.story), ExplainReport.mistakes(right.story))
      return more == less ? left.key < right.key : more > less
    }
    for row in ranked.prefix(ExplainReport.mostCompared) {
      let exits = row.story.visits.count { $0.left != nil }
      let own = row.story.returns == 0 ? "\(exits)" : "\(exits) (\(row.story.returns))"
      let fixed = row.story.fixed.reversed().map { rule in
        let all = rule.visits.count { $0.left != nil }
        let mistakes = rule.falseExits(row.story.isStay).count
        return mistakes == 0 ? "\(all)" : "\(all) (\(mistakes))"
      }
      lines.append(
        ExplainReport.table.line(
          ["", row.key.region.region, narrator.name(row.key.subject), own] + fixed
        )
      )
    }
    if rows.count > ExplainReport.mostCompared {
      lines.append("  and \(rows.count - ExplainReport.mostCompared) more")
    }
    return lines
  }

  private static func mistakes(_ story: RowStory) -> Int {
    story.fixed.reduce(0) { $0 + $1.falseExits(story.isStay).count }
  }
}
