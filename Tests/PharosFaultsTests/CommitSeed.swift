import Foundation

/// The seed that this commit plays first, so that each commit plays others.
enum CommitSeed {
  /// What `PHAROS_FAULT_SEED` says; else the first digits of the commit's hash; else 1.
  static let current: UInt64 = {
    if let text = ProcessInfo.processInfo.environment["PHAROS_FAULT_SEED"], let seed = UInt64(text) {
      return seed
    }
    return commit.flatMap { UInt64($0.prefix(12), radix: 16) } ?? 1
  }()

  /// The commit's hash, as git keeps it beside the sources.
  private static var commit: String? {
    var folder = URL(filePath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let git = folder.appending(path: ".git")
      guard let head = try? String(contentsOf: git.appending(path: "HEAD"), encoding: .utf8) else { continue }
      let text = head.trimmingCharacters(in: .whitespacesAndNewlines)
      guard text.hasPrefix("ref: ") else { return text }
      let branch = git.appending(path: String(text.dropFirst(5)))
      return try? String(contentsOf: branch, encoding: .utf8)
    }
    return nil
  }
}
