import Foundation

/// The figures of a quick run, kept to see whether a change makes anything worse.
///
/// A run depends on its seed alone, so equal code gives equal figures. Better ones are no failure; they ask for a new
/// baseline, so that they are kept.
struct Baseline {
  /// What a figure is of; those with a unit are measures, the others are counts.
  struct Key: Hashable, Comparable {
    /// Scene and rule.
    var row: String
    var what: String

    /// Whether it counts something.
    var isCount: Bool { !what.contains(", ") }

    static func < (left: Key, right: Key) -> Bool { (left.row, left.what) < (right.row, right.what) }
  }

  /// Something that became worse.
  struct Regression {
    var name: String
    var before: Double
    var now: Double
    var allowed: Double
  }

  /// By how much a figure may become worse.
  private static let tolerance = 0.05
  /// What is too small to speak of: a twentieth of a second, or a thousandth of the time.
  private static let negligible = 0.05

  /// The figures by what they are of.
  private(set) var figures: [Key: Double] = [:]

  /// Takes our own rows of a run.
  init(_ results: Results) {
    for entry in results.tags + results.groups + results.outages {
      for row in entry.result.rows where row.policy.hasPrefix("Pharos") { record(entry.name, row) }
    }
    for entry in results.rooms {
      guard let tally = entry.result.rows.first?.tally else { continue }
      put(entry.name, "Pharos", "wrong room, %", tally.wrongShare * 100)
      put(entry.name, "Pharos", "not sure, %", tally.unsureShare * 100)
      put(entry.name, "Pharos", "room changes", Double(abs(tally.changes - tally.trueChanges)))
      putDelays(entry.name, "Pharos", "room change", tally.changeDelays)
      putDelays(entry.name, "Pharos", "first room", tally.firstDelays)
    }
  }

  /// What became worse than in an earlier run, of what both runs have.
  func regressions(since before: Baseline) -> [Regression] {
    var found: [Regression] = []
    var sums: [String: (before: Double, now: Double)] = [:]
    for (key, old) in before.figures.sorted(by: { $0.key < $1.key }) {
      guard let new = figures[key] else { continue }
      // One more than a few is chance; of none, one more is not.
      let slack = key.isCount ? 2 * old.squareRoot() : Baseline.negligible
      let allowed = old * (1 + Baseline.tolerance) + slack
      if new > allowed {
        found.append(
          Regression(name: "\(key.row): \(key.what)", before: old, now: new, allowed: allowed)
        )
      }
      if key.isCount {
        sums[key.what, default: (0, 0)].before += old
        sums[key.what, default: (0, 0)].now += new
      }
    }
    for (what, sum) in sums.sorted(by: { $0.key < $1.key }) {
      let allowed = sum.before * (1 + Baseline.tolerance) + sum.before.squareRoot()
      guard sum.now > allowed else { continue }
      found.append(
        Regression(name: "all scenes: \(what)", before: sum.before, now: sum.now, allowed: allowed)
      )
    }
    return found
  }

  /// How many figures became better by more than the tolerance.
  func improvements(since before: Baseline) -> Int {
    before.figures.reduce(0) { count, entry in
      guard let new = figures[entry.key] else { return count }
      let slack = entry.key.isCount ? 0.5 : Baseline.negligible
      return count + (new < entry.value * (1 - Baseline.tolerance) - slack ? 1 : 0)
    }
  }

  /// Reads one that was written.
  init(contentsOf path: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let rows = try JSONDecoder().decode([String: [String: Double]].self, from: data)
    for (row, figures) in rows {
      for (what, value) in figures { self.figures[Key(row: row, what: what)] = value }
    }
  }

  /// Writes it as JSON, a row of the table on a line, in order.
  func write(to path: String) throws {
    var rows: [String: [String: Double]] = [:]
    for (key, value) in figures { rows[key.row, default: [:]][key.what] = value }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let lines = try rows.sorted { $0.key < $1.key }.map { row, figures in
      let name = String(decoding: try encoder.encode(row), as: UTF8.self)
      return "  \(name): \(String(decoding: try encoder.encode(figures), as: UTF8.self))"
    }
    let file = URL(fileURLWithPath: path)
    let folder = file.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8).write(to: file)
  }

  private mutating func record(_ scene: String, _ row: PresenceResult.Row) {
    let tally = row.tally
    put(scene, row.policy, "false exits", Double(tally.falseExits))
    put(scene, row.policy, "false enters", Double(tally.ghostEnters))
    put(scene, row.policy, "departures not told", Double(tally.missedDepartures))
    put(scene, row.policy, "stays not noticed", Double(tally.missedStays))
    putDelays(scene, row.policy, "exit", tally.exitDelays)
    putDelays(scene, row.policy, "exit after an outage", tally.exitDelaysAfterOutage)
    putDelays(scene, row.policy, "enter", tally.enterDelays)
  }

  private mutating func putDelays(_ scene: String, _ policy: String, _ what: String, _ sorted: [Double]) {
    for (name, share) in [("p50", 0.5), ("p95", 0.95)] {
      guard let value = Statistics.quantile(share, of: sorted) else { continue }
      put(scene, policy, "\(what) \(name), s", value)
    }
  }

  private mutating func put(_ scene: String, _ policy: String, _ what: String, _ value: Double) {
    // A thousandth is all that a figure is read by, and what every machine writes alike.
    figures[Key(row: "\(scene) | \(policy)", what: what)] = (value * 1_000).rounded() / 1_000
  }
}
