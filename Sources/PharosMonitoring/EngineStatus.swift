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

/// Which tracks somebody wants to see: what each member names, all of them together, a page at a time.
package struct TrackQuery: Hashable, Sendable {
  /// What tells one track from another; tracks come in this order: by observer, then by beacon.
  package struct Key: Hashable, Comparable, Sendable {
    /// Who hears.
    package var observer: ObserverID
    /// What is heard.
    package var beacon: BeaconID

    /// Makes a key.
    package init(observer: ObserverID, beacon: BeaconID) {
      self.observer = observer
      self.beacon = beacon
    }

    /// Orders tracks by observer, then by beacon.
    package static func < (left: Key, right: Key) -> Bool {
      left.observer == right.observer ? left.beacon < right.beacon : left.observer < right.observer
    }
  }

  /// The most tracks of a page: looking at them takes the engine's own time.
  package static let greatestLimit = 1_000

  /// Those of this observer; nil for all observers.
  package var observer: ObserverID?
  /// Those of this beacon; nil for all beacons.
  package var beacon: BeaconID?
  /// Those behind this one: the last of the page before.
  package var after: Key?
  /// How many at most, between 1 and ``greatestLimit``.
  package var limit: Int

  /// Makes a query; without arguments, one for the first hundred tracks of all.
  package init(observer: ObserverID? = nil, beacon: BeaconID? = nil, after: Key? = nil, limit: Int = 100) {
    self.observer = observer
    self.beacon = beacon
    self.after = after
    self.limit = min(max(limit, 1), TrackQuery.greatestLimit)
  }
}

extension TrackInsight {
  /// What tells it from another one.
  package var key: TrackQuery.Key { TrackQuery.Key(observer: observer, beacon: beacon) }
}
