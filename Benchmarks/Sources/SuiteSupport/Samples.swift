import Foundation

/// What one benchmark measured, sample by sample, for who compares runs.
///
/// The framework keeps histograms of its own for its tables; this is a line of JSON for each benchmark, appended to the file
/// that `PHAROS_BENCHMARKS_FILE` names.
struct Samples {
  /// A line of the file.
  private struct Line: Encodable {
    var name: String
    var median: Double
    var p90: Double
    var p99: Double
    var allocations: Double
  }

  private var times: [Int] = []
  private var allocations: [Int] = []

  /// Keeps a sample: picoseconds an item and allocations of a thousand items.
  mutating func add(time: Int, allocations count: Int) {
    times.append(time)
    allocations.append(count)
  }

  /// Appends the line of a benchmark, in nanoseconds and allocations an item, where a file is named.
  ///
  /// - Throws: what the file system says.
  mutating func write(name: String) throws {
    guard let path = ProcessInfo.processInfo.environment["PHAROS_BENCHMARKS_FILE"], !times.isEmpty else {
      return
    }
    times.sort()
    allocations.sort()
    let line = Line(
      name: name,
      median: quantile(0.5),
      p90: quantile(0.9),
      p99: quantile(0.99),
      allocations: Double(allocations[allocations.count / 2]) / 1_000
    )
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: JSONEncoder().encode(line) + Data("\n".utf8))
  }

  private func quantile(_ share: Double) -> Double {
    Double(times[min(times.count - 1, Int(share * Double(times.count)))]) / 1_000
  }
}
