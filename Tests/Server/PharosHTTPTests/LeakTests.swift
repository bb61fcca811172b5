import Foundation
import Logging
import Pharos
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosMQTT
import PharosPublishing
import PharosSite
import PharosTestSupport
import Synchronization
import Testing

/// Every operation of `/openapi.json`, every kind of event, every stream, webhook and topic, asked before, during and after
/// an authorisation: what is denied is in no byte of any answer.
@Suite("Nothing that is denied comes out", .timeLimit(.minutes(20)))
struct LeakTests {
  @Test("of a tag and a handset that are denied before they are first heard, granted, withdrawn and erased")
  func everywhere() async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    let folder = FileManager.default.temporaryDirectory.appending(path: "leak-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let journal = try Journal.open(.folder(folder), stream: Site.gallery.stream)
    defer { journal.leave() }
    let venues = [try ServedVenue.museum(isComplete: true)]
    try await TestService.run(
      site: Leak.site,
      configuration: locked,
      journal: journal,
      venues: venues
    ) { service in
      let leak = try await Leak(service, folder: folder)
      defer { leak.webhooks.stop() }
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await leak.webhooks.run() }
        tasks.addTask { await leak.mqtt.run() }
        try await check(leak)
        leak.webhooks.stop()
        tasks.cancelAll()
        try await tasks.waitForAll()
      }
    }
  }

  private func check(_ leak: Leak) async throws {
    try await leak.begin()
    try await leak.decide(.denied)
    try await leak.live()
    let early = try await leak.found()
    #expect(early.isEmpty, "denied before the first sighting: \(early)")

    try await leak.decide(.always)
    let open = try leak.openFeeds()
    try await leak.live()
    let shown = try await leak.found()
    for operation in Leak.revealing {
      #expect(
        shown.contains { $0.hasPrefix("operator GET \(operation):") },
        "\(operation) shows nothing: \(shown)"
      )
    }
    for place in ["gallery GET /v1/events:", "gallery GET /v1/ranging:", "gallery stream", "webhook", "mqtt"]
    {
      #expect(shown.contains { $0.hasPrefix(place) }, "\(place) shows nothing")
    }
    // Every client that has the address of a comparison may read it, as the operator may.
    let other = shown.filter { line in
      ["shop", "club"].contains(where: line.hasPrefix) && !line.contains("/v1/comparisons/")
    }
    #expect(other.isEmpty, "another application")

    try await leak.live(isDelivered: false)
    try await leak.decide(.denied)
    leak.forgetWhatWasSent()
    #expect(leak.retained.isEmpty, "retained: \(leak.retained)")
    #expect(leak.texts(of: open, "open").isEmpty, "streams that were open")
    #expect(try await leak.found().isEmpty, "withdrawn")
    try await leak.live()
    #expect(leak.texts(of: open, "open").isEmpty, "streams that were open, later")
    let late = try await leak.found()
    #expect(late.isEmpty, "later: \(late)")
    try await checkShares(leak)

    try await leak.decide(.always)
    try await leak.share()
    try await leak.live()
    #expect(!(try await leak.found()).filter { $0.hasPrefix("club GET \(Leak.friends):") }.isEmpty)
    #expect(try leak.namingFiles() != [])
    try await leak.erase()
    #expect(try leak.namingFiles() == [])
    leak.forgetWhatWasSent()
    #expect(leak.retained.isEmpty, "retained: \(leak.retained)")
    // The site file lists the handset and the tag, which the operator may erase there.
    let listed = ["operator GET /v1/observers", "operator GET /v1/beacons"]
    let named = try await leak.found().filter { line in !listed.contains(where: line.hasPrefix) }
    #expect(named.isEmpty, "erased")
  }

  /// Shares subjects that no application may learn of with a viewer, and ends that: the viewer alone learns of them, until then.
  private func checkShares(_ leak: Leak) async throws {
    try await leak.share()
    let open = try leak.openFeeds()
    try await leak.live()
    let seen = try await leak.found()
    for place in ["club GET \(Leak.friends):", "club stream"] {
      #expect(seen.contains { $0.hasPrefix(place) }, "\(place) shows nothing: \(seen)")
    }
    #expect(!leak.texts(of: open, "open").filter { $0.hasPrefix("club") }.isEmpty)
    // The lists of shares repeat what was granted, to the operator and to the two that it is about.
    let granted = [
      "club GET \(Leak.friends):", "club stream", "club GET \(Leak.shares):", "operator GET \(Leak.shares):",
    ]
    let others = seen.filter { line in !granted.contains(where: line.hasPrefix) }
    #expect(others.isEmpty, "a share is a ground for its viewer alone: \(others)")

    try await leak.live(isDelivered: false)
    try await leak.revoke()
    leak.forgetWhatWasSent()
    #expect(leak.texts(of: open, "open").isEmpty, "streams that were open when the shares were revoked")
    #expect(try await leak.found().isEmpty, "revoked")
    try await leak.live()
    #expect(leak.texts(of: open, "open").isEmpty, "streams that were open, later")
    let late = try await leak.found()
    #expect(late.isEmpty, "later: \(late)")
  }

  @Test("an application that is deleted takes its tokens, streams, webhooks and rules with it")
  func deletedApplication() async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    try await TestService.run(configuration: locked) { service in
      var (boss, own) = (service, service)
      let now = service.backend.clock()
      boss.token = try service.backend.tokens.create(name: "op", role: .operator, at: now).secret
      let token = try service.backend.tokens.create(name: "till", role: .application("shop"), at: now)
      own.token = token.secret
      #expect(try await boss.request("PUT", "/v1/applications/shop", body: "{}").status == 201)
      let hook = try await own.request("POST", "/v1/webhooks", body: #"{"url":"http://127.0.0.1:9/"}"#)
      #expect(hook.status == 201, "\(hook.text)")
      let client = token.token.principal.client
      let feed = try service.backend.feeds.open(FeedRequest(application: "shop", client: client))
      #expect(try await own.request("GET", "/v1/applications").status == 200)
      #expect(try await boss.request("DELETE", "/v1/applications/shop").status == 204)
      #expect(try await own.request("GET", "/v1/applications").status == 401)
      service.backend.feeds.tick()
      #expect(feed.poll() == nil)
      #expect(service.backend.webhooks.list().isEmpty)
      #expect(service.backend.tokens.list().map(\.name) == ["op"])
      #expect(try await boss.request("PUT", "/v1/applications/shop", body: "{}").status == 201)
      #expect(
        try await own.request("GET", "/v1/applications").status == 401,
        "one of the same name is another one"
      )
    }
  }
}

/// A server with a tag and a handset that may be denied, and everything that could tell of them.
private final class Leak: Sendable {
  static let tag = "\(String.galleryUUID)/1/9"
  static let phone = "visitor-phone"
  /// What may be in no answer: each way in which an identity is spelled.
  static let needles = [
    tag.lowercased(), MQTTNames.level(subject(tag)), "c0:00:00:00:00:09", "bob's badge", phone,
    MQTTNames.level(subject(phone)), "bob's phone",
  ]
  /// A subject with which the others may share where they are; the application `club` speaks for it.
  static let viewer = "pal"
  static let friends = "/v1/subjects/{subject}/friends"
  static let shares = "/v1/subjects/{subject}/shares"
  /// Some operations that show the identities where they may.
  static let revealing = [
    "/v1/events", "/v1/tags", "/v1/tracks", "/v1/heard", "/v1/ranging", "/v1/observers", "/v1/observers/{id}",
    "/v1/applications/{app}/states", "/v1/fixes", "/v1/visits",
    "/v1/guidance", "/v1/history/subjects", "/v1/history/subjects/{subject}",
    "/v1/comparisons/{id}",
  ]
  /// Operations that repeat what the operator has written: the site file, and the decisions themselves.
  static let declared = ["/v1/site", "/v1/applications/{app}/authorisations", "/openapi.json"]

  static var site: Site {
    var site = Site.gallery
    site.beacons.append(BeaconEntry(constraint: .proximity(uuid, major: 1, minor: 9), name: "Bob's badge"))
    site.observers.append(ObserverEntry(id: .name(phone), name: "Bob's phone"))
    site.zones[0].occupancy = [OccupancyThreshold(above: 0, below: 1)]
    return site
  }

  private static var uuid: UUID128 { UUID128(String.galleryUUID) ?? UUID128(high: 0, low: 0) }
  static func subject(_ text: String) -> SubjectID { SubjectID(text) ?? .none }

  let service: TestService
  let (gallery, shop, club): (TestService, TestService, TestService)
  let webhooks: Webhooks
  let mqtt: MQTTPublisher
  private let sender = RecordingSender()
  private let broker = RecordingBroker()
  private let paths: [String]
  private let folder: String
  private let counter = Mutex<Int>(0)

  init(_ service: TestService, folder: String) async throws {
    self.folder = folder
    let backend = service.backend
    let now = backend.clock()
    var (boss, gallery, shop, club) = (service, service, service, service)
    boss.token = try backend.tokens.create(name: "op", role: .operator, at: now).secret
    gallery.token = try backend.tokens.create(name: "g", role: .application("gallery"), at: now).secret
    shop.token = try backend.tokens.create(name: "s", role: .application("shop"), at: now).secret
    club.token = try backend.tokens.create(name: "c", role: .application("club"), at: now).secret
    (self.service, self.gallery, self.shop, self.club) = (boss, gallery, shop, club)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    webhooks = try Webhooks(
      journal: backend.journal,
      committed: backend.commitPublisher.committed,
      stream: Site.gallery.stream,
      gate: { backend.commitPublisher.gate(to: $0) },
      sender: sender,
      logger: logger
    )
    for body in [
      #"{"url":"http://example.org/"}"#, #"{"url":"http://example.org/","application":"gallery"}"#,
    ] {
      _ = try webhooks.create(json: Array(body.utf8))
    }
    let parts = MQTTPublisherParts(
      journal: backend.journal,
      names: MQTTNames(prefix: "pharos", discovery: "homeassistant", stream: "pharos"),
      version: "1",
      site: { Leak.site },
      gate: { backend.commitPublisher.gate(to: nil) },
      logger: logger
    )
    let mqtt = MQTTPublisher(link: broker, parts: parts, hub: backend.commitPublisher.committed)
    backend.authorisations.tap { mqtt.authorisationsChanged() }
    self.mqtt = mqtt
    let description = try await service.request("GET", "/openapi.json").json
    paths = (description["paths"].members ?? [:]).keys
      .filter { description["paths"][$0]["get"].members != nil }.sorted()
  }

  /// Fills the server, so that no list is empty.
  func begin() async throws {
    await broker.waitForStart()
    try service.backend.journal.carryOut(
      service.backend.authorisations.settingPurpose("To greet you.", application: "gallery")
    )
    for subject in [Leak.tag, Leak.phone] {
      try service.backend.authorisations.mark(Leak.subject(subject), isPerson: true)
    }
    try await service.fill()
    for subject in [Leak.tag, Leak.phone] {
      let path = "/v1/subjects/\(subject.replacing("/", with: "%2F"))/guidance"
      let answer = try await service.request("PUT", path, body: TestService.guidance)
      try #require(answer.status == 200, "\(answer.text)")
    }
    for (path, body) in [
      ("/v1/applications/club", #"{"purpose":"To meet."}"#),
      ("/v1/applications/club/authorisations/\(Leak.viewer)", #"{"state":"always","person":true}"#),
    ] {
      let answer = try await service.request("PUT", path, body: body)
      try #require([200, 201].contains(answer.status), "\(answer.text)")
    }
    let page = #"{"tags":"Bob's badge \#(Leak.tag) c0:00:00:00:00:09","phone":"visitor-phone"}"#
    var backend = service.backend
    backend.comparing = { _, _, _, _, _ in ("A comparison.", page) }
    let comparison = CaptureComparison(name: "a", madeAt: backend.clock(), headline: "b", page: page)
    try backend.journal.put(comparison.encoded, kind: "comparison", key: "named")
  }

  func decide(_ state: AuthorisationState) async throws {
    for subject in [Leak.tag, Leak.phone] {
      let path = "/v1/applications/gallery/authorisations/\(subject.replacing("/", with: "%2F"))"
      let answer = try await service.request("PUT", path, body: #"{"state":"\#(state.name)"}"#)
      try #require(answer.status == 200, "\(answer.text)")
    }
    try await waitForDelivery()
  }

  /// The paths of the shares of the identities with the viewer.
  private var sharePaths: [String] {
    [Leak.tag, Leak.phone].map {
      "/v1/subjects/\($0.replacing("/", with: "%2F"))/shares/\(Leak.viewer)"
    }
  }

  func share() async throws {
    for path in sharePaths {
      let answer = try await service.request("PUT", path, body: #"{"state":"accepted"}"#)
      try #require(answer.status == 200, "\(answer.text)")
    }
  }

  func revoke() async throws {
    for path in sharePaths {
      let answer = try await service.request("DELETE", path)
      try #require(answer.status == 204, "\(answer.text)")
    }
    try await waitForDelivery()
  }

  func erase() async throws {
    for subject in [Leak.tag, Leak.phone] {
      let text = subject.replacing("/", with: "%2F")
      let answer = try await service.request("DELETE", "/v1/subjects/\(text)")
      try #require(answer.status == 200, "\(answer.text)")
      // As the server does once the engine has forgotten the subject and what it said of it is out.
      try await waitForDelivery()
      mqtt.forget(try #require(SubjectTraces(subject)))
      webhooks.forget(try #require(SubjectTraces(subject)))
    }
    try await waitForDelivery()
  }

  /// The files of the data folder that name an identity, in any encoding.
  func namingFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
      let bytes = Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
      return [Leak.tag, Leak.phone].contains { SubjectTraces($0)?.isNamed(in: bytes) ?? true }
    }
  }

  // What happens.

  /// Has everything happen: adverts that the engine decides about, events of every kind, and the summaries of a minute.
  func live(isDelivered: Bool = true) async throws {
    for _ in 0..<4 {
      for observer in ["front-desk", Leak.phone] {
        for minor in [7, 9] { try await service.receive(minor: minor, by: observer) }
      }
      service.time.pass(seconds: 1)
    }
    try await service.backend.server.checkpoint()
    let number = counter.withLock { number in
      number += 1
      return number
    }
    let subjects = [Leak.tag, Leak.phone, "front-desk", "\(String.galleryUUID)/1/7"].map(Leak.subject)
    let events = EventKind.allCases.flatMap { kind in
      subjects.flatMap { (subject) -> [Event] in
        // What is about a region has an application; the rest may be about none.
        let applications =
          [.region, .state, .ranging].contains(kind.group) ? ["gallery", "shop"] : ["gallery", "shop", ""]
        return applications.map { event(kind, subject, $0, number) }
      }
    }
    service.backend.commitPublisher.publish(events)
    if isDelivered { try await waitForDelivery() } else { await service.backend.commitPublisher.drain() }
    var recorder = HistoryRecorder(backend: service.backend)
    let minute = HistoryMinute(containing: service.backend.clock()).number + Int64(number)
    try await recorder.record(HistoryMinute(minute))
  }

  private func event(_ kind: EventKind, _ subject: SubjectID, _ application: String, _ number: Int) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: kind,
      time: service.backend.clock(),
      decidedAt: service.backend.clock(),
      stage: 2,
      subject: kind == .zoneOccupancy ? .none : subject,
      application: application,
      region: kind.group == .zone ? "lobby" : application == "shop" ? "till" : "anywhere",
      counter: UInt64(number),
      ordinal: UInt64(number),
      detail: Leak.detail(kind, subject)
    )
  }

  /// The detail of a kind of event that names whatever it can.
  private static func detail(_ kind: EventKind, _ subject: SubjectID) -> EventDetail {
    let (phone, desk) = (ObserverID.name(phone), ObserverID.name("front-desk"))
    let beacons = [9, 7].map { BeaconID.proximity(uuid, major: 1, minor: $0) }
    switch kind {
    case .regionState, .regionEnter, .regionExit, .regionUnmonitored, .regionHoldExceeded, .regionsOutside:
      return .region(
        RegionTransition(
          from: .outside,
          to: .inside,
          refinement: beacons[0],
          observer: phone,
          evidence: Evidence(rule: .samples)
        )
      )
    case .regionReset: return .regionReset(.removed)
    case .regionLimitExceeded: return .regionLimit(limit: 20, refused: "anywhere")
    case .ranging:
      let readings = beacons.map { beacon in
        RangedReading(beacon: beacon, rssi: -60, accuracy: 1, deviation: 0.5, proximity: .near, samples: 3)
      }
      return .ranging(constraint: .proximity(uuid), beacons: readings)
    case .zoneExit, .zoneEnter, .zoneUnmonitored, .zoneMonitored, .zoneHoldExceeded:
      var transition = ZoneTransition(from: nil, to: "lobby", margin: nil, dwell: nil, reason: .margin)
      transition.hearings = [phone, desk].map { ZoneTransition.Hearing(observer: $0, level: -60) }
      return .zone(transition)
    case .observerOnline, .observerOffline, .observerRestarted, .observerQuarantined:
      return .observer(ObserverTransition())
    case .beaconBattery: return .battery(millivolts: 3_000, observer: phone)
    case .clockStepped: return .clockStep(.seconds(1))
    case .fix: return Event.fix(of: subject.description, at: 1).detail
    case .visitArrive, .visitDepart: return Event.visit(of: subject.description, 1, at: "cafe").detail
    case .authorisationChanged:
      return .authorisation(AuthorisationTransition(from: .denied, to: .denied, purpose: ""))
    case .notification:
      return .notification(
        NotificationDetail(
          rule: "hello",
          occasion: .enter,
          text: "Hello \(subject)",
          cause: EventID(high: 1, low: 1)
        )
      )
    case .zoneOccupancy:
      let threshold = OccupancyThreshold(above: 0, below: 1)
      return .occupancy(OccupancyTransition(direction: .above, count: 2, threshold: threshold))
    case .positioningState, .scanRequested:
      return .scanRequest(
        ScanRequest(reason: .start, attempt: 1, evidence: PositioningEvidence(venue: "museum"))
      )
    case .guidance:
      return .guidance(
        GuidanceDetail(
          status: .started,
          venue: "museum",
          destination: "",
          target: .observer(phone),
          instruction: "Go."
        )
      )
    }
  }

  /// Waits until everything so far is committed, delivered and acknowledged: an event that only things have part in is
  /// the last one.
  private func waitForDelivery() async throws {
    await service.backend.commitPublisher.drain()
    let number = counter.withLock { number in
      number += 1
      return number
    }
    let marker = Event(
      stream: Site.gallery.stream,
      kind: .regionState,
      time: service.backend.clock(),
      decidedAt: service.backend.clock(),
      stage: 1,
      subject: .observer(.name("marker-\(number)")),
      application: "gallery",
      region: "anywhere",
      counter: UInt64(number),
      detail: .region(RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples)))
    )
    service.backend.commitPublisher.publish([marker])
    await service.backend.commitPublisher.drain()
    await sender.wait { $0.filter { $0.contains("\"marker-\(number)\"") }.count >= 2 }
    await broker.wait { accepted in
      accepted.contains { $0.topic.hasSuffix(MQTTNames.level(.observer(.name("marker-\(number)")))) }
    }
  }

  // What comes out.

  /// The streams of all readers, from the first event on.
  func openFeeds() throws -> [(reader: String, feed: Feed)] {
    var feeds: [(reader: String, feed: Feed)] = []
    for application in ["", "gallery", "shop"] {
      let own = application.isEmpty ? nil : application
      var request = FeedRequest(
        filter: EventFilter(applications: own.map { [$0] }),
        after: 0,
        limit: 4_096,
        application: own
      )
      if own != nil { request.shared = EventFilter(kinds: [.fix], applications: [""]) }
      feeds.append((application.isEmpty ? "operator" : application, try service.backend.feeds.open(request)))
    }
    var request = FeedRequest(
      filter: EventFilter(kinds: Gate.sharedKinds),
      after: 0,
      limit: 4_096,
      application: "club"
    )
    request.viewer = Leak.subject(Leak.viewer)
    feeds.append(("club", try service.backend.feeds.open(request)))
    return feeds
  }

  /// The leaks in what streams give now.
  func texts(of feeds: [(reader: String, feed: Feed)], _ name: String) -> [String] {
    var found: [String] = []
    for (reader, feed) in feeds {
      // A page of nothing but hidden events is empty, and others follow it.
      for _ in 0..<64 {
        guard let items = feed.poll() else { break }
        let given = items.filter { item in
          guard case .event(let published) = item else { return true }
          return published.event.kind != .authorisationChanged
        }
        let texts = [ServerSentEvents.text(for: given), NDJSON.text(for: given)]
        for text in texts {
          found += leaks(String(decoding: text, as: UTF8.self), "\(reader) stream \(name)")
        }
      }
    }
    return found
  }

  /// What the broker has retained and names an identity.
  var retained: [String] {
    broker.retained.flatMap {
      leaks("\($0.key) \(String(decoding: $0.value, as: UTF8.self))", "mqtt \($0.key)")
    }
  }

  func forgetWhatWasSent() {
    sender.forget()
    broker.forget()
  }

  /// All leaks: in the answers of all operations to all readers, in new streams, and in what was sent since the last look.
  func found() async throws -> [String] {
    var found: [String] = []
    for (name, reader) in [("operator", service), ("gallery", gallery), ("shop", shop), ("club", club)] {
      for path in paths where !Leak.declared.contains(path) {
        for target in targets(path) {
          for type in ["*/*", "text/csv", "application/geo+json"] {
            let answer = try await reader.request("GET", target, headers: ["Accept": type])
            try #require(answer.status < 500, "\(target): \(answer.text)")
            let text = try Leak.text(of: answer, path, without: target)
            found += leaks(text, "\(name) GET \(path):")
          }
        }
      }
    }
    found += texts(of: try openFeeds(), "new")
    // An event that reports a decision names its subject.
    found += sender.bodies.filter { !$0.contains("pharos.authorisation.changed") }.flatMap {
      leaks($0, "webhook")
    }
    found += broker.accepted.flatMap { message in
      message.payload.isEmpty
        ? [] : leaks("\(message.topic) \(String(decoding: message.payload, as: UTF8.self))", "mqtt")
    }
    forgetWhatWasSent()
    return found
  }

  /// The paths with the names of all that there is filled in, also of the identities.
  private func targets(_ path: String) -> [String] {
    var targets = [service.example(path)]
    for (app, region) in [("gallery", "anywhere"), ("gallery", "tags")] {
      targets.append(
        service.example(
          path.replacing("{app}", with: app).replacing("/regions/{id}", with: "/regions/\(region)")
        )
      )
    }
    for subject in [Leak.tag.replacing("/", with: "%2F"), Leak.phone, Leak.viewer] {
      targets.append(
        service.example(
          path.replacing("{subject}", with: subject).replacing(
            "/observers/{id}",
            with: "/observers/\(subject)"
          )
          .replacing("/comparisons/{id}", with: "/comparisons/named")
        )
      )
    }
    if path == "/v1/regions/{id}/state" {
      for region in ["anywhere", "tags"] {
        targets += [Leak.tag, Leak.phone].map {
          "/v1/regions/\(region)/state?subject=\($0)&application=gallery"
        }
      }
    }
    if path == "/v1/events/{sequence}" {
      targets += (1...service.backend.journal.head).suffix(60).map { "/v1/events/\($0)" }
    }
    if path == "/v1/events" {
      for observer in [Leak.phone, "front-desk"] { targets.append("\(path)?limit=1000&observer=\(observer)") }
      targets.append("\(path)?limit=1000")
    }
    return Array(Set(targets))
  }

  /// The text of an answer, without the events that tell decisions, and without the words of the request.
  private static func text(of answer: WireAnswer, _ path: String, without target: String) throws -> String {
    var text = answer.text
    if path.hasPrefix("/v1/events"), answer.status == 200 {
      let events = try path == "/v1/events" ? answer.json["events"].elements : [answer.json]
      text = events.filter { $0["event"]["type"].string != "pharos.authorisation.changed" }
        .map { String(describing: $0.value) }.joined()
    }
    guard answer.status >= 400 else { return text }
    return target.split { "/?=&".contains($0) }.reduce(text) { text, part in
      text.replacing(part.removingPercentEncoding ?? "", with: "")
    }
  }

  private func leaks(_ text: String, _ place: String) -> [String] {
    let text = text.lowercased()
    return Leak.needles.filter(text.contains).map { "\(place) \($0)" }
  }
}

/// A sender that keeps what it is given.
final class RecordingSender: WebhookSender {
  private let state = Mutex<[String]>([])
  private let signal = AsyncStream<Void>.makeStream()

  var bodies: [String] { state.withLock { $0 } }

  func send(_ request: WebhookRequest) async -> DeliveryOutcome {
    state.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
    signal.continuation.yield()
    return .delivered
  }

  func shutdown() async {}

  func forget() { state.withLock { $0 = [] } }

  func wait(until condition: ([String]) -> Bool) async {
    if condition(bodies) { return }
    for await _ in signal.stream where condition(bodies) { return }
  }
}

/// A broker that keeps what it is given.
final class RecordingBroker: MQTTLink {
  private struct State {
    var receive: (@Sendable (MQTTLinkEvent) -> Void)?
    var packet: MQTTPacketID = 0
    var accepted: [MQTTMessage] = []
    var retained: [String: [UInt8]] = [:]
  }

  private let state = Mutex(State())
  private let signal = AsyncStream<Void>.makeStream()

  var accepted: [MQTTMessage] { state.withLock { $0.accepted } }
  var retained: [String: [UInt8]] { state.withLock { $0.retained } }

  func start(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void) {
    state.withLock { $0.receive = receive }
    signal.continuation.yield()
    receive(.connected(peer: nil, port: 0))
  }

  func publish(_ message: MQTTMessage) -> MQTTPacketID? {
    let (packet, receive) = state.withLock { state in
      state.packet += 1
      state.accepted.append(message)
      if message.isRetained {
        state.retained[message.topic] = message.payload.isEmpty ? nil : message.payload
      }
      return (state.packet, state.receive)
    }
    receive?(.acknowledged(packet))
    if message.topic.hasPrefix("pharos/session/") {
      receive?(.message(topic: message.topic, payload: message.payload, isRetained: false))
    }
    signal.continuation.yield()
    return packet
  }

  func subscribe(_: [String]) {}
  func unsubscribe(_: [String]) {}
  func stop() {}

  func forget() { state.withLock { $0.accepted = [] } }

  func waitForStart() async { await wait { _ in state.withLock { $0.receive != nil } } }

  func wait(until condition: ([MQTTMessage]) -> Bool) async {
    if condition(accepted) { return }
    for await _ in signal.stream where condition(accepted) { return }
  }
}
