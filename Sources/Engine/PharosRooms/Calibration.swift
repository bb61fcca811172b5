package import PharosDocuments
package import PharosModel

/// An observer's offset, learned from the tags in the zones of other observers.
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
  /// The number of samples that the comparisons are based on.
  package var observations: Int
  /// Indicates whether the offset is large enough, compared with its uncertainty, to be used.
  package var isApplied: Bool

  /// Makes a value of its parts.
  package init(
    observer: ObserverID,
    offset: Double,
    deviation: Double,
    pairs: Int,
    observations: Int,
    isApplied: Bool
  ) {
    self.observer = observer
    self.offset = offset
    self.deviation = deviation
    self.pairs = pairs
    self.observations = observations
    self.isApplied = isApplied
  }
}

/// The offsets of all observers, estimated again whenever there are enough new samples.
///
/// The path from a place near the first of two observers to the second attenuates as much as the path back. So the
/// difference between the level at which the first hears the tags of the second's zone, and that at which the second
/// hears the tags of the first's, is the difference of the two offsets. It holds up to the places of the tags, which
/// more stays average out, and up to what differs between the two zones, which they do not. Together with a prior
/// around zero this is a ridge regression. Gauss–Seidel sweeps in the observers' order solve it.
package struct OffsetTable: Sendable {
  /// One observer's offset.
  package struct Entry: Sendable {
    package var offset = 0.0
    package var deviation: Double
    package var pairs = 0
    package var observations = 0.0
    package var isApplied = false
    /// The precision of the offset given the others: one divided by a variance.
    var precision = 0.0
  }

  /// The offsets by the observers' places in the plan.
  package var entries: [Entry]
  var solvedAt: UInt64 = 0

  /// Starts with all offsets at zero.
  init(observers: Int) {
    entries = Array(repeating: Entry(deviation: ZoneRules.offsetDeviation), count: observers)
  }

  /// Returns the value that is added to an observer's levels.
  package func applied(_ observer: Int) -> Double {
    entries[observer].isApplied ? entries[observer].offset : 0
  }

  /// Solves again once there are enough new samples: frequently at first, rarely at a large site.
  package mutating func refresh(_ stays: StayLevels) {
    let patience = UInt64(max(OffsetTable.patience, entries.count))
    guard stays.observations >= solvedAt &+ patience else { return }
    solvedAt = stays.observations
    let prior = 1 / (ZoneRules.offsetDeviation * ZoneRules.offsetDeviation)
    for _ in 0..<OffsetTable.sweeps {
      for observer in entries.indices { solve(observer, stays, prior: prior) }
    }
    for index in entries.indices {
      let needed = ZoneRules.offsetSignificance * entries[index].deviation
      entries[index].isApplied = entries[index].pairs > 0 && abs(entries[index].offset) >= needed
    }
  }

  /// The number of samples after which a small site solves again.
  private static let patience = 12
  private static let sweeps = 12

  /// Computes one observer's offset from its prior and its pairs, given the offsets of the others.
  ///
  /// The deviation includes the uncertainty of each of the others without this pair, as in belief propagation.
  private mutating func solve(_ observer: Int, _ stays: StayLevels, prior: Double) {
    let place = ZoneRules.placeDeviation * ZoneRules.placeDeviation
    var (sum, weight, certain, observations, pairs) = (0.0, prior, prior, 0.0, 0)
    for here in stays.rows[observer] {
      guard let there = stays.row(here.zone, from: observer) else { continue }
      // What the observer hears louder must be taken off.
      let excess = here.mean - there.mean
      let variance =
        ZoneRules.geometryDeviation * ZoneRules.geometryDeviation + place * (1 / here.count + 1 / there.count)
      sum += (entries[here.zone].offset - excess) / variance
      weight += 1 / variance
      let rest = max(prior, entries[here.zone].precision - 1 / variance)
      certain += 1 / (variance + 1 / rest)
      observations += min(here.count, there.count)
      pairs += 1
    }
    entries[observer].offset = sum / weight
    entries[observer].precision = weight
    entries[observer].deviation = (1 / certain).squareRoot()
    entries[observer].pairs = pairs
    entries[observer].observations = observations
  }
}

/// The levels at which each observer hears the tags that stay in the zones of others.
///
/// A running mean for each ordered pair of observers. A stay is one sample, however long it lasts, so a tag that lies
/// still has the same weight as one that is carried about. The levels are those of stage one, without the offsets that
/// are derived from these samples, so that there is no feedback.
package struct StayLevels: Sendable {
  /// The level at which one observer hears the tags in another observer's zone.
  struct Row: Sendable {
    /// The place in the plan of the observer in whose zone the tags are.
    var zone: Int
    /// The number of stays, at most ``StayLevels/memory``.
    var count = 0.0
    /// - Units: dBm, of a tag of usual power.
    var mean = 0.0
  }

  /// The level at which the tags of one family are heard in their own zones, which shows their power.
  struct Family: Sendable {
    /// The first bytes of the UUID or namespace that they share.
    var identifier: UInt64
    var count = 0.0
    /// - Units: dBm.
    var mean = 0.0
  }

  /// The maximum number of other observers that are recorded for each observer, first come, first served.
  ///
  /// 16: more than the rooms around any room.
  private static let maximumOthers = 16
  /// The maximum number of families whose power is learned; others count as of usual power.
  private static let maximumFamilies = 64
  /// The number of stays over which a mean is taken.
  fileprivate static let memory = 256.0
  /// The number of stays as which the assumption of usual power counts.
  ///
  /// 8: levels in a zone scatter by three times as much as powers of families differ.
  private static let powerPrior = 8.0

  /// The levels by the observer that hears them.
  var rows: [[Row]]
  var families: [Family] = []
  /// Counts all samples.
  var observations: UInt64 = 0

  /// Creates levels for a number of observers, with nothing learned.
  package init(observers: Int) { rows = Array(repeating: [], count: observers) }

  /// Returns the level at which an observer hears the tags in another's zone, or nil if nothing is known.
  func row(_ observer: Int, from zone: Int) -> Row? { rows[observer].first { $0.zone == zone } }

  /// Learns the power of a family from the level in the zone of one of its tags, and returns the excess over the usual.
  mutating func power(of family: UInt64, level: Double) -> Double {
    var index = families.firstIndex { $0.identifier == family } ?? families.count
    if index == families.count {
      guard index < StayLevels.maximumFamilies else { return 0 }
      families.append(Family(identifier: family))
      index = families.count - 1
    }
    families[index].count = min(families[index].count + 1, StayLevels.memory)
    families[index].mean += (level - families[index].mean) / families[index].count
    let stays = families.reduce(0) { $0 + $1.count }
    let usual = families.reduce(0) { $0 + $1.count * $1.mean } / stays
    let count = families[index].count
    return count / (count + StayLevels.powerPrior) * (families[index].mean - usual)
  }

  /// Takes the level at which an observer hears a tag that stays in another observer's zone.
  mutating func learn(_ observer: Int, in zone: Int, _ level: Double) {
    var index = rows[observer].firstIndex { $0.zone == zone } ?? rows[observer].count
    if index == rows[observer].count {
      guard index < StayLevels.maximumOthers else { return }
      rows[observer].append(Row(zone: zone))
      index = rows[observer].count - 1
    }
    rows[observer][index].count = min(rows[observer][index].count + 1, StayLevels.memory)
    rows[observer][index].mean += (level - rows[observer][index].mean) / rows[observer][index].count
    observations &+= 1
  }
}

extension GapModel: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&isKnown)
    try coder.code(finite: &beat)
    try coder.code(finite: &count)
    try coder.code(finite: &wait)
    try coder.code(finite: &square)
  }
}

extension StayLevels.Row: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(zone: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(place: &zone)
    try coder.code(finite: &count)
    try coder.code(finite: &mean)
    try coder.check(count >= 1 && count <= StayLevels.memory, "a number of stays")
  }
}

extension StayLevels.Family: FieldStruct {
  /// Makes a value whose fields are still to be read.
  init() { self.init(identifier: 0) }

  /// Hands each field to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&identifier)
    try coder.code(finite: &count)
    try coder.code(finite: &mean)
    try coder.check(count >= 1 && count <= StayLevels.memory, "a number of stays")
  }
}

extension StayLevels {
  /// Hands what was learned to a coder, each observer by its place in the plan.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(counter: &observations)
    try coder.code(each: &rows)
    for row in rows {
      try coder.check(row.count <= StayLevels.maximumOthers, "the observers of a level")
      for entry in row { try coder.check(entry.zone < rows.count, "an observer's place") }
    }
    try coder.code(&families)
    try coder.check(families.count <= StayLevels.maximumFamilies, "the families of tags")
  }

  /// Returns the levels for the observers of another plan, without those of observers that stand in no zone of it.
  package func translated(by translation: PlanTranslation, observers: Int) -> StayLevels {
    var translated = StayLevels(observers: observers)
    translated.observations = observations
    translated.families = families
    for (old, former) in rows.enumerated() {
      guard let new = translation.observers[old] else { continue }
      translated.rows[new] = former.compactMap { row in
        translation.observers[row.zone].map { Row(zone: $0, count: row.count, mean: row.mean) }
      }
    }
    return translated
  }
}

extension OffsetTable {
  /// Hands the offsets to a coder, each observer by its place in the plan.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(counter: &solvedAt)
    try coder.code(each: &entries)
  }

  /// Returns the offsets for the observers of another plan.
  package func translated(by translation: PlanTranslation, observers: Int) -> OffsetTable {
    var translated = OffsetTable(observers: observers)
    translated.solvedAt = solvedAt
    for (old, entry) in entries.enumerated() {
      if let new = translation.observers[old] { translated.entries[new] = entry }
    }
    return translated
  }
}

extension OffsetTable.Entry: FieldStruct {
  /// More samples than an observer's pairs ever give.
  private static let maximumObservations = 1e9

  /// Makes a value whose fields are still to be read.
  package init() { self.init(deviation: 0) }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(finite: &offset)
    try coder.code(finite: &deviation)
    try coder.code(finite: &observations)
    observations = min(max(0, observations), OffsetTable.Entry.maximumObservations)
    try coder.code(finite: &precision)
    try coder.code(place: &pairs)
    try coder.code(&isApplied)
  }
}
