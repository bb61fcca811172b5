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
  let owner: SiteOwner
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
        return .json(BeaconTable.members, of: table.row(id), names: table.names)
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
        .receiving(.beaconDocument)
        .answering(put: .beaconDocument)
        .failing(.conflict),
        access: .operation
      ) { request in
        let id = try request.beacon()
        let entry = try BeaconDocument.beacon(json: request.body, id: id)
        let isNew = try await owner.put(beacon: id, entry)
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
        try await owner.delete(beacon: try request.beacon())
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
      json.objects("beacons", page.entries.map(table.row), BeaconTable.members)
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
    sources = resource.owner.sources
    names = resource.owner.names
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
        (row.state == .inside || row.state == .unmonitored) && gate.showsFully(subject, of: row.application)
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
    rooms = try await resource.cache.rooms(of: ids.map { .beacon($0) }, by: names, through: gate)
  }

  /// The room that a beacon is in, if it is known.
  func room(of id: BeaconID) -> String? { tags[id]?.zone.map(names.room(ofZone:)) ?? rooms[.beacon(id)] }

  /// A beacon in a listing.
  struct Row {
    let id: BeaconID
    let entry: BeaconEntry?
    let source: Registration
    let room: String?
    let tag: TagStanding?
    let states: [PublishedState.RegionRecord]
    let battery: StateCache.Battery?
    let fix: (time: Timestamp, detail: FixDetail)?
  }

  func row(_ id: BeaconID) -> Row {
    var fix: (time: Timestamp, detail: FixDetail)?
    if let event = fixes[id], case .fix(let detail) = event.detail { fix = (event.time, detail) }
    return Row(
      id: id,
      entry: entries[BeaconEntry.constraint(of: id).normal],
      source: sources.declares(id) ? .site : .http,
      room: room(of: id),
      tag: tags[id],
      states: states[id] ?? [],
      battery: batteries[id],
      fix: fix
    )
  }

  static let members: [DocumentField<Row>] = [
    .identity("id") { .beacon($0.id) },
    .sometimes("source", .text(.source)) { $0.entry == nil ? nil : $0.source.rawValue },
    .sometimes("measuredPower", .number, "dBm at one metre.") { $0.entry?.measuredPower },
    .sometimes("interval", .text, "As in the site file.") { $0.entry?.interval?.written },
    .part(ofAny: Caption.members) { $0.entry?.caption },
    .sometimes("room", .text(.presentRoom)) { $0.room },
    .sometimes("zone", .text) { $0.tag?.zone },
    .sometimes("zoneState", .text(.zoneState)) { $0.tag?.zoneState?.name },
    .sometimes("since", .moment, "Since when it is in the zone.") { $0.tag?.since },
    .sometimes(
      "lastHeard",
      .moment,
      "When an observer of a zone last heard it; missing for one that was not heard."
    ) { $0.tag?.hearings.map(\.lastHeard).max() },
    .sometimes(
      "nearest",
      .object([
        .identity("observer") { .observer($0.observer) },
        .always("level", .number(decimals: 2), "dBm.") { $0.level },
      ]),
      "The observer of a zone that hears it loudest."
    ) { $0.tag?.hearings.first { !$0.isDown } },
    .always(
      "regions",
      .list(
        .object([
          .always("application", .text) { $0.application },
          .always("region", .text) { $0.region },
          .always("state", .text(.regionState)) { $0.state.name },
          .always("since", .moment) { $0.time },
        ])
      ),
      "The regions that it is inside, or was when it became unmonitored."
    ) { $0.states },
    .sometimes(
      "battery",
      .object([
        .always("millivolts", .count) { $0.millivolts },
        .always("time", .moment) { $0.time },
      ]),
      "The last report of its battery."
    ) { $0.battery },
    .sometimes(
      "fix",
      .object([
        .always("time", .moment, "When the subject was there.") { $0.time },
        .part(FixDetail.members) { $0.detail },
      ]),
      "The last fix."
    ) { $0.fix },
  ]
}

extension Operation.Parameter {
  fileprivate static let beacon = path("id", "The beacon, as events name it.")
}

extension Schema {
  static let beacon = Schema.object(BeaconTable.members).named("Beacon")
}
