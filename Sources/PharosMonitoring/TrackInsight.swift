public import PharosReports

/// What stage one knows about one beacon at one observer, and what it waits for: what an explanation is made of.
///
/// A snapshot. Taking one changes nothing, and nothing is kept for it.
public struct TrackInsight: Hashable, Sendable {
  /// Who hears.
  public var observer: ObserverID
  /// What is heard.
  public var beacon: BeaconID
  /// When it was last heard, in the track's own time, which never goes back.
  public var lastHeard: Timestamp
  /// How many samples it took: reports of one transmission are one.
  public var samples: Int
  /// The filtered level in dBm, or nil before the first sample with a level.
  public var level: Double?
  /// The standard deviation of the filtered level in dB.
  public var levelDeviation: Double?
  /// The learned advertising interval, or nil before the first gap.
  public var interval: TimeSpan?
  /// The slowest interval that is kept in mind for a beacon that advertises faster now, or nil.
  public var slowestInterval: TimeSpan?
  /// The interval that the directory declares, or nil.
  public var declaredInterval: TimeSpan?
  /// The share of the beacon's adverts that this observer receives, 0 to 1, or nil before the first gap.
  public var receptionShare: Double?
  /// The mean length of a run of lost adverts, or nil before the first gap.
  public var lossRun: Double?
  /// Whether silence says anything now: the observer is up and its radio scans.
  public var isTelling: Bool
  /// Since when silence counts at the earliest: the observer's last return, or the start of its scanning.
  public var silenceFrom: Timestamp
  /// Where it stands towards each region that asks about it here, in the order in which they came to be monitored.
  public var regions: [RegionInsight]
}

/// Where one track stands towards one region that asks about it.
public struct RegionInsight: Hashable, Sendable {
  /// The application.
  public var application: String
  /// The region's identifier.
  public var region: String
  /// Whether the region is about beacons, so that other observers may have a say.
  public var isAboutBeacons: Bool
  /// The rules by which it debounces.
  public var rules: PresencePolicy
  /// Whether the beacon is here: inside, outside, or unmonitored if it was here when its observer could last tell and was
  /// not heard since.
  public var state: RegionState
  /// When the visit began, if there is one.
  public var since: Timestamp?
  /// The silence that is allowed, with what slow scanning adds; nil for ever.
  public var allowedGap: TimeSpan?
  /// When silence ends the visit unless the beacon is heard before; nil if it never does.
  public var silenceDeadline: Timestamp?
  /// When the level ends the visit unless it rises before; nil while it is not below the exit level.
  public var levelDeadline: Timestamp?
  /// Whether a deadline has passed and only a proof that the observer lives is missing.
  public var isWaitingForProof: Bool
  /// The filtered level that counts towards entering, in dBm; nil for any.
  public var enterLevel: Double?
  /// The filtered level below which the beacon leaves after the dwell, in dBm; nil for none.
  public var exitLevel: Double?
}
