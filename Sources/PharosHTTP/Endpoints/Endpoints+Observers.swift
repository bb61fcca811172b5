import Pharos
import PharosCaptures
import PharosIngest
import PharosMonitoring
import PharosReports
import PharosWire

extension Endpoints {
  var observerRoutes: [Route] {
    [
      Route(.get, "/v1/observers", access: .operation, conditional: true) { _ in
        let table = ObserverTable(try await backend.server.snapshot(), backend.registrar.site)
        return .json { json in
          json.openObject()
          json.openArray("observers")
          for id in table.ids { table.write(id, to: &json) }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, "/v1/observers/{id}", access: .operation, conditional: true) { request in
        let id = try observer(request)
        let table = ObserverTable(try await backend.server.snapshot(), backend.registrar.site)
        guard table.ids.contains(id) else {
          throw Problem.notFound("Observer \(id) is neither heard nor listed in the site file.")
        }
        return .json { json in table.write(id, to: &json) }
      },
      Route(.post, "/v1/observers/{id}/displayOn", access: .operation) { request in
        try await displayOn(try observer(request), request)
      },
      Route(.post, "/v1/observers/{id}/accept", access: .operation) { request in
        try await backend.registrar.accept(try observer(request))
        return .accepted("the observer's reports count from now on")
      },
      Route(.get, "/v1/quarantine", access: .operation, conditional: true) { _ in
        try await quarantine()
      },
    ]
  }

  /// A display-on report, as the observer itself would send it.
  private func displayOn(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    var json = JSONText()
    json.openObject()
    json.member("observer", observer.description)
    json.member("displayOn", true)
    json.closeObject()
    _ = try await take(json.utf8, request)
    return .accepted("regions that ask for it tell their state as an event")
  }

  private func quarantine() async throws -> APIAnswer {
    let sources = try await backend.server.snapshot().heard.observers
    let entries = try await backend.server.quarantine()
    return .json { json in
      json.openObject()
      json.openArray("observers")
      for entry in entries.sorted(by: { $0.id < $1.id }) {
        json.openObject()
        json.member("id", entry.id.description)
        json.member("firstHeard", entry.firstHeard.rfc3339)
        json.member("lastHeard", entry.lastHeard.rfc3339)
        json.member("reports", entry.reports)
        let source = sources.first { $0.id == entry.id }?.source
        json.member("source", ifPresent: source?.description)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
  }
}

/// What is known of observers, from the site file, the engine and the sockets together.
private struct ObserverTable {
  private let entries: [ObserverID: ObserverEntry]
  private let statuses: [ObserverID: ObserverStatus]
  private let heard: [ObserverID: HeardObserver]
  /// All of them, in order.
  let ids: [ObserverID]

  init(_ snapshot: IngestSnapshot, _ site: Site) {
    entries = Dictionary(site.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    statuses = Dictionary(snapshot.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    heard = Dictionary(snapshot.heard.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    ids = Set(entries.keys).union(statuses.keys).sorted()
  }

  func write(_ id: ObserverID, to json: inout JSONText) {
    json.openObject()
    json.member("id", id.description)
    json.member("name", ifPresent: entries[id]?.name)
    json.member("listed", entries[id] != nil)
    if let status = statuses[id] {
      write(status, to: &json)
    } else {
      json.member("isUp", false)
    }
    if let heard = heard[id] {
      json.member("source", heard.source.description)
      json.member("format", heard.format.name)
    }
    json.closeObject()
  }

  private func write(_ status: ObserverStatus, to json: inout JSONText) {
    json.member("isUp", status.isUp)
    json.member("firstHeard", status.firstHeard.rfc3339)
    json.member("lastHeard", status.lastHeard.rfc3339)
    json.member("adverts", status.adverts)
    json.member("advertsPerSecond", status.advertsPerSecond, decimals: 2)
    json.member("datagrams", status.datagrams)
    json.member("lostDatagrams", status.lostDatagrams)
    json.member("lossShare", status.lossShare, decimals: 5)
    json.member("late", status.late)
    json.member("lag", status.lag.seconds, decimals: 3)
    if let offset = status.clockOffset { json.member("clockOffset", offset.seconds, decimals: 3) }
    if let bootID = status.bootID { json.member("bootId", bootID) }
    json.member("scanState", status.scanState.name)
    json.member("allowedGap", status.allowedGap.seconds, decimals: 3)
    json.member("tracks", status.tracks)
  }
}

extension ScanState {
  /// The state as JSON spells it.
  fileprivate var name: String {
    switch self {
    case .off: "off"
    case .windowed: "windowed"
    case .foreground: "foreground"
    }
  }
}
