#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import PharosPublishing

/// The file of a named monitor.
struct MonitorFile: MonitorStore {
  private let folder: URL
  private let file: URL

  /// Names the file; characters that a name of a file may not have are written in hexadecimal.
  init(_ name: String, in folder: String) {
    self.folder = URL(filePath: folder, directoryHint: .isDirectory)
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
    let text = name.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16) }
    file = self.folder.appending(path: text.joined() + ".monitor")
  }

  func load() throws -> [UInt8]? {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return [UInt8](try Data(contentsOf: file))
  }

  func store(_ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: file, options: .atomic)
  }
}
