import Foundation

/// The whole page: scenes first, targets last.
struct QualityReport {
  let lines: [String]

  init(results: Results, scenes: [PresenceScene], targets: [TargetResult], gaps: RealGaps?, policy: String?) {
    var table = TableWriter(policy: policy)
    QualityReport.addScenes(results, scenes, to: &table)
    if let gaps {
      table.add()
      for line in gaps.lines(width: 118) { table.add(line) }
    }
    lines = table.lines + QualityReport.lines(of: targets)
  }

  private static func addScenes(_ results: Results, _ scenes: [PresenceScene], to table: inout TableWriter) {
    if !results.tags.isEmpty {
      table.section("Tags that come, stay and leave: interval, loss, motion")
      for entry in results.tags {
        let oracle = scenes.first { $0.name == entry.name }?.oracleSilence
        table.presence(entry, fixed: true, oracle: oracle)
      }
    }
    if !results.groups.isEmpty {
      table.section(
        "Groups that leave together, with two other transmitters and a heartbeat a second (1 s, 30 % lost)"
      )
      for entry in results.groups { table.presence(entry, fixed: false) }
    }
    if !results.outages.isEmpty {
      table.section("Observers out of order; 30 % lost in runs of 3")
      for entry in results.outages {
        let count = entry.result.outages.values.reduce(0, +)
        table.presence(entry, notes: "\(count) times", fixed: false)
        let after = entry.result.rows.first?.tally.exitDelaysAfterOutage ?? []
        guard !after.isEmpty else { continue }
        let p50 = TableWriter.seconds(Statistics.quantile(0.5, of: after))
        let p95 = TableWriter.seconds(Statistics.quantile(0.95, of: after))
        table.add("  \(after.count) left during it; reported after its end p50 \(p50) s, p95 \(p95) s")
      }
    }
    if !results.rooms.isEmpty {
      table.section("Rooms")
      for entry in results.rooms { table.rooms(entry) }
    }
  }

  /// The targets, a line each, and where one is missed a second line that says where.
  private static func lines(of targets: [TargetResult]) -> [String] {
    var lines = ["", "Targets", TableWriter.rule]
    for target in targets where target.figure != Targets.absent {
      let mark = target.isMet.map { $0 ? "met   " : "MISSED" } ?? "–     "
      lines.append("\(mark)  \(target.name)")
      lines += wrapped("asked \(target.limit); seen \(target.figure)")
      if !target.miss.isEmpty { lines += wrapped("missed: \(target.miss)") }
    }
    let met = targets.filter { $0.isMet == true }.count
    let judged = targets.filter { $0.isMet != nil }.count
    let absent = targets.filter { $0.figure == Targets.absent }.count
    let others = absent > 0 ? " \(absent) others are about scenes that are not in this run." : ""
    lines.append("\(met) of \(judged) targets met.\(others)")
    return lines
  }

  /// A sentence in lines of at most 120 columns, set in under its target.
  private static func wrapped(_ text: String) -> [String] {
    let margin = String(repeating: " ", count: 8)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
      if line.count + word.count > 119, line.count > margin.count {
        lines.append(line)
        line = margin + "  "
      }
      line += line.allSatisfy { $0 == " " } ? String(word) : " " + word
    }
    return lines + [line]
  }
}
