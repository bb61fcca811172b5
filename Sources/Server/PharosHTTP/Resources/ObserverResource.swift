import HTTPTypes
import NIOCore
import Pharos
import PharosCaptures
import PharosDelivery
import PharosDocuments
package import PharosIngest
import PharosModel
import PharosPresence
import PharosSecurity
package import PharosSite
import PharosWire

/// The observers: known, heard and waiting to be accepted.
struct ObserverResource: Resource {
  let server: PharosServer
  let registrar: Registrar
  let commitPublisher: CommitPublisher

  var routes: [Route] {
    [
      Route(.get, "/v1/observers", access: .operation, conditional: true) { request in
        let table = try await observerTable(request)
        return .json(names: registrar.names) {
          $0.objects("observers", table.ids) { table.write($1, to: &$0) }
        }
      },
      Route(.get, "/v1/observers/{id}", access: .operation, conditional: true) { request in
        let id = try request.observer()
        let table = try await observerTable(request)
        guard table.ids.contains(id) else {
          throw Problem.notFound("Observer \(id) is neither heard nor listed in the site file.")
        }
        return .json(names: registrar.names) { table.write(id, to: &$0) }
      },
      Route(.put, "/v1/observers/{id}", access: .operation, body: .json, handler: putObserver),
      Route(.delete, "/v1/observers/{id}", access: .operation) { request in
        try await registrar.delete(observer: try request.observer())
        return .noContent
      },
      Route(.post, "/v1/observers/{id}/displayOn", access: .operation) { request in
        try await displayOn(try request.observer(), request)
      },
      Route(.post, "/v1/observers/{id}/accept", access: .operation) { request in
        try await registrar.accept(try request.observer())
        return .accepted("the observer's reports count from now on")
      },
      Route(.get, "/v1/quarantine", access: .operation, conditional: true, handler: quarantine),
    ]
  }

  private func observerTable(_ request: APIRequest) async throws -> ObserverTable {
    ObserverTable(
      try await server.snapshot(),
      registrar.sources,
      through: commitPublisher.presentGate(for: request.principal)
    )
  }

  private func putObserver(_ request: APIRequest) async throws -> APIAnswer {
    let entry = try ObserverDocument.observer(json: request.body, id: try request.observer())
    let isNew = try await registrar.put(observer: entry)
    return .put(isNew: isNew, at: "observers", "\(entry.id)") { ObserverDocument.write(entry, to: &$0) }
  }

  /// A display-on report, as the observer itself would send it.
  private func displayOn(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    var json = JSONText()
    json.openObject()
    json.member("observer", observer.description)
    json.member("displayOn", true)
    json.closeObject()
    _ = try await server.take(json.utf8, request, under: .open)
    return .accepted("regions with notifyEntryStateOnDisplay publish their state as an event")
  }

  private func quarantine(_ request: APIRequest) async throws -> APIAnswer {
    let gate = commitPublisher.presentGate(for: request.principal)
    let sources = try await server.snapshot().heard.observers
    let entries = try await server.quarantine().filter { gate.shows(.observer($0.id)) }
    return .json(names: registrar.names) { json in
      json.objects("observers", entries.sorted { $0.id < $1.id }) { json, entry in
        json.identity("id", entry.id)
        json.member("firstHeard", entry.firstHeard.rfc3339)
        json.member("lastHeard", entry.lastHeard.rfc3339)
        json.member("reports", entry.reports)
        let source = sources.first { $0.id == entry.id }?.source
        json.member("source", ifPresent: source?.description)
      }
    }
  }
}

/// The observers, from the site file, the engine and the sockets together.
private struct ObserverTable {
  private let entries: [ObserverID: ObserverEntry]
  private let sources: SiteSources
  private let statuses: [ObserverID: ObserverStatus]
  private let heard: [ObserverID: HeardObserver]
  /// All of them, in order.
  let ids: [ObserverID]

  init(_ snapshot: IngestSnapshot, _ sources: SiteSources, through gate: Gate) {
    self.sources = sources
    entries = Dictionary(sources.settings.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    statuses = Dictionary(snapshot.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    heard = Dictionary(snapshot.heard.observers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    ids = Set(entries.keys).union(statuses.keys).filter { gate.shows(.observer($0)) }.sorted()
  }

  func write(_ id: ObserverID, to json: inout JSONText) {
    json.identity("id", id)
    json.member("room", ifPresent: json.siteNames?.room(of: id))
    json.member("listed", entries[id] != nil)
    if let entry = entries[id] {
      json.member("declaredBy", (sources.declares(id) ? Registration.site : .http).rawValue)
      json.openObject("declared")
      ObserverDocument.write(entry, to: &json)
      json.closeObject()
    }
    if let status = statuses[id] {
      write(status, to: &json)
    } else {
      json.member("isUp", false)
    }
    if let heard = heard[id] {
      json.member("source", heard.source.description)
      json.member("format", heard.format.name)
    }
  }

  private func write(_ status: ObserverStatus, to json: inout JSONText) {
    json.member("isUp", status.isUp)
    json.member("firstHeard", status.firstHeard.rfc3339)
    json.member("lastHeard", status.lastHeard.rfc3339)
    json.member("adverts", status.adverts)
    json.member("advertsPerSecond", status.advertsPerSecond, decimals: 2)
    if status.datagrams + status.lostDatagrams > 0 {
      json.member("datagrams", status.datagrams)
      json.member("lostDatagrams", status.lostDatagrams)
      json.member("lossShare", status.lossShare, decimals: 5)
    }
    json.member("late", status.late)
    json.member("lag", status.lag.seconds, decimals: 3)
    if let offset = status.clockOffset { json.member("clockOffset", offset.seconds, decimals: 3) }
    if let bootID = status.bootID { json.member("bootId", bootID) }
    json.member("scanState", "\(status.scanState)")
    json.member("allowedGap", status.allowedGap.seconds, decimals: 3)
    json.member("tracks", status.tracks)
  }
}

/// The keys that observers sign with.
struct KeyResource: Resource {
  let registrar: Registrar
  let clock: @Sendable () -> Timestamp

  /// The longest overlap that is taken: what is longer is no rotation.
  private static let longestOverlap = TimeSpan.minutes(366 * 24 * 60)

  var routes: [Route] {
    [
      Route(.get, "/v1/keys", access: .operation) { _ in
        .json(names: registrar.names) {
          $0.objects("observers", registrar.keyedObservers) { write($1, to: &$0) }
        }
      },
      Route(.get, "/v1/observers/{id}/keys", access: .operation) { request in
        let id = try request.observer()
        guard let observer = registrar.keyedObserver(id) else { throw KeyResource.noKeys(id) }
        return .json(names: registrar.names) { write(observer, to: &$0) }
      },
      Route(.post, "/v1/observers/{id}/keys", access: .operation, body: .json) { request in
        try await addKey(try request.observer(), request)
      },
      Route(.delete, "/v1/observers/{id}/keys", access: .operation) { request in
        let id = try request.observer()
        guard try await registrar.forgetKeys(of: id) else { throw KeyResource.noKeys(id) }
        return .noContent
      },
      Route(.delete, "/v1/observers/{id}/keys/{key}", access: .operation) { request in
        let id = try request.observer()
        let text = request.parameter("key")
        guard let key = ObserverKey.id(text), try await registrar.revokeKey(key, of: id) else {
          throw Problem.notFound("Observer \(id) has no key \"\(text.shortened)\".")
        }
        return .noContent
      },
    ]
  }

  private func addKey(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    let known = ["overlap", "radios"]
    let (overlap, radios) = try BodyDocument.read(request.body, name: "key", known: known, mayBeEmpty: true) {
      let radio = ValueForm(expected: "a MAC, a UUID or a name of at most 64 bytes") { ObserverID($0) }
      let radios = $0.has("radios") ? $0.values("radios", of: "observers", radio) : nil
      if let radios, radios.count > KeyedObserver.maximumRadios {
        let most = "at most \(KeyedObserver.maximumRadios)"
        $0.mistake("radios", "radios has \(radios.count) observers", expected: most)
      }
      return ($0.value("overlap", .time(in: .zero...KeyResource.longestOverlap)), radios)
    }
    let now = clock()
    let key = try await registrar.addKey(
      for: observer,
      radios: radios,
      overlap: overlap ?? ObserverKeys.overlap,
      at: now
    )
    return APIAnswer.json(status: .created, names: registrar.names) { json in
      json.identity("observer", observer)
      json.member("id", key.idText)
      json.member("fingerprint", key.fingerprint)
      json.member("createdAt", now.rfc3339)
      json.member("key", key.text)
    }
    .unkept()
  }

  private func write(_ observer: KeyedObserver, to json: inout JSONText) {
    let now = clock()
    json.identity("observer", observer.id)
    json.strings("radios", observer.radios.map(\.description))
    json.objects("keys", observer.keys) { json, entry in
      json.member("id", entry.key.idText)
      json.member("fingerprint", entry.key.fingerprint)
      json.member("createdAt", entry.createdAt.rfc3339)
      json.member("expiresAt", ifPresent: entry.expiresAt?.rfc3339)
      json.member("expired", entry.hasExpired(at: now))
    }
  }

  private static func noKeys(_ observer: ObserverID) -> Problem {
    .notFound("Observer \(observer) has no keys, and never had any.")
  }
}

/// The adverts that clients send over HTTP.
struct AdvertResource: Resource {
  let server: PharosServer
  /// The policy of the site, for clients without a token: no signature and no secret says who they are.
  let policy: @Sendable () -> ListenPolicy

  var routes: [Route] {
    [
      Route(.post, "/v1/adverts", access: .operation, body: .datagram, handler: receive)
    ]
  }

  /// Takes a body as a datagram that came from the client's address.
  private func receive(_ request: APIRequest) async throws -> APIAnswer {
    guard !request.body.isEmpty else {
      throw Problem.badRequest("The body is empty; send a datagram of any format that Pharos knows.")
    }
    let policy = request.principal == .local ? policy() : .open
    let (format, reports, skipped) = try await server.take(request.body, request, under: policy)
    return .json(status: .accepted) { json in
      json.member("reports", reports)
      json.member("skipped", skipped)
      json.member("format", format.name)
    }
  }
}

extension PharosServer {
  /// Hands a datagram to the engine as one that came from the client's address.
  ///
  /// - Throws: the reason for the refusal.
  fileprivate func take(
    _ datagram: [UInt8],
    _ request: APIRequest,
    under policy: ListenPolicy
  ) async throws -> (format: WireFormat, reports: Int, skipped: Int) {
    switch try await receive([datagram], from: request.source, under: policy).first {
    case .accepted(let format, let reports, let skipped): return (format, reports, skipped)
    case nil: throw IngestError.stopped
    case .refused(let reason):
      throw Problem(
        Problem.name(of: reason),
        "The datagram was refused",
        status: 400,
        detail: WireFormat.advice(on: reason)
      )
    }
  }
}

extension APIRequest {
  /// The address of the client; the unspecified address if it is not known.
  fileprivate var source: Endpoint {
    let peer = channel?.remoteAddress
    let address = peer?.ipAddress.flatMap { IPAddress($0) } ?? IPAddress(v4: 0)
    return Endpoint(address, port: UInt16(clamping: peer?.port ?? 0))
  }
}

extension ListenPolicy {
  /// Creates the policy that the site file calls by the same name.
  package init(_ policy: IngestPolicy) {
    switch policy {
    case .open: self = .open
    case .allowlist: self = .allowlist
    case .signed: self = .signed
    }
  }
}
