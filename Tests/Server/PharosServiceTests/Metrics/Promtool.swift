import Foundation

/// Prometheus' own checker, where it is installed.
enum Promtool {
  static let path = ["/usr/bin/promtool", "/usr/local/bin/promtool", "/opt/homebrew/bin/promtool"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs it to its end.
  static func run(_ arguments: [String], input: String = "") throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: path ?? "promtool")
    process.arguments = arguments
    let (source, sink) = (Pipe(), Pipe())
    process.standardInput = source
    process.standardOutput = sink
    process.standardError = sink
    try process.run()
    try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try source.fileHandleForWriting.close()
    let output = String(decoding: try sink.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
