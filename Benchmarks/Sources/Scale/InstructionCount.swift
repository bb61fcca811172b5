import Foundation

/// How many instructions an advert costs, counted by callgrind: a figure that the machine's load does not move.
///
/// The count is that of decoding and monitoring in the measured rounds, the warm-up left out.
struct InstructionCount {
  /// The size that is counted if none is asked for.
  static let usual = Shape(observers: 10, beacons: 100)
  /// How much more than the baseline is no worse.
  private static let tolerance = 0.03
  private static let baseline = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Baselines/instructions.json")

  let shape: Shape

  /// Counts, prints the figure, and throws if it is worse than the baseline or there is none to compare it with.
  func compare(writingBaseline: Bool) throws {
    let file = InstructionCount.baseline
    // A baseline that is damaged is an error; one that is not there yet is written.
    let isThere = FileManager.default.fileExists(atPath: file.path)
    var known = isThere ? try JSONDecoder().decode([String: Double].self, from: Data(contentsOf: file)) : [:]
    let count = try self.count().rounded()
    print("\(shape.size): \(Int(count)) instructions an advert, wire included")
    guard !writingBaseline else {
      known[shape.size] = count
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try (encoder.encode(known) + Data("\n".utf8)).write(to: file)
    }
    guard let before = known[shape.size] else {
      throw InstructionFailure(
        "\(file.path) has no count for \(shape.size). Keep this one with `scale --instructions --write-baseline`."
      )
    }
    print(String(format: "baseline %.0f (%+.1f %%)", before, (count / before - 1) * 100))
    guard count > before * (1 + InstructionCount.tolerance) else { return }
    throw InstructionFailure(
      """
      An advert costs over 3 % more instructions than \(file.path) says. Find what grew, or keep the new figure \
      with `scale --instructions --write-baseline` and say why in the commit.
      """
    )
  }

  private func count() throws -> Double {
    let folder = FileManager.default.temporaryDirectory.appending(path: "instructions-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Valgrind does not read the compiler's debug information.
    let program = folder.appending(path: "scale")
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    try run("strip", ["-g", "-o", program.path, own.path])
    let rows = folder.appending(path: "rows.json")
    let counts = folder.appending(path: "counts")
    try run(
      "valgrind",
      [
        "--tool=callgrind", "--callgrind-out-file=\(counts.path)", "--toggle-collect=*receiveMeasured*",
        program.path,
      ] + shape.options + ["--counted", "--without-naive", "--json", rows.path]
    )
    let report = try JSONDecoder().decode(ScaleReport.self, from: Data(contentsOf: rows))
    let lines = try String(contentsOf: counts, encoding: .utf8).split(separator: "\n")
    let total = lines.last { $0.hasPrefix("totals:") }?.split(separator: " ").last.flatMap { Double($0) }
    guard let total, total > 0, let adverts = report.rows.first?.adverts, adverts > 0 else {
      throw InstructionFailure("Callgrind counted nothing: its output has no total.")
    }
    return total / Double(adverts)
  }

  private func run(_ tool: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    // The secrets of hashes come from the standard library's seed: one seed makes one count.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) {
      $1
    }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw InstructionFailure(
        "`\(tool)` ended with \(process.terminationStatus). On Debian: apt install valgrind binutils"
      )
    }
  }
}

/// Why there is no count, or what is wrong with it.
struct InstructionFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
