package import PharosDocuments
package import PharosModel

/// The numbers of beacons in the zones that have thresholds, and the sides of the thresholds on which they are.
///
/// A number is compared once an instant is complete, so that one beacon that leaves and one that enters at the same
/// instant cross nothing. Beacons that are unmonitored in a zone count, and while an observer of the zone is down the
/// comparison waits: it cannot tell who comes and who leaves.
package struct ZoneOccupancy: Sendable {
  /// A threshold of a zone.
  private struct Watch: Sendable {
    var zone: String
    var threshold: OccupancyThreshold
    var isAbove = false
  }

  /// The thresholds, in the order of the site.
  private var watches: [Watch] = []
  /// The numbers of beacons; nil until they are counted again.
  private var counts: [String: Int]?
  /// Indicates whether a number has changed since it was compared.
  package private(set) var isChanged = false
  /// Counts the events.
  private var counter: UInt64 = 0

  package init(_ zones: [Zone]) { adopt(zones) }

  /// Indicates whether there is nothing to compare.
  var isIdle: Bool { watches.isEmpty }

  /// Applies the thresholds of an edited site; those that stay keep their side.
  package mutating func adopt(_ zones: [Zone]) {
    let former = watches
    watches = zones.flatMap { zone in
      zone.occupancy.map { threshold in
        let isAbove = former.first { $0.zone == zone.identifier && $0.threshold == threshold }?.isAbove
        return Watch(zone: zone.identifier, threshold: threshold, isAbove: isAbove ?? false)
      }
    }
    recount()
  }

  /// Has the beacons counted again before the next comparison.
  package mutating func recount() {
    counts = nil
    isChanged = !watches.isEmpty
  }

  /// Takes a beacon's change of zone.
  package mutating func move(from: String?, to: String?) {
    guard !watches.isEmpty else { return }
    if let from { counts?[from, default: 0] -= 1 }
    if let to { counts?[to, default: 0] += 1 }
    isChanged = true
  }

  /// Compares the numbers with the thresholds at the end of an instant.
  ///
  /// - Parameters:
  ///   - instant: The instant.
  ///   - stream: The name of the stream.
  ///   - waiting: The zones of which an observer is down.
  ///   - events: Receives an event for each threshold that was crossed.
  ///   - zones: The zone of each beacon that is in one, for a new count.
  package mutating func compare(
    at instant: Timestamp,
    stream: String,
    waiting: Set<String>,
    into events: inout [Event],
    zones: () -> [String]
  ) {
    guard isChanged else { return }
    isChanged = false
    let counts = counts ?? zones().reduce(into: [:]) { $0[$1, default: 0] += 1 }
    self.counts = counts
    for index in watches.indices {
      let (watch, count) = (watches[index], counts[watches[index].zone] ?? 0)
      let isCrossed = watch.isAbove ? count < watch.threshold.below : count > watch.threshold.above
      guard isCrossed, !waiting.contains(watch.zone) else { continue }
      watches[index].isAbove.toggle()
      counter += 1
      let transition = OccupancyTransition(
        direction: watches[index].isAbove ? .above : .below,
        count: count,
        threshold: watch.threshold
      )
      events.append(
        Event(
          stream: stream,
          kind: .zoneOccupancy,
          time: instant,
          decidedAt: instant,
          stage: 2,
          subject: .none,
          region: watch.zone,
          counter: counter,
          ordinal: counter,
          detail: .occupancy(transition)
        )
      )
    }
  }

  /// Resumes after a restart, with the sides that events have published since the state was written.
  package mutating func resume(_ published: [PublishedState.OccupancyRecord], floor: UInt64) {
    counter = max(counter, floor)
    for record in published {
      for index in watches.indices
      where watches[index].zone == record.zone && watches[index].threshold == record.transition.threshold {
        watches[index].isAbove = record.transition.direction == .above
      }
    }
    recount()
  }

  /// Hands the thresholds above which numbers are to a coder; a reader takes them over as far as the site still has them.
  package mutating func visitState<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(counter: &counter)
    var above = watches.filter(\.isAbove)
    let none = Watch(zone: "", threshold: OccupancyThreshold(above: 0, below: 0), isAbove: true)
    try coder.code(list: &above, ofAtLeast: 8, into: none) { (watch, coder) throws(Coder.Failure) in
      try coder.code(&watch.zone)
      try coder.code(&watch.threshold)
    }
    guard Coder.isReader else { return }
    for watch in above {
      for index in watches.indices
      where watches[index].zone == watch.zone && watches[index].threshold == watch.threshold {
        watches[index].isAbove = true
      }
    }
    recount()
  }

}
