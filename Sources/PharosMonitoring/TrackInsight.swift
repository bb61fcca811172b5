package import PharosReports

/// What stage one knows about one beacon at one observer, and what it waits for: what an explanation is made of.
///
/// A snapshot. Taking one changes nothing, and nothing is kept for it.
package struct TrackInsight: Hashable, Sendable {
  /// Who hears.
  package var observer: ObserverID
  /// What is heard.
  package var beacon: BeaconID
  /// When it was last heard, in the track's own time, which never goes back.
  package var lastHeard: Timestamp
  /// How many samples it took: reports of one transmission are one.
  package var samples: Int
  /// The filtered level in dBm, or nil before the first sample with a level.
  package var level: Double?
  /// The standard deviation of the filtered level in dB.
  package var levelDeviation: Double?
  /// The learned advertising interval, or nil before the first gap.
  package var interval: TimeSpan?
  /// The slowest interval that is kept in mind for a beacon that advertises faster now, or nil.
  package var slowestInterval: TimeSpan?
  /// The interval that the directory declares, or nil.
  package var declaredInterval: TimeSpan?
  /// The share of the beacon's adverts that this observer receives, 0 to 1, or nil before the first gap.
  package var receptionShare: Double?
  /// The mean length of a run of lost adverts, or nil before the first gap.
  package var lossRun: Double?
  /// Whether silence says anything now: the observer is up and its radio scans.
  package var isTelling: Bool
  /// Since when silence counts at the earliest: the observer's last return, or the start of its scanning.
  package var silenceFrom: Timestamp
  /// Where it stands towards each region that asks about it here, in the order in which they came to be monitored.
  package var regions: [RegionInsight]
}

/// Where one track stands towards one region that asks about it.
package struct RegionInsight: Hashable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// Whether the region is about beacons, so that other observers may have a say.
  package var isAboutBeacons: Bool
  /// The rules by which it debounces.
  package var rules: PresencePolicy
  /// Whether the beacon is here: inside, outside, or unmonitored if it was here when its observer could last tell and was
  /// not heard since.
  package var state: RegionState
  /// When the visit began, if there is one.
  package var since: Timestamp?
  /// The silence that is allowed, with what slow scanning adds; nil for ever.
  package var allowedGap: TimeSpan?
  /// When silence ends the visit unless the beacon is heard before; nil if it never does.
  package var silenceDeadline: Timestamp?
  /// When the level ends the visit unless it rises before; nil while it is not below the exit level.
  package var levelDeadline: Timestamp?
  /// Whether a deadline has passed and only a proof that the observer lives is missing.
  package var isWaitingForProof: Bool
  /// The filtered level that counts towards entering, in dBm; nil for any.
  package var enterLevel: Double?
  /// The filtered level below which the beacon leaves after the dwell, in dBm; nil for none.
  package var exitLevel: Double?
}
