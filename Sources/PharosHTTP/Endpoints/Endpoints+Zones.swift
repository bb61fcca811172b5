import Pharos
import PharosPositioning
import PharosReports

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
