import Pharos
import PharosDelivery
import PharosModel
import PharosPositioning
import PharosVenues

extension Endpoints {
  var fixRoutes: [Route] {
    [
      Route(
        .get,
        "/v1/fixes",
        access: .anyToken,
        query: ["subject", "venue", "floor", "cursor", "limit"],
        conditional: true
      ) { request in
        try await fixes(request)
      },
      Route(.get, "/v1/fixes/{subject}", access: .anyToken, conditional: true) { request in
        try await fix(request)
      },
    ]
  }

  private func fixes(_ request: APIRequest) async throws -> APIAnswer {
    var query = QueryReading(request)
    let subjects = query.subjects("subject")
    let venues = query.texts("venue")
    let floors = query.floors("floor")
    let limit = query.limit()
    let after = Page.key(&query) { parts in parts.count == 1 ? SubjectID(parts[0]) : nil }
    try query.finish()
    let isShown = board.visibility(ofFixesTo: request.principal)
    let events = try await board.read { $0.fixes }
      .filter { event in
        guard case .fix(let detail) = event.detail else { return false }
        return subjects?.contains(event.subject) ?? true && venues?.contains(detail.venue) ?? true
          && floors?.contains(detail) ?? true && isShown(event)
      }
      .sorted { $0.subject < $1.subject }
    let page = Page.cut(events, limit: limit, isBehind: after.map { key in { key < $0.subject } }) {
      [$0.subject.description]
    }
    let names = SubjectNames(backend.registrar.site)
    return .json { json in
      json.openObject()
      json.openArray("fixes")
      for event in page.entries { Endpoints.write(event, name: names[event.subject], to: &json) }
      json.closeArray()
      json.cursor(page.next)
      json.closeObject()
    }
  }

  private func fix(_ request: APIRequest) async throws -> APIAnswer {
    let text = request.parameter("subject")
    guard let subject = SubjectID(text) else {
      throw Problem.notFound(
        "\"\(text.shortened)\" is neither an observer nor a beacon as events name them."
      )
    }
    let isShown = board.visibility(ofFixesTo: request.principal)
    guard let event = try await board.read({ $0.fix(of: subject) }), isShown(event) else {
      throw Problem.notFound(
        "There is no fix of \"\(text.shortened)\". It has not been located since the server began, or too many others "
          + "were since; /v1/fixes lists who was."
      )
    }
    let names = SubjectNames(backend.registrar.site)
    return .json { json in Endpoints.write(event, name: names[subject], to: &json) }
  }

  private static func write(_ event: Event, name: String?, to json: inout JSONText) {
    guard case .fix(let detail) = event.detail else { return }
    json.openObject()
    json.member("subject", event.subject.description)
    json.member("subjectKind", event.subject.kindName)
    json.member("name", ifPresent: name)
    json.member("time", event.time.rfc3339)
    json.member("decidedAt", event.decidedAt.rfc3339)
    detail.write(to: &json)
    json.closeObject()
  }
}

/// The names that the site's directory gives to observers and beacons.
private struct SubjectNames {
  private let observers: [ObserverID: String]
  private let beacons: BeaconNames

  init(_ site: Site) {
    observers = Dictionary(
      site.observers.compactMap { entry in entry.name.map { (entry.id, $0) } },
      uniquingKeysWith: { first, _ in first }
    )
    beacons = BeaconNames(site)
  }

  subscript(_ subject: SubjectID) -> String? {
    switch subject {
    case .none: nil
    case .observer(let observer): observers[observer]
    case .beacon(let beacon): beacons[beacon]
    }
  }
}

extension QueryReading {
  /// Floors as a building and a number with a slash between them, or nil where the parameter is not there.
  fileprivate mutating func floors(_ name: String) -> Set<FloorID>? {
    guard let texts = texts(name) else { return nil }
    var floors: Set<FloorID> = []
    for text in texts.sorted() where !text.isEmpty {
      if let floor = FloorID(text) {
        floors.insert(floor)
      } else {
        wrong(
          name,
          "\"\(text.shortened)\" is none",
          expected: "a building and a floor's number, as in main/0; /v1/venues lists them"
        )
      }
    }
    return floors
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

extension Endpoints {
  var zoneRoutes: [Route] {
    [
      Route(.get, "/v1/zones", access: .operation, conditional: true) { _ in try await zones() },
      Route(
        .get,
        "/v1/tags",
        access: .operation,
        query: ["zone", "cursor", "limit"],
        conditional: true
      ) {
        request in
        try await tags(request)
      },
    ]
  }

  private func zones() async throws -> APIAnswer {
    var occupants: [String: Int] = [:]
    for tag in try await backend.server.tags() {
      if let zone = tag.zone { occupants[zone, default: 0] += 1 }
    }
    return .json { json in
      json.openObject()
      json.openArray("zones")
      for zone in backend.registrar.site.zones {
        json.openObject()
        json.member("id", zone.identifier)
        json.member("name", ifPresent: zone.name)
        if let floor = zone.floor { json.member("floor", floor) }
        json.openArray("observers")
        for observer in zone.observers { json.element(observer.description) }
        json.closeArray()
        json.openArray("adjacent")
        for adjacent in zone.adjacent { json.element(adjacent) }
        json.closeArray()
        json.member("occupants", occupants[zone.identifier] ?? 0)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
  }

  private func tags(_ request: APIRequest) async throws -> APIAnswer {
    var query = QueryReading(request)
    let limit = query.limit()
    let zones = query.texts("zone")
    let after = Page.key(&query) { parts in parts.count == 1 ? BeaconID(parts[0]) : nil }
    try query.finish()
    let tags = try await backend.server.tags()
      .filter { tag in zones.map { wanted in tag.zone.map { wanted.contains($0) } ?? false } ?? true
      }
      .sorted { $0.beacon < $1.beacon }
    let page = Page.cut(tags, limit: limit, isBehind: after.map { key in { $0.beacon > key } }) {
      [$0.beacon.description]
    }
    let names = BeaconNames(backend.registrar.site)
    return .json { json in
      json.openObject()
      json.openArray("tags")
      for tag in page.entries { write(tag, name: names[tag.beacon], to: &json) }
      json.closeArray()
      json.cursor(page.next)
      json.closeObject()
    }
  }

  private func write(_ tag: TagStanding, name: String?, to json: inout JSONText) {
    json.openObject()
    json.member("beacon", tag.beacon.description)
    json.member("name", ifPresent: name)
    json.member("zone", ifPresent: tag.zone)
    json.member("since", ifPresent: tag.since?.rfc3339)
    if let probability = tag.probability { json.member("probability", probability, decimals: 4) }
    json.openArray("hearings")
    for hearing in tag.hearings {
      json.openObject()
      json.member("observer", hearing.observer.description)
      json.member("level", hearing.level, decimals: 2)
      json.member("offset", hearing.offset, decimals: 2)
      json.member("lastHeard", hearing.lastHeard.rfc3339)
      json.member("down", hearing.isDown)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }
}

extension JSONText {
  /// Writes the cursor of the next page; null behind the last one.
  mutating func cursor(_ next: String?) {
    if let next { member("next", next) } else { null("next") }
  }
}

/// The names that the directory gives to beacons.
struct BeaconNames {
  private let entries: [BeaconEntry]

  /// Reads a site's directory.
  init(_ site: Site) { entries = site.beacons.filter { $0.name != nil } }

  /// The name of a beacon, or nil.
  subscript(_ beacon: BeaconID) -> String? { entries.first { $0.constraint.matches(beacon) }?.name }
}
