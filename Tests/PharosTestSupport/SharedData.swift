package import Foundation

/// Captures, vectors and traces that others made: they lie beside the repository, never in it.
package enum SharedData {
  /// The root of the repository, found from where this file was compiled.
  package static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The folder, or nil on a machine without it; the absence is printed once.
  package static let folder: URL? = {
    let folder = repository.deletingLastPathComponent().appending(path: "shared/data")
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("skipped: tests on captures of others need the folder \(folder.path), which is absent")
      return nil
    }
    return folder
  }()

  /// Whether the folder is here: the condition of a test that needs it.
  package static var isPresent: Bool { folder != nil }

  /// The bytes of a file in the folder.
  package static func bytes(_ path: String) throws -> [UInt8] {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return Array(try Data(contentsOf: folder.appending(path: path)))
  }

  /// The objects of a file of JSON lines in the folder.
  package static func jsonLines(_ path: String) throws -> [[String: Any]] {
    try bytes(path).split(separator: UInt8(ascii: "\n")).map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
        throw CocoaError(.fileReadCorruptFile)
      }
      return object
    }
  }

  /// The names of the files in a subfolder that end as asked, sorted.
  package static func files(in subfolder: String, endingIn suffixes: [String]) -> [String] {
    guard let folder else { return [] }
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: subfolder).path)) ?? []
    return names.filter { name in suffixes.contains { name.hasSuffix($0) } }.sorted()
      .map { "\(subfolder)/\($0)" }
  }
}
