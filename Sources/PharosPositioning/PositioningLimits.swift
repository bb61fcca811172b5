/// How much stage two keeps at most.
package struct PositioningLimits: Hashable, Sendable {
  /// How many beacons it keeps a state for; beyond that the stalest go first.
  package var tags: Int
  /// How many handsets and tags are located; beyond that the stalest go first.
  ///
  /// Each takes 80 to 90 KiB, as a process that followed a hundred showed.
  package var subjects: Int
  /// The maximum number of observers that are recorded for one beacon in one region at the same time.
  package var observersPerRow: Int

  /// Makes limits.
  ///
  /// 65,536 beacons are 30 times a large site; 64 gateways within the reach of one tag are more than any floor has; 8,192
  /// subjects are what two cores can follow once a second, in 0.7 GiB.
  package init(tags: Int = 65_536, observersPerRow: Int = 64, subjects: Int = 8_192) {
    self.tags = max(16, tags)
    self.observersPerRow = max(1, observersPerRow)
    self.subjects = max(1, subjects)
  }
}

/// What stage two has done so far.
package struct PositioningCounters: Hashable, Sendable {
  /// Summaries of tracks taken.
  package var summaries: UInt64 = 0
  /// Presence changes taken.
  package var presenceChanges: UInt64 = 0
  /// Observers gone down or come back.
  package var observerChanges: UInt64 = 0
  /// Presence changes for a region that is not, or no longer, monitored.
  package var strayChanges: UInt64 = 0
  /// Times that an observer heard a beacon but was not recorded, because ``PositioningLimits/observersPerRow`` was
  /// reached.
  package var crowdedOut: UInt64 = 0
  /// Beacons forgotten because there were too many.
  package var evictions: UInt64 = 0
  /// What handsets sensed.
  package var sensings: UInt64 = 0
  /// What locating has done.
  package var locating = LocatingCounters()
  /// Beacons that a state is kept for.
  package var tags: Int = 0

  /// Starts at zero.
  package init() {}
}
