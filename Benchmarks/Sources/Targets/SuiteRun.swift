import Foundation

/// Runs the suites and reads what they measured.
struct SuiteRun {
  /// The suites, by the names of their targets.
  private static let suites = [
    "DecodeSuite", "WireSuite", "TableSuite", "EngineSuite", "RangingSuite", "PublishingSuite",
    "CapturesSuite",
  ]

  private let workshop: Workshop

  init(_ workshop: Workshop) { self.workshop = workshop }

  /// Runs them and gives the figure of each benchmark by suite and name; none of a quick run, which only shows that all run.
  func figures(quick: Bool) throws -> [String: SuiteFigure] {
    var figures: [String: SuiteFigure] = [:]
    for suite in SuiteRun.suites {
      let program = try workshop.build(suite)
      let file = workshop.temporary("\(suite).jsonl")
      defer { try? FileManager.default.removeItem(at: file) }
      var environment = ["PHAROS_BENCHMARKS_FILE": file.path]
      if quick { environment["PHAROS_BENCHMARKS"] = "quick" }
      try workshop.execute(program.path, ["--quiet", "true"], environment: environment)
      let lines = try read(file)
      if quick { continue }
      figures.merge(compare(lines, of: suite)) { $1 }
    }
    return figures
  }

  /// A benchmark as its suite wrote it; times in nanoseconds an item.
  private struct Line: Decodable {
    var name: String
    var median: Double
    var p90: Double
    var p99: Double
    var allocations: Double

    /// Whether it is one of the two loops that all others are compared with.
    var isReference: Bool { name.hasPrefix("reference: ") }
  }

  private func read(_ file: URL) throws -> [Line] {
    let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Line.self, from: $0)
    }
    guard lines.contains(where: { !$0.isReference }) else {
      throw WorkshopFailure("\(file.lastPathComponent): the suite ran no benchmark of its own.")
    }
    return lines
  }

  private func compare(_ lines: [Line], of suite: String) -> [String: SuiteFigure] {
    let step = { (name: String) in lines.first { $0.name == "reference: \(name), a step" }?.median ?? .nan }
    let (computing, memory) = (step("computing"), step("memory"))
    var figures: [String: SuiteFigure] = [:]
    for line in lines where !line.isReference {
      figures["\(suite): \(line.name)"] = SuiteFigure(
        median: line.median,
        p90: line.p90,
        p99: line.p99,
        allocations: line.allocations,
        perComputingStep: line.median / computing,
        perMemoryStep: line.median / memory
      )
    }
    return figures
  }
}
