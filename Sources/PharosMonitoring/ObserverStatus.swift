package import PharosReports

/// How one observer fares: what a table of observers shows.
package struct ObserverStatus: Hashable, Sendable {
  /// Which observer.
  package var id: ObserverID
  /// When its first report was received.
  package var firstHeard: Timestamp
  /// When its latest report was received.
  package var lastHeard: Timestamp
  /// Whether it is taken to live.
  package var isUp: Bool
  /// Whether and how its radio scans.
  package var scanState: ScanState
  /// The boot id of its sender, if it tells one.
  package var bootID: UInt32?
  /// How many adverts it reported.
  package var adverts: UInt64
  /// How many adverts it reports a second, over the last ten seconds.
  package var advertsPerSecond: Double
  /// Datagrams lost on the way from it, by their sequence numbers.
  package var lostDatagrams: UInt64
  /// Datagrams received from it, where it numbers them.
  package var datagrams: UInt64
  /// Reports that came late.
  package var late: UInt64
  /// Its lag, given or learned.
  package var lag: TimeSpan
  /// How far its clock is behind ours at the least delay, where it tells times by its own.
  package var clockOffset: TimeSpan?
  /// The silence that its learned gaps allow before it counts as down.
  package var allowedGap: TimeSpan
  /// How many tracks it has.
  package var tracks: Int

  /// The share of its datagrams that were lost, 0 to 1.
  package var lossShare: Double {
    let sent = datagrams + lostDatagrams
    return sent == 0 ? 0 : Double(lostDatagrams) / Double(sent)
  }
}

/// Where one observer stands towards one region about observers.
package struct RegionStanding: Hashable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// The observer.
  package var observer: ObserverID
  /// The state.
  package var state: RegionState
  /// When the present visit began.
  package var enteredAt: Timestamp?
}
