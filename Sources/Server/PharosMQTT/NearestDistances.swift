import PharosModel

/// A beacon as an observer ranged it.
struct RangedSighting: Hashable, Sendable {
  let observer: ObserverID
  let distance: Double
  let deviation: Double
  let proximity: RangedReading.Proximity
  let time: Timestamp
  /// The application that ranges it.
  let application: String
}

/// The distances of ranged beacons from their nearest observers.
///
/// Every observer ranges a beacon once a second, and in many a second an observer has no sample of it. A beacon has one value
/// for all observers: the distance from the nearest one that determined a distance in the last ten seconds. The value is due
/// at most once a second: when it has changed, or a minute after it was last due. When no sighting is left, it is due once
/// more, without a distance.
struct NearestDistances: Sendable {
  /// The age beyond which a sighting no longer counts.
  static let sightingTime = TimeSpan.seconds(10)
  /// The interval between two values of a beacon.
  static let interval = TimeSpan.seconds(1)
  /// The interval at which a value that does not change is due again.
  static let repetition = TimeSpan.seconds(60)

  private struct Track {
    /// The newest sighting of each observer, and the time when it arrived.
    var sightings: [ObserverID: (sighting: RangedSighting, arrival: Timestamp)] = [:]
    var published: (value: RangedSighting, time: Timestamp)?
  }

  private let capacity: Int
  private var tracks: [BeaconID: Track] = [:]
  private var lastPass: Timestamp?

  /// Makes distances of at most so many beacons.
  init(capacity: Int) { self.capacity = capacity }

  /// Takes a reading; one without a distance leaves the sightings as they are.
  mutating func update(
    _ reading: RangedReading,
    by observer: ObserverID,
    of application: String,
    at time: Timestamp,
    now: Timestamp
  ) {
    guard reading.accuracy >= 0, tracks[reading.beacon] != nil || tracks.count < capacity else { return }
    let sighting = RangedSighting(
      observer: observer,
      distance: reading.accuracy,
      deviation: reading.deviation,
      proximity: reading.proximity,
      time: time,
      application: application
    )
    tracks[reading.beacon, default: Track()].sightings[observer] = (sighting, now)
  }

  /// Removes what may no longer be published, and returns the beacons whose last value is among it.
  mutating func withdraw(_ hides: (SubjectID, _ application: String) -> Bool) -> [BeaconID] {
    var withdrawn: [BeaconID] = []
    for (beacon, var track) in tracks {
      func isKept(_ sighting: RangedSighting) -> Bool {
        !hides(.beacon(beacon), sighting.application)
          && !hides(.observer(sighting.observer), sighting.application)
      }
      track.sightings = track.sightings.filter { isKept($0.value.sighting) }
      if let last = track.published, !isKept(last.value) {
        track.published = nil
        withdrawn.append(beacon)
      }
      tracks[beacon] = track.sightings.isEmpty && track.published == nil ? nil : track
    }
    return withdrawn
  }

  /// The time at which to ask for ``due(at:)``; nil while there is no beacon.
  var wakeTime: Timestamp? { tracks.isEmpty ? nil : (lastPass ?? .distantPast) + NearestDistances.interval }

  /// Returns the values that are due, without a sighting where a beacon has lost its last one.
  mutating func due(at now: Timestamp) -> [(beacon: BeaconID, nearest: RangedSighting?)] {
    if let lastPass, lastPass <= now, now - lastPass < NearestDistances.interval { return [] }
    lastPass = now
    var due: [(beacon: BeaconID, nearest: RangedSighting?)] = []
    for (beacon, var track) in tracks {
      // After a step of the clock an arrival may lie in the future.
      track.sightings = track.sightings.filter {
        (.zero..<NearestDistances.sightingTime).contains(now - $0.value.arrival)
      }
      let nearest = track.sightings.values.lazy.map(\.sighting)
        .min { ($0.distance, $0.observer) < ($1.distance, $1.observer) }
      guard let nearest else {
        tracks[beacon] = nil
        if track.published != nil { due.append((beacon, nil)) }
        continue
      }
      let isDue =
        track.published.map { last in
          !NearestDistances.readsAlike(last.value, nearest)
            || !(.zero..<NearestDistances.repetition).contains(now - last.time)
        } ?? true
      if isDue {
        track.published = (nearest, now)
        due.append((beacon, nearest))
      }
      tracks[beacon] = track
    }
    return due.sorted { $0.beacon < $1.beacon }
  }

  /// Returns whether two values differ by less than a receiver would act on: both are the same to a decimetre.
  private static func readsAlike(_ one: RangedSighting, _ other: RangedSighting) -> Bool {
    one.observer == other.observer && one.proximity == other.proximity
      && (one.distance * 10).rounded() == (other.distance * 10).rounded()
  }
}
