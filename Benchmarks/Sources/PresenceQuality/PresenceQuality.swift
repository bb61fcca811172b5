import ArgumentParser
import Foundation

/// `presence-quality`: how well presence and rooms are detected, by Pharos and by the rules that its peers use.
@main
struct PresenceQuality: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presence-quality",
    abstract: "Plays drills whose truth is known before Pharos and its peers' rules, and prints one table.",
    discussion:
      "Without options the full run: at least 100 subject-days a scene, under ten minutes on two cores."
  )

  @Flag(help: "A short run for continuous integration, compared with the committed baseline.")
  var quick = false

  @Option(help: "Only scenes whose name holds this.")
  var scene: String?

  @Option(help: "Only rows of rules whose name holds this.")
  var policy: String?

  @Option(help: "What chance starts from.")
  var seed: UInt64 = 1

  @Option(help: "How many days of presence each scene of tags has.")
  var days: Double?

  @Option(help: "Write all results, with every delay, to this file.")
  var json: String?

  @Flag(help: "Write the baseline instead of comparing with it; with --quick.")
  var writeBaseline = false

  @Option(help: "Where the baseline is.")
  var baseline: String = Self.baselinePath

  @Option(help: "Where the indoor traces are, for the real gaps.")
  var indoor: String = Self.indoorPath

  @Option(help: "How many scenes are played at once.")
  var workers: Int = ProcessInfo.processInfo.activeProcessorCount

  func validate() throws {
    if let days, !(days > 0 && days <= 10_000) {
      throw ValidationError("--days \(days): expected a number of days above 0 and up to 10000.")
    }
    if workers < 1 { throw ValidationError("--workers \(workers): expected 1 or more.") }
    if writeBaseline, !quick || scene != nil || seed != 1 || days != nil {
      throw ValidationError(
        "--write-baseline: the baseline is that of --quick with no other choice; leave them out."
      )
    }
  }

  func run() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let catalog = SceneCatalog(subjectDays: days ?? (quick ? 6 : 100), isQuick: quick)
    let presence = (catalog.tags + catalog.groups + catalog.outages).filter { isChosen($0.name) }
    let rooms = catalog.rooms.filter { isChosen($0.name) }
    let workload = Workload(presence: presence, rooms: rooms, seed: seed, workers: workers)
    let results = try await workload.run { done, all in
      FileHandle.standardError.write(Data("\r\(done) of \(all) parts".utf8))
    }
    FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    let gaps = isChosen("real gaps") ? realGaps(directory: indoor, isQuick: quick) : nil
    let targets = Targets(results, presence: presence, rooms: rooms, isQuick: quick)
    let all = targets.all + (gaps?.targets() ?? [])
    let report = QualityReport(results: results, scenes: presence, targets: all, gaps: gaps, policy: policy)
    print(report.lines.joined(separator: "\n"))
    let seconds = (clock.now - start).components
    print("\nSeed \(seed), \(seconds.seconds) s on \(workers) tasks.")
    if let json { try write(results, all, to: json) }
    try compareWithBaseline(results)
  }

  private func isChosen(_ name: String) -> Bool {
    scene.map { name.localizedCaseInsensitiveContains($0) } ?? true
  }

  private func compareWithBaseline(_ results: Results) throws {
    guard quick, seed == 1, days == nil else { return }
    let new = Baseline(results)
    if writeBaseline {
      try new.write(to: baseline)
      print("Baseline written: \(baseline).")
      return
    }
    guard FileManager.default.fileExists(atPath: baseline) else {
      print("No baseline at \(baseline): nothing to compare with. --quick --write-baseline writes one.")
      throw ExitCode.failure
    }
    let old = try Baseline(contentsOf: baseline)
    let worse = new.regressions(since: old)
    let better = new.improvements(since: old)
    if better > 0 { print("\(better) figures are better than the baseline; --write-baseline keeps them.") }
    guard !worse.isEmpty else {
      print("No figure is worse than the baseline by more than 5 %.")
      return
    }
    print("Worse than the baseline:")
    for figure in worse {
      let numbers = [figure.before, figure.now, figure.allowed].map { TableWriter.number($0, 2) }
      print("  \(figure.name): was \(numbers[0]), is \(numbers[1]), allowed \(numbers[2])")
    }
    throw ExitCode.failure
  }

  private func write(_ results: Results, _ targets: [TargetResult], to path: String) throws {
    struct Output: Encodable {
      let seed: UInt64
      let targets: [TargetResult]
      let results: Results
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let output = Output(seed: seed, targets: targets, results: results)
    try encoder.encode(output).write(to: URL(fileURLWithPath: path))
  }

  /// The folder of the benchmarks, as it was compiled.
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let baselinePath = folder.appendingPathComponent("Baselines/presence-quality.json").path
  private static let indoorPath = folder.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/indoor").path
}
