/// How much stage two keeps at most.
public struct PositioningLimits: Hashable, Sendable {
  /// How many beacons it keeps a state for; beyond that the stalest go first.
  public var tags: Int
  /// How many handsets and tags are located; beyond that the stalest go first.
  ///
  /// Each takes 80 to 90 KiB, as a process that followed a hundred showed.
  public var subjects: Int
  /// The maximum number of observers that are recorded for one beacon in one region at the same time.
  public var observersPerRow: Int

  /// Makes limits.
  ///
  /// 65,536 beacons are 30 times a large site; 64 gateways within the reach of one tag are more than any floor has; 8,192
  /// subjects are what two cores can follow once a second, in 0.7 GiB.
  public init(tags: Int = 65_536, observersPerRow: Int = 64, subjects: Int = 8_192) {
    self.tags = max(16, tags)
    self.observersPerRow = max(1, observersPerRow)
    self.subjects = max(1, subjects)
  }
}

/// What stage two has done so far.
public struct PositioningCounters: Hashable, Sendable {
  /// Summaries of tracks taken.
  public var summaries: UInt64 = 0
  /// Presence changes taken.
  public var presenceChanges: UInt64 = 0
  /// Observers gone down or come back.
  public var observerChanges: UInt64 = 0
  /// Presence changes for a region that is not, or no longer, monitored.
  public var strayChanges: UInt64 = 0
  /// Times that an observer heard a beacon but was not recorded, because ``PositioningLimits/observersPerRow`` was
  /// reached.
  public var crowdedOut: UInt64 = 0
  /// Beacons forgotten because there were too many.
  public var evictions: UInt64 = 0
  /// What handsets sensed.
  public var sensings: UInt64 = 0
  /// What locating has done.
  public var locating = LocatingCounters()
  /// Beacons that a state is kept for.
  public var tags: Int = 0

  /// Starts at zero.
  public init() {}
}
