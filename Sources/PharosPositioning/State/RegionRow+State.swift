import PharosEvents
import PharosReports

extension RegionRow {
  /// Writes the row, its region by its place among the regions.
  func writeState(to writer: inout FieldWriter) {
    writer.write(place: region)
    writer.write(state.rawValue)
    writer.write(lastKnown.rawValue)
    writer.write(enteredAt)
    for time in [holdDeadline, assumptionDeadline, changedAt] { time.write(to: &writer) }
    patience.write(to: &writer)
    writer.write(counter)
    writer.write(isDirty)
    writer.write(farewell != nil)
    if let farewell {
      writer.write(farewell.observer)
      farewell.time.write(to: &writer)
      farewell.lastHeard.write(to: &writer)
      farewell.evidence.write(to: &writer)
    }
    writer.write(place: hearings.count)
    for hearing in hearings {
      hearing.observer.write(to: &writer)
      writer.write(hearing.isDark)
      writer.write(hearing.isAssumed)
      hearing.time.write(to: &writer)
      hearing.lastHeard.write(to: &writer)
      hearing.evidence.write(to: &writer)
    }
  }

  /// Reads a row of one of so many regions.
  init(restoring reader: inout FieldReader, regions: Int) throws(FieldError) {
    let region = try reader.place(below: regions)
    self.init(region: region, assuming: try reader.state(), since: .distantPast, counter: 0)
    lastKnown = try reader.state()
    enteredAt = try reader.optional(Timestamp.self)
    holdDeadline = try Timestamp(from: &reader)
    assumptionDeadline = try Timestamp(from: &reader)
    changedAt = try Timestamp(from: &reader)
    patience = max(RegionRow.leastPatience, try TimeSpan(from: &reader))
    counter = try reader.counter()
    isDirty = try reader.flag()
    if try reader.flag() {
      farewell = Farewell(
        observer: try reader.optional(ObserverID.self),
        time: try Timestamp(from: &reader),
        lastHeard: try Timestamp(from: &reader),
        evidence: try Evidence(from: &reader)
      )
    }
    let count = try reader.count(ofAtLeast: 8)
    for _ in 0..<count {
      hearings.append(
        Hearing(
          observer: try ObserverID(from: &reader),
          isDark: try reader.flag(),
          isAssumed: try reader.flag(),
          time: try Timestamp(from: &reader),
          lastHeard: try Timestamp(from: &reader),
          evidence: try Evidence(from: &reader)
        )
      )
    }
  }

  /// The same row under its region's place in another list, or nil if the region is gone.
  func translated(by places: [Int?]) -> RegionRow? {
    guard let place = places[region] else { return nil }
    var row = self
    row.region = place
    return row
  }

  /// Postpones the deadlines by the length of a downtime, which does not count towards them.
  mutating func resume(after downtime: TimeSpan) {
    if holdDeadline != .distantFuture { holdDeadline = holdDeadline + downtime }
    if assumptionDeadline != .distantFuture { assumptionDeadline = assumptionDeadline + downtime }
  }

  /// Restores the state from an event that is newer than everything else known of the row.
  ///
  /// If the event says that the beacon is inside and no observer is known to hear it, the observer of the event is
  /// assumed to hear it. The assumption ends when that observer has been up without hearing the beacon for the longest
  /// silence that the region's policy allows.
  mutating func take(_ word: LastTold.RegionWord, at instant: Timestamp, _ region: Region) {
    state = word.state
    lastKnown = word.lastKnown
    changedAt = max(changedAt, word.time)
    farewell = nil
    isDirty = false
    holdDeadline = .distantFuture
    assumptionDeadline = .distantFuture
    patience = max(RegionRow.leastPatience, region.presence.longestSilence)
    enteredAt = nil
    switch word.state {
    case .outside, .unknown:
      hearings.removeAll()
    case .inside:
      enteredAt = word.enteredAt ?? word.time
      // An assumption of before is no word of anybody's, and the time to refute it is over.
      hearings.removeAll { $0.isDark || $0.isAssumed }
      if hearings.isEmpty { assume(word, isDark: false, until: instant + patience) }
    case .unmonitored:
      enteredAt = word.enteredAt
      holdDeadline = instant + region.maximumHold
      for index in hearings.indices { hearings[index].isDark = true }
      if hearings.isEmpty { assume(word, isDark: true, until: .distantFuture) }
    }
  }

  /// An observer has no word of the beacon any more, since a restart has lost it: that it has the beacon inside is an assumption
  /// from here on, which it confirms by hearing the beacon, or refutes by its own silence once it is up.
  mutating func unsay(_ observer: ObserverID, at instant: Timestamp, _ region: Region) {
    guard let index = hearings.firstIndex(where: { $0.observer == observer }) else { return }
    hearings[index].isAssumed = true
    patience = max(RegionRow.leastPatience, region.presence.longestSilence)
    guard !hearings[index].isDark else { return }
    assumptionDeadline = instant + patience
  }

  /// Whether an observer that is down is assumed to have the beacon inside, and could refute that once it is up again.
  func awaits(_ observer: ObserverID) -> Bool {
    hearings.contains { $0.isAssumed && $0.isDark && $0.observer == observer }
  }

  private mutating func assume(_ word: LastTold.RegionWord, isDark: Bool, until deadline: Timestamp) {
    assumptionDeadline = deadline
    guard let observer = word.observer else { return }
    hearings = [
      Hearing(
        observer: observer,
        isDark: isDark,
        isAssumed: true,
        time: word.time,
        lastHeard: word.time,
        evidence: Evidence(rule: .assumed)
      )
    ]
  }
}

extension PresencePolicy {
  /// For how long a beacon that is there may be silent at most, whatever is learned about it.
  var longestSilence: TimeSpan {
    switch silence {
    case .adaptive: silenceCeiling
    case .fixed(let span): span
    case .never: .forever
    }
  }
}
