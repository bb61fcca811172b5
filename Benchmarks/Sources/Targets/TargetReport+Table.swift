import Foundation

extension TargetReport {
  /// The table for people.
  func table() -> String {
    var lines = [
      line("target", "figure", "wanted", "ratio", isQuick ? "not judged: a smoke test" : "")
    ]
    for (target, row) in zip(Target.all, rows) {
      let sign =
        switch target.aim {
        case .atLeast: "≥"
        case .atMost: "≤"
        }
      lines.append(
        line(
          target.title,
          row.figure.map { "\(TargetReport.text($0)) \(row.unit)" } ?? "-",
          "\(sign) \(TargetReport.text(row.goal)) \(row.unit)",
          row.ratio.map { String(format: "%.2f", $0) } ?? "-",
          isQuick ? "" : verdict(row)
        )
      )
    }
    if !suites.isEmpty { lines += ["", "\(suites.count) benchmarks of the suites ran."] }
    if let machine = rows.compactMap(\.machine).last {
      let text = "a step of the reference loops: %.2f ns computing, %.1f ns reading memory"
      lines.append(String(format: text, machine.computing, machine.memory))
    }
    return lines.joined(separator: "\n")
  }

  /// The table as the README shows it.
  func markdown() -> String {
    let lines = zip(Target.all, rows).map { target, row in
      let sign =
        switch target.aim {
        case .atLeast: "≥"
        case .atMost: "≤"
        }
      let figure = row.figure.map { "\(TargetReport.text($0)) \(row.unit)" } ?? "-"
      let ratio = row.ratio.map { String(format: "%.2f", $0) } ?? "-"
      let goal = "\(sign) \(TargetReport.text(row.goal)) \(row.unit)"
      return "| \(target.title) | \(figure) | \(goal) | \(ratio) | \(verdict(row)) |"
    }
    return (["| target | figure | wanted | ratio | |", "| --- | --- | --- | --- | --- |"] + lines)
      .joined(separator: "\n")
  }

  /// Whether a row is met, or by how much it is missed.
  private func verdict(_ row: Row) -> String {
    guard let isMet = row.isMet, let figure = row.figure else { return "not measured" }
    if isMet { return "met" }
    guard let ratio = row.ratio, ratio > 0 else { return "missed: \(TargetReport.text(figure))" }
    return String(format: "missed by a factor of %.2f", 1 / ratio)
  }

  private func line(_ columns: String...) -> String {
    let widths = [62, 18, 16, 8, 0]
    let padded = zip(columns, widths).enumerated().map { place, column in
      let gap = String(repeating: " ", count: max(0, column.1 - column.0.count))
      return place == 0 || place == 4 ? column.0 + gap : gap + column.0
    }
    return padded.joined(separator: "  ").replacing(/\s+$/, with: "")
  }

  /// Returns a number with at most three significant figures.
  static func text(_ value: Double) -> String {
    switch abs(value) {
    case 0: "0"
    case ..<0.01: String(format: "%.5f", value)
    case ..<10: String(format: "%.2f", value)
    case ..<100: String(format: "%.1f", value)
    default: String(format: "%.0f", value)
    }
  }
}
