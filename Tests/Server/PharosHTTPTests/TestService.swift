import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Pharos
import PharosDelivery
import PharosHTTP
import PharosIngest
import PharosJournal
import PharosModel
import PharosSite
import PharosTestSupport
import ServiceLifecycle
import Synchronization
import Testing

/// A whole server, in memory unless a journal is given, for as long as a test needs it.
///
/// Requests are answered by the interface itself, without a socket, unless a test asks for a live server.
struct TestService {
  /// The parts.
  let backend: TestBackend
  /// The interface.
  let api: API
  /// Where a live server serves HTTP; where a client would believe it to be otherwise.
  let address: HostPort
  /// Whether requests go over a socket.
  let isLive: Bool
  /// What the engine takes for time.
  let time: SlowTime

  /// The token that requests carry, or nil for none.
  var token: String?

  /// Runs a server, lets a test use it, and shuts it down gracefully.
  ///
  /// It listens for HTTP if it is live: for tests of what is done to bytes, connections and streams.
  static func run(
    site: Site = .gallery,
    configuration: HTTPConfiguration = HTTPConfiguration(
      address: HostPort(host: "127.0.0.1", port: 0)
    ),
    journal: Journal? = nil,
    isLive: Bool = false,
    venues: [ServedVenue]? = nil,
    policy: IngestPolicy = .open,
    recordings: Recordings? = nil,
    locating loaded: LoadedVenues = .none,
    _ body: (TestService) async throws -> Void
  ) async throws {
    let time = SlowTime()
    var backend = try parts(site: site, journal: journal, time: time, locating: loaded)
    backend.configuration.policy = policy
    if let recordings { backend.recordings = recordings }
    if let venues { backend.shelf.venues.withLock { $0 = venues } }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let configuration = patient(configuration)
    let api = API(backend: backend, configuration: configuration, logger: logger)
    let http = isLive ? HTTPService(configuration, backend: backend, logger: logger) : nil
    let services: [any Service] = [
      backend.commitPublisher, backend.feeds, backend.webhooks, backend.notifications, backend.server,
      backend.assignments,
    ]
    let group = ServiceGroup(
      configuration: .init(services: services + (http.map { [$0] } ?? []), logger: logger)
    )
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let address = try await http?.address() ?? HostPort(host: "127.0.0.1", port: 8_080)
      _ = try await backend.server.addresses()
      do {
        try await body(
          TestService(backend: backend, api: api, address: address, isLive: isLive, time: time)
        )
      } catch {
        await group.triggerGracefulShutdown()
        try? await tasks.waitForAll()
        throw error
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  /// A configuration that waits for clients as long as the whole suite may take, where a test does not say otherwise: on a
  /// busy machine it takes a client of ours many seconds to come to its next line.
  private static func patient(_ configuration: HTTPConfiguration) -> HTTPConfiguration {
    let usual = HTTPConfiguration()
    var patient = configuration
    for limit in [
      \HTTPConfiguration.headSeconds, \.bodySeconds, \.unreadBodySeconds, \.readSeconds, \.idleSeconds,
    ] where patient[keyPath: limit] == usual[keyPath: limit] {
      patient[keyPath: limit] = 3_600
    }
    return patient
  }

  /// The parts of a server, not running.
  static func parts(
    site: Site,
    journal: Journal? = nil,
    time: SlowTime = SlowTime(),
    locating loaded: LoadedVenues = .none
  ) throws -> TestBackend {
    let start = IngestClock.system.wall()
    let clock = IngestClock(
      steady: { TimeSpan(nanoseconds: time.nanoseconds) },
      wall: { start + TimeSpan(nanoseconds: time.nanoseconds) }
    )
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let journal = try journal ?? Journal.open(.memory, stream: site.stream)
    let owner = try SiteOwner(declared: site, store: journal, logger: logger)
    var configuration = IngestConfiguration(listeners: [ListenAddress(host: "127.0.0.1", port: 0)])
    configuration.clock = clock
    let server = PharosServer(
      owner: owner,
      venues: loaded.locatable,
      configuration: configuration,
      logger: logger
    )
    owner.attach(to: server)
    try owner.recordNames(by: clock.wall, logger: logger)
    let authorisations = try Authorisations(store: journal, clock: clock.wall)
    let commitPublisher = CommitPublisher(
      hub: server.hub,
      store: journal,
      authorisations: authorisations,
      stream: site.stream,
      names: { owner.names },
      logger: logger
    )
    let tokens = try Tokens(store: journal)
    var declared = SiteConfiguration()
    declared.site = site
    let folder = try TemporaryFolder()
    return TestBackend(
      folder: folder,
      recordings: Recordings(dataFolder: folder.path("data")),
      server: server,
      owner: owner,
      signingKeys: SigningKeys(try ObserverKeys(store: journal), owner: owner, server: server),
      configuration: declared,
      assignments: Assignments(journal: journal, server: server, authorisations: authorisations),
      journal: journal,
      commitPublisher: commitPublisher,
      states: LiveStateCache(
        journal: journal,
        commitPublisher: commitPublisher,
        authorisations: authorisations
      ),
      feeds: FeedService(
        commitPublisher: commitPublisher,
        history: journal,
        ended: { tokens.ended(among: $0, at: clock.wall()) },
        logger: logger
      ),
      tokens: tokens,
      authorisations: authorisations,
      webhooks: try Webhooks(
        journal: journal,
        committed: commitPublisher.committed,
        stream: site.stream,
        logger: logger
      ),
      notifications: try Notifications(
        journal: journal,
        committed: commitPublisher.committed,
        stream: site.stream,
        publish: { server.announce($0) { commitPublisher.publish($0) } },
        site: { NotificationSite(owner.site, names: owner.names) },
        walk: { loaded.walk(from: $0, to: $1) },
        logger: logger
      ),
      shelf: VenueShelf(loaded.entries.isEmpty ? [try ServedVenue.museum()] : loaded.served),
      startedAt: start,
      wall: clock.wall
    )
  }

  /// Sends a request, over a connection of its own if the server is live, and reads the answer.
  func request(
    _ method: String,
    _ target: String,
    headers: [String: String] = [:],
    body: String? = nil
  ) async throws -> WireAnswer {
    guard isLive else { return try await answer(method, target, headers: headers, body: body) }
    return try await WireConnection.with(port: Int(address.port)) { connection in
      try await connection.send(head(method, target, headers: headers, body: body) + (body ?? ""))
      return try await connection.answer(isHead: method == "HEAD")
    }
  }

  /// The description of the interface, as a server serves it.
  static func description() async throws -> JSON {
    var description: JSON?
    try await run { description = try await $0.request("GET", "/openapi.json").json }
    return try #require(description)
  }

  /// Has the interface answer a request as it does for a connection.
  private func answer(
    _ method: String,
    _ target: String,
    headers: [String: String],
    body: String?
  ) async throws -> WireAnswer {
    try await post(Array((body ?? "").utf8), by: method, to: target, fields(headers: headers, body: body))
  }

  /// Posts bytes that may be no text, without a connection.
  func post(_ bytes: [UInt8], to target: String, headers: [String: String] = [:]) async throws -> WireAnswer {
    try await post(bytes, by: "POST", to: target, fields(headers: headers, body: nil))
  }

  private func post(
    _ bytes: [UInt8],
    by method: String,
    to target: String,
    _ given: [String: String]
  ) async throws -> WireAnswer {
    var head = HTTPRequest(
      method: try #require(HTTPRequest.Method(method)),
      scheme: nil,
      authority: given["Host"],
      path: target
    )
    for (name, value) in given where name != "Host" {
      head.headerFields[try #require(HTTPField.Name(name))] = value
    }
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: bytes)))
    let response = try await api.respond(to: request, context: APIRequest(logger: Logger(label: "test")))
    var wire = WireAnswer(status: response.status.code, headers: [:])
    for field in response.headers { wire.headers[field.name.canonicalName] = field.value }
    let written = WrittenBody()
    try await response.body.write(written)
    wire.body = written.bytes.withLock { $0 }
    return wire
  }

  /// The header fields of a request.
  private func fields(headers: [String: String], body: String?) -> [String: String] {
    var fields = ["Host": "\(address)", "Connection": "close"]
    if let token { fields["Authorization"] = "Bearer \(token)" }
    if let body {
      fields["Content-Length"] = "\(body.utf8.count)"
      fields["Content-Type"] = "application/json"
    }
    return fields.merging(headers) { $1 }
  }

  /// The head of a request.
  func head(
    _ method: String,
    _ target: String,
    headers: [String: String] = [:],
    body: String? = nil
  ) -> String {
    let fields = fields(headers: headers, body: body)
    let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
    return "\(method) \(target) HTTP/1.1\r\n\(lines)\r\n"
  }

  /// Has a gateway report an iBeacon of the gallery, over HTTP.
  func receive(minor: Int, by observer: String = "front-desk", rssi: Int = -60, times: Int = 1) async throws {
    let uuid = String.galleryUUID.replacing("-", with: "")
    let minorHex = String(minor, radix: 16)
    let tail = "0001" + String(repeating: "0", count: 4 - minorHex.count) + minorHex + "c5"
    let body =
      "{\"observer\":\"\(observer)\",\"adverts\":[{\"mac\":\"c0:00:00:00:00:0\(minor % 10)\",\"rssi\":\(rssi),"
      + "\"data\":\"0201061aff4c000215\(uuid)\(tail)\"}]}"
    for _ in 0..<times {
      let answer = try await request("POST", "/v1/adverts", body: body)
      try #require(answer.status == 202, "\(answer.text)")
    }
  }
}

/// Keeps the body of a response.
private final class WrittenBody: ResponseBodyWriter, Sendable {
  let bytes = Mutex<[UInt8]>([])

  func write(_ buffer: ByteBuffer) { bytes.withLock { $0 += Array(buffer: buffer) } }

  func finish(_: HTTPFields?) {}
}

/// The venues of a test, which it may change.
final class VenueShelf: Sendable {
  let venues: Mutex<[ServedVenue]>

  init(_ venues: [ServedVenue]) { self.venues = Mutex(venues) }
}

/// The parts of a server, as the interface sees them.
struct TestBackend: HTTPBackend {
  /// Holds the recordings for as long as the server is used.
  let folder: TemporaryFolder
  var recordings: Recordings
  var server: PharosServer
  var owner: SiteOwner
  var signingKeys: SigningKeys
  var configuration: SiteConfiguration
  var assignments: Assignments
  var journal: Journal
  var commitPublisher: CommitPublisher
  var states: LiveStateCache
  var feeds: FeedService
  var tokens: Tokens
  var authorisations: Authorisations
  var webhooks: Webhooks
  var notifications: Notifications
  var shelf: VenueShelf
  var startedAt: Timestamp
  var uptime: TimeSpan { wall() - startedAt }
  var wall: @Sendable () -> Timestamp
  let tally = HTTPTally(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  let version = "0.0.0"
  let dataFolder: String? = nil
  let isDemo = false
  var comparing: CaptureComparison.Maker? = { path, name, timeout, edited, _ in
    if let edited { return ("edited: \(edited)", "<!doctype html><title>\(name)</title>") }
    let bytes = try Data(contentsOf: URL(filePath: path))
    guard !bytes.isEmpty else { throw CaptureComparison.Refused("The capture is empty.") }
    return ("\(bytes.count) bytes under \(timeout.seconds) s", "<!doctype html><title>\(name)</title>")
  }

  var servedVenues: [ServedVenue] { shelf.venues.withLock { $0 } }

  func clock() -> Timestamp { wall() }

  func metrics() async -> String {
    "# HELP pharos_up Whether the server is up.\n# TYPE pharos_up gauge\npharos_up 1\n"
  }

  func narrate(_ event: Event) -> String { "An event of kind \(event.kind.type)." }

  func readiness() async -> [(part: String, problem: String?)] { [("journal", nil)] }
}

extension Site {
  /// An application with a region that one advert enters, and what else a site may have.
  static var gallery: Site {
    guard let uuid = UUID128(String.galleryUUID), let desk = ObserverID("front-desk") else {
      return Site()
    }
    let eager = PresencePolicy(enterSamples: 1)
    return Site(
      applications: [
        Application(
          identifier: "gallery",
          regions: [
            Region(
              identifier: "anywhere",
              constraint: .proximity(uuid),
              notifyEntryStateOnDisplay: true,
              presence: eager
            ),
            Region(
              identifier: "tags",
              constraint: .proximity(uuid, major: 1),
              subject: .beacon(observers: nil),
              presence: eager
            ),
          ],
          ranging: [RangingRequest(constraint: .proximity(uuid))]
        )
      ],
      observers: [ObserverEntry(id: desk, name: "front desk")],
      beacons: [BeaconEntry(constraint: .proximity(uuid, major: 1, minor: 7), name: "door")],
      zones: [Zone(identifier: "lobby", name: "Lobby", observers: [desk], floor: 0)]
    )
  }
}
