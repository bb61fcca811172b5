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
  let owner: SiteOwner
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
          a live stream of fixes. With `Accept: text/csv` the fixes as CSV (RFC 4180), with `Accept: \
          application/geo+json` as points.
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
        .answering(.located(.page("fixes", of: .fix), points: .fixFeatures).linked)
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
      FloorID(floor: $0)
    }
    let limit = query.limit()
    let after = Page.key(&query) { parts in parts.count == 1 ? SubjectID(parts[0]) : nil }
    try query.finish()
    let gate = commitPublisher.presentGate(for: request.principal)
    // The filters see what the reader sees, so that they find nothing finer.
    let events = try await cache.read { $0.fixes }
      .filter { subjects?.contains($0.subject) ?? true }
      .compactMap { gate.passed($0) }
      .filter { event in
        guard case .fix(let detail) = event.detail else { return false }
        return venues?.contains(detail.venue) ?? true && floors?.contains(detail) ?? true
      }
      .sorted { $0.subject < $1.subject }
    let page = Page.cut(events, limit: limit, isBehind: after.map { key in { key < $0.subject } }) {
      [$0.subject.description]
    }
    let rows = page.entries.compactMap(FixRow.init)
    if request.accepts("text/csv") {
      var answer = try HistoryTable.csv(of: rows, FixRow.members, names: owner.names)
      answer.headers[named: "Link"] = page.next.map { request.link(toNext: "cursor", $0) }
      return answer
    }
    if request.accepts(APIAnswer.featureType) {
      return .features(names: owner.names) { json in
        for row in rows {
          json.feature(at: row.position) { DocumentField.write(FixRow.members, of: row, to: &$0) }
        }
      } beside: { json in
        json.next(page.next)
      }
    }
    return .json(names: owner.names) { json in
      json.objects("fixes", rows, FixRow.members)
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
    return .json(names: owner.names) {
      DocumentField.write(FixRow.members, ofAny: FixRow(event), to: &$0)
    }
  }
}

/// The fix of a subject in a listing.
struct FixRow {
  let event: Event
  let detail: FixDetail

  init?(_ event: Event) {
    guard case .fix(let detail) = event.detail else { return nil }
    (self.event, self.detail) = (event, detail)
  }

  /// The position as GeoJSON has it, whose heights are those above the ellipsoid.
  var position: [Double]? {
    guard let longitude = detail.longitude, let latitude = detail.latitude else { return nil }
    return [longitude, latitude] + (detail.ellipsoidalAltitude.map { [$0] } ?? [])
  }

  static let members: [DocumentField<FixRow>] = [
    .subject { $0.event.subject },
    .always("time", .moment, "When the subject was there.") { $0.event.time },
    .always("decidedAt", .moment) { $0.event.decidedAt },
    .part(FixDetail.members) { $0.detail },
  ]
}

extension FloorID {
  /// Reads a floor as it is described: `main/0`; a building's identifier may hold slashes itself.
  init?(floor text: String) {
    guard let slash = text.lastIndex(of: "/"), slash > text.startIndex,
      let level = Int(text[text.index(after: slash)...])
    else { return nil }
    self.init(building: String(text[..<slash]), level: level)
  }
}

extension Set<FloorID> {
  /// Returns whether a fix is on one of the floors.
  func contains(_ detail: FixDetail) -> Bool {
    detail.isIndoors && detail.accuracy >= .floor
      && contains(FloorID(building: detail.building, level: detail.level))
  }
}

/// The zones and the tags in them.
struct ZoneResource: Resource {
  let server: PharosServer
  let owner: SiteOwner
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
        .post,
        "/v1/zones",
        Operation(
          "changeZones",
          .zones,
          "Make, replace and remove several zones at once",
          "All of it counts, or none: a refusal leaves each zone as it was. A zone of the site file is changed there: 409 "
            + "`declaredBySite`."
        )
        .receiving(.zoneChanges)
        .answering(.nothing())
        .failing(.conflict),
        access: .operation
      ) { request in
        let changes = try ZoneDocument.changes(json: request.body)
        _ = try await owner.change(zones: changes.zones, removing: changes.removed)
        return .noContent
      },
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
        .receiving(.zoneDocument)
        .answering(put: .zoneDocument)
        .failing(.conflict),
        access: .operation
      ) { request in
        let zone = try ZoneDocument.zone(json: request.body, identifier: request.parameter("id"))
        let isNew = try await !owner.change(zones: [zone]).isEmpty
        let warnings = zone.warnings(in: owner.site)
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
        _ = try await owner.change(removing: [request.parameter("id")])
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
    let sources = owner.sources
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
    let gate = commitPublisher.presentGate(for: request.principal)
    let tags = try await server.tags(through: gate)
      .filter { tag in zones.map { tag.zone.map($0.contains) ?? false } ?? true }
      .sorted { $0.beacon < $1.beacon }
    let page = Page.cut(tags, limit: limit, isBehind: after.map { key in { $0.beacon > key } }) {
      [$0.beacon.description]
    }
    let names = owner.names
    let rooms = try await cache.rooms(
      of: page.entries.map { .beacon($0.beacon) },
      by: names,
      through: gate
    )
    return .json(names: names) { json in
      json.objects("tags", page.entries.map { TagRow(tag: $0, rooms: rooms) }, TagRow.members)
      json.next(page.next)
    }
  }
}

/// A tag in a listing.
private struct TagRow {
  let tag: TagStanding
  let rooms: SubjectRooms

  static let members: [DocumentField<TagRow>] = [
    .identity("beacon") { .beacon($0.tag.beacon) },
    DocumentField(writing: [.optional("room", .presentRoom)]) { row, json in
      let room = row.tag.zone.flatMap { json.siteNames?.room(ofZone: $0) }
      json.member("room", ifPresent: room ?? row.rooms[.beacon(row.tag.beacon)])
    },
    .sometimes("zone", .text) { $0.tag.zone },
    .sometimes("since", .moment) { $0.tag.since },
    .sometimes("zoneState", .text(.zoneState)) { $0.tag.zoneState?.name },
    .sometimes("unmonitoredSince", .moment, "Since when it is unmonitored in the zone.") {
      $0.tag.unmonitoredSince
    },
    .sometimes("probability", .number(decimals: 4), "0 to 1.") { $0.tag.probability },
    .always("hearings", .list(.object(TagStanding.Hearing.members))) { $0.tag.hearings },
  ]
}

extension TagStanding.Hearing {
  fileprivate static let members: [DocumentField<TagStanding.Hearing>] = [
    .identity("observer") { .observer($0.observer) },
    .always("level", .number(decimals: 2), "dBm.") { $0.level },
    .always("offset", .number(decimals: 2), "dB.") { $0.offset },
    .always("lastHeard", .moment) { $0.lastHeard },
    .always("down", .flag) { $0.isDown },
  ]
}

extension Operation.Parameter {
  fileprivate static let zone = path("id", "The zone's identifier.")
}

extension Schema {
  static let fix = Schema.object(FixRow.members).named("Fix")

  static let fixFeatures = Schema.points(.fix, beside: [nextPage]).named("FixFeatures")

  static let zone = Schema.object(
    .zone + [
      .optional("source", .source),
      .required("occupants", .count),
      .optional(
        "unmonitored",
        .count,
        "How many of them are unmonitored: the observers that heard them are down."
      ),
    ]
  ).named("Zone")

  static let tag = Schema.object(TagRow.members).named("Tag")
}
