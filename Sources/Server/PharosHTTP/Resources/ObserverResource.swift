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
  let owner: SiteOwner
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
        return .json(names: owner.names) {
          $0.objects("observers", table.ids.map(table.row), ObserverTable.members)
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
        return .json(ObserverTable.members, of: table.row(id), names: owner.names)
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
        .receiving(.observerDocument)
        .stated(under: "declared")
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
        try await owner.delete(observer: try request.observer())
        return .noContent
      },
      Route(
        .post,
        "/v1/observers/{id}/displayOn",
        Operation("displayOn", .observers, "Say that an observer's display was turned on")
          .with(.observer)
          .answering(.accepted(.accepted)),
        access: .operation
      ) { request in
        try await displayOn(try request.observer(), request)
      },
      Route(
        .post,
        "/v1/observers/{id}/accept",
        Operation("acceptObserver", .observers, "Accept an observer that is in quarantine")
          .with(.observer)
          .answering(.accepted(.accepted)),
        access: .operation
      ) { request in
        try await owner.accept(try request.observer())
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
      owner.sources,
      through: commitPublisher.presentGate(for: request.principal)
    )
  }

  private func putObserver(_ request: APIRequest) async throws -> APIAnswer {
    let entry = try ObserverDocument.observer(json: request.body, id: try request.observer())
    let isNew = try await owner.put(observer: entry)
    return .put(isNew: isNew, at: "observers", "\(entry.id)") { ObserverDocument.write(entry, to: &$0) }
  }

  /// A display-on report, as the observer itself would send it.
  private func displayOn(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    var json = JSONText()
    json.openObject()
    json.member("observer", observer.description)
    json.member("displayOn", true)
    json.closeObject()
    _ = try await server.receive(json.utf8, request, under: .open)
    return .accepted("regions with notifyEntryStateOnDisplay publish their state as an event")
  }

  fileprivate static let quarantined: [DocumentField<(entry: QuarantinedObserver, source: Endpoint?)>] = [
    .identity("id") { .observer($0.entry.id) },
    .always("firstHeard", .moment) { $0.entry.firstHeard },
    .always("lastHeard", .moment) { $0.entry.lastHeard },
    .always("reports", .count) { $0.entry.reports },
    .sometimes("source", .text) { $0.source?.description },
  ]

  private func quarantine(_ request: APIRequest) async throws -> APIAnswer {
    let gate = commitPublisher.presentGate(for: request.principal)
    let sources = try await server.snapshot().heard.observers
    let entries = try await server.quarantine().filter { gate.shows(.observer($0.id)) }
    return .json(names: owner.names) { json in
      let rows = entries.sorted { $0.id < $1.id }.map { entry in
        (entry: entry, source: sources.first { $0.id == entry.id }?.source)
      }
      json.objects("observers", rows, ObserverResource.quarantined)
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

  /// An observer in a listing.
  struct Row {
    let id: ObserverID
    let entry: ObserverEntry?
    let source: Registration
    let status: ObserverStatus?
    let heard: HeardObserver?
  }

  func row(_ id: ObserverID) -> Row {
    let source = sources.declares(id) ? Registration.site : .http
    return Row(id: id, entry: entries[id], source: source, status: statuses[id], heard: heard[id])
  }

  static let members: [DocumentField<Row>] = [
    .identity("id") { .observer($0.id) },
    DocumentField(
      writing: [.optional("room", .text, "The zone that it stands in, by name, if it is in one alone.")]
    ) { $1.member("room", ifPresent: $1.siteNames?.room(of: $0.id)) },
    .always("listed", .flag, "Whether the site file, a name or an acceptance lists it.") { $0.entry != nil },
    .sometimes("declaredBy", .text(.source)) { $0.entry == nil ? nil : $0.source.rawValue },
    DocumentField(writing: [.optional("declared", .observerDocument)]) { row, json in
      guard let entry = row.entry else { return }
      json.openObject("declared")
      ObserverDocument.write(entry, to: &json)
      json.closeObject()
    },
    .always("isUp", .flag) { $0.status?.isUp ?? false },
    .part(ofAny: ObserverStatus.members) { $0.status },
    .sometimes("source", .text) { $0.heard?.source.description },
    .sometimes("format", .text) { $0.heard?.format.name },
  ]

}

extension ObserverStatus {
  fileprivate static let members: [DocumentField<ObserverStatus>] = [
    .always("firstHeard", .moment) { $0.firstHeard },
    .always("lastHeard", .moment) { $0.lastHeard },
    .always("adverts", .count) { $0.adverts },
    .always("advertsPerSecond", .number(decimals: 2)) { $0.advertsPerSecond },
    .sometimes("datagrams", .count, "Received; absent if it does not number them.") {
      $0.isNumbered ? $0.datagrams : nil
    },
    .sometimes("lostDatagrams", .count, "By their numbers; absent if it does not number them.") {
      $0.isNumbered ? $0.lostDatagrams : nil
    },
    .sometimes("lossShare", .number(decimals: 5), "0 to 1; absent if it does not number its datagrams.") {
      $0.isNumbered ? $0.lossShare : nil
    },
    .always("late", .count) { $0.late },
    .always("lag", .seconds, "Seconds.") { $0.lag },
    .sometimes("clockOffset", .seconds, "Seconds.") { $0.clockOffset },
    .sometimes("bootId", .count) { $0.bootID },
    .always("scanState", .text(.words(["off", "windowed", "foreground"]))) { "\($0.scanState)" },
    .always("allowedGap", .seconds, "The silence, in seconds, after which it counts as down.") {
      $0.allowedGap
    },
    .always("tracks", .count) { $0.tracks },
  ]

  private var isNumbered: Bool { datagrams + lostDatagrams > 0 }
}

/// The keys that observers sign with.
struct KeyResource: Resource {
  let keys: SigningKeys
  let owner: SiteOwner
  let clock: @Sendable () -> Timestamp

  /// The longest overlap that is taken: what is longer is no rotation.
  private static let maximumOverlap = TimeSpan.minutes(366 * 24 * 60)

  var routes: [Route] {
    [
      Route(
        .get,
        "/v1/keys",
        Operation("listKeys", .observers, "The keys that observers sign with, without their secrets")
          .answering(.list("observers", of: .keyedObserver)),
        access: .operation
      ) { _ in
        .json(names: owner.names) {
          let now = clock()
          $0.objects(
            "observers",
            keys.observers.map { (observer: $0, now: now) },
            KeyResource.keyed
          )
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
        guard let observer = keys.observer(id) else { throw KeyResource.noKeys(id) }
        return .json(KeyResource.keyed, of: (observer, clock()), names: owner.names)
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
        .receiving(.keyDocument, isRequired: false)
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
        guard try await keys.forget(id) else { throw KeyResource.noKeys(id) }
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
        guard let key = ObserverKey.id(text), try await keys.revoke(key, of: id) else {
          throw Problem.notFound("Observer \(id) has no key \"\(text.shortened)\".")
        }
        return .noContent
      },
    ]
  }

  private func addKey(_ observer: ObserverID, _ request: APIRequest) async throws -> APIAnswer {
    let known = ["overlap", "radios"]
    let (overlap, radios) = try BodyDocument.read(request.body, name: "key", known: known) {
      let radio = ValueForm(expected: "a MAC, a UUID or a name of at most 64 bytes") { ObserverID($0) }
      let radios = $0.has("radios") ? $0.values("radios", of: "observers", radio) : nil
      if let radios, radios.count > KeyedObserver.maximumRadios {
        let maximum = "at most \(KeyedObserver.maximumRadios)"
        $0.mistake("radios", "radios has \(radios.count) observers", expected: maximum)
      }
      return ($0.value("overlap", .time(in: .zero...KeyResource.maximumOverlap)), radios)
    }
    let now = clock()
    let key = try await keys.add(
      for: observer,
      radios: radios,
      overlap: overlap ?? ObserverKeys.overlap,
      at: now
    )
    let made = (observer: observer, key: key, createdAt: now)
    return APIAnswer.json(KeyResource.made, of: made, status: .created, names: owner.names)
      .unkept()
  }

  fileprivate static let made:
    [DocumentField<(observer: ObserverID, key: ObserverKey, createdAt: Timestamp)>] = [
      .identity("observer", "Who signs.") { .observer($0.observer) },
      .part(ObserverKey.members) { $0.key },
      .always("createdAt", .moment) { $0.createdAt },
      .always(
        "key",
        .text,
        "What the gateway is given: pharos-key-, the id and the secret. It is shown this once."
      ) { $0.key.text },
    ]

  fileprivate static let keyed: [DocumentField<(observer: KeyedObserver, now: Timestamp)>] = [
    .identity("observer", "Who signs.") { .observer($0.observer.id) },
    .always("radios", .list(.text), "The further observers whose records it may send.") {
      $0.observer.radios.map(\.description)
    },
    .always(
      "keys",
      .list(
        .object([
          .part(ObserverKey.members) { $0.entry.key },
          .always("createdAt", .moment) { $0.entry.createdAt },
          .sometimes("expiresAt", .moment, "From when on nothing signed with it is taken.") {
            $0.entry.expiresAt
          },
          .always("expired", .flag) { $0.entry.hasExpired(at: $0.now) },
        ])
      )
    ) { row in row.observer.keys.map { (entry: $0, now: row.now) } },
  ]

  private static func noKeys(_ observer: ObserverID) -> Problem {
    .notFound("Observer \(observer) has no keys, and never had any.")
  }
}

extension ObserverKey {
  fileprivate static let members: [DocumentField<ObserverKey>] = [
    .always("id", .text(.pattern("^[0-9a-f]{8}$")), "Which key it is.") { $0.idText },
    .always("fingerprint", .text(.pattern("^[0-9a-f]{8}$")), "By which two ends can be compared.") {
      $0.fingerprint
    },
  ]
}

/// The adverts that clients send over HTTP.
struct AdvertResource: Resource {
  let server: PharosServer
  /// The policy of the site, for clients without a token: no signature and no secret says who they are.
  let policy: @Sendable () -> ListenPolicy
  /// The text that the operator states for senders that check their receiver by one; nil for none.
  let validator: String?

  var routes: [Route] {
    let path = "/v1/adverts"
    let token = Operation.Parameter.path(RequestGuard.tokenParameter, "The token of a gateway.")
    return [
      Route(
        .post,
        path,
        posting("postAdverts")
          .with(
            .query(
              RequestGuard.tokenParameter,
              .name,
              "The token of a gateway, for one that can send it neither in a header nor as a password."
            )
          ),
        access: .posting,
        handler: receive
      ),
      Route(
        .post,
        path + "/{token}",
        posting("postAdvertsByAddress").with(token),
        access: .posting,
        handler: receive
      ),
      Route(.get, path, validation("getValidator"), access: .anyone, handler: validate),
      Route(
        .get,
        path + "/{token}",
        validation("getValidatorByAddress").with(token),
        access: .anyone,
        handler: validate
      ),
    ]
  }

  private func posting(_ name: String) -> Operation {
    Operation(
      name,
      .observers,
      "Take a datagram of any known format",
      """
      For gateways that speak only HTTP: JSON, Minew, Ruuvi, raddec and all else that is understood over \
      UDP. Without a token it is taken or refused by `ingest.policy`, as over UDP. With the token of a \
      gateway, that is the observer where the datagram names none, and no other may be named. A body may be \
      packed with gzip, with or without `Content-Encoding: gzip`.
      """
    )
    .receiving(.datagram)
    .answering(
      .accepted(
        .object([
          .required("reports", .count),
          .required("skipped", .count, "Elements that could not be read; the others were."),
          .required("format", .text),
        ])
      )
    )
  }

  private func validation(_ name: String) -> Operation {
    Operation(
      name,
      .observers,
      "The text by which Cisco Meraki recognises its receiver",
      "What the site file states as `listen.meraki.validator`; 404 without one."
    )
    .answering(.done("text/plain", .text))
    .failing(.notFound)
  }

  private func validate(_: APIRequest) throws -> APIAnswer {
    guard let validator else {
      throw Problem.notFound(
        "No validator is stated: set listen.meraki.validator in the site file. Adverts are sent by POST."
      )
    }
    return .bytes(Array(validator.utf8), type: "text/plain; charset=utf-8")
  }

  /// Takes a body as a datagram that came from the client's address.
  private func receive(_ request: APIRequest) async throws -> APIAnswer {
    guard !request.body.isEmpty else {
      throw Problem.badRequest("The body is empty; send a datagram of any format that Pharos knows.")
    }
    var datagram = request.body
    if case .gateway(_, let observer?) = request.principal {
      datagram = try AdvertResource.datagram(datagram, of: observer)
    }
    let policy = request.principal == .local ? policy() : .open
    let (format, reports, skipped) = try await server.receive(datagram, request, under: policy)
    let sent = datagram == request.body ? nil : WireFormat(recognising: request.body.span.bytes)
    return .json(status: .accepted) { json in
      json.member("reports", reports)
      json.member("skipped", skipped)
      json.member("format", (sent ?? format).name)
    }
  }

  /// Returns a datagram as one of the gateway that a token names.
  ///
  /// - Throws: 403 if it names another observer.
  private static func datagram(_ datagram: [UInt8], of gateway: ObserverID) throws(Problem) -> [UInt8] {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    _ = decoder.decode(datagram.span.bytes, received: .distantPast, into: &batch)
    if let other = batch.observers.first(where: { $0 != gateway }) {
      throw .forbidden(
        "The token is that of gateway \(gateway), and the datagram names \(other). Send without a name, or with a token for "
          + "\(other): pharos token create --gateway \(other)."
      )
    }
    let isNamed = !batch.observers.isEmpty && decoder.notes.skipped[.noObserver] == nil
    // A message of a topic has its observer from there if it names none itself.
    let message = MQTTFormat.datagram(
      topic: gateway.description.utf8,
      observerLevel: 1,
      payload: datagram
    )
    return isNamed ? datagram : message ?? datagram
  }
}

extension PharosServer {
  /// Hands a datagram to the engine as one that came from the client's address.
  ///
  /// - Throws: the reason for the refusal.
  fileprivate func receive(
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
  static let observer = Schema.object(ObserverTable.members).named("Observer")

  static let quarantinedObserver = Schema.object(ObserverResource.quarantined).named("QuarantinedObserver")

  static let keyedObserver = Schema.object(KeyResource.keyed).named("KeyedObserver")

  static let newKey = Schema.object(KeyResource.made).named("NewKey")

  static let keyDocument = Schema.closed([
    .optional("overlap", .text, "How long older keys stay good, with a unit, as 7d. By default `7d`."),
    .optional(
      "radios",
      .list(.name, 0...16),
      "The further observers whose records it may send, in place of those it has."
    ),
  ]).named("KeyDocument")
}
