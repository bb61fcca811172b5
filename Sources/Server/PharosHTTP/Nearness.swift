import PharosDocuments
package import PharosModel
package import PharosPresence

/// The nearest counterparts of the subjects that are inside, which a list of states shows beside each.
///
/// Ranging gives the best answer, with a distance; if an application does not range, the loudest track decides. Both are
/// what is heard now, not the hearing that settled the region.
struct Nearness: Sendable {
  /// The beacon that is nearest to an observer, or the observer that hears a beacon loudest.
  struct Nearest: Hashable, Sendable {
    var observer: ObserverID
    var beacon: BeaconID
    var rssi: Double
    var distance: Double?
    var proximity: RangedReading.Proximity
    var lastHeard: Timestamp
  }

  /// The maximum number of observers whose tracks are read: reading them takes the engine's own time.
  private static let maximumObservers = 256

  private let readings: [ObserverID: [BeaconID: StateCache.Reading]]
  private let constraints: [String: BeaconConstraint]
  private var tracks: [ObserverID: [TrackInsight]] = [:]
  private var loudest: [BeaconID: TrackInsight] = [:]

  /// Reads the tracks that some rows need.
  ///
  /// - Parameters:
  ///   - rows: the states of subjects towards regions.
  ///   - readings: the last readings of their application.
  ///   - constraints: the constraints of the application's regions, by identifier.
  ///   - read: returns tracks.
  /// - Throws: the error of `read`.
  init(
    rows: [PublishedState.RegionRecord],
    readings: [ObserverID: [BeaconID: StateCache.Reading]],
    constraints: [String: BeaconConstraint],
    tracks read: (TrackQuery) async throws -> [TrackInsight]
  ) async throws {
    self.readings = readings
    self.constraints = constraints
    var observers: Set<ObserverID> = []
    var beacons: Set<BeaconID> = []
    for row in rows where row.state == .inside && ranged(row) == nil {
      switch row.subject {
      case .observer(let observer): observers.insert(observer)
      case .beacon(let beacon): beacons.insert(beacon)
      case .none: break
      }
    }
    loudest = try await LoudestTracks.read(of: beacons, read)
    for observer in observers.sorted().prefix(Nearness.maximumObservers) {
      tracks[observer] = try await read(
        TrackQuery(observer: observer, limit: TrackQuery.maximumLimit)
      )
    }
  }

  /// Returns the nearest counterpart of the subject of a row that is inside; nil if none is known.
  func nearest(_ row: PublishedState.RegionRecord) -> Nearest? {
    guard row.state == .inside else { return nil }
    if let ranged = ranged(row) { return ranged }
    switch row.subject {
    case .none: return nil
    case .observer(let observer):
      guard let constraint = constraints[row.region] else { return nil }
      return TrackInsight.loudest(of: (tracks[observer] ?? []).filter { constraint.matches($0.beacon) })
        .flatMap(Nearest.init)
    case .beacon(let beacon): return loudest[beacon].flatMap(Nearest.init)
    }
  }

  /// Returns the nearest by ranging; readings with a level of 0, which had no sample in the last second, are left out.
  private func ranged(_ row: PublishedState.RegionRecord) -> Nearest? {
    let found: [Nearest]
    switch row.subject {
    case .none: return nil
    case .observer(let observer):
      guard let constraint = constraints[row.region] else { return nil }
      found = (readings[observer] ?? [:]).filter { constraint.matches($0.key) }
        .map { Nearest(observer, $0.value) }
    case .beacon(let beacon):
      found = readings.compactMap { observer, readings in
        readings[beacon].map { Nearest(observer, $0) }
      }
    }
    let newest = found.lazy.map(\.lastHeard).max() ?? .distantPast
    return found.filter { $0.rssi != 0 && newest - $0.lastHeard <= TrackInsight.recent }.min {
      ($0.distance ?? .infinity, -$0.rssi) < ($1.distance ?? .infinity, -$1.rssi)
    }
  }
}

/// The tracks that hear beacons loudest now.
package enum LoudestTracks {
  /// The number of beacons up to which the tracks of each are asked for, and not all tracks.
  private static let maximumQueries = 64
  /// The maximum number of pages of all tracks: a quarter of a million.
  private static let maximumPages = 256

  /// Reads the loudest track of each of some beacons.
  ///
  /// - Parameters:
  ///   - beacons: the beacons.
  ///   - read: returns tracks.
  /// - Returns: the tracks, by beacon.
  /// - Throws: the error of `read`.
  package static func read(
    of beacons: Set<BeaconID>,
    _ read: (TrackQuery) async throws -> [TrackInsight]
  ) async throws -> [BeaconID: TrackInsight] {
    var tracks: [BeaconID: [TrackInsight]] = [:]
    let limit = TrackQuery.maximumLimit
    if beacons.count <= maximumQueries {
      for beacon in beacons.sorted() {
        tracks[beacon] = try await read(TrackQuery(beacon: beacon, limit: limit))
      }
    } else {
      var query = TrackQuery(limit: limit)
      for _ in 0..<maximumPages {
        let page = try await read(query)
        for track in page where beacons.contains(track.beacon) {
          tracks[track.beacon, default: []].append(track)
        }
        // A page may lack tracks that the reader may not learn of.
        guard let last = page.last else { break }
        query.after = last.key
      }
    }
    return tracks.compactMapValues { TrackInsight.loudest(of: $0) }
  }
}

extension Nearness.Nearest {
  fileprivate init?(_ track: TrackInsight) {
    guard let level = track.level else { return nil }
    self.init(
      observer: track.observer,
      beacon: track.beacon,
      rssi: level,
      proximity: .unknown,
      lastHeard: track.lastHeard
    )
  }

  fileprivate init(_ observer: ObserverID, _ reading: StateCache.Reading) {
    self.init(
      observer: observer,
      beacon: reading.reading.beacon,
      rssi: reading.reading.rssi,
      distance: reading.reading.accuracy >= 0 ? reading.reading.accuracy : nil,
      proximity: reading.reading.proximity,
      lastHeard: reading.time
    )
  }

  /// The members in answers.
  static let members: [DocumentField<Nearness.Nearest>] = [
    .identity("observer") { .observer($0.observer) },
    .identity("beacon") { .beacon($0.beacon) },
    .always("rssi", .number(decimals: 1), "dBm.") { $0.rssi },
    .sometimes("distance", .number(decimals: 2), "Metres.") { $0.distance },
    .always("proximity", .text(.proximity)) { $0.proximity.rawValue },
    .always("lastHeard", .moment) { $0.lastHeard },
  ]
}
