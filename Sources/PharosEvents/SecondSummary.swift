public import PharosReports

/// The beacons that one observer heard in one second.
///
/// All of an observer's beacons travel together, since its second ends for all of them at once: what they share is
/// stored once, and the consumer looks up the observer once a second instead of once for each beacon.
public struct SecondSummary: Hashable, Sendable {
  /// Who heard them.
  public var observer: ObserverID
  /// The end of the second.
  public var until: Timestamp
  /// When stage one could tell: the end of the second and the observer's lag.
  public var decidedAt: Timestamp
  /// Counts the links and events of the observer; every beacon takes a number, the first one this.
  public var ordinal: UInt64
  /// The beacons that were heard in it, each once, in the order in which stage one keeps them.
  public var beacons: [BeaconSummary]

  /// Makes a summary.
  public init(
    observer: ObserverID,
    until: Timestamp,
    decidedAt: Timestamp,
    ordinal: UInt64,
    beacons: [BeaconSummary] = []
  ) {
    self.observer = observer
    self.until = until
    self.decidedAt = decidedAt
    self.ordinal = ordinal
    self.beacons = beacons
  }
}

/// How one beacon was heard by one observer in one second.
public struct BeaconSummary: Hashable, Sendable {
  /// Which beacon.
  public var beacon: BeaconID
  /// How many samples fell in the second.
  public var count: UInt32
  /// The mean level in dBm, corrected by the observer's offset.
  public var mean: Double
  /// The variance of the level in dB².
  public var variance: Double
  /// When the beacon was last heard in it.
  public var lastHeard: Timestamp

  /// Makes a summary.
  public init(beacon: BeaconID, count: UInt32, mean: Double, variance: Double, lastHeard: Timestamp) {
    self.beacon = beacon
    self.count = count
    self.mean = mean
    self.variance = variance
    self.lastHeard = lastHeard
  }
}
