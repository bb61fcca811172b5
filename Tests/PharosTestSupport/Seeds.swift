import Foundation

/// The seeds of drawn tests: few in the suite, all of them in the long proofs (`Tests/deep --only seeds`).
public enum Seeds {
  /// How many fixed seeds the suite plays.
  private static let fixedCount = 3

  /// Whether all seeds are wanted: `PHAROS_SEEDS=all`.
  private static let areAllWanted = ProcessInfo.processInfo.environment["PHAROS_SEEDS"] == "all"

  /// The seed that this commit plays, so that each commit plays others: `PHAROS_SEED`, or the first digits of the commit's hash,
  /// or 1 where neither is at hand.
  public static let commit: UInt64 = {
    if let text = ProcessInfo.processInfo.environment["PHAROS_SEED"], let seed = UInt64(text) { return seed }
    return hash.flatMap { UInt64($0.prefix(12), radix: 16) } ?? 1
  }()

  /// Returns the seeds of a test that must pass for every seed: three of the range and the commit's.
  public static func drawn<Seed: FixedWidthInteger>(_ seeds: Range<Seed>) -> [Seed] {
    areAllWanted ? Array(seeds) : fixed(seeds) + [Seed(truncatingIfNeeded: commit & 0xFFFF_FFFF)]
  }

  /// Returns the seeds of a test that is statistical, so that a few of all seeds may fail it: three of the range.
  public static func fixed<Seed: FixedWidthInteger>(_ seeds: Range<Seed>) -> [Seed] {
    areAllWanted ? Array(seeds) : Array(seeds.prefix(fixedCount))
  }

  /// The commit's hash, as git keeps it beside the sources.
  private static var hash: String? {
    let git = SharedData.repository.appending(path: ".git")
    guard let head = try? String(contentsOf: git.appending(path: "HEAD"), encoding: .utf8) else { return nil }
    let text = head.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix("ref: ") else { return text }
    return try? String(contentsOf: git.appending(path: String(text.dropFirst(5))), encoding: .utf8)
  }
}
