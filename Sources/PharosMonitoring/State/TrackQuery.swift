package import PharosReports

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
