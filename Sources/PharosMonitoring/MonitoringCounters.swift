/// What stage one has counted since it started; counts only grow, except ``tracks`` and ``observers``.
package struct MonitoringCounters: Hashable, Sendable {
  /// Reports of any sort.
  package var reports: UInt64 = 0
  /// Adverts and ranged beacons.
  package var adverts: UInt64 = 0
  /// Adverts that carried an identity that somebody asks about.
  package var matched: UInt64 = 0
  /// Adverts that match no region, ranging request or zone.
  package var unmatched: UInt64 = 0
  /// Reports whose event time lay more than the observer's lag before their receive time.
  package var late: UInt64 = 0
  /// Adverts that joined the sample before them: other channels, scan responses, auxiliary PDUs.
  package var joined: UInt64 = 0
  /// Adverts without a level.
  package var withoutLevel: UInt64 = 0
  /// Reports whose receive time lay before that of an earlier input, and was moved to it.
  package var backwards: UInt64 = 0
  /// Datagrams that never came, by their sequence numbers.
  package var sequenceGaps: UInt64 = 0
  /// Datagrams whose sequence number was already received, is too old to check, or was not counted as missing.
  package var sequenceRepeats: UInt64 = 0
  /// Restarts of observers, by their boot ids.
  package var restarts: UInt64 = 0
  /// Datagrams of a boot that a later one had already replaced.
  package var staleBoots: UInt64 = 0
  /// Outages of observers.
  package var outages: UInt64 = 0
  /// Tracks that gave way to others.
  package var trackEvictions: UInt64 = 0
  /// Observers that gave way to others.
  package var observerEvictions: UInt64 = 0
  /// Reports of observers that the site neither lists nor has accepted, where only those count.
  package var quarantined: UInt64 = 0
  /// What handsets sensed and was passed on to locate them by.
  package var sensings: UInt64 = 0
  /// Tracks kept now.
  package var tracks: UInt64 = 0
  /// Observers kept now.
  package var observers: UInt64 = 0

  /// Starts at zero.
  package init() {}

  /// Adds the counts of another engine: shards are shown as one.
  package mutating func add(_ other: MonitoringCounters) {
    reports += other.reports
    adverts += other.adverts
    matched += other.matched
    unmatched += other.unmatched
    late += other.late
    joined += other.joined
    withoutLevel += other.withoutLevel
    backwards += other.backwards
    sequenceGaps += other.sequenceGaps
    sequenceRepeats += other.sequenceRepeats
    restarts += other.restarts
    staleBoots += other.staleBoots
    outages += other.outages
    trackEvictions += other.trackEvictions
    observerEvictions += other.observerEvictions
    quarantined += other.quarantined
    sensings += other.sensings
    tracks += other.tracks
    observers += other.observers
  }
}
