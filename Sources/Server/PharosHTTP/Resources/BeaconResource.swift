import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosSite

/// The beacons that are described, located or in a region: what each is called, where it is, and who hears it.
struct BeaconResource: Resource {
  let server: PharosServer
  let registrar: Registrar
  let commitPublisher: CommitPublisher
  let cache: LiveStateCache

  var routes: [Route] {
    let path = "/v1/beacons"
    return [
      Route(
        .get,
        path,
        Operation("listBeacons", .zones, "The beacons that are described, located or in a region")
          .with(
            .query("room", "Only in these rooms, by name."),
            .query("zone", "Only in these zones."),
            .query("named", .flag, "Only those with a name, or without one."),
            .cursor,
            .limit
          )
          .answering(.page("beacons", of: .beacon))
          .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: beacons
      ),
      Route(
        .get,
        path + "/{id}",
        Operation("getBeacon", .zones, "One beacon: its name, where it is, and who hears it")
          .with(.beacon)
          .answering(.beacon)
          .failing(.unavailable),
        access: .operation,
        conditional: true
      ) { request in
        let id = try request.beacon()
        let table = try await BeaconTable(self, request)
        guard table.ids.contains(id) else {
          throw Problem.notFound("Beacon \(id) is neither described nor located, and in no region.")
        }
        return .json(names: table.names) { table.write(id, to: &$0) }
      },
      Route(
        .put,
        path + "/{id}",
        Operation(
          "putBeacon",
          .zones,
          "Name and describe a beacon",
          "A beacon of the site file is changed there: 409 `declaredBySite`."
        )
        .with(.beacon)
        .taking(.beaconDocument)
        .answering(put: .beaconDocument)
        .failing(.conflict),
        access: .operation
      ) { request in
        let id = try request.beacon()
        let entry = try BeaconDocument.beacon(json: request.body, id: id)
        let isNew = try await registrar.put(beacon: id, entry)
        return .put(isNew: isNew, at: "beacons", "\(id)") { json in
          json.member("id", "\(id)")
          BeaconDocument.write(entry, to: &json)
        }
      },
      Route(
        .delete,
        path + "/{id}",
        Operation("deleteBeacon", .zones, "Remove the description of a beacon that was made over HTTP")
          .with(.beacon)
          .answering(.nothing())
          .failing(.conflict),
        access: .operation
      ) { request in
        try await registrar.delete(beacon: try request.beacon())
        return .noContent
      },
    ]
  }

  private func beacons(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let limit = query.limit()
    let rooms = query.texts("room")
    let zones = query.texts("zone")
    let isNamed = query.bool("named")
    let after = Page.key(&query) { parts in parts.count == 1 ? BeaconID(parts[0]) : nil }
    try query.finish()
    let table = try await BeaconTable(self, request)
    let wanted = table.ids.filter { id in
      (rooms.map { table.room(of: id).map($0.contains) ?? false } ?? true)
        && (zones.map { table.tags[id]?.zone.map($0.contains) ?? false } ?? true)
        && (isNamed.map { (table.names.given(to: .beacon(id)) != nil) == $0 } ?? true)
    }
    let page = Page.cut(wanted, limit: limit, isBehind: after.map { key in { $0 > key } }) {
      [$0.description]
    }
    return .json(names: table.names) { json in
      json.objects("beacons", page.entries) { table.write($1, to: &$0) }
      json.next(page.next)
    }
  }
}

/// All that is known of beacons: from the site, the engine and the published states together.
private struct BeaconTable {
  let names: SiteNames
  /// The beacons as stage two locates them.
  let tags: [BeaconID: TagStanding]
  /// All of them, in order.
  let ids: [BeaconID]
  private let sources: SiteSources
  private let entries: [BeaconConstraint: BeaconEntry]
  private let states: [BeaconID: [PublishedState.RegionRecord]]
  private let fixes: [BeaconID: Event]
  private let batteries: [BeaconID: StateCache.Battery]
  private let rooms: SubjectRooms

  init(_ resource: BeaconResource, _ request: APIRequest) async throws {
    sources = resource.registrar.sources
    names = resource.registrar.names
    let gate = resource.commitPublisher.presentGate(for: request.principal)
    let located = try await resource.server.tags(through: gate)
    tags = Dictionary(located.map { ($0.beacon, $0) }) { first, _ in first }
    entries = Dictionary(sources.settings.beacons.map { ($0.constraint.normal, $0) }) { first, _ in first }
    var known = Set(entries.values.compactMap { $0.keyedByAddress ? nil : $0.constraint.onlyBeacon })
    known.formUnion(sources.beacons.keys)
    known.formUnion(tags.keys)
    let (table, fixed, batteries) = try await resource.cache.read { cache in
      (cache.table, cache.fixes, cache.batteries)
    }
    var states: [BeaconID: [PublishedState.RegionRecord]] = [:]
    for (subject, location) in table.subjects {
      guard case .beacon(let beacon) = subject else { continue }
      let rows = location.regions.values.map(\.record).filter { row in
        (row.state == .inside || row.state == .unmonitored) && gate.shows(subject, of: row.application)
      }
      if !rows.isEmpty { states[beacon] = rows.sorted() }
    }
    known.formUnion(states.keys)
    self.states = states
    var fixes: [BeaconID: Event] = [:]
    for fix in fixed { if case .beacon(let beacon) = fix.subject { fixes[beacon] = fix } }
    known.formUnion(fixes.keys)
    self.fixes = fixes
    self.batteries = batteries
    ids = known.filter { gate.shows(.beacon($0)) }.sorted()
    rooms = try await resource.cache.rooms(of: ids.map { .beacon($0) }, by: names)
  }

  /// The room that a beacon is in, if it is known.
  func room(of id: BeaconID) -> String? { tags[id]?.zone.map(names.room(ofZone:)) ?? rooms[.beacon(id)] }

  func write(_ id: BeaconID, to json: inout JSONText) {
    json.identity("id", .beacon(id))
    if let entry = entries[BeaconEntry.constraint(of: id).normal] {
      json.member("source", (sources.declares(id) ? Registration.site : .http).rawValue)
      if let power = entry.measuredPower { json.member("measuredPower", power) }
      json.member("interval", ifPresent: entry.interval?.written)
    }
    json.member("room", ifPresent: room(of: id))
    let tag = tags[id]
    json.member("zone", ifPresent: tag?.zone)
    json.member("zoneState", ifPresent: tag?.zoneState?.name)
    json.member("since", ifPresent: tag?.since?.rfc3339)
    let lastHeard = tag?.hearings.map(\.lastHeard).max()
    json.member("lastHeard", ifPresent: lastHeard?.rfc3339)
    if let nearest = tag?.hearings.first(where: { !$0.isDown }) {
      json.openObject("nearest")
      json.identity("observer", nearest.observer)
      json.member("level", nearest.level, decimals: 2)
      json.closeObject()
    }
    json.objects("regions", states[id] ?? []) { json, row in
      json.member("application", row.application)
      json.member("region", row.region)
      json.member("state", row.state.name)
      json.member("since", row.time.rfc3339)
    }
    if let battery = batteries[id] {
      json.openObject("battery")
      json.member("millivolts", battery.millivolts)
      json.member("time", battery.time.rfc3339)
      json.closeObject()
    }
    guard let fix = fixes[id], case .fix(let detail) = fix.detail else { return }
    json.openObject("fix")
    json.member("time", fix.time.rfc3339)
    detail.write(to: &json)
    json.closeObject()
  }
}

extension Operation.Parameter {
  fileprivate static let beacon = path("id", "The beacon, as events name it.")
}

extension Schema {
  static let beacon = Schema.object([
    .required("id", .text),
    .optional("name", .givenName),
    .optional("source", .source),
    .optional("measuredPower", .number, "dBm at one metre."),
    .optional("interval", .text, "As in the site file."),
    .optional("room", .presentRoom),
    .optional("zone", .text),
    .optional("zoneState", .zoneState),
    .optional("since", .time, "Since when it is in the zone."),
    .optional(
      "lastHeard",
      .time,
      "When an observer of a zone last heard it; missing for one that was not heard."
    ),
    .optional(
      "nearest",
      .object([
        .required("observer", .text),
        .optional("observerName", .givenName),
        .required("level", .number, "dBm."),
      ]),
      "The observer of a zone that hears it loudest."
    ),
    .required(
      "regions",
      .list(
        .object([
          .required("application", .text),
          .required("region", .text),
          .required("state", .regionState),
          .required("since", .time),
        ])
      ),
      "The regions that it is inside, or was when it became unmonitored."
    ),
    .optional(
      "battery",
      .object([
        .required("millivolts", .count),
        .required("time", .time),
      ]),
      "The last report of its battery."
    ),
    .optional(
      "fix",
      .object([
        .required("time", .time, "When the subject was there."),
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
      ]),
      "The last fix."
    ),
  ]).named("Beacon")
}
