import Foundation

/// All rows of a run, as they are printed and kept.
struct TargetReport: Codable {
  /// One row.
  struct Row: Codable {
    /// The target's name.
    var name: String
    /// What was measured, in the unit of the table; nil if it was not.
    var figure: Double?
    /// The unit of the table.
    var unit: String
    /// How far it should come.
    var goal: Double
    /// How the figure stands to that: 1 is just met, more is better; nil where the goal is none at all.
    var ratio: Double?
    /// Whether it is met; nil if it was not measured.
    var isMet: Bool?
    /// How quick the machine was.
    var machine: MachineSpeed?
  }

  /// Whether it was a smoke test.
  var isQuick: Bool
  /// One row for each target.
  private(set) var rows: [Row]
  /// What else the programs measured, by program and name.
  private(set) var figures: [String: [String: Double]] = [:]
  /// What the suites measured, by suite and benchmark.
  var suites: [String: SuiteFigure] = [:]

  /// Begins with nothing measured.
  init(isQuick: Bool) {
    self.isQuick = isQuick
    rows = Target.all.map { target in
      Row(name: target.name, unit: target.unit, goal: target.goal / target.scale)
    }
  }

  /// Reads one that was written.
  init(contentsOf url: URL) throws {
    do {
      self = try JSONDecoder().decode(TargetReport.self, from: Data(contentsOf: url))
    } catch {
      throw WorkshopFailure("\(url.path) holds no baseline (\(error)). Write one with --write-baseline.")
    }
  }

  /// Takes the figures of a program.
  mutating func add(_ found: [String: Double], from source: Source, at machine: MachineSpeed) {
    figures[source.rawValue] = found
    for (place, target) in Target.all.enumerated() where target.source == source {
      guard let value = found[target.figure] else { continue }
      rows[place].figure = value / target.scale
      rows[place].ratio = target.ratio(of: value)
      rows[place].isMet = target.isMet(by: value)
      rows[place].machine = machine
    }
  }

  /// The same with what another one has besides.
  func filled(from other: TargetReport?) -> TargetReport {
    guard let other else { return self }
    var sum = self
    for place in sum.rows.indices where sum.rows[place].figure == nil {
      sum.rows[place] = other.rows.first { $0.name == rows[place].name } ?? sum.rows[place]
    }
    sum.figures.merge(other.figures) { mine, _ in mine }
    if sum.suites.isEmpty { sum.suites = other.suites }
    return sum
  }

  /// The figures as JSON, in order of their names.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self) + Data("\n".utf8)
  }
}
