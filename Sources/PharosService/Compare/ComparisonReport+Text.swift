import PharosReports

extension ComparisonReport {
  private static let presenceTable = TextTable([
    .init("RULE", width: 23), .init("ENTERS", width: 7, alignment: .right),
    .init("EXITS", width: 7, alignment: .right), .init("BACK 1 MIN", width: 10, alignment: .right),
    .init("BACK 10 MIN", width: 11, alignment: .right), .init("DELAY p50", width: 9, alignment: .right),
    .init("p95", width: 6, alignment: .right),
  ])
  private static let roomTable = TextTable([
    .init("RULE", width: 24), .init("ROOM CHANGES", width: 13, alignment: .right),
    .init("BACK 1 MIN", width: 11, alignment: .right),
  ])
  private static let worstTable = TextTable([
    .init("WHO FLAPS MOST", width: 18), .init("REGION", width: 12),
    .init("PHAROS", width: 7, alignment: .right), .init("YOURS", width: 7, alignment: .right),
    .init("WORST", width: 9, alignment: .right), .init("UNDER", width: 22),
  ])

  /// Everything for people, line by line, at most 80 columns wide.
  func lines(style: TerminalStyle = .plain) -> [String] {
    var lines = ComparisonReport.wrapped(headline)
    guard rowCount > 0 else { return lines }
    lines.append("")
    lines += ComparisonReport.wrapped("(\(basis))").map { style.paint($0, .gray) }
    lines.append("")
    if hasExits || isLongEnough {
      lines += presenceLines(style)
      if !rooms.isEmpty { lines += [""] + roomLines(style) }
    } else {
      lines.append("No rule had time to say that anybody left.")
    }
    let flapping = worst.filter { $0.flaps > 0 }
    if !flapping.isEmpty { lines += [""] + worstLines(flapping) }
    if !notes.isEmpty {
      lines.append("")
      for note in notes { lines += ComparisonReport.wrapped(note, indent: "  ", first: "- ") }
    }
    if !hints.isEmpty {
      lines += ["", "Next:"]
      for hint in hints { lines += ["  \(hint.reason)", "    \(hint.command)"] }
    }
    return lines
  }

  private func presenceLines(_ style: TerminalStyle) -> [String] {
    var lines = [ComparisonReport.presenceTable.header]
    for (index, rule) in presence.enumerated() {
      let line = ComparisonReport.presenceTable.line([
        rule.name, "\(rule.enters)", "\(rule.exits)", "\(rule.returnsWithinMinute)", "\(rule.returns)",
        rule.exits > 0 ? ComparisonReport.seconds(rule.delays.percentile(50)) : "",
        rule.exits > 0 ? ComparisonReport.seconds(rule.delays.percentile(95)) : "",
      ])
      lines.append(
        index == 0 ? style.paint(line, .green) : rule.returns > 0 ? style.paint(line, .yellow) : line
      )
    }
    lines.append(
      style.paint("BACK: exits that the rule took back. DELAY: from the last advert to the exit.", .gray)
    )
    return lines
  }

  private func roomLines(_ style: TerminalStyle) -> [String] {
    var lines = [ComparisonReport.roomTable.header]
    for (index, rule) in rooms.enumerated() {
      let line = ComparisonReport.roomTable.line([rule.name, "\(rule.changes)", "\(rule.returns)"])
      lines.append(index == 0 ? style.paint(line, .green) : line)
    }
    lines.append(style.paint("BACK: changes that led back to the room before within a minute.", .gray))
    return lines
  }

  private func worstLines(_ rows: [ComparedRow]) -> [String] {
    let names = EventTable(site: compared.site)
    var lines = [ComparisonReport.worstTable.header]
    for row in rows {
      let most = row.standings.map(\.returns).max() ?? 0
      let worst = row.standings.firstIndex { $0.returns == most } ?? 0
      lines.append(
        ComparisonReport.worstTable.line([
          names.name(of: row.subject), compared.hasOwnRegions ? row.region : "",
          ComparisonReport.share(row.standings[0]), ComparisonReport.share(row.standings[yourIndex]),
          ComparisonReport.share(row.standings[worst]), presence[worst].name,
        ])
      )
    }
    lines.append("Each: exits taken back within ten minutes / all exits.")
    return lines
  }

  private static func share(_ standing: ComparedRow.Standing) -> String {
    "\(standing.returns)/\(standing.exits)"
  }

  /// Prose in lines of at most 80 columns.
  static func wrapped(_ text: String, indent: String = "", first: String = "") -> [String] {
    var lines: [String] = []
    var line = first
    for word in words(of: text) {
      let isEmpty = line.isEmpty || line == indent || line == first
      if !isEmpty, line.count + 1 + word.count > TextTable.widest {
        lines.append(line)
        line = indent + word
      } else {
        line += isEmpty ? word : " \(word)"
      }
    }
    return lines + [line]
  }

  /// What may stand on lines of its own: words, a number with its unit being one.
  static func words(of text: String) -> [String] {
    let units: Set<Substring> = ["s", "ms", "min", "h", "days"]
    var words: [String] = []
    for word in text.split(separator: " ") {
      let bare = word.prefix { $0.isLetter }
      if units.contains(bare), let last = words.indices.last, words[last].last?.isNumber == true {
        words[last] += " \(word)"
      } else {
        words.append(String(word))
      }
    }
    return words
  }
}
