import Pharos
import PharosEvents
import PharosMonitoring
import PharosReports

/// What is nearest to those who are inside: what a list of states shows beside each.
///
/// Ranging says it best, with a distance; where an application does not range, the level of the loudest track does.
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

  /// For how many observers tracks are looked at: it takes the engine's own time.
  private static let mostObservers = 256

  private let readings: [ObserverID: [BeaconID: Board.Reading]]
  private let constraints: [String: BeaconConstraint]
  private var tracks: [ObserverID: [TrackInsight]] = [:]

  /// Looks at what is needed for some rows.
  ///
  /// - Parameters:
  ///   - rows: where subjects stand.
  ///   - readings: what their application ranged last.
  ///   - application: the application.
  ///   - server: the engine.
  /// - Throws: that the server has stopped.
  init(
    rows: [LastTold.RegionWord],
    readings: [ObserverID: [BeaconID: Board.Reading]],
    application: RegisteredApplication,
    server: PharosServer
  ) async throws {
    self.readings = readings
    constraints = Dictionary(
      application.regions.map { ($0.region.identifier, $0.region.constraint) },
      uniquingKeysWith: { $1 }
    )
    var observers: Set<ObserverID> = []
    for row in rows where row.state == .inside && ranged(row) == nil {
      switch row.subject {
      case .observer(let observer): observers.insert(observer)
      case .beacon: if let observer = row.observer { observers.insert(observer) }
      case .none: break
      }
    }
    for observer in observers.sorted().prefix(Nearness.mostObservers) {
      tracks[observer] = try await server.tracks(
        TrackQuery(observer: observer, limit: TrackQuery.greatestLimit)
      )
    }
  }

  /// What is nearest to the subject of a row that is inside; nil where nothing is known.
  func nearest(_ row: LastTold.RegionWord) -> Nearest? {
    guard row.state == .inside else { return nil }
    if let ranged = ranged(row) { return ranged }
    switch row.subject {
    case .none: return nil
    case .observer(let observer):
      guard let constraint = constraints[row.region] else { return nil }
      return loudest(observer) { constraint.matches($0) }
    case .beacon(let beacon): return row.observer.flatMap { observer in loudest(observer) { $0 == beacon } }
    }
  }

  /// The nearest by what was ranged; a level of 0 says that there was no sample in the last second.
  private func ranged(_ row: LastTold.RegionWord) -> Nearest? {
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
    return found.filter { $0.rssi != 0 }.min {
      ($0.distance ?? .infinity, -$0.rssi) < ($1.distance ?? .infinity, -$1.rssi)
    }
  }

  private func loudest(_ observer: ObserverID, where isMeant: (BeaconID) -> Bool) -> Nearest? {
    (tracks[observer] ?? []).filter { isMeant($0.beacon) }
      .max { ($0.level ?? -.infinity) < ($1.level ?? -.infinity) }
      .flatMap { track in
        track.level.map { level in
          Nearest(
            observer: observer,
            beacon: track.beacon,
            rssi: level,
            proximity: .unknown,
            lastHeard: track.lastHeard
          )
        }
      }
  }
}

extension Nearness.Nearest {
  fileprivate init(_ observer: ObserverID, _ reading: Board.Reading) {
    self.init(
      observer: observer,
      beacon: reading.reading.beacon,
      rssi: reading.reading.rssi,
      distance: reading.reading.accuracy >= 0 ? reading.reading.accuracy : nil,
      proximity: reading.reading.proximity,
      lastHeard: reading.time
    )
  }

  /// Writes the members of an object that is open.
  func write(to json: inout JSONText) {
    json.member("observer", observer.description)
    json.member("beacon", beacon.description)
    json.member("rssi", rssi, decimals: 1)
    if let distance { json.member("distance", distance, decimals: 2) }
    json.member("proximity", proximity.rawValue)
    json.member("lastHeard", lastHeard.rfc3339)
  }
}
