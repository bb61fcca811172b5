import Foundation

/// The seeds of drawn tests: few in the suite, all of them in the long proofs (`Tests/deep --only seeds`).
package enum Seeds {
  /// Whether all seeds are wanted: `PHAROS_SEEDS=all`.
  private static let areAllWanted = ProcessInfo.processInfo.environment["PHAROS_SEEDS"] == "all"

  /// The seed that this commit plays, so that each commit plays others: `PHAROS_SEED`, or the first digits of the commit's hash,
  /// or 1 where neither is at hand.
  package static let commit: UInt64 = {
    if let text = ProcessInfo.processInfo.environment["PHAROS_SEED"], let seed = UInt64(text) { return seed }
    return hash.flatMap { UInt64($0.prefix(12), radix: 16) } ?? 1
  }()

  /// The seeds of a test that must pass for every seed: the first of the range and 16 bits of the commit's.
  ///
  /// More than three are played where a seed also selects a variant.
  package static func drawn<Seed: FixedWidthInteger>(_ seeds: Range<Seed>, first count: Int = 3) -> [Seed] {
    areAllWanted ? Array(seeds) : fixed(seeds, first: count) + [Seed(truncatingIfNeeded: commit & 0xFFFF)]
  }

  /// The seeds of a statistical test, which a few of all seeds may fail: the first of the range.
  package static func fixed<Seed: FixedWidthInteger>(_ seeds: Range<Seed>, first count: Int = 3) -> [Seed] {
    areAllWanted ? Array(seeds) : Array(seeds.prefix(count))
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
