import Foundation

/// Where the programs are built and run.
struct Workshop {
  /// The folder of the benchmarks' package.
  let package: URL
  /// Where the baseline of this command lies.
  var baseline: URL { package.appending(path: "Baselines/targets.json") }
  /// The repository.
  var repository: URL { package.deletingLastPathComponent() }

  /// The `pharos` to measure, or nil to build it.
  private let givenPharos: String?

  /// Finds the package: above this program, which lies in its build folder, or else where the command is run.
  init(pharos: String?) throws {
    givenPharos = pharos
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    var folder = program.deletingLastPathComponent()
    while folder.path != "/", folder.lastPathComponent != ".build" { folder.deleteLastPathComponent() }
    let candidates = [folder.deletingLastPathComponent(), here.appending(path: "Benchmarks"), here]
    let found = candidates.first {
      FileManager.default.fileExists(atPath: $0.appending(path: "Sources/Targets").path)
    }
    guard let found else {
      throw WorkshopFailure("The benchmarks' package was not found. Run this from the repository.")
    }
    package = found
  }

  /// Says what goes on, apart from the table on standard output.
  func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  /// Builds a product for release and says where it lies.
  func build(_ product: String, of package: URL) throws -> URL {
    let arguments = ["build", "-c", "release", "--package-path", package.path]
    try execute("swift", arguments + ["--product", product, "--quiet"])
    let folder = try execute("swift", arguments + ["--show-bin-path"])
    let path = String(decoding: folder, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return URL(fileURLWithPath: path).appending(path: product)
  }

  /// The `pharos` to measure.
  func pharos() throws -> URL {
    try givenPharos.map { URL(fileURLWithPath: $0) } ?? build("pharos", of: repository)
  }

  /// Builds one of our programs, runs it, and reads the figures of its JSON.
  func run(_ program: String, arguments: [String]) throws -> [String: Double] {
    let executable = try build(program, of: package)
    let file = temporary("\(program).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let output = try execute(executable.path, arguments + ["--json", file.path])
    FileHandle.standardError.write(output)
    return try JSONDecoder().decode(Figures.self, from: Data(contentsOf: file)).figures
  }

  /// A place for a file that is removed after use.
  func temporary(_ name: String) -> URL {
    FileManager.default.temporaryDirectory.appending(path: "pharos-\(UUID())-\(name)")
  }

  /// Runs a program to its end and gives what it wrote.
  @discardableResult
  func execute(
    _ program: String,
    _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      FileHandle.standardError.write(written)
      let command = ([program] + arguments).joined(separator: " ")
      throw WorkshopFailure(
        "`\(command)` ended with \(process.terminationStatus); what it said stands above."
      )
    }
    return written
  }

  /// What every program's JSON holds beside its own rows.
  private struct Figures: Decodable {
    var figures: [String: Double]
  }
}

/// Something could not be built or run.
struct WorkshopFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
