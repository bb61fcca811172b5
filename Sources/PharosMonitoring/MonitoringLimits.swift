package import PharosReports

/// The memory limits of one engine; when one is reached, the stalest entries are evicted first.
///
/// One observer cannot claim the memory of others. The limits on observers and on all tracks hold for each cell of
/// `ObserverID` separately, and when a cell is full, the observer with the most tracks there loses some of its own. So
/// a flood of made-up identities at one observer evicts no track of another, and the number of engines never affects
/// the result.
package struct MonitoringLimits: Hashable, Sendable {
  /// How many observers are kept, in all engines together.
  ///
  /// Spread evenly over the cells of `ObserverID`, so that who is let go does not depend on how many engines there
  /// are; a limit below 1,024 is too small to spread and counts for each engine.
  package var observers: Int
  /// How many tracks are kept for each observer, so that a flood at one costs the others nothing.
  package var tracksPerObserver: Int
  /// How many tracks are kept, in all engines together; spread over the cells as observers are, and at least as many in
  /// each as one observer may have.
  package var tracks: Int
  /// How long a track that is outside everywhere keeps what it has learned.
  package var trackRetention: TimeSpan

  /// Makes limits.
  ///
  /// 16,384 observers with 65,536 tracks each, and 16,777,216 tracks in all (4 GiB), are beyond any site that one
  /// machine serves; an hour of retention lets a visitor who steps out for lunch be known when coming back.
  package init(
    observers: Int = 16_384,
    tracksPerObserver: Int = 65_536,
    tracks: Int = 16_777_216,
    trackRetention: TimeSpan = .minutes(60)
  ) {
    self.observers = max(1, observers)
    self.tracksPerObserver = max(16, tracksPerObserver)
    self.tracks = max(16, tracks)
    self.trackRetention = trackRetention
  }

  /// Over how many cells the limit on observers is spread.
  var cells: Int { observers < 16 * ObserverID.cells ? 1 : ObserverID.cells }
  /// How many observers a cell keeps.
  var observersPerCell: Int { observers / cells }
  /// How many tracks the observers of a cell have together.
  var tracksPerCell: Int { max(tracks / cells, tracksPerObserver) }
  /// How many tracks go at a time, so that looking for the stalest costs little each.
  var trackEviction: Int { max(1, tracksPerObserver / 64) }
}
