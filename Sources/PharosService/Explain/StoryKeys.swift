import PharosReports

/// One beacon at one observer.
struct TrackKey: Hashable, Comparable {
  var observer: ObserverID
  var beacon: BeaconID

  static func < (left: TrackKey, right: TrackKey) -> Bool {
    (left.observer, left.beacon) < (right.observer, right.beacon)
  }
}

/// One application's name for a region.
struct RegionKey: Hashable, Comparable {
  var application: String
  var region: String

  static func < (left: RegionKey, right: RegionKey) -> Bool {
    (left.application, left.region) < (right.application, right.region)
  }
}

/// One subject and one region: the pair that has a region state.
struct RowKey: Hashable, Comparable {
  var region: RegionKey
  var subject: SubjectID

  static func < (left: RowKey, right: RowKey) -> Bool {
    (left.subject, left.region) < (right.subject, right.region)
  }
}
