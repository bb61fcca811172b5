package import PharosReports

/// An observer's offset as it was found from the tags that it hears together with others.
package struct Calibration: Hashable, Sendable {
  /// The observer.
  package var observer: ObserverID
  /// What would have to be added to its levels, beyond what the site declares.
  ///
  /// - Units: dB.
  package var offset: Double
  /// The uncertainty of the offset.
  ///
  /// - Units: dB, one standard deviation.
  package var deviation: Double
  /// With how many other observers it was compared, both ways.
  package var pairs: Int
  /// How many lessons the comparisons are made of.
  package var lessons: Int
  /// Whether the offset is large enough, against its uncertainty, to be used.
  package var isApplied: Bool

  /// Makes a calibration.
  package init(
    observer: ObserverID,
    offset: Double,
    deviation: Double,
    pairs: Int,
    lessons: Int,
    isApplied: Bool
  ) {
    self.observer = observer
    self.offset = offset
    self.deviation = deviation
    self.pairs = pairs
    self.lessons = lessons
    self.isApplied = isApplied
  }
}

/// The offsets of all observers, estimated again whenever enough new lessons have been learned.
///
/// Two observers whose zones have both held a resting tag give one equation: the lead of the first observer in its own
/// zone minus the lead of the second in its own is twice the difference in how loud the two hear the same signal. The
/// equation holds up to the geometry, which may differ from zone to zone. That error is treated as noise that further
/// pairs reduce and further tags do not. Together with a prior around zero this is a ridge regression. Gauss–Seidel
/// sweeps in the observers' order solve it.
struct OffsetTable: Sendable {
  /// One observer's offset.
  struct Entry: Sendable {
    var offset = 0.0
    var deviation: Double
    var pairs = 0
    var lessons = 0.0
    var isApplied = false
    /// What is known of it, the others being what they are: one over a variance.
    var precision = 0.0
  }

  /// The offsets by the observers' places in the plan.
  var entries: [Entry]
  var solvedAt: UInt64 = 0

  /// Starts with all offsets at zero.
  init(observers: Int, _ rules: ZoneRules) {
    entries = Array(repeating: Entry(deviation: rules.offsetDeviation), count: observers)
  }

  /// What is added to an observer's levels.
  func applied(_ observer: Int) -> Double {
    entries[observer].isApplied ? entries[observer].offset : 0
  }

  /// Solves again once there are enough new lessons; often enough at first, rarely at a large site.
  mutating func refresh(_ gaps: LevelGaps, _ rules: ZoneRules) {
    let patience = UInt64(max(64, 4 * entries.count))
    guard gaps.lessons >= solvedAt &+ patience else { return }
    solvedAt = gaps.lessons
    let prior = 1 / (rules.offsetDeviation * rules.offsetDeviation)
    for _ in 0..<OffsetTable.sweeps {
      for observer in entries.indices { solve(observer, gaps, prior: prior, rules) }
    }
    for index in entries.indices {
      let needed = rules.offsetSignificance * entries[index].deviation
      entries[index].isApplied = entries[index].pairs > 0 && abs(entries[index].offset) >= needed
    }
  }

  private static let sweeps = 12

  /// Draws one observer's offset from its prior and its pairs, the others' being what they are.
  ///
  /// The deviation takes in how uncertain each of the others is without this pair, as belief propagation does.
  private mutating func solve(_ observer: Int, _ gaps: LevelGaps, prior: Double, _ rules: ZoneRules) {
    var (sum, weight, certain, lessons, pairs) = (0.0, prior, prior, 0.0, 0)
    for there in gaps.gaps[observer] where there.count >= LevelGaps.fewest {
      guard let back = gaps.gap(there.other, observer) else { continue }
      // Half of the difference of the gaps is what the one hears louder: so much must be taken off.
      let excess = (there.mean - back.mean) / 2
      // A stay gives several lessons of nearly one place: a quarter of them counts.
      let chance = there.variance / there.count + back.variance / back.count
      let variance = rules.geometryDeviation * rules.geometryDeviation + chance
      sum += (entries[there.other].offset - excess) / variance
      weight += 1 / variance
      let rest = max(prior, entries[there.other].precision - 1 / variance)
      certain += 1 / (variance + 1 / rest)
      lessons += min(there.count, back.count)
      pairs += 1
    }
    entries[observer].offset = sum / weight
    entries[observer].precision = weight
    entries[observer].deviation = (1 / certain).squareRoot()
    entries[observer].pairs = pairs
    entries[observer].lessons = lessons
  }
}
