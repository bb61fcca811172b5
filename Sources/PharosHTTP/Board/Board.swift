package import PharosEvents
package import PharosReports

/// How many subjects stand where towards one region.
package struct StateCounts: Hashable, Sendable {
  package var inside = 0
  package var outside = 0
  package var unmonitored = 0

  package init() {}
}

/// The current states, rangings and fixes, as they were published: a value without locks and tasks.
///
/// A board takes published events only, so it never contradicts what clients received. States come from the journal's
/// rows at the start and after a gap, and from published events in between. Of rangings and fixes the board holds the
/// last ones only; it evicts the stalest when there are too many.
package struct Board: Sendable {
  /// What a ranging is about.
  struct RangingKey: Hashable, Sendable {
    var application: String
    var observer: ObserverID
    var constraint: BeaconConstraint
  }

  /// What was ranged last.
  struct RangingWord: Hashable, Sendable {
    var key: RangingKey
    var time: Timestamp
    var beacons: [RangedReading]
  }

  /// What one observer last ranged of one beacon, for whomever.
  struct Reading: Hashable, Sendable {
    var time: Timestamp
    var reading: RangedReading
  }

  /// How many fixes are kept: three times the 5,000 subjects that a core locates once a second.
  package static let mostFixes = 16_384
  /// How many rangings are kept: a thousand observers of four constraints each.
  static let mostRangings = 4_096

  /// Where subjects stand towards regions, and in which zones beacons are.
  package private(set) var told = LastTold()
  private var rangings: [RangingKey: RangingWord] = [:]
  private var lastFixes: [SubjectID: Event] = [:]

  package init() {}

  /// Starts from what the journal's rows say; rangings and fixes stay.
  mutating func reset(to told: LastTold) { self.told = told }

  /// Updates the board with a published event.
  package mutating func note(_ event: Event) {
    if event.kind == .fix { return note(fix: event) }
    guard case .ranging(let constraint, let beacons) = event.detail else {
      told.note(event)
      return
    }
    guard case .observer(let observer) = event.subject else { return }
    let key = RangingKey(application: event.application, observer: observer, constraint: constraint)
    if rangings[key] == nil, rangings.count >= Board.mostRangings { evict() }
    rangings[key] = RangingWord(key: key, time: event.time, beacons: beacons)
  }

  /// Removes the fixes and rangings of a subject; its states go when the journal's rows are read again.
  mutating func forget(_ traces: SubjectTraces) {
    lastFixes = lastFixes.filter { !traces.contains($0.key) }
    rangings = rangings.filter { key, word in
      !traces.contains(key.observer) && !word.beacons.contains { traces.contains($0.beacon) }
    }
  }

  /// The last fix of each subject, in no order.
  package var fixes: [Event] { Array(lastFixes.values) }

  /// The last fix of a subject, or nil if it has none or it gave way to others.
  package func fix(of subject: SubjectID) -> Event? { lastFixes[subject] }

  /// What was ranged last, by application, observer and constraint.
  var ranging: [RangingWord] {
    rangings.values.sorted { left, right in
      if left.key.application != right.key.application {
        return left.key.application < right.key.application
      }
      if left.key.observer != right.key.observer { return left.key.observer < right.key.observer }
      return left.key.constraint.description < right.key.constraint.description
    }
  }

  /// What an application's rangings last said of beacons at one observer.
  func readings(of application: String) -> [ObserverID: [BeaconID: Reading]] {
    var readings: [ObserverID: [BeaconID: Reading]] = [:]
    for word in rangings.values where word.key.application == application {
      for beacon in word.beacons {
        let known = readings[word.key.observer]?[beacon.beacon]
        guard known.map({ $0.time < word.time }) ?? true else { continue }
        readings[word.key.observer, default: [:]][beacon.beacon] = Reading(
          time: word.time,
          reading: beacon
        )
      }
    }
    return readings
  }

  /// The rows of one application, by region and subject.
  package func rows(of application: String) -> ArraySlice<LastTold.RegionWord> {
    let rows = told.regions
    let start = Board.first(in: rows) {
      !$0.application.utf8.lexicographicallyPrecedes(application.utf8)
    }
    let end = Board.first(in: rows) {
      application.utf8.lexicographicallyPrecedes($0.application.utf8)
    }
    return rows[start..<max(start, end)]
  }

  /// How many subjects stand where, by region.
  package func counts(of application: String, isShown: (SubjectID) -> Bool) -> [String: StateCounts] {
    var counts: [String: StateCounts] = [:]
    for word in rows(of: application) where isShown(word.subject) {
      switch word.state {
      case .inside: counts[word.region, default: StateCounts()].inside += 1
      case .outside: counts[word.region, default: StateCounts()].outside += 1
      case .unmonitored: counts[word.region, default: StateCounts()].unmonitored += 1
      case .unknown: break
      }
    }
    return counts
  }

  /// The first place in an array from which on a condition holds.
  private static func first(
    in rows: [LastTold.RegionWord],
    where holds: (LastTold.RegionWord) -> Bool
  ) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(rows[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private mutating func note(fix event: Event) {
    if lastFixes[event.subject] == nil, lastFixes.count >= Board.mostFixes {
      let stalest = lastFixes.values.sorted { $0.time < $1.time }.prefix(Board.mostFixes / 8)
      for fix in stalest { lastFixes[fix.subject] = nil }
    }
    lastFixes[event.subject] = event
  }

  private mutating func evict() {
    let stalest = rangings.values.sorted { $0.time < $1.time }.prefix(Board.mostRangings / 8)
    for word in stalest { rangings[word.key] = nil }
  }
}
