import CScaleMeter
import Foundation

/// How many adverts a second `pharos process` decides, and whether its memory grows with the file.
struct ProcessRate {
  /// By how much the larger capture is longer.
  private static let factor = 4
  /// How often each is processed; the middle of the times counts.
  private static let rounds = 3

  private let workshop: Workshop

  init(_ workshop: Workshop) { self.workshop = workshop }

  /// Makes two captures, processes both, and gives the figures.
  func figures(quick: Bool) throws -> [String: Double] {
    let pharos = try workshop.pharos()
    let seconds = quick ? 5 : 100
    let small = workshop.temporary("small.pharos")
    let large = workshop.temporary("large.pharos")
    defer { for file in [small, large] { try? FileManager.default.removeItem(at: file) } }
    _ = try SyntheticRecording(seconds: seconds).write(to: small)
    let adverts = try SyntheticRecording(seconds: seconds * ProcessRate.factor).write(to: large)
    let little = try measure(pharos, small, rounds: 1)
    let much = try measure(pharos, large, rounds: quick ? 1 : ProcessRate.rounds)
    return [
      "advertsPerSecond": Double(adverts) / (Double(much.cpu_nanoseconds) / 1e9),
      "memoryRatio": Double(much.peak_bytes) / Double(max(1, little.peak_bytes)),
      "peakMegabytes": Double(much.peak_bytes) / 1e6,
    ]
  }

  private func measure(_ pharos: URL, _ capture: URL, rounds: Int) throws -> scale_usage {
    let usages = try (0..<rounds).map { _ in try run(pharos, capture) }
    let byTime = usages.sorted { $0.cpu_nanoseconds < $1.cpu_nanoseconds }
    return scale_usage(
      cpu_nanoseconds: byTime[rounds / 2].cpu_nanoseconds,
      peak_bytes: usages.map(\.peak_bytes).max() ?? 0
    )
  }

  private func run(_ pharos: URL, _ capture: URL) throws -> scale_usage {
    let output = workshop.temporary("events.jsonl")
    let errors = workshop.temporary("errors.txt")
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    var usage = scale_usage()
    var arguments: [UnsafeMutablePointer<CChar>?] = []
    for argument in [pharos.path, "process", capture.path] { arguments.append(strdup(argument)) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    let status = scale_run(&arguments, output.path, errors.path, &usage)
    let said = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    guard status == 0 else {
      throw WorkshopFailure("`pharos process \(capture.path)` ended with \(status): \(said)")
    }
    let events = (try? Data(contentsOf: output, options: .alwaysMapped).count) ?? 0
    guard events > 0 else { throw WorkshopFailure("`pharos process` decided nothing: \(said)") }
    return usage
  }
}
