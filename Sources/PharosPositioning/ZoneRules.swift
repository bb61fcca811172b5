public import PharosReports

/// The constants that zones are decided with.
public struct ZoneRules: Hashable, Sendable {
  /// By how much a zone's level must beat every other zone's.
  ///
  /// 6 dB: a body that turns takes more from one gateway than from the next for a moment, and the level filter
  /// leaves 2 to 3 dB of scatter on each side of the comparison; twice that is rarely chance.
  ///
  /// - Units: dB.
  public var margin: Double
  /// How long it must do so.
  ///
  /// 3 s: longer than a person needs to pass a door frame, shorter than anyone waits for a display.
  public var dwell: TimeSpan
  /// How long it must do so where the zones are not adjacent.
  ///
  /// 15 s: nobody walks through a ceiling, but an adjacency list may lack a door, so that it is slow, not impossible.
  public var nonAdjacentDwell: TimeSpan
  /// How long its zone must be beaten without a clear winner before a beacon is in none.
  ///
  /// 10 s: three dwells, so that a winner who is merely slow is waited for.
  public var notSureDwell: TimeSpan
  /// How fast the level of a live observer that hears nothing more falls in the comparison.
  ///
  /// 2 dB/s: an observer that is 6 dB ahead loses its lead 3 s after its grace, which is one dwell.
  ///
  /// - Units: dB/s.
  public var silentFall: Double
  /// How many of a beacon's intervals an observer may miss before its level falls.
  ///
  /// 3: with half of the adverts lost, one run of losses in eight is longer.
  public var levelIntervals: Double
  /// How many of a beacon's intervals an observer may miss before it is taken not to hear it.
  ///
  /// 6: with half of the adverts lost, one run of losses in 64 is longer.
  public var presenceIntervals: Double
  /// The shortest silence after which a level falls.
  ///
  /// 3 s: summaries come once a second, and an observer's lag may change by a second or two.
  public var shortestLevelGrace: TimeSpan
  /// The shortest silence after which a level is forgotten.
  ///
  /// 10 s: a pocket or a lift door, not a departure.
  public var shortestPresence: TimeSpan
  /// The longest silence after which a level is forgotten.
  ///
  /// 300 s, the ceiling that presence has too.
  public var longestPresence: TimeSpan
  /// By how much a live observer must hear a beacon louder than when another went down, for the beacon to have moved.
  ///
  /// 12 dB, twice the margin: walking from the next room to right before a gateway gives 15 to 20 dB.
  ///
  /// - Units: dB.
  public var releaseRise: Double
  /// The level that an observer is taken to have had when it did not hear a beacon at all.
  ///
  /// −95 dBm, where common gateways stop receiving.
  public var sensitivity: Double

  /// Makes rules; see each constant for its default and the reason.
  public init(
    margin: Double = 6,
    dwell: TimeSpan = .seconds(3),
    nonAdjacentDwell: TimeSpan = .seconds(15),
    notSureDwell: TimeSpan = .seconds(10),
    silentFall: Double = 2,
    levelIntervals: Double = 3,
    presenceIntervals: Double = 6,
    shortestLevelGrace: TimeSpan = .seconds(3),
    shortestPresence: TimeSpan = .seconds(10),
    longestPresence: TimeSpan = .seconds(300),
    releaseRise: Double = 12,
    sensitivity: Double = -95
  ) {
    self.margin = margin
    self.dwell = dwell
    self.nonAdjacentDwell = nonAdjacentDwell
    self.notSureDwell = notSureDwell
    self.silentFall = silentFall
    self.levelIntervals = levelIntervals
    self.presenceIntervals = presenceIntervals
    self.shortestLevelGrace = shortestLevelGrace
    self.shortestPresence = shortestPresence
    self.longestPresence = longestPresence
    self.releaseRise = releaseRise
    self.sensitivity = sensitivity
  }
}
