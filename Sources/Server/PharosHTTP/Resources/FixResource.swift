import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosSite
import PharosSpace

/// The last fixes of subjects.
struct FixResource: Resource {
  let registrar: Registrar
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/fixes",
        access: .anyToken,
        query: ["subject", "venue", "floor", "cursor", "limit"],
        conditional: true,
        handler: fixes
      ),
      Route(.get, "/v1/fixes/{subject}", access: .anyToken, conditional: true, handler: fix),
    ]
  }

  private func fixes(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let subjects = query.subjects("subject")
    let venues = query.texts("venue")
    let floors = query.set(
      "floor",
      expected: "a building and a floor's number, as in main/0; /v1/venues lists them"
    ) {
      FloorID($0)
    }
    let limit = query.limit()
    let after = Page.key(&query) { parts in parts.count == 1 ? SubjectID(parts[0]) : nil }
    try query.finish()
    let gate = commitPublisher.presentGate(for: request.principal)
    let events = try await cache.read { $0.fixes }
      .filter { event in
        guard case .fix(let detail) = event.detail else { return false }
        return subjects?.contains(event.subject) ?? true && venues?.contains(detail.venue) ?? true
          && floors?.contains(detail) ?? true && gate.shows(event.subject)
      }
      .sorted { $0.subject < $1.subject }
    let page = Page.cut(events, limit: limit, isBehind: after.map { key in { key < $0.subject } }) {
      [$0.subject.description]
    }
    return .json(names: registrar.names) { json in
      json.objects("fixes", page.entries) { FixResource.write($1, to: &$0) }
      json.next(page.next)
    }
  }

  private func fix(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("subject")
    let subject = try request.subject()
    guard
      let event = try await cache.fix(
        of: subject,
        through: commitPublisher.presentGate(for: request.principal)
      )
    else {
      throw Problem.notFound(
        "There is no fix of \"\(text.shortened)\". It has not been located since the server began, or too many others "
          + "were since; /v1/fixes lists who was."
      )
    }
    return .json(names: registrar.names) { FixResource.write(event, to: &$0) }
  }

  private static func write(_ event: Event, to json: inout JSONText) {
    guard case .fix(let detail) = event.detail else { return }
    json.subject(event.subject)
    json.member("time", event.time.rfc3339)
    json.member("decidedAt", event.decidedAt.rfc3339)
    detail.write(to: &json)
  }
}

extension FloorID {
  /// Reads a floor as it is described: `main/0`; a building's identifier may hold slashes itself.
  fileprivate init?(_ text: String) {
    guard let slash = text.lastIndex(of: "/"), slash > text.startIndex,
      let level = Int(text[text.index(after: slash)...])
    else { return nil }
    self.init(building: String(text[..<slash]), level: level)
  }
}

extension Set<FloorID> {
  /// Returns whether a fix is on one of the floors.
  fileprivate func contains(_ detail: FixDetail) -> Bool {
    detail.isIndoors && contains(FloorID(building: detail.building, level: detail.level))
  }
}

/// The zones and the tags in them.
struct ZoneResource: Resource {
  let server: PharosServer
  let registrar: Registrar
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  var routes: [Route] {
    [
      Route(.get, "/v1/zones", access: .operation, conditional: true, handler: zones),
      Route(.put, "/v1/zones/{id}", access: .operation, body: .json) { request in
        let zone = try ZoneDocument.zone(json: request.body, identifier: request.parameter("id"))
        let isNew = try await registrar.put(zone: zone)
        let warnings = zone.warnings(in: registrar.site)
        return .put(isNew: isNew, at: "zones", zone.identifier) { json in
          ZoneDocument.write(zone, to: &json)
          if !warnings.isEmpty { json.strings("warnings", warnings) }
        }
      },
      Route(.delete, "/v1/zones/{id}", access: .operation) { request in
        try await registrar.delete(zone: request.parameter("id"))
        return .noContent
      },
      Route(
        .get,
        "/v1/tags",
        access: .operation,
        query: ["zone", "cursor", "limit"],
        conditional: true,
        handler: tags
      ),
    ]
  }

  private func zones(_ request: APIRequest) async throws -> APIAnswer {
    var occupants: [String: (all: Int, unmonitored: Int)] = [:]
    for tag in try await server.tags(through: commitPublisher.presentGate(for: request.principal)) {
      guard let zone = tag.zone else { continue }
      occupants[zone, default: (0, 0)].all += 1
      if tag.zoneState == .unmonitored { occupants[zone, default: (0, 0)].unmonitored += 1 }
    }
    let sources = registrar.sources
    return .json { json in
      json.objects("zones", sources.settings.zones) { json, zone in
        ZoneDocument.write(zone, to: &json)
        json.member("source", (sources.declares(zone: zone.identifier) ? Registration.site : .http).rawValue)
        json.member("occupants", occupants[zone.identifier]?.all ?? 0)
        json.member("unmonitored", occupants[zone.identifier]?.unmonitored ?? 0)
      }
    }
  }

  private func tags(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let limit = query.limit()
    let zones = query.texts("zone")
    let after = Page.key(&query) { parts in parts.count == 1 ? BeaconID(parts[0]) : nil }
    try query.finish()
    let tags = try await server.tags(through: commitPublisher.presentGate(for: request.principal))
      .filter { tag in zones.map { tag.zone.map($0.contains) ?? false } ?? true }
      .sorted { $0.beacon < $1.beacon }
    let page = Page.cut(tags, limit: limit, isBehind: after.map { key in { $0.beacon > key } }) {
      [$0.beacon.description]
    }
    let names = registrar.names
    let rooms = try await cache.rooms(of: page.entries.map { .beacon($0.beacon) }, by: names)
    return .json(names: names) { json in
      json.objects("tags", page.entries) { write($1, in: rooms, to: &$0) }
      json.next(page.next)
    }
  }

  private func write(_ tag: TagStanding, in rooms: SubjectRooms, to json: inout JSONText) {
    json.identity("beacon", .beacon(tag.beacon))
    json.member(
      "room",
      ifPresent: tag.zone.flatMap { json.siteNames?.room(ofZone: $0) } ?? rooms[.beacon(tag.beacon)]
    )
    json.member("zone", ifPresent: tag.zone)
    json.member("since", ifPresent: tag.since?.rfc3339)
    json.member("zoneState", ifPresent: tag.zoneState?.name)
    json.member("unmonitoredSince", ifPresent: tag.unmonitoredSince?.rfc3339)
    if let probability = tag.probability { json.member("probability", probability, decimals: 4) }
    json.objects("hearings", tag.hearings) { json, hearing in
      json.identity("observer", hearing.observer)
      json.member("level", hearing.level, decimals: 2)
      json.member("offset", hearing.offset, decimals: 2)
      json.member("lastHeard", hearing.lastHeard.rfc3339)
      json.member("down", hearing.isDown)
    }
  }
}
