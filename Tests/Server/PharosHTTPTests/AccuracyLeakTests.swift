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

/// Every operation of `/openapi.json`, the streams of events, live updates and significant changes, a webhook, MQTT and ways, as
/// an application without, with reduced and with full access, and after withdrawal.
@Suite("Nothing finer than an application's accuracy comes out", .timeLimit(.minutes(20)))
struct AccuracyLeakTests {
  @Test(
    "of a handset and a tag, to an application without, with reduced and with full access, and after withdrawal"
  )
  func matrix() async throws {
    try await run { world in
      world.declare(.full)
      try await world.check(nil, "without access")
      try await world.decide(.always)
      for accuracy in AccuracyAuthorisation.allCases {
        world.declare(accuracy)
        try await world.check(accuracy, "reduced to \(accuracy)")
      }
      world.declare(.floor)
      let given = try await world.requestFullAccuracy(#"{"purposeKey":"way","duration":"10m"}"#)
      #expect(given.status == 200 && given.text.contains("until"), "\(given.text)")
      try await world.check(.full, "temporary")
      #expect(try await world.own.request("DELETE", World.accuracyPath).status == 204)
      try await world.check(.floor, "after a temporary one")

      world.declare(.full)
      let open = try world.openFeed()
      await world.happen()
      try await world.decide(.denied)
      // What waits in an open stream is judged as it is handed over: there is no time in which it still goes out.
      #expect(world.leaks(world.text(of: open), nil, names: true).isEmpty, "an open stream after withdrawal")
      try await world.check(nil, "withdrawn")
    }
  }

  @Test("full accuracy without a duration ends with the last live stream")
  func session() async throws {
    try await run { world in
      world.declare(.floor)
      try await world.decide(.always)
      await world.happen()
      let words = #"{"purposeKey":"way"}"#
      #expect(try await world.requestFullAccuracy(words).status == 409)
      let refused = try await world.requestFullAccuracy(#"{"purposeKey":"sales","duration":"1m"}"#)
      #expect(refused.status == 422 && refused.text.contains("temporaryPurposes"), "\(refused.text)")
      let fix = "/v1/fixes/\(World.phone)"
      do {
        let feed = try world.openFeed()
        #expect(try await world.requestFullAccuracy(words).status == 200)
        #expect(try await world.own.request("GET", fix).text.contains("59.32931234"))
        withExtendedLifetime(feed) {}
      }
      let answer = try await world.own.request("GET", fix)
      #expect(answer.text.contains("mezzanine") && !answer.text.contains("59.32931234"), "\(answer.text)")
      let again = try world.openFeed()
      #expect(!(try await world.own.request("GET", fix).text.contains("59.32931234")), "a new session")
      withExtendedLifetime(again) {}
    }
  }

  @Test(
    "answers to deletions have nothing finer either",
    arguments: [nil, .venue, .zone, .full] as [AccuracyAuthorisation?]
  )
  func deletions(accuracy: AccuracyAuthorisation?) async throws {
    try await run { world in
      world.declare(accuracy ?? .full)
      if accuracy != nil { try await world.decide(.always) }
      await world.happen()
      try await world.checkDeletions(accuracy)
    }
  }

  @Test(
    "open streams of locations have nothing finer, and nothing once the authorisation is withdrawn",
    arguments: ["updates", "significant-changes"]
  )
  func locations(path: String) async throws {
    var delays: [Duration] = []
    try await run(isLive: true) { world in
      for accuracy in AccuracyAuthorisation.allCases {
        world.declare(accuracy)
        delays.append(try await world.checkLocations("/v1/subjects/\(World.phone)/\(path)", accuracy))
      }
    }
    // The stream of the decision itself comes as late on a busy machine. Half of the cases are enough to tell: one may be
    // delayed by others.
    let median = delays.sorted()[delays.count / 2]
    #expect(median <= .milliseconds(100), "withdrawals are stated \(delays) after the decisions")
  }

  private func run(isLive: Bool = false, _ body: (World) async throws -> Void) async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    try await TestService.run(
      configuration: locked,
      isLive: isLive,
      venues: [try .museum(isComplete: true)]
    ) { service in
      let world = try await World(service)
      defer { world.webhooks.stop() }
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await world.webhooks.run() }
        tasks.addTask { await world.mqtt.run() }
        await world.broker.waitForStart()
        try await body(world)
        world.webhooks.stop()
        tasks.cancelAll()
        try await tasks.waitForAll()
      }
    }
  }
}

/// A server with a handset and a tag that are persons, and an application that may locate them more or less finely.
private final class World: Sendable {
  static let tag = "\(String.galleryUUID)/1/9"
  static let phone = "visitor-phone"
  /// A handset that belongs to no person, and is always elsewhere.
  static let thing = "trolley"
  static let accuracyPath = "/v1/applications/gallery/accuracy"
  private static let uuid = UUID128(String.galleryUUID) ?? UUID128(high: 0, low: 0)
  private static var subjects: [SubjectID] { [phone, tag].compactMap { SubjectID($0) } }
  /// The names of the subjects in answers, and in topics of MQTT.
  private static let names =
    [phone, tag.lowercased()] + subjects.map { MQTTNames.level($0).lowercased() }

  /// What locates the subjects, each with the coarsest accuracy that shows it.
  private static let words: [(accuracy: AccuracyAuthorisation, word: String)] = [
    (.building, "annex-b7"), (.floor, "mezzanine"), (.zone, "rembrandt"), (.full, "night-watch"),
    (.full, "59.3293123"),
  ]
  /// The kinds of events that reduced accuracy keeps back.
  private static let kinds = ["\"pharos.region.enter\"", "\"pharos.ranging\""]
  /// The operations that may name a subject whose location is reduced.
  private static let naming = ["/v1/fixes", "/v1/fixes/{subject}", "/v1/subjects/{subject}/updates"]
  /// The operations that repeat decisions, or describe what there might be.
  private static let declared = ["/v1/applications/{app}/authorisations", "/openapi.json"]

  let service: TestService
  let own: TestService
  let webhooks: Webhooks
  let mqtt: MQTTPublisher
  let broker = RecordingBroker()
  private let sender = RecordingSender()
  private let operations: [(method: String, path: String)]
  private let deletions: [String]
  private let counter = Mutex(0)

  init(_ service: TestService) async throws {
    let backend = service.backend
    let now = backend.clock()
    var (boss, own) = (service, service)
    boss.token = try backend.tokens.create(name: "op", role: .operator, at: now).secret
    own.token = try backend.tokens.create(name: "g", role: .application("gallery"), at: now).secret
    (self.service, self.own) = (boss, own)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    webhooks = try Webhooks(
      journal: backend.journal,
      committed: backend.commitPublisher.committed,
      stream: Site.gallery.stream,
      gate: { backend.commitPublisher.gate(to: $0) },
      sender: sender,
      logger: logger
    )
    let parts = MQTTPublisherParts(
      journal: backend.journal,
      names: MQTTNames(prefix: "pharos", discovery: "homeassistant", stream: "pharos"),
      version: "1",
      site: { Site.gallery },
      gate: { backend.commitPublisher.gate(to: nil) },
      logger: logger
    )
    let mqtt = MQTTPublisher(link: broker, parts: parts, hub: backend.commitPublisher.committed)
    backend.authorisations.tap { mqtt.authorisationsChanged() }
    self.mqtt = mqtt
    _ = try webhooks.create(json: Array(#"{"url":"http://example.org/","application":"gallery"}"#.utf8))
    let last = "/v1/applications/{app}"
    let paths = try await boss.request("GET", "/openapi.json").json["paths"]
    operations = (paths.members ?? [:]).keys.sorted().flatMap { path in
      (paths[path].members ?? [:]).keys.sorted().filter { $0 != "delete" }
        .map { (method: $0.uppercased(), path: path) }
    }
    // The application itself goes last: its token ends with it.
    let deleting = (paths.members ?? [:]).keys.filter { paths[$0]["delete"].members != nil }
    deletions = deleting.filter { $0 != last }.sorted() + deleting.filter { $0 == last }
  }

  // What is allowed.

  func declare(_ accuracy: AccuracyAuthorisation) {
    service.backend.authorisations.declare(
      persons: Persons(
        observers: [.name(World.phone)],
        beacons: [.proximity(World.uuid, major: 1, minor: 9)]
      ),
      purposes: ["gallery": "To greet you."],
      accuracies: ["gallery": AccuracyPolicy(accuracy, purposes: ["way": "To show the way."])]
    )
  }

  func decide(_ state: AuthorisationState) async throws {
    for subject in [World.tag, World.phone] {
      let path = "/v1/applications/gallery/authorisations/\(subject.replacing("/", with: "%2F"))"
      let answer = try await service.request("PUT", path, body: #"{"state":"\#(state.name)"}"#)
      try #require(answer.status == 200, "\(answer.text)")
    }
    await service.backend.commitPublisher.drain()
  }

  func requestFullAccuracy(_ body: String) async throws -> WireAnswer {
    try await own.request("POST", World.accuracyPath, body: body)
  }

  // What happens.

  /// Publishes what locates the subjects, and waits until it is published.
  ///
  /// - Returns: the number of what happened, which is that of its time.
  @discardableResult
  func happen() async -> Int {
    let number = next()
    let elsewhere = FixDetail(venue: "depot \(number)", horizontalAccuracy: 2, sources: .outside, age: .zero)
    let trolley = World.event(.fix, .observer(.name(World.thing)), number, .fix(elsewhere))
    service.backend.commitPublisher.publish(
      World.subjects.flatMap { World.events(of: $0, number) } + [trolley]
    )
    await service.backend.commitPublisher.drain()
    return number
  }

  private func next() -> Int {
    counter.withLock { number in
      number += 1
      return number
    }
  }

  /// The time of what happens, a quarter of an hour after what happened before.
  private static func time(_ number: Int) -> Timestamp { Timestamp(seconds: Int64(number) * 900) }

  private static func events(of subject: SubjectID, _ number: Int) -> [Event] {
    let place = VisitDetail.Place(kind: .pointOfInterest, identifier: "night-watch")
    let fix = FixDetail(
      venue: "museum",
      building: "annex-b7",
      floorName: "mezzanine",
      room: "rembrandt",
      place: "night-watch",
      latitude: 59.329_312_34,
      longitude: 18.068_64,
      horizontalAccuracy: 2,
      sources: .wifi,
      age: .zero
    )
    let visit = VisitDetail(
      visit: EventID(high: 0, low: UInt64(number)),
      arrival: Timestamp(seconds: Int64(number)),
      venue: "museum",
      place: place
    )
    let reading = RangedReading(
      beacon: .proximity(uuid, major: 1, minor: 9),
      rssi: -60,
      accuracy: 1,
      deviation: 0.5,
      proximity: .near,
      samples: 3
    )
    let enter = RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples))
    var events = [
      event(.fix, subject, number, .fix(fix)),
      event(.visitArrive, subject, number, region: "night-watch", .visit(visit)),
      event(.regionEnter, subject, number, region: "tags", of: "gallery", .region(enter)),
      event(.regionState, subject, number, region: "tags", of: "gallery", .region(enter)),
    ]
    if case .observer = subject {
      let ranging = EventDetail.ranging(constraint: .proximity(uuid), beacons: [reading])
      events.append(event(.ranging, subject, number, of: "gallery", ranging))
    }
    return events
  }

  private static func event(
    _ kind: EventKind,
    _ subject: SubjectID,
    _ number: Int,
    region: String = "",
    of application: String = "",
    _ detail: EventDetail
  ) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: kind,
      time: time(number),
      decidedAt: time(number),
      stage: 2,
      subject: subject,
      application: application,
      region: region,
      counter: UInt64(number),
      detail: detail
    )
  }

  /// Waits until the webhook and the broker have everything so far: an event that passes at every accuracy is the last one.
  private func waitForDelivery(_ accuracy: AccuracyAuthorisation?) async {
    let marker = "marker-\(next())"
    let event = World.event(
      .regionReset,
      .observer(.name(marker)),
      1,
      region: "none",
      of: "gallery",
      .regionReset(.removed)
    )
    let state = World.event(
      .regionState,
      .observer(.name(marker)),
      1,
      region: "anywhere",
      of: "gallery",
      .region(RegionTransition(from: .outside, to: .inside, evidence: Evidence(rule: .samples)))
    )
    service.backend.commitPublisher.publish([state, event])
    await service.backend.commitPublisher.drain()
    // No state of a region passes at reduced accuracy.
    if accuracy?.isReduced != true {
      await broker.wait { accepted in
        accepted.contains { $0.topic.hasSuffix(MQTTNames.level(.observer(.name(marker)))) }
      }
    }
    await sender.wait { $0.contains { $0.contains("\"\(marker)\"") } }
  }

  // What comes out.

  func openFeed() throws -> Feed {
    var request = FeedRequest(filter: EventFilter(applications: ["gallery"]), application: "gallery")
    request.shared = EventFilter(kinds: [.fix], applications: [""])
    return try service.backend.feeds.open(request)
  }

  /// The text of what a stream gives now, without the events that report decisions.
  func text(of feed: Feed) -> String {
    var items: [FeedItem] = []
    // A page of nothing but hidden events is empty, and others follow it.
    for _ in 0..<64 { items += feed.poll() ?? [] }
    let given = items.filter { item in
      guard case .event(let published) = item else { return true }
      return published.event.kind != .authorisationChanged
    }
    return String(decoding: ServerSentEvents.text(for: given), as: UTF8.self)
  }

  /// Checks all outputs to the application.
  ///
  /// - Parameters:
  ///   - accuracy: how finely it may learn of the subjects; nil if it may not.
  ///   - name: the combination in failures.
  /// - Throws: the error of a request.
  func check(_ accuracy: AccuracyAuthorisation?, _ name: String) async throws {
    await waitForDelivery(accuracy)
    let feed = try openFeed()
    sender.forget()
    broker.forget()
    await happen()
    await waitForDelivery(accuracy)
    let stream = text(of: feed)
    withExtendedLifetime(feed) {}
    let isNamed = accuracy != nil
    #expect(leaks(stream, accuracy, names: !isNamed).isEmpty, "\(name): stream")
    // A decision about access names its subject; its event has a place among the inputs, and comes after the answer.
    let bodies = sender.bodies.filter { !$0.contains("pharos.authorisation.changed") }
    #expect(leaks(bodies.joined(), accuracy, names: accuracy != .full).isEmpty, "\(name): webhook")
    // The broker is the operator's, who may learn what one application may always learn; regions are finer than all others.
    let sent = broker.accepted.filter { !$0.payload.isEmpty }.map { ($0.topic, $0.payload) }
    let kept = broker.retained.map { ($0.key, $0.value) }
    let topics = (sent + kept).map { "\($0.0) \(String(decoding: $0.1, as: UTF8.self))" }.joined(
      separator: " "
    )
    #expect(leaks(topics, accuracy == nil ? nil : .full, names: !isNamed).isEmpty, "\(name): MQTT")
    if accuracy == .full {
      #expect(World.names.contains { topics.lowercased().contains($0) }, "\(name): MQTT shows nothing")
    }
    for (method, path) in operations where !World.declared.contains(path) {
      for target in targets(path) {
        let found = try await leaks(method, path, target, accuracy)
        #expect(found.isEmpty, "\(name): \(method) \(target): \(found)")
      }
    }
    try await checkShown(accuracy, stream, name)
  }

  /// Deletes all that an application may ask to have deleted, and checks the answers.
  func checkDeletions(_ accuracy: AccuracyAuthorisation?) async throws {
    #expect(deletions.count > 5)
    for path in deletions {
      for target in targets(path) {
        let found = try await leaks("DELETE", path, target, accuracy)
        #expect(found.isEmpty, "\(accuracy.map { "\($0)" } ?? "denied"): DELETE \(target): \(found)")
      }
    }
  }

  /// Opens a stream of locations that are allowed at an accuracy, and withdraws that.
  ///
  /// - Parameters:
  ///   - target: the stream.
  ///   - accuracy: the accuracy at which the application may learn of the subject.
  /// - Returns: the time from the arrival of the decision that withdraws, at a client that follows decisions, to that of the
  ///   update that says so on the stream.
  /// - Throws: the error of a connection or a request.
  func checkLocations(_ target: String, _ accuracy: AccuracyAuthorisation) async throws -> Duration {
    let backend = service.backend
    var reader = own
    let token = try backend.tokens.create(
      name: "reader of \(accuracy)",
      role: .application("gallery"),
      at: backend.clock()
    )
    reader.token = token.secret
    try await decide(.always)
    return try await open(target, by: reader) { stream in
      let shown = await happen()
      var text = try await World.text(of: stream, until: World.time(shown).rfc3339)
      #expect(leaks(text, accuracy, names: true).isEmpty, "\(target): reduced to \(accuracy): \(text)")
      for (coarsest, word) in World.words where coarsest <= accuracy {
        #expect(text.contains(word), "\(target): \(word) at \(accuracy)")
      }
      let denied = #""authorizationDenied":true"#
      let delay = try await open("/v1/events?kind=authorisation.changed", by: service) { control in
        try await decide(.denied)
        _ = try await World.text(of: control, until: World.phone)
        let decided = ContinuousClock.now
        text = try await World.text(of: stream, until: denied)
        return ContinuousClock.now - decided
      }
      try await open(target, by: reader) { late in
        try await open("/v1/subjects/\(World.thing)/updates", by: own) { control in
          let withdrawn = await happen()
          _ = try await World.text(of: control, until: World.time(withdrawn).rfc3339)
          #expect(try await service.request("DELETE", "/v1/tokens/\(token.token.id)").status == 204)
          backend.feeds.tick()
          for connection in [stream, late] {
            while let chunk = try await connection.chunk() { text += String(decoding: chunk, as: UTF8.self) }
          }
          #expect(!text.contains(World.time(withdrawn).rfc3339), "\(target): \(text)")
          #expect(leaks(text, nil, names: true).isEmpty, "\(target): \(text)")
        }
      }
      return delay
    }
  }

  /// Opens a stream, and reads its beginning.
  private func open<Value>(
    _ target: String,
    by reader: TestService,
    _ body: (WireConnection) async throws -> Value
  ) async throws -> Value {
    try await WireConnection.with(port: Int(service.address.port)) { connection in
      try await connection.send(reader.head("GET", target, headers: ["Accept": "text/event-stream"]))
      #expect(try await connection.head().status == 200)
      _ = try await connection.chunk()
      return try await body(connection)
    }
  }

  /// Reads a stream up to the chunk that has some words.
  private static func text(of connection: WireConnection, until words: String) async throws -> String {
    var text = ""
    while !text.contains(words) {
      text += String(
        decoding: try #require(try await connection.chunk(), "\(words) in \(text)"),
        as: UTF8.self
      )
    }
    return text
  }

  /// Checks that what is allowed is there, so that the search for the rest proves something.
  private func checkShown(_ accuracy: AccuracyAuthorisation?, _ stream: String, _ name: String) async throws {
    let fix = try await own.request("GET", "/v1/fixes/\(World.phone)")
    #expect((fix.status == 200) == (accuracy != nil), "\(name): \(fix.text)")
    guard let accuracy else { return }
    for (coarsest, word) in World.words where coarsest <= accuracy {
      #expect(fix.text.contains(word), "\(name): \(word) in \(fix.text)")
      #expect(stream.contains(word), "\(name): \(word) in the stream")
    }
    let update = try await own.request("GET", "/v1/subjects/\(World.phone)/updates").json
    #expect(update["accuracyLimited"].bool == accuracy.isReduced, "\(name)")
    let floor = try await own.request("GET", "/v1/fixes?floor=annex-b7%2F0").json["fixes"].elements
    #expect(floor.isEmpty == (accuracy < .floor), "\(name): a filter finds nothing finer")
    let regions = try await own.request("GET", "/v1/applications/gallery/regions").json["regions"].elements
    let inside = regions.compactMap { $0["states"]["inside"].integer }.reduce(0, +)
    #expect((inside > 0) == (accuracy == .full), "\(name): numbers of regions")
    let query = "/v1/events?subject=\(World.phone)&kind=region.enter&limit=1"
    let page = try await own.request("GET", query).json
    #expect(page["next"].isNull == (accuracy != .full), "\(name): pages of what is not shown")
    let way = try await own.request("GET", "/v1/venues/museum/routes?from=subject:\(World.phone)&to=cafe")
    #expect((way.status == 403) == accuracy.isReduced, "\(name): \(way.text)")
  }

  private func leaks(
    _ method: String,
    _ path: String,
    _ target: String,
    _ accuracy: AccuracyAuthorisation?
  ) async throws -> [String] {
    var found: [String] = []
    let types = ["application/json"] + (method == "GET" ? ["text/csv", "application/geo+json"] : [])
    for type in types {
      let body = method == "GET" || method == "DELETE" ? nil : "{}"
      let answer = try await own.request(method, target, headers: ["Accept": type], body: body)
      try #require(answer.status < 500, "\(method) \(target): \(answer.text)")
      let text = try World.text(of: answer, path, without: target)
      let isNaming = accuracy == .full || accuracy != nil && World.naming.contains(path)
      // Pages of the dashboard name all kinds of events.
      let isData = path.hasPrefix("/v1/")
      found += leaks(text, accuracy, names: !isNaming).filter { isData || !World.kinds.contains($0) }
    }
    return found
  }

  /// The words of a text that say more than an accuracy allows, and the names of the subjects if those do.
  func leaks(_ text: String, _ accuracy: AccuracyAuthorisation?, names: Bool) -> [String] {
    let text = text.lowercased()
    var forbidden = World.words.filter { word in accuracy.map { $0 < word.accuracy } ?? true }.map(\.word)
    if accuracy != .full { forbidden += World.kinds }
    if names { forbidden += World.names }
    return forbidden.filter(text.contains)
  }

  /// The text of an answer, without the events that report decisions, and without the words of the request.
  private static func text(of answer: WireAnswer, _ path: String, without target: String) throws -> String {
    var text = answer.text
    if path.hasPrefix("/v1/events"), answer.status == 200 {
      let events = try path == "/v1/events" ? answer.json["events"].elements : [answer.json]
      text = events.filter { $0["event"]["type"].string != "pharos.authorisation.changed" }
        .map { event in
          String(describing: event.value) + "\"\(event["event"]["type"].string ?? "")\""
        }.joined()
    }
    guard answer.status >= 400 else { return text }
    return target.split { "/?=&:".contains($0) }.reduce(text) { text, part in
      text.replacing(part.removingPercentEncoding ?? "", with: "")
    }
  }

  /// The paths of an operation with the names of the subjects and the application filled in.
  private func targets(_ path: String) -> [String] {
    let ofApplication = path.replacing("{app}", with: "gallery")
      .replacing("/regions/{id}", with: "/regions/tags")
    var targets = [World.tag.replacing("/", with: "%2F"), World.phone].map {
      service.example(ofApplication.replacing("{subject}", with: $0))
    }
    let start = "from=subject:\(World.phone)"
    switch path {
    case "/v1/venues/{id}/routes", "/v1/venues/{id}/matrix":
      targets.append("\(path.replacing("{id}", with: "museum"))?\(start)&to=cafe")
    case "/v1/venues/{id}/nearest":
      targets.append("/v1/venues/museum/nearest?category=foodservice&\(start)")
    case "/v1/venues/{id}/search": targets.append("/v1/venues/museum/search?q=cafe&\(start)")
    case "/v1/venues/{id}/places": targets.append("/v1/venues/museum/places?\(start)")
    case "/v1/regions/{id}/state":
      targets += [World.tag, World.phone].map { "/v1/regions/tags/state?application=gallery&subject=\($0)" }
    case "/v1/events/{sequence}":
      targets += (1...max(1, service.backend.journal.head)).suffix(40).map { "/v1/events/\($0)" }
    case "/v1/events":
      targets += ["limit=1000", "region=night-watch", "region=tags", "subject=\(World.phone)"].map {
        "/v1/events?\($0)"
      }
    case "/v1/fixes": targets += ["floor=annex-b7%2F0", "venue=museum"].map { "/v1/fixes?\($0)" }
    default: break
    }
    return Array(Set(targets)).sorted()
  }
}
