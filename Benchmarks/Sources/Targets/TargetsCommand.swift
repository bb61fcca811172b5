import ArgumentParser
import Foundation

/// `targets`: every target of speed and memory with its figure, in one table.
@main
struct TargetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "targets",
    abstract: "Prints every target with its figure and whether it is met, or compares with the baseline.",
    discussion: """
      Builds and runs `throughput`, `scale`, `latency` and `pharos process`, gathers their figures, and prints one row \
      for each target. With --compare the suites run as well, and everything is compared with Baselines/; figures of \
      time are compared as ratios to two reference loops, so that another machine does not count as a change.
      """
  )

  @Flag(help: "A smoke test of two minutes: shows that all runs, and judges no time.")
  var quick = false

  @Flag(help: "Compare with the baseline, suites included; end with 1 if something is worse.")
  var compare = false

  @Flag(help: "Keep the present figures as the baseline, suites included.")
  var writeBaseline = false

  @Flag(help: "Print the table in Markdown, as the README shows it.")
  var markdown = false

  @Option(help: ArgumentHelp("Only what these programs measure.", valueName: "PROGRAM"))
  var only: [Source] = []

  @Option(help: ArgumentHelp("This `pharos` rather than one that is built.", valueName: "FILE"))
  var pharos: String?

  @Flag(help: "Take the programs as they were built, without building them again.")
  var built = false

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    guard quick, compare || writeBaseline else { return }
    throw ValidationError("--quick judges no time. Leave it out to compare or to write a baseline.")
  }

  func run() throws {
    let workshop = try Workshop(pharos: pharos, areBuilt: built)
    var report = TargetReport(isQuick: quick)
    for source in Source.allCases where isWanted(source) {
      workshop.say("\(source.rawValue) …")
      let before = MachineSpeed.measure()
      let figures = try source.figures(workshop, quick: quick)
      if source == .suites { report.suites = try SuiteRun(workshop).figures(quick: quick) }
      report.add(figures, from: source, at: before.quicker(MachineSpeed.measure()))
    }
    print(markdown ? report.markdown() : report.table())
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
    if writeBaseline {
      // What was left out keeps its place.
      let before = only.isEmpty ? nil : try? TargetReport(contentsOf: workshop.baseline)
      try report.filled(from: before).json().write(to: workshop.baseline)
    }
    guard compare else { return }
    let comparison = Comparison(try TargetReport(contentsOf: workshop.baseline), report)
    print(comparison.table())
    if comparison.hasRegressions { throw ExitCode.failure }
  }

  /// Whether a program is to be run: the suites have no row, so that only a comparison or a smoke test needs them.
  private func isWanted(_ source: Source) -> Bool {
    guard only.isEmpty else { return only.contains(source) }
    return source != .suites || quick || compare || writeBaseline
  }
}
