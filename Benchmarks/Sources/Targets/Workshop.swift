import Foundation

/// Where the programs are built and run.
struct Workshop {
  /// The repository.
  let repository: URL
  /// The file with the baseline of this command.
  var baseline: URL { repository.appending(path: "Benchmarks/Baselines/targets.json") }

  /// The folder of this program, and of all others once they are built.
  private let programs: URL
  /// The `pharos` to measure, or nil to build it.
  private let givenPharos: String?
  /// Whether the programs are taken as they were built.
  private let areBuilt: Bool

  /// Finds the repository: above this program, which lies in its build folder, or else the present folder.
  init(pharos: String?, areBuilt: Bool) throws {
    givenPharos = pharos
    self.areBuilt = areBuilt
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    programs = program.deletingLastPathComponent()
    var folder = programs
    while folder.path != "/", !folder.lastPathComponent.hasPrefix(".build") {
      folder.deleteLastPathComponent()
    }
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    let found = [folder.deletingLastPathComponent(), here].first {
      FileManager.default.fileExists(atPath: $0.appending(path: "Benchmarks/Sources/Targets").path)
    }
    guard let found else {
      throw WorkshopFailure("The repository was not found. Run this from its top folder.")
    }
    repository = found
  }

  /// Says what goes on, apart from the table on standard output.
  func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  /// Builds a product for release, unless all are built, and returns its path.
  func build(_ product: String) throws -> URL {
    let program = programs.appending(path: product)
    if areBuilt { return program }
    try execute(
      "swift",
      ["build", "-c", "release", "--package-path", repository.path, "--product", product, "--quiet"],
      environment: ["PHAROS_BUILD": "benchmarks"]
    )
    return program
  }

  /// The `pharos` to measure.
  func pharos() throws -> URL { try givenPharos.map { URL(fileURLWithPath: $0) } ?? build("pharos") }

  /// Builds one of our programs, runs it, and reads the figures of its JSON.
  func run(_ program: String, arguments: [String]) throws -> [String: Double] {
    let executable = try build(program)
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
