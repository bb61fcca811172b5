import HTTPTypes
import Pharos
import PharosDelivery
import PharosModel
import PharosMonitoring
import PharosPublishing

extension Endpoints {
  var stateRoutes: [Route] {
    let path = "/v1/applications/{app}"
    return [
      Route(
        .get,
        path + "/states",
        access: .application,
        query: ["region", "subject", "state", "cursor", "limit"],
        conditional: true,
        handler: states
      ),
      Route(
        .get,
        path + "/regions/{id}/record",
        access: .application,
        query: ["subject"],
        conditional: true,
        handler: record
      ),
      Route(
        .post,
        path + "/regions/{id}/requestState",
        access: .application,
        body: .json,
        handler: requestState
      ),
    ]
  }

  private func states(_ request: APIRequest) async throws -> APIAnswer {
    let application = try application(request)
    var query = request.query
    let regions = query.texts("region")
    let subjects = query.subjects("subject")
    let names = RegionState.allNamed.map(\.name).joined(separator: ", ")
    let states = query.list("state", expected: "one of \(names)") { text in
      RegionState.allNamed.first { $0.name == text }
    }
    let limit = query.limit()
    let after = Page.key(&query, RowKey.init)
    try query.finish()
    let registered = Set(application.regions.map(\.region.identifier))
    let gate = backend.presentGate(for: request.principal)
    let rows = try await cache.read { cache in
      cache.rows(of: application.identifier).filter { row in
        // Rows of regions that are no longer registered stay in the journal and are history; a rotation's come and go.
        (application.rotated > 0 || registered.contains(row.region))
          && regions?.contains(row.region) ?? true && subjects?.contains(row.subject) ?? true
          && states?.contains(row.state) ?? true
      }
      .compactMap { gate.passed($0) }
    }
    let page = Page.cut(rows, limit: limit, isBehind: after.map { key in { key < RowKey($0) } }) {
      [$0.region, $0.subject.description]
    }
    let nearness = try await Nearness(
      rows: Array(page.entries),
      readings: cache.read { $0.readings(of: application.identifier, through: gate) },
      constraints: Dictionary(
        application.regions.compactMap { entry in
          entry.region.constraint.map { (entry.region.identifier, $0) }
        },
        uniquingKeysWith: { $1 }
      ),
      tracks: { [backend] in
        try await backend.server.tracks($0).filter { $0.isShown(through: gate, of: application.identifier) }
      }
    )
    return .json { json in
      json.objects("states", page.entries) { Endpoints.write($1, nearest: nearness.nearest($1), to: &$0) }
      json.next(page.next)
    }
  }

  private static func write(
    _ row: PublishedState.RegionRecord,
    nearest: Nearness.Nearest?,
    to json: inout JSONText
  ) {
    json.member("region", row.region)
    json.member("subject", row.subject.description)
    json.member("subjectKind", row.subject.kindName)
    json.member("state", row.state.name)
    json.member("lastKnown", row.lastKnown.name)
    json.member("since", row.time.rfc3339)
    json.member("enteredAt", ifPresent: row.enteredAt?.rfc3339)
    json.member("refinement", ifPresent: row.refinement?.description)
    json.member("observer", ifPresent: row.observer?.description)
    if let nearest {
      json.openObject("nearest")
      nearest.write(to: &json)
      json.closeObject()
    }
  }

  /// Answers with the record of a condition, as `CLMonitor` defines it: the condition, and the last event about a
  /// subject.
  private func record(_ request: APIRequest) async throws -> APIAnswer {
    let region = try region(request).region
    let name = request.parameter("app")
    var query = request.query
    let subjects = query.subjects("subject")
    try query.finish()
    let gate = backend.presentGate(for: request.principal)
    let last = try await cache.read { cache in
      cache.rows(of: name)
        .filter { $0.region == region.identifier && subjects?.contains($0.subject) ?? true }
        .compactMap { gate.passed($0) }
        .max { $0.decidedAt < $1.decidedAt }
    }
    return .json { json in
      json.member("identifier", region.identifier)
      json.member("condition", region.condition.description)
      json.member("state", "\(MonitorState(last?.state ?? .unknown))")
      if let last {
        json.openObject("lastEvent")
        json.member("subject", last.subject.description)
        json.member("subjectKind", last.subject.kindName)
        json.member("state", "\(MonitorState(last.state))")
        json.member("date", last.time.rfc3339)
        json.member("refinement", ifPresent: last.refinement?.description)
        json.closeObject()
      }
    }
  }

  private func requestState(_ request: APIRequest) async throws -> APIAnswer {
    let region = try region(request).region
    let subject = try BodyDocument.read(request.body, name: "request", known: ["subject"]) {
      $0.required(
        "subject",
        ValueForm(expected: "an observer or a beacon as events name it") { SubjectID($0) }
      )
    }
    try stateRequests.take(request.parameter("app"))
    let change = RegionChange.requestState(
      application: request.parameter("app"),
      identifier: region.identifier,
      subject: subject
    )
    try await backend.server.apply(change)
    return .accepted("the state comes as an event of kind pharos.region.state")
  }
}

/// The sort key of an application's row.
private struct RowKey: Comparable {
  let region: String
  let subject: SubjectID

  init(_ row: PublishedState.RegionRecord) {
    region = row.region
    subject = row.subject
  }

  init?(_ parts: [String]) {
    guard parts.count == 2, let subject = SubjectID(parts[1]) else { return nil }
    region = parts[0]
    self.subject = subject
  }

  static func < (left: RowKey, right: RowKey) -> Bool {
    guard left.region.utf8.elementsEqual(right.region.utf8) else {
      return left.region.utf8.lexicographicallyPrecedes(right.region.utf8)
    }
    return left.subject < right.subject
  }
}

extension RegionState {
  /// All states.
  fileprivate static let allNamed: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
}

/// The nearest counterparts of the subjects that are inside, which a list of states shows beside each.
///
/// Ranging gives the best answer, with a distance; if an application does not range, the loudest track decides.
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
  private static let mostObservers = 256

  private let readings: [ObserverID: [BeaconID: StateCache.Reading]]
  private let constraints: [String: BeaconConstraint]
  private var tracks: [ObserverID: [TrackInsight]] = [:]

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
    for row in rows where row.state == .inside && ranged(row) == nil {
      switch row.subject {
      case .observer(let observer): observers.insert(observer)
      case .beacon: if let observer = row.observer { observers.insert(observer) }
      case .none: break
      }
    }
    for observer in observers.sorted().prefix(Nearness.mostObservers) {
      tracks[observer] = try await read(
        TrackQuery(observer: observer, limit: TrackQuery.greatestLimit)
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
      return loudest(observer) { constraint.matches($0) }
    case .beacon(let beacon): return row.observer.flatMap { observer in loudest(observer) { $0 == beacon } }
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
