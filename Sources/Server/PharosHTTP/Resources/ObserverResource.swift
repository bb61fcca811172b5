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
      Route(
        .get,
        "/v1/observers",
        Operation("listObservers", .observers, "The observers and how they fare")
          .answering(.list("observers", of: .observer))
          .failing(.unavailable),
        access: .operation,
        conditional: true
      ) { request in
        let table = try await observerTable(request)
        return .json(names: registrar.names) {
          $0.objects("observers", table.ids) { table.write($1, to: &$0) }
        }
      },
      Route(
        .get,
        "/v1/observers/{id}",
        Operation("getObserver", .observers, "One observer")
          .with(.observer)
          .answering(.observer)
          .failing(.unavailable),
        access: .operation,
        conditional: true
      ) { request in
        let id = try request.observer()
        let table = try await observerTable(request)
        guard table.ids.contains(id) else {
          throw Problem.notFound("Observer \(id) is neither heard nor listed in the site file.")
        }
        return .json(names: registrar.names) { table.write(id, to: &$0) }
      },
      Route(
        .put,
        "/v1/observers/{id}",
        Operation(
          "putObserver",
          .observers,
          "Name and configure an observer, which accepts it",
          "An observer that the site file lists is changed there: 409 `declaredBySite`."
        )
        .with(.observer)
        .taking(.observerDocument)
        .answering(put: .observerDocument)
        .failing(.conflict),
        access: .operation,
        handler: putObserver
      ),
      Route(
        .delete,
        "/v1/observers/{id}",
        Operation(
          "deleteObserver",
          .observers,
          "Withdraw the name and the acceptance that an observer was given over HTTP",
          "An observer that the site file lists is removed there: 409 `declaredBySite`."
        )
        .with(.observer)
        .answering(.nothing())
        .failing(.conflict),
        access: .operation
      ) { request in
        try await registrar.delete(observer: try request.observer())
        return .noContent
      },
      Route(
        .post,
        "/v1/observers/{id}/displayOn",
        Operation("displayOn", .observers, "Say that an observer's display was turned on")
          .with(.observer)
          .answering(.taken(.accepted)),
        access: .operation
      ) { request in
        try await displayOn(try request.observer(), request)
      },
      Route(
        .post,
        "/v1/observers/{id}/accept",
        Operation("acceptObserver", .observers, "Accept an observer that is in quarantine")
          .with(.observer)
          .answering(.taken(.accepted)),
        access: .operation
      ) { request in
        try await registrar.accept(try request.observer())
        return .accepted("the observer's reports count from now on")
      },
      Route(
        .get,
        "/v1/quarantine",
        Operation("listQuarantine", .observers, "Observers that are heard and do not count")
          .answering(.list("observers", of: .quarantinedObserver))
          .failing(.unavailable),
        access: .operation,
        conditional: true,
        handler: quarantine
      ),
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
      Route(
        .get,
        "/v1/keys",
        Operation("listKeys", .observers, "The keys that observers sign with, without their secrets")
          .answering(.list("observers", of: .keyedObserver)),
        access: .operation
      ) { _ in
        .json(names: registrar.names) {
          $0.objects("observers", registrar.keyedObservers) { write($1, to: &$0) }
        }
      },
      Route(
        .get,
        "/v1/observers/{id}/keys",
        Operation("getKeys", .observers, "The keys of one observer, without their secrets")
          .with(.observer)
          .answering(.keyedObserver),
        access: .operation
      ) { request in
        let id = try request.observer()
        guard let observer = registrar.keyedObserver(id) else { throw KeyResource.noKeys(id) }
        return .json(names: registrar.names) { write(observer, to: &$0) }
      },
      Route(
        .post,
        "/v1/observers/{id}/keys",
        Operation(
          "addKey",
          .observers,
          "Make a key for an observer and accept it; the key is shown this once"
        )
        .with(.observer)
        .taking(.keyDocument, isRequired: false)
        .answering(.madeOnce(.newKey))
        .failing(.conflict),
        access: .operation
      ) { request in
        try await addKey(try request.observer(), request)
      },
      Route(
        .delete,
        "/v1/observers/{id}/keys",
        Operation(
          "forgetKeys",
          .observers,
          "Forget all keys of an observer, so that it no longer needs to sign"
        )
        .with(.observer)
        .answering(.nothing()),
        access: .operation
      ) { request in
        let id = try request.observer()
        guard try await registrar.forgetKeys(of: id) else { throw KeyResource.noKeys(id) }
        return .noContent
      },
      Route(
        .delete,
        "/v1/observers/{id}/keys/{key}",
        Operation("revokeKey", .observers, "Revoke a key of an observer")
          .with(.observer, .path("key", "The key's id, in hexadecimal."))
          .answering(.nothing()),
        access: .operation
      ) { request in
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
      Route(
        .post,
        "/v1/adverts",
        Operation(
          "postAdverts",
          .observers,
          "Take a datagram of any known format",
          """
          For gateways that speak only HTTP: JSON, Minew, Ruuvi, raddec and all else that is understood over \
          UDP. Without a token it is taken or refused by `ingest.policy`, as over UDP.
          """
        )
        .taking(.datagram)
        .answering(
          .taken(
            .object([
              .required("reports", .count),
              .required("skipped", .count, "Elements that could not be read; the others were."),
              .required("format", .text),
            ])
          )
        ),
        access: .operation,
        handler: receive
      )
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

extension Operation.Parameter {
  fileprivate static let observer = path("id", "The observer.")
}

extension Schema {
  static let observer = Schema.object([
    .required("id", .text),
    .optional("name", .text),
    .optional("room", .text, "The zone that it stands in, by name, if it is in one alone."),
    .required("listed", .flag, "Whether the site file, a name or an acceptance lists it."),
    .optional("declaredBy", .source),
    .optional("declared", .observerDocument),
    .required("isUp", .flag),
    .optional("firstHeard", .time),
    .optional("lastHeard", .time),
    .optional("adverts", .count),
    .optional("advertsPerSecond", .number),
    .optional("datagrams", .count, "Received; absent if it does not number them."),
    .optional("lostDatagrams", .count, "By their numbers; absent if it does not number them."),
    .optional("lossShare", .number, "0 to 1; absent if it does not number its datagrams."),
    .optional("late", .count),
    .optional("lag", .number, "Seconds."),
    .optional("clockOffset", .number, "Seconds."),
    .optional("bootId", .count),
    .optional("scanState", .words(["off", "windowed", "foreground"])),
    .optional("allowedGap", .number, "The silence, in seconds, after which it counts as down."),
    .optional("tracks", .count),
    .optional("source", .text),
    .optional("format", .text),
  ]).named("Observer")

  static let quarantinedObserver = Schema.object([
    .required("id", .text),
    .optional("name", .givenName),
    .required("firstHeard", .time),
    .required("lastHeard", .time),
    .required("reports", .count),
    .optional("source", .text),
  ]).named("QuarantinedObserver")

  static let keyedObserver = Schema.object([
    .required("observer", .text, "Who signs."),
    .optional("observerName", .givenName),
    .required("radios", .list(.text), "The further observers whose records it may send."),
    .required(
      "keys",
      .list(
        .object([
          .required("id", .pattern("^[0-9a-f]{8}$"), "Which key it is."),
          .required("fingerprint", .pattern("^[0-9a-f]{8}$"), "By which two ends can be compared."),
          .required("createdAt", .time),
          .optional("expiresAt", .time, "From when on nothing signed with it is taken."),
          .required("expired", .flag),
        ])
      )
    ),
  ]).named("KeyedObserver")

  static let newKey = Schema.object([
    .required("observer", .text, "Who signs."),
    .optional("observerName", .givenName),
    .required("id", .pattern("^[0-9a-f]{8}$"), "Which key it is."),
    .required("fingerprint", .pattern("^[0-9a-f]{8}$"), "By which two ends can be compared."),
    .required("createdAt", .time),
    .required(
      "key",
      .text,
      "What the gateway is given: pharos-key-, the id and the secret. It is shown this once."
    ),
  ]).named("NewKey")

  static let keyDocument = Schema.closed([
    .optional("overlap", .text, "How long older keys stay good, with a unit, as 7d. By default `7d`."),
    .optional(
      "radios",
      .list(.name, 0...16),
      "The further observers whose records it may send, in place of those it has."
    ),
  ]).named("KeyDocument")
}
