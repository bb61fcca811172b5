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
        Operation(
          "listFixes",
          .fixes,
          "The last fix of each subject",
          """
          The last fix of each subject since the server started; fixes are not kept in the journal. An \
          application receives only the fixes that its authorisations allow. `/v1/events?kind=fix&rate=1` is \
          a live stream of fixes.
          """
        )
        .with(
          .query("subject", "Only of these subjects."),
          .query("venue", "Only in these venues."),
          .query(
            "floor",
            each: .pattern("^.+/-?[0-9]+$"),
            "Only on these floors: a building and a floor's number, as `main/0`."
          ),
          .cursor,
          .limit
        )
        .answering(.page("fixes", of: .fix))
        .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: fixes
      ),
      Route(
        .get,
        "/v1/fixes/{subject}",
        Operation("getFix", .fixes, "The last fix of a subject")
          .with(.subject)
          .answering(.fix)
          .failing(.unavailable),
        access: .anyToken,
        conditional: true,
        handler: fix
      ),
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
        """
        There is no fix of "\(text.shortened)". It has not been located since the server began, or too many \
        others 
        """
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
      Route(
        .get,
        "/v1/zones",
        Operation("listZones", .zones, "The zones and how many tags are in each")
          .answering(.list("zones", of: .zone))
          .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: zones
      ),
      Route(
        .put,
        "/v1/zones/{id}",
        Operation(
          "putZone",
          .zones,
          "Make a zone, in place of one with the same identifier",
          "A zone of the site file is changed there: 409 `declaredBySite`."
        )
        .with(.zone)
        .taking(.zoneDocument)
        .answering(put: .zoneDocument)
        .failing(.conflict),
        access: .operation
      ) { request in
        let zone = try ZoneDocument.zone(json: request.body, identifier: request.parameter("id"))
        let isNew = try await registrar.put(zone: zone)
        let warnings = zone.warnings(in: registrar.site)
        return .put(isNew: isNew, at: "zones", zone.identifier) { json in
          ZoneDocument.write(zone, to: &json)
          if !warnings.isEmpty { json.strings("warnings", warnings) }
        }
      },
      Route(
        .delete,
        "/v1/zones/{id}",
        Operation("deleteZone", .zones, "Remove a zone that was made over HTTP")
          .with(.zone)
          .answering(.nothing())
          .failing(.conflict),
        access: .operation
      ) { request in
        try await registrar.delete(zone: request.parameter("id"))
        return .noContent
      },
      Route(
        .get,
        "/v1/tags",
        Operation("listTags", .zones, "The tags and where they are")
          .with(.query("zone", "Only in these zones."), .cursor, .limit)
          .answering(.page("tags", of: .tag))
          .failing(.unavailable),
        access: .operation,
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

extension Operation.Parameter {
  fileprivate static let zone = path("id", "The zone's identifier.")
}

extension Schema {
  static let fix = Schema.object([
    .required("subject", .text),
    .required("subjectKind", .subjectKind),
    .optional("name", .text, "The name that the site has for the subject."),
    .required("time", .time, "When the subject was there."),
    .required("decidedAt", .time),
    .required("venue", .text),
    .optional("building", .text, "Missing outdoors, as are level, floorName, x and y."),
    .optional("level", .integer, "The floor's number; 0 is the ground floor."),
    .optional("floorName", .text),
    .optional("room", .text, "The room that it is in, by the venue's own name."),
    .optional("place", .text, "The point of interest that it is at, by name."),
    .optional("latitude", .number, "Degrees north, WGS 84."),
    .optional("longitude", .number, "Degrees east, WGS 84."),
    .optional("x", .number, "Metres east on the floor's plane."),
    .optional("y", .number, "Metres north on the floor's plane."),
    .required("horizontalAccuracy", .number(0...), "Metres: the radius meant to hold 68 % of truths."),
    .optional("speed", .number(0...), "Metres a second."),
    .optional("course", .number(0...), "Degrees from north clockwise."),
    .required(
      "sources",
      .list(.words(["wifi", "beacons", "motion", "outside", "observers"])),
      "What it was made from."
    ),
    .required("age", .number, "How old the newest evidence of a radio, or from outside, was; seconds."),
    .required(
      "satellites",
      .words(["needed", "notNeeded"]),
      "Whether the handset's satellite receiver is worth its power here."
    ),
    .optional(
      "itinerary",
      .object([
        .required("distance", .number, "Metres along the route."),
        .required("share", .number(0...1), "The same as a share of the whole route."),
        .required("deviation", .number(0...), "Metres from the route."),
        .required("offRoute", .flag, "Whether the subject has left the route."),
        .optional("latitude", .number, "The nearest place on the route; degrees north."),
        .optional("longitude", .number, "The nearest place on the route; degrees east."),
      ]),
      "The place along the subject's itinerary; missing if it has none or is not near it."
    ),
  ]).named("Fix")

  static let zone = Schema.object([
    .required("id", .text),
    .optional("name", .text),
    .optional("floor", .integer),
    .required("observers", .list(.text)),
    .required(
      "adjacent",
      .list(.text),
      """
      The zones that it names as reached by a door or stairs. A door leads both ways: naming it in one of \
      the two zones is enough.
      """
    ),
    .optional(
      "beacons",
      .list(
        .closed([
          .optional(
            "uuid",
            .pattern("^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$"),
            "A proximity UUID, of an iBeacon or an AltBeacon."
          ),
          .optional("major", .integer(0...65_535)),
          .optional("minor", .integer(0...65_535)),
          .optional("namespace", .pattern("^[0-9A-Fa-f]{20}$"), "An Eddystone namespace."),
          .optional("instance", .pattern("^[0-9A-Fa-f]{12}$"), "An Eddystone instance."),
          .optional(
            "mac",
            .pattern("^(([0-9A-Fa-f]{2}:){5}|([0-9A-Fa-f]{2}-){5}|([0-9A-Fa-f]{2}){5})[0-9A-Fa-f]{2}$"),
            "A device address, whatever it advertises."
          ),
          .optional("key", .words(["mac"]), "`mac` makes the device address a part of the identity."),
        ])
      ),
      "The beacons that it places; none means all that some region asks about."
    ),
    .optional(
      "occupancy",
      .list(
        .closed([
          .required("above", .integer(0...65_536), "The number that must be exceeded."),
          .optional(
            "below",
            .integer(0...65_536),
            "The number below which the count must then fall; `above` if left out."
          ),
        ]),
        0...16
      ),
      "Numbers of beacons at which `pharos.zone.occupancy` is published."
    ),
    .optional("source", .source),
    .required("occupants", .count),
    .optional(
      "unmonitored",
      .count,
      "How many of them are unmonitored: the observers that heard them are down."
    ),
  ]).named("Zone")

  static let tag = Schema.object([
    .required("beacon", .text),
    .optional("name", .text),
    .optional("room", .presentRoom),
    .optional("zone", .text),
    .optional("since", .time),
    .optional("zoneState", .zoneState),
    .optional("unmonitoredSince", .time, "Since when it is unmonitored in the zone."),
    .optional("probability", .number, "0 to 1."),
    .required(
      "hearings",
      .list(
        .object([
          .required("observer", .text),
          .optional("observerName", .givenName),
          .required("level", .number, "dBm."),
          .required("offset", .number, "dB."),
          .required("lastHeard", .time),
          .required("down", .flag),
        ])
      )
    ),
  ]).named("Tag")
}
