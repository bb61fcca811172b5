public import PharosReports

/// The bounds of one engine's memory; what is the stalest goes first when one is reached.
public struct MonitoringLimits: Hashable, Sendable {
  /// How many observers are kept, in all engines together.
  ///
  /// Spread evenly over the cells of `ObserverID`, so that who is let go does not depend on how many engines there
  /// are; a limit below 1,024 is too small to spread and counts for each engine.
  public var observers: Int
  /// How many tracks are kept for each observer, so that a flood at one costs the others nothing.
  public var tracksPerObserver: Int
  /// How long a track that is outside everywhere keeps what it has learned.
  public var trackRetention: TimeSpan

  /// Makes limits.
  ///
  /// 16,384 observers and 65,536 tracks each are beyond any site that one machine serves; an hour of retention
  /// lets a visitor who steps out for lunch be known when coming back.
  public init(
    observers: Int = 16_384,
    tracksPerObserver: Int = 65_536,
    trackRetention: TimeSpan = .minutes(60)
  ) {
    self.observers = max(1, observers)
    self.tracksPerObserver = max(16, tracksPerObserver)
    self.trackRetention = trackRetention
  }

  /// Over how many cells the limit on observers is spread.
  var cells: Int { observers < 16 * ObserverID.cells ? 1 : ObserverID.cells }
  /// How many observers a cell keeps.
  var observersPerCell: Int { observers / cells }
}
