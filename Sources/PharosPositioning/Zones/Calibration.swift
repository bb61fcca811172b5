package import PharosModel

/// An observer's offset, learned from the tags that it hears together with others.
package struct Calibration: Hashable, Sendable {
  /// The observer.
  package var observer: ObserverID
  /// The correction to its levels, in addition to the offset that the site declares.
  ///
  /// - Units: dB.
  package var offset: Double
  /// The uncertainty of the offset.
  ///
  /// - Units: dB, one standard deviation.
  package var deviation: Double
  /// The number of other observers with which it was compared in both directions.
  package var pairs: Int
  /// The number of lessons that the comparisons are based on.
  package var lessons: Int
  /// Indicates whether the offset is large enough, compared with its uncertainty, to be used.
  package var isApplied: Bool
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
    /// The precision of the offset given the others: one divided by a variance.
    var precision = 0.0
  }

  /// The offsets by the observers' places in the plan.
  var entries: [Entry]
  var solvedAt: UInt64 = 0

  /// Starts with all offsets at zero.
  init(observers: Int) {
    entries = Array(repeating: Entry(deviation: ZoneRules.offsetDeviation), count: observers)
  }

  /// Returns the value that is added to an observer's levels.
  func applied(_ observer: Int) -> Double {
    entries[observer].isApplied ? entries[observer].offset : 0
  }

  /// Solves again once there are enough new lessons: frequently at first, rarely at a large site.
  mutating func refresh(_ gaps: LevelGaps) {
    let patience = UInt64(max(64, 4 * entries.count))
    guard gaps.lessons >= solvedAt &+ patience else { return }
    solvedAt = gaps.lessons
    let prior = 1 / (ZoneRules.offsetDeviation * ZoneRules.offsetDeviation)
    for _ in 0..<OffsetTable.sweeps {
      for observer in entries.indices { solve(observer, gaps, prior: prior) }
    }
    for index in entries.indices {
      let needed = ZoneRules.offsetSignificance * entries[index].deviation
      entries[index].isApplied = entries[index].pairs > 0 && abs(entries[index].offset) >= needed
    }
  }

  private static let sweeps = 12

  /// Computes one observer's offset from its prior and its pairs, given the offsets of the others.
  ///
  /// The deviation includes the uncertainty of each of the others without this pair, as in belief propagation.
  private mutating func solve(_ observer: Int, _ gaps: LevelGaps, prior: Double) {
    var (sum, weight, certain, lessons, pairs) = (0.0, prior, prior, 0.0, 0)
    for there in gaps.gaps[observer] where there.count >= LevelGaps.fewest {
      guard let back = gaps.gap(there.other, observer) else { continue }
      // Half of the difference of the gaps is what the one hears louder: so much must be taken off.
      let excess = (there.mean - back.mean) / 2
      // A stay gives several lessons of nearly one place: a quarter of them counts.
      let chance = there.variance / there.count + back.variance / back.count
      let variance = ZoneRules.geometryDeviation * ZoneRules.geometryDeviation + chance
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

/// The lessons from tags whose zone is certain: the amount by which the zone's observer hears them louder than others
/// do.
///
/// A running mean and variance for each ordered pair of observers. Each stay gives few lessons, and old lessons fade,
/// so neither a tag that lies still nor the past dominates. The levels are those of stage one, without the offsets
/// that are derived from these lessons, so that there is no feedback.
struct LevelGaps: Sendable {
  /// The amount by which one observer hears a beacon louder than another, while the beacon is in the first observer's
  /// zone.
  struct Gap: Sendable {
    /// The other observer's place in the plan.
    var other: Int
    /// The number of lessons, at most ``LevelGaps/memory``.
    var count = 0.0
    /// - Units: dB.
    var mean = 0.0
    /// - Units: dB².
    var variance = 0.0

    init(other: Int) { self.other = other }

    fileprivate mutating func add(_ gap: Double) {
      count = min(count + 1, LevelGaps.memory)
      let difference = gap - mean
      mean += difference / count
      variance += (difference * (gap - mean) - variance) / count
    }
  }

  /// The maximum number of other observers that are recorded for each observer, first come, first served.
  ///
  /// 16: more than the rooms around any room.
  static let mostOthers = 16
  /// The number of lessons over which a mean is taken.
  static let memory = 256.0
  /// The minimum number of lessons before a gap is used.
  static let fewest = 8.0

  /// The gaps of each observer.
  var gaps: [[Gap]]
  /// Counts all lessons.
  var lessons: UInt64 = 0

  /// Creates gaps for a number of observers, with nothing learned.
  init(observers: Int) { gaps = Array(repeating: [], count: observers) }

  /// Takes one lesson, unless there are too many others already.
  mutating func learn(_ observer: Int, _ other: Int, _ gap: Double) {
    var index = gaps[observer].firstIndex { $0.other == other } ?? gaps[observer].count
    if index == gaps[observer].count {
      guard index < LevelGaps.mostOthers else { return }
      gaps[observer].append(Gap(other: other))
      index = gaps[observer].count - 1
    }
    gaps[observer][index].add(gap)
    lessons &+= 1
  }

  /// Returns the gap of a pair, or nil if there are too few lessons.
  func gap(_ observer: Int, _ other: Int) -> Gap? {
    gaps[observer].first { $0.other == other && $0.count >= LevelGaps.fewest }
  }

  /// Returns the factor by which a pair of observers separates its zones better than assumed, from 0.5 to 2.
  ///
  /// The log-likelihood ratio of two normal distributions of one variance grows by separation ÷ variance for each dB.
  func sharpness(_ observer: Int, _ other: Int) -> Double {
    guard let there = gap(observer, other), let back = gap(other, observer) else { return 1 }
    let place = ZoneRules.placeDeviation * ZoneRules.placeDeviation
    let weight = min(there.count, back.count)
    let learned = weight / (weight + 2 * LevelGaps.fewest)
    let separation =
      ZoneRules.separation + learned * ((there.mean + back.mean) / 2 - ZoneRules.separation)
    let variance = place + learned * ((there.variance + back.variance) / 4 - place)
    let ratio = (separation / max(variance, place / 4)) / (ZoneRules.separation / place)
    return min(max(ratio, 0.5), 2)
  }
}

extension GapModel: FieldStruct {
  /// A value whose fields are still to be read.
  package static var unread: GapModel { GapModel() }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isKnown)
    try coder.code(finite: &beat)
    try coder.code(finite: &count)
    try coder.code(finite: &wait)
    try coder.code(finite: &square)
  }
}

extension LevelGaps.Gap: FieldStruct {
  /// A value whose fields are still to be read.
  static var unread: LevelGaps.Gap { LevelGaps.Gap(other: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &other)
    try coder.code(finite: &count)
    try coder.code(finite: &mean)
    try coder.code(finite: &variance)
  }
}

extension LevelGaps {
  /// Hands what was learned to a coder, each observer by its place in the plan.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(counter: &lessons)
    try coder.code(each: &gaps)
    for row in gaps {
      try coder.check(row.count <= LevelGaps.mostOthers, "the observers of a gap")
      for gap in row { try coder.check(gap.other < gaps.count, "an observer's place") }
    }
  }

  /// Returns the gaps for the observers of another plan, without those of observers that stand in no zone of it.
  func translated(by translation: PlanTranslation, observers: Int) -> LevelGaps {
    var translated = LevelGaps(observers: observers)
    translated.lessons = lessons
    for (old, row) in gaps.enumerated() {
      guard let new = translation.observers[old] else { continue }
      translated.gaps[new] = row.compactMap { gap in
        guard let other = translation.observers[gap.other] else { return nil }
        var copy = Gap(other: other)
        (copy.count, copy.mean, copy.variance) = (gap.count, gap.mean, gap.variance)
        return copy
      }
    }
    return translated
  }
}

extension OffsetTable {
  /// Hands the offsets to a coder, each observer by its place in the plan.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(counter: &solvedAt)
    try coder.code(each: &entries)
  }

  /// Returns the offsets for the observers of another plan.
  func translated(by translation: PlanTranslation, observers: Int) -> OffsetTable {
    var translated = OffsetTable(observers: observers)
    translated.solvedAt = solvedAt
    for (old, entry) in entries.enumerated() {
      if let new = translation.observers[old] { translated.entries[new] = entry }
    }
    return translated
  }
}

extension OffsetTable.Entry: FieldStruct {
  /// More lessons than an observer's pairs ever give.
  private static let mostLessons = 1e9

  /// A value whose fields are still to be read.
  static var unread: OffsetTable.Entry { OffsetTable.Entry(deviation: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(finite: &offset)
    try coder.code(finite: &deviation)
    try coder.code(finite: &lessons)
    lessons = min(max(0, lessons), OffsetTable.Entry.mostLessons)
    try coder.code(finite: &precision)
    try coder.code(place: &pairs)
    try coder.code(&isApplied)
  }
}
