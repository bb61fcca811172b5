import Foundation
import PharosService
import PharosTools

/// A folder that is gone when the test is.
final class TemporaryFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "pharos-\(UUID())")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    return path(name)
  }

  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }
}

/// A console that keeps what is printed.
struct KeptConsole {
  let output = MemorySink()
  let errors = MemorySink()
  var console: Console { Console(output: output, errors: errors) }
}
