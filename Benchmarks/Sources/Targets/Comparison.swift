import Foundation

/// A run beside the baseline, figure by figure.
struct Comparison {
  /// A figure in both runs.
  struct Line {
    /// What it is of.
    var title: String
    /// What it was, in its own unit.
    var before: Double
    /// What it is.
    var now: Double
    /// How much worse it is, the machines' speeds taken out: 1 is the same, 2 is twice as bad.
    var change: Double
    /// How much worse it may be.
    var allowed: Double

    var isWorse: Bool { change > allowed }
    var isBetter: Bool { change < 1 / allowed }
  }

  /// How much worse a figure may be before it counts: what runs of the same program differ by.
  private enum Tolerance {
    /// Counts, bytes and ratios that were measured side by side.
    static let plain = 1.10
    /// Times and rates, by the reference loop that excuses them more.
    static let time = 1.25
    /// The slowest of many, on a machine that others use.
    static let tail = 2.0
    /// Below this a suite's allocation count is none: one in two hundred items.
    static let allocations = 0.005
  }

  /// What is in both.
  private(set) var lines: [Line] = []
  /// What only the baseline has.
  private(set) var missing: [String] = []

  init(_ before: TargetReport, _ now: TargetReport) {
    for target in Target.all {
      let rows = [before, now].map { report in report.rows.first { $0.name == target.name } }
      guard let old = rows[0]?.figure else { continue }
      guard let new = rows[1]?.figure else {
        // A program that was left out on purpose misses nothing.
        if now.figures[target.source.rawValue] != nil { missing.append(target.title) }
        continue
      }
      add(target, old, new, slower: Comparison.slower(rows[0]?.machine, rows[1]?.machine))
    }
    guard !now.suites.isEmpty else { return }
    for (name, old) in before.suites.sorted(by: { $0.key < $1.key }) {
      guard let new = now.suites[name] else {
        missing.append(name)
        continue
      }
      add(name, old, new)
    }
  }

  /// Whether something is worse than it may be, or was not measured.
  var hasRegressions: Bool { !missing.isEmpty || lines.contains(where: \.isWorse) }

  private mutating func add(_ target: Target, _ old: Double, _ new: Double, slower: Double) {
    let (excuse, allowed) =
      switch target.kind {
      case .plain: (1.0, Tolerance.plain)
      case .time, .rate: (max(1, slower), Tolerance.time)
      case .tail: (max(1, slower), Tolerance.tail)
      }
    let change =
      switch target.aim {
      case .atLeast: old / new / excuse
      // Where next to nothing became a little more, the goal is the measure.
      case .atMost(let maximum):
        max(new, maximum / target.scale / 10) / max(old, maximum / target.scale / 10) / excuse
      }
    lines.append(Line(title: target.title, before: old, now: new, change: change, allowed: allowed))
  }

  private mutating func add(_ name: String, _ old: SuiteFigure, _ new: SuiteFigure) {
    let change = min(
      new.perComputingStep / old.perComputingStep,
      new.perMemoryStep / old.perMemoryStep
    )
    lines.append(
      Line(title: name, before: old.median, now: new.median, change: change, allowed: Tolerance.time)
    )
    guard new.allocations > Tolerance.allocations, new.allocations > old.allocations else { return }
    let before = max(old.allocations, Tolerance.allocations)
    lines.append(
      Line(
        title: "\(name): allocations",
        before: old.allocations,
        now: new.allocations,
        change: new.allocations / before,
        allowed: Tolerance.plain
      )
    )
  }

  /// The table for people: what is worse stands out.
  func table() -> String {
    var text = [
      "", "beside the baseline (change: 1 is the same, more is worse; the machine's speed is taken out)",
    ]
    for line in lines {
      let verdict = line.isWorse ? "WORSE" : line.isBetter ? "better" : ""
      let figures = [line.before, line.now].map {
        Comparison.column(TargetReport.text($0), 12, leading: true)
      }
      let title = Comparison.column(line.title, 72, leading: false)
      text.append(
        "\(title) \(figures.joined(separator: " "))   × \(String(format: "%.2f", line.change))  \(verdict)"
      )
    }
    text += missing.map { "\($0): in the baseline, but not measured" }
    text.append(
      hasRegressions
        ? "Something is worse than the baseline."
        : "Nothing is worse than the baseline. What is better asks for a new one: --write-baseline."
    )
    return text.joined(separator: "\n")
  }

  /// By how much the machine was slower, by the loop that shows it more.
  private static func slower(_ before: MachineSpeed?, _ now: MachineSpeed?) -> Double {
    guard let before, let now else { return 1 }
    return max(now.computing / before.computing, now.memory / before.memory)
  }

  private static func column(_ text: String, _ width: Int, leading: Bool) -> String {
    let gap = String(repeating: " ", count: max(0, width - text.count))
    return leading ? gap + text : text + gap
  }
}
