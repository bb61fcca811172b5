import Foundation

extension RealGaps {
  /// The section of the report, for a terminal of so many columns.
  func lines(width: Int) -> [String] {
    var lines = ["Real gaps: walkers of the indoor traces, truly within 10 m of a beacon"]
    for part in parts {
      let minutes = part.rows.first?.minutes ?? 0
      lines.append("")
      lines.append(String(format: "%@, %.1f beacon-minutes", part.name, minutes))
      lines.append(
        RealGaps.columns([
          "rule", "false exits", "a minute", "doubtful", "mean delay", "fixed alike", "ratio",
        ])
      )
      for row in part.rows { lines.append(RealGaps.columns(row.cells)) }
    }
    lines.append("")
    for note in notes { lines += RealGaps.wrapped(note, width) }
    return lines
  }

  /// The targets that these rows decide: one for the default budget, one for all budgets together.
  ///
  /// Where neither we nor the fixed time-out with the same mean delay make a false exit, the walks are too few to tell:
  /// that is no target met.
  func targets() -> [TargetResult] {
    guard let part = parts.first else { return [] }
    let ours = part.rows.filter { $0.fixedFalseExits != nil }
    guard let standard = ours.first else { return [] }
    let committed = ours.filter(\.hasFalseExits)
    let missed = committed.filter { !$0.isWithinLimit }
    let worst = missed.map {
      String(format: "%d for %.1f (%@)", $0.falseExits, $0.fixedFalseExits ?? 0, $0.policy)
    }
    return [
      TargetResult(
        name: "real gaps, default budget: false exits against fixed of the same delay",
        limit: "<= 1/3",
        figure: standard.figure,
        isMet: standard.hasFalseExits ? standard.isWithinLimit : nil,
        miss: standard.hasFalseExits ? "" : "too few walks to tell"
      ),
      TargetResult(
        name: "real gaps, every budget that errs or whose fixed twin does",
        limit: "<= 1/3",
        figure: "\(committed.count - missed.count) of \(committed.count) budgets",
        isMet: committed.isEmpty ? nil : missed.isEmpty,
        miss: worst.joined(separator: "; ")
      ),
    ]
  }

  private static func columns(_ cells: [String]) -> String {
    let widths = [24, 12, 10, 10, 12, 13, 8]
    return zip(cells, widths).enumerated().map { index, entry in
      let space = String(repeating: " ", count: max(0, entry.1 - entry.0.count))
      return index == 0 ? entry.0 + space : space + entry.0
    }.joined()
  }

  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    var line = "*"
    for word in text.split(separator: " ") {
      if line.count + 1 + word.count > width {
        lines.append(line)
        line = " "
      }
      line += " " + word
    }
    return lines + [line]
  }
}

extension RealGaps.Row {
  /// Whether false exits were made at all, by us or by the fixed time-out with the same mean delay.
  fileprivate var hasFalseExits: Bool { falseExits > 0 || (fixedFalseExits ?? 0) > 0 }

  fileprivate var isWithinLimit: Bool { Double(falseExits) <= RealGaps.limit * (fixedFalseExits ?? 0) }

  fileprivate var figure: String {
    String(
      format: "%d against %.1f at %.0f s in %.0f minutes",
      falseExits,
      fixedFalseExits ?? 0,
      meanDelay,
      minutes
    )
  }

  fileprivate var cells: [String] {
    [
      policy, "\(falseExits)", String(format: "%.3f", rate), "\(doubtfulExits)",
      String(format: "%.1f s", meanDelay),
      fixedFalseExits.map { String(format: "%.1f", $0) } ?? "",
      ratio.map { String(format: "%.2f", $0) } ?? "",
    ]
  }
}
