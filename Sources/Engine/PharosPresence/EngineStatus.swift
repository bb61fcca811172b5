package import PharosModel

/// The status of one observer, as a table of observers shows it.
package struct ObserverStatus: Hashable, Sendable {
  /// The observer.
  package var id: ObserverID
  /// The receive time of its first report.
  package var firstHeard: Timestamp
  /// The receive time of its latest report.
  package var lastHeard: Timestamp
  /// Indicates whether the observer counts as up.
  package var isUp: Bool
  /// The scan state of its radio.
  package var scanState: ScanState
  /// The boot id of its sender, if it states one.
  package var bootID: UInt32?
  /// The number of adverts it reported.
  package var adverts: UInt64
  /// The number of adverts it reports per second, over the last ten seconds.
  package var advertsPerSecond: Double
  /// Datagrams lost on the way from it, by their sequence numbers.
  package var lostDatagrams: UInt64
  /// Datagrams received from it, where it numbers them.
  package var datagrams: UInt64
  /// Reports that came late.
  package var late: UInt64
  /// Its lag, given or learned.
  package var lag: TimeSpan
  /// The time by which its clock is behind ours at the least delay, if it reports times of its own clock.
  package var clockOffset: TimeSpan?
  /// The silence that its learned gaps allow before it counts as down.
  package var allowedGap: TimeSpan
  /// The number of its tracks.
  package var tracks: Int

  /// The share of its datagrams that were lost, 0 to 1.
  package var lossShare: Double {
    let sent = datagrams + lostDatagrams
    return sent == 0 ? 0 : Double(lostDatagrams) / Double(sent)
  }
}

/// The state of one observer in one region about observers.
package struct RegionStanding: Hashable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// The observer.
  package var observer: ObserverID
  /// The state.
  package var state: RegionState
  /// The start of the present visit.
  package var enteredAt: Timestamp?
}

/// The facts that stage one has about one beacon at one observer, and its pending deadlines: the basis of an
/// explanation.
///
/// A snapshot. Taking one changes nothing, and nothing is kept for it.
package struct TrackInsight: Hashable, Sendable {
  /// The observer.
  package var observer: ObserverID
  /// The beacon.
  package var beacon: BeaconID
  /// The time when it was last heard, in the track's own time, which never goes back.
  package var lastHeard: Timestamp
  /// The number of samples; reports of one transmission are one sample.
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
  /// Indicates whether silence is evidence now: the observer is up and its radio scans.
  package var silenceIsEvidence: Bool
  /// The earliest time from which silence counts: the observer's last return, or the start of its scanning.
  package var silenceFrom: Timestamp
  /// The state in each region that monitors the track here, in the order in which the regions came to be monitored.
  package var regions: [RegionInsight]
}

extension TrackInsight {
  /// The age, relative to the newest hearing, up to which a hearing is of the same moment.
  ///
  /// 10 s: longer than a run of losses, shorter than the way into another room and back.
  package static let recent = TimeSpan.seconds(10)

  /// Returns the loudest of the tracks that are heard now, those of beacons that advertise seldom within three intervals;
  /// nil if none has a level.
  package static func loudest(of tracks: some Sequence<TrackInsight>) -> TrackInsight? {
    let known = tracks.filter { $0.level != nil }
    guard let newest = known.lazy.map(\.lastHeard).max() else { return nil }
    return known.filter { track in
      let interval = track.interval ?? .zero
      return newest - track.lastHeard <= max(recent, interval + interval + interval)
    }
    .max { ($0.level ?? 0, $1.observer) < ($1.level ?? 0, $0.observer) }
  }
}

/// The state of one track in one region that monitors it.
package struct RegionInsight: Hashable, Sendable {
  /// The application.
  package var application: String
  /// The region's identifier.
  package var region: String
  /// Indicates whether the region is about beacons, so that other observers may contribute to its state.
  package var isAboutBeacons: Bool
  /// The rules by which it debounces.
  package var rules: PresencePolicy
  /// The state of the beacon: inside, outside, or unmonitored if it was here when its observer could last tell and was
  /// not heard since.
  package var state: RegionState
  /// The start of the visit, if there is one.
  package var since: Timestamp?
  /// The silence that is allowed, with what slow scanning adds; nil if unlimited.
  package var allowedGap: TimeSpan?
  /// The time at which silence ends the visit unless the beacon is heard before; nil if it never does.
  package var silenceDeadline: Timestamp?
  /// The time at which the level ends the visit unless it rises before; nil while it is not below the exit level.
  package var levelDeadline: Timestamp?
  /// Indicates whether a deadline has passed and only a proof that the observer lives is missing.
  package var isWaitingForProof: Bool
  /// The filtered level that counts towards entering, in dBm; nil for any.
  package var enterLevel: Double?
  /// The filtered level below which the beacon leaves after the dwell, in dBm; nil for none.
  package var exitLevel: Double?
  /// The adverts that count towards entering, while outside; nil otherwise.
  package var entry: EntryProgress?
}

/// The adverts of a beacon that is outside, and what it takes to enter.
package struct EntryProgress: Hashable, Sendable {
  /// The latest adverts that belong together.
  package var heard: Int
  /// The time from the first of them to the last.
  package var span: TimeSpan
  /// The number of adverts that it takes.
  package var needed: Int
  /// The time within which they must fall.
  package var window: TimeSpan
  /// Indicates whether one more in regular distance is enough.
  package var isNextEnough: Bool
}

/// A query for the tracks that meet all its conditions, a page at a time.
package struct TrackQuery: Hashable, Sendable {
  /// The identity of a track; keys are ordered by observer, then by beacon.
  package struct Key: Hashable, Comparable, Sendable {
    /// The observer.
    package var observer: ObserverID
    /// The beacon.
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
  package static let maximumLimit = 1_000

  /// Those of this observer; nil for all observers.
  package var observer: ObserverID?
  /// Those of this beacon; nil for all beacons.
  package var beacon: BeaconID?
  /// Those behind this one: the last of the page before.
  package var after: Key?
  /// The maximum number of tracks of the page, between 1 and ``maximumLimit``.
  package var limit: Int

  /// Makes a query; without arguments, one for the first hundred tracks of all.
  package init(observer: ObserverID? = nil, beacon: BeaconID? = nil, after: Key? = nil, limit: Int = 100) {
    self.observer = observer
    self.beacon = beacon
    self.after = after
    self.limit = min(max(limit, 1), TrackQuery.maximumLimit)
  }
}

extension TrackInsight {
  /// The key that identifies the track.
  package var key: TrackQuery.Key { TrackQuery.Key(observer: observer, beacon: beacon) }
}
