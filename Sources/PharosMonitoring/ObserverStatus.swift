public import PharosReports

/// How one observer fares: what a table of observers shows.
public struct ObserverStatus: Hashable, Sendable {
  /// Which observer.
  public var id: ObserverID
  /// When its first report was received.
  public var firstHeard: Timestamp
  /// When its latest report was received.
  public var lastHeard: Timestamp
  /// Whether it is taken to live.
  public var isUp: Bool
  /// Whether and how its radio scans.
  public var scanState: ScanState
  /// The boot id of its sender, if it tells one.
  public var bootID: UInt32?
  /// How many adverts it reported.
  public var adverts: UInt64
  /// How many adverts it reports a second, over the last ten seconds.
  public var advertsPerSecond: Double
  /// Datagrams lost on the way from it, by their sequence numbers.
  public var lostDatagrams: UInt64
  /// Datagrams received from it, where it numbers them.
  public var datagrams: UInt64
  /// Reports that came late.
  public var late: UInt64
  /// Its lag, given or learned.
  public var lag: TimeSpan
  /// How far its clock is behind ours at the least delay, where it tells times by its own.
  public var clockOffset: TimeSpan?
  /// The silence that its learned gaps allow before it counts as down.
  public var allowedGap: TimeSpan
  /// How many tracks it has.
  public var tracks: Int

  /// The share of its datagrams that were lost, 0 to 1.
  public var lossShare: Double {
    let sent = datagrams + lostDatagrams
    return sent == 0 ? 0 : Double(lostDatagrams) / Double(sent)
  }
}

/// Where one observer stands towards one region about observers.
public struct RegionStanding: Hashable, Sendable {
  /// The application.
  public var application: String
  /// The region's identifier.
  public var region: String
  /// The observer.
  public var observer: ObserverID
  /// The state.
  public var state: RegionState
  /// When the present visit began.
  public var enteredAt: Timestamp?
}
