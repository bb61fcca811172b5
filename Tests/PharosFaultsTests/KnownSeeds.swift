import PharosFaults
import Testing

/// A seed that once found something.
struct FailedSeed: CustomTestStringConvertible {
  let seed: UInt64
  /// What it found.
  let found: String

  var testDescription: String { "\(seed): \(found)" }

  /// All of them; whoever mends what a seed has found adds it here.
  static let all: [FailedSeed] = [
    FailedSeed(
      seed: 18,
      found: "an observer's outage had the id of one before the restart: the wall clock was set back"
    ),
    FailedSeed(
      seed: 27,
      found: "steps of the clock had the ids of others: two starts from one checkpoint began at one R"
    ),
    FailedSeed(
      seed: 50,
      found: "an observer's restart was told twice under one id: counters began at the last word told"
    ),
    FailedSeed(
      seed: 116,
      found: "an exit lay 50 minutes ahead: its word had been told by a clock that was set since"
    ),
    FailedSeed(seed: 263, found: "an enter lay an hour ahead, for the same reason"),
  ]

  /// Seeds whose finds are not mended yet: each fails, and is moved up by whoever mends it.
  static let open: [FailedSeed] = [
    FailedSeed(
      seed: 300,
      found:
        "an observer that was out over a restart proves life with its first datagram, and its beacon leaves"
    ),
    FailedSeed(seed: 270, found: "a beacon that left around two kills stays inside for ever"),
  ]
}

/// A seed that finds a bug that is put in.
struct FoundPlant: CustomTestStringConvertible {
  let plant: Plant
  let seed: UInt64
  /// The rule that it breaks.
  let rule: Violation.Rule

  var testDescription: String { "\(plant.rawValue) with seed \(seed)" }

  /// One for each bug: the first that finds it.
  static let all: [FoundPlant] = [
    FoundPlant(plant: .exitsWithoutProofOfLife, seed: 6, rule: .exit),
    FoundPlant(plant: .checkpointWithoutEvents, seed: 0, rule: .ids),
    FoundPlant(plant: .downtimeIsSilence, seed: 0, rule: .ids),
    FoundPlant(plant: .resumeRepeats, seed: 0, rule: .subscriber),
    FoundPlant(plant: .resumeSkips, seed: 0, rule: .subscriber),
    FoundPlant(plant: .liesAboutCommits, seed: 3, rule: .order),
    FoundPlant(plant: .checkpointClaimsTooMuch, seed: 75, rule: .order),
    FoundPlant(plant: .refusedGroupDropped, seed: 3, rule: .quiet),
  ]
}
