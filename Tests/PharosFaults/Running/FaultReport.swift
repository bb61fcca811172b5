/// What a swarm says about itself, for people.
package enum FaultReport {
  /// The maximum number of failed seeds that are printed in full.
  private static let maximumFailures = 20

  /// The lines.
  package static func lines(_ summary: FaultSwarm.Summary, first: UInt64, plant: Plant?) -> [String] {
    var lines = [""]
    for outcome in summary.failures.prefix(maximumFailures) { lines += failure(outcome, plant) }
    if summary.failures.count > maximumFailures {
      lines.append("and \(summary.failures.count - maximumFailures) more seeds with violations")
    }
    lines += [
      "seeds              \(summary.seeds) from \(first)\(plant.map { " with the bug \($0.rawValue)" } ?? "")",
      "virtual time       \(Int(summary.seconds / 3_600)) h",
      "runs of a server   \(summary.runs)",
      "datagrams          \(summary.datagrams)",
      "events decided     \(summary.events)",
      "events published   \(summary.committed)",
      "",
      "fault              injected",
    ]
    for kind in FaultKind.allCases {
      lines.append(pad(kind.rawValue, 19) + "\(summary.faults[kind])")
    }
    lines += ["", "rule               seeds that broke it"]
    for rule in Violation.Rule.allCases {
      let count = summary.failures.count { outcome in outcome.violations.contains { $0.rule == rule } }
      lines.append(pad(rule.rawValue, 19) + "\(count)")
    }
    lines.append("")
    lines.append(verdict(summary, plant))
    return lines
  }

  private static func verdict(_ summary: FaultSwarm.Summary, _ plant: Plant?) -> String {
    guard let plant else {
      return summary.failures.isEmpty
        ? "no violation in \(summary.seeds) seeds"
        : "\(summary.failures.count) of \(summary.seeds) seeds with violations"
    }
    return summary.failures.isEmpty
      ? "the bug \(plant.rawValue) was NOT found in \(summary.seeds) seeds"
      : "the bug \(plant.rawValue) was found within \(summary.seeds) seeds"
  }

  private static func failure(_ outcome: FaultSimulation.Outcome, _ plant: Plant?) -> [String] {
    var lines = ["seed \(outcome.seed):"]
    for violation in outcome.violations.prefix(6) {
      lines.append("  \(violation.rule.rawValue) after \(Int(violation.time)) s: \(violation.text)")
    }
    if outcome.violations.count > 6 { lines.append("  and \(outcome.violations.count - 6) more") }
    let option = plant.map { " --plant \($0.rawValue)" } ?? ""
    lines.append(
      "  replay: PHAROS_BUILD=benchmarks swift run -c release faults --seed \(outcome.seed)\(option) --trace"
    )
    return lines
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
