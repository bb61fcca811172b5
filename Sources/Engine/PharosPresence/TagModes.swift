package import PharosDocuments
import PharosModel

/// The advertising intervals that a tag has shown: at rest, in motion, after its button was pressed.
///
/// Modes belong to the tag: they hold at every observer, and do not age as the counts of losses do. A gap that a mode explains
/// is no run of losses of a faster mode, whether the mode was declared, is remembered, or is found later.
package struct TagModes: Hashable, Sendable {
  /// The intervals in seconds, the slowest first; zeros stand for free places.
  private(set) var intervals = SIMD4<Float>.zero

  package init() {}

  /// The slowest interval in seconds, or 0 if none is known.
  package var slowest: Float { intervals[0] }

  package var isEmpty: Bool { intervals == .zero }

  /// Adds an interval; if there are four already, the fastest one is removed.
  package mutating func insert(_ interval: Float) {
    guard interval > 0, interval.isFinite, !contains(interval) else { return }
    var moving = interval
    for place in 0..<4 where intervals[place] < moving {
      let slower = moving
      moving = intervals[place]
      intervals[place] = slower
    }
  }

  /// Adds the intervals of another value.
  package mutating func formUnion(_ other: TagModes) {
    for place in 0..<4 { insert(other.intervals[place]) }
  }

  /// Returns true if an interval is one of the modes, as closely as intervals are learned.
  func contains(_ interval: Float) -> Bool { mode(near: interval) != nil }

  /// Returns the mode that an interval belongs to.
  func mode(near interval: Float) -> Float? {
    for place in 0..<4 where intervals[place] > 0 {
      let difference = (interval - intervals[place]).magnitude
      if difference <= intervals[place] * 0.1 + IntervalLearner.jitter { return intervals[place] }
    }
    return nil
  }

  /// Returns the mode that explains a gap of several intervals of a faster mode, or nil.
  ///
  /// That is the slowest one which a whole gap could have come from. Failing that, it is one that is slower than the gap by far:
  /// a tag that comes to rest sends its first advert in the new interval at any time within that.
  func explaining(_ gap: Float, beyond interval: Float) -> Explanation? {
    for place in 0..<4 where intervals[place] > interval * 1.5 && gap >= intervals[place] * 0.8 {
      return .whole(intervals[place])
    }
    return gap < slowest && gap > interval * IntervalLearner.modes ? .part : nil
  }

  /// The part that a mode has in a gap.
  enum Explanation: Hashable {
    /// The gap is one or more intervals of the mode.
    case whole(Float)
    /// The gap is shorter than an interval of the mode.
    case part
  }
}

/// The latest gaps that were much longer than the interval: a slower mode if some in a row are alike, otherwise losses.
struct LongGaps: Hashable, Sendable {
  static let capacity = 8
  /// The gaps in a row that make a mode of their length, where such gaps are rare, and where they are not.
  private static let agreeing: (UInt8, UInt8) = (3, 6)
  /// The share by which gaps of one interval may differ.
  private static let tolerance: Float = 0.04

  /// The gaps in seconds, the latest first; negative if they were not counted as losses.
  private var newer = SIMD4<Float>.zero
  private var older = SIMD4<Float>.zero
  /// The advert that ended the latest, in its lowest bits.
  private var advert: UInt8 = 0
  /// The number of the latest that came in a row and are alike.
  private var alike: UInt8 = 0

  private subscript(place: Int) -> Float { place < 4 ? newer[place] : older[place - 4] }

  /// Adds a gap.
  ///
  /// - Parameters:
  ///   - gap: the gap in seconds.
  ///   - received: the number of adverts received.
  ///   - isCounted: true if it is counted as a run of losses.
  ///   - longRuns: the number of long runs of losses.
  /// - Returns: true if it is the last of enough in a row that are alike.
  mutating func add(_ gap: Float, received: Float, isCounted: Bool, longRuns: Float) -> Bool {
    let place = UInt8(truncatingIfNeeded: UInt32(received))
    let latest = newer[0].magnitude
    let isAlike = (gap - latest).magnitude < latest * LongGaps.tolerance + IntervalLearner.jitter
    alike = latest > 0 && place &- advert <= 1 && isAlike ? min(alike + 1, UInt8.max - 1) : 1
    advert = place
    older = SIMD4(newer[3], older[0], older[1], older[2])
    newer = SIMD4(isCounted ? gap : -gap, newer[0], newer[1], newer[2])
    // Runs of this very length may be of the mode that is in question.
    var others = longRuns
    for place in 1..<LongGaps.capacity
    where self[place] > 0 && (self[place] - gap).magnitude < gap * LongGaps.tolerance {
      others -= 1
    }
    let isRare = others <= 1 + received / 128
    return alike >= (isRare ? LongGaps.agreeing.0 : LongGaps.agreeing.1)
  }

  /// Removes all gaps.
  ///
  /// - Returns: the lengths of those that were counted as losses and that a mode explains.
  mutating func removeAll(explainedBy mode: Float) -> [Float] {
    var explained: [Float] = []
    for place in 0..<LongGaps.capacity where self[place] > 0 {
      let multiple = max(1, (self[place] / mode).rounded())
      let distance = (self[place] - multiple * mode).magnitude
      if distance < mode * LongGaps.tolerance * multiple + IntervalLearner.jitter {
        explained.append(self[place])
      }
    }
    self = LongGaps()
    return explained
  }
}

/// The modes of one tag as an observer has just found them.
package struct FoundModes: Sendable {
  let beacon: BeaconID
  let modes: TagModes
  /// The time from which on other observers know them.
  let since: Timestamp
}

/// The modes of tags, as all observers have found them.
///
/// A track is removed an hour after its tag has left; what the tag does at rest is kept for its next visit, here or at another
/// observer. A mode is known a minute after it was found: engines that run side by side tell each other, and are never so far
/// apart, so that their number changes no event. When the table is full, the half that was found the longest time ago is
/// removed.
struct ModeTable: Sendable {
  /// The time after which a mode is known.
  static let delay = TimeSpan.minutes(1)
  /// The maximum number of tags, of some 80 bytes each.
  static let capacity = 65_536

  private struct Entry {
    var modes: [(interval: Float, since: Timestamp)] = []

    mutating func insert(_ interval: Float, since: Timestamp) {
      var one = TagModes()
      one.insert(interval)
      if let place = modes.firstIndex(where: { one.contains($0.interval) }) {
        modes[place].since = min(modes[place].since, since)
      } else {
        modes.append((interval, since))
        modes.sort { $0.interval > $1.interval }
        if modes.count > 4 { modes.removeLast() }
      }
    }
  }

  private var entries: [BeaconID: Entry] = [:]
  /// Indicates whether there are other engines to tell.
  var isShared = false
  /// What other engines do not know yet.
  private(set) var unpublished: [FoundModes] = []

  var isEmpty: Bool { entries.isEmpty }

  /// Returns the modes of a tag that are known at a time.
  func modes(of beacon: BeaconID, at time: Timestamp) -> TagModes? {
    guard let entry = entries[beacon] else { return nil }
    var known = TagModes()
    for mode in entry.modes where mode.since <= time { known.insert(mode.interval) }
    return known
  }

  /// Records the modes of a tag that an observer of this engine has found.
  mutating func insert(_ modes: TagModes, of beacon: BeaconID, at time: Timestamp) {
    let found = FoundModes(beacon: beacon, modes: modes, since: time + ModeTable.delay)
    insert(found)
    if isShared { unpublished.append(found) }
  }

  /// Records the modes of a tag that were found elsewhere.
  mutating func insert(_ found: FoundModes) {
    if entries.count >= ModeTable.capacity, entries[found.beacon] == nil { removeOlderHalf() }
    for place in 0..<4 where found.modes.intervals[place] > 0 {
      entries[found.beacon, default: Entry()].insert(found.modes.intervals[place], since: found.since)
    }
  }

  /// Takes out what other engines do not know yet.
  mutating func drainUnpublished() -> [FoundModes] {
    defer { unpublished.removeAll() }
    return unpublished
  }

  /// Removes the modes of the tags that a closure names.
  mutating func remove(where isRemoved: (BeaconID) -> Bool) {
    for beacon in entries.keys where isRemoved(beacon) { entries[beacon] = nil }
    unpublished.removeAll { isRemoved($0.beacon) }
  }

  private mutating func removeOlderHalf() {
    let times = entries.values.compactMap { $0.modes.map(\.since).max() }.sorted()
    guard !times.isEmpty else { return }
    let limit = times[times.count / 2]
    entries = entries.filter { entry in entry.value.modes.contains { $0.since > limit } }
  }
}

extension ModeTable: FieldParts {
  /// Hands the modes to a coder; a reader adds those that it reads.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let kept = Coder.isReader ? [] : entries.keys.sorted()
    var count = kept.count
    try coder.code(count: &count, ofAtLeast: 12)
    for place in 0..<count {
      let beacon = try coder.field(kept[place])
      var modes = Coder.isReader ? [] : entries[beacon]?.modes ?? []
      try coder.code(list: &modes, ofAtLeast: 12, into: (interval: 0, since: .distantPast)) {
        (mode, coder) throws(Coder.Failure) in
        try coder.code(amount: &mode.interval, "an interval of a mode")
        try coder.code(&mode.since)
      }
      try coder.check(modes.count <= 4, "modes")
      guard Coder.isReader else { continue }
      for mode in modes {
        var one = TagModes()
        one.insert(mode.interval)
        insert(FoundModes(beacon: beacon, modes: one, since: mode.since))
      }
    }
  }
}

extension TagModes: FieldParts {
  /// Hands the intervals to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    for place in 0..<4 { try coder.code(amount: &intervals[place], "an interval of a mode") }
    for place in 1..<4 { try coder.check(intervals[place] <= intervals[place - 1], "the order of modes") }
  }
}

extension LongGaps: FieldParts {
  /// Indicates whether there are none.
  var isEmpty: Bool { self == LongGaps() }

  /// Hands the gaps to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    for place in 0..<4 { try coder.code(&newer[place], in: -1e9...1e9, "a long gap") }
    for place in 0..<4 { try coder.code(&older[place], in: -1e9...1e9, "a long gap") }
    try coder.code(&advert)
    try coder.code(small: &alike, through: .max - 1, "long gaps")
  }
}
