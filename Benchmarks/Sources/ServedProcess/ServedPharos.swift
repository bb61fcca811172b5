package import Foundation

/// A `pharos serve` in a process of its own, as an operator runs it.
package final class ServedPharos {
  /// What is started.
  package struct Setup: Sendable {
    /// The program.
    package var pharos: URL
    /// The text of the site file; it says nothing of `listen.http`.
    package var site: String
    /// Where the site file, the data folder and the logs go; made if it is missing.
    package var folder: URL
    /// Where HTTP is served: a port of 127.0.0.1.
    package var http: UInt16
    /// Whether every request needs a token.
    package var requiresToken = false

    /// Makes a setup.
    package init(pharos: URL, site: String, folder: URL, http: UInt16) {
      self.pharos = pharos
      self.site = site
      self.folder = folder
      self.http = http
    }
  }

  /// How long a start may take: restoring a journal included, on a machine that does other things as well.
  private static let maximumStart: TimeInterval = 60

  private let setup: Setup
  private var process = Process()

  /// Starts it and waits until it listens.
  package init(_ setup: Setup) throws {
    self.setup = setup
    try FileManager.default.createDirectory(at: setup.folder, withIntermediateDirectories: true)
    try Data(setup.site.utf8).write(to: file("site.yaml"))
    for name in ["output", "log"] {
      _ = FileManager.default.createFile(atPath: file(name).path, contents: nil)
    }
    try start()
  }

  deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

  /// The process's number.
  package var processID: Int32 { process.processIdentifier }
  /// Whether it lives.
  package var isRunning: Bool { process.isRunning }
  /// What it has logged, in all its lives.
  package var log: String { (try? String(contentsOf: file("log"), encoding: .utf8)) ?? "" }

  /// Starts it again after an end.
  package func start() throws {
    process = Process()
    process.executableURL = setup.pharos
    process.arguments =
      [
        "serve", "--site", file("site.yaml").path, "--data", file("data").path, "--http",
        "127.0.0.1:\(setup.http)",
      ] + (setup.requiresToken ? ["--require-token"] : [])
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try appending("output")
    process.standardError = try appending("log")
    let before = try Data(contentsOf: file("log")).count
    try process.run()
    let deadline = Date(timeIntervalSinceNow: ServedPharos.maximumStart)
    while true {
      let said = try Data(contentsOf: file("log")).dropFirst(before)
      if String(decoding: said, as: UTF8.self).contains("is listening") { return }
      guard process.isRunning, Date() < deadline else {
        throw ServedProcessError("`pharos serve` does not start; it says:\n\(log.suffix(2_000))")
      }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  /// Ends it in order, by SIGTERM.
  package func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Ends it at once, by SIGKILL.
  package func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Runs another command of a `pharos` to its end and gives what it wrote.
  package static func run(_ pharos: URL, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = pharos
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ServedProcessError(
        "`pharos \(arguments.joined(separator: " "))` ends with \(process.terminationStatus)"
      )
    }
    return String(decoding: written, as: UTF8.self)
  }

  private func file(_ name: String) -> URL { setup.folder.appending(path: name) }

  private func appending(_ name: String) throws -> FileHandle {
    let handle = try FileHandle(forWritingTo: file(name))
    try handle.seekToEnd()
    return handle
  }
}

/// Why a measurement of a served process cannot go on.
package struct ServedProcessError: Error, CustomStringConvertible {
  /// What happened and what was expected.
  package let description: String

  /// Makes an error.
  package init(_ description: String) { self.description = description }
}
