import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSecurity
import PharosTestSupport
import Testing

extension TestService {
  /// A change that the interface makes, and what it answers.
  struct Change {
    let method: String
    let path: String
    let body: String?
    let status: Int

    init(_ method: String, _ path: String, _ body: String? = nil, status: Int) {
      self.method = method
      self.path = path
      self.body = body
      self.status = status
    }
  }

  /// Registers, hears and makes something of everything, so that no list is empty.
  func fill() async throws {
    let region = #"{"uuid":"\#(String.galleryUUID)","major":1,"enter":{"samples":1}}"#
    for (path, body) in [
      ("/v1/applications/shop", #"{"purpose":"To greet you."}"#),
      ("/v1/applications/shop/regions/till", region),
      ("/v1/applications/shop/ranging/tills", #"{"uuid":"\#(String.galleryUUID)","major":1}"#),
      ("/v1/applications/shop/notifications/hello", Self.notification),
      ("/v1/observers/attic", #"{"name":"the attic"}"#),
      ("/v1/beacons/\(Self.tag)", #"{"name":"Wheelchair 4"}"#),
      ("/v1/zones/attic", #"{"observers":["attic"]}"#),
    ] {
      let answer = try await request("PUT", path, body: body)
      try #require(answer.status == 201, "\(path): \(answer.text)")
    }
    let route = "/v1/subjects/visitor/itinerary"
    try #require(try await request("PUT", route, body: Self.itinerary).status == 200)
    let guidance = "/v1/subjects/visitor/guidance"
    try #require(try await request("PUT", guidance, body: Self.guidance).status == 200)
    let subject = "/v1/applications/shop/authorisations/visitor"
    try #require(
      try await request("PUT", subject, body: #"{"state":"always","person":true}"#).status == 200
    )
    for (subject, viewer) in [("visitor", "guest"), ("guest", "visitor")] {
      let share = "/v1/subjects/\(subject)/shares/\(viewer)"
      try #require(try await request("PUT", share, body: #"{"state":"accepted"}"#).status == 200)
    }
    try backend.authorisations.looks.record(
      at: .observer(.name("visitor")),
      by: .observer(.name("guest")),
      .friends,
      .full,
      now: backend.clock()
    )
    try #require(try await request("POST", "/v1/tokens", body: Self.token).status == 201)
    try #require(try await request("POST", "/v1/observers/front-desk/keys", body: "{}").status == 201)
    try #require(try await request("POST", "/v1/webhooks", body: Self.webhook).status == 201)
    try #require(try await request("POST", "/v1/comparisons", body: "a capture").status == 201)
    let recording = try await request("POST", "/v1/recordings", body: "{}")
    try #require(recording.status == 201, "\(recording.text)")
    try #require(try await request("POST", example("/v1/recordings/{id}/end")).status == 200)
    try await receive(minor: 7)
    try await committed(about: "front-desk")
    try await committed([.ranging], about: "front-desk", hearing: 7)
    backend.commitPublisher.publish([.fix(of: "visitor", at: 1), .visit(of: "visitor", 1, at: "cafe")])
    await backend.commitPublisher.drain()
    try backend.journal.record(Self.sample(at: backend.clock()))
  }

  /// A beacon in a path.
  static let tag = "\(String.galleryUUID)%2F1%2F21"

  /// Summaries of everything that the examples name.
  private static func sample(at time: Timestamp) -> HistorySample {
    var sample = HistorySample(minute: HistoryMinute(containing: time))
    sample.subjects[.observer(.name("visitor"))] = SubjectMinute(
      zone: "lobby",
      state: .inside,
      nearest: .observer(.name("front-desk")),
      rssi: -60,
      position: SubjectMinute.Position(
        venue: "museum",
        building: "main",
        level: 0,
        latitude: 52.5,
        longitude: 13.4,
        accuracy: 2
      )
    )
    for name in ["front-desk", "attic"] {
      sample.observers[.name(name)] = ObserverMinute(adverts: 10, isUp: name == "attic")
    }
    let till = HistoryPlace(application: "shop", identifier: "till")
    for place in [.zone("lobby"), .zone("attic"), till] {
      sample.places[place] = PlaceMinute(inside: 1, unmonitored: 0)
    }
    return sample
  }

  /// Waits for a kind that the journal does not keep, while an observer goes on hearing.
  func committed(
    _ kinds: Set<EventKind>,
    about subject: String,
    in application: String? = nil,
    hearing minor: Int
  ) async throws {
    let filter = EventFilter(kinds: kinds, applications: application.map { [$0] })
    let feed = try backend.feeds.open(FeedRequest(filter: filter))
    // A feed without news gives a heartbeat after 15 s only: three seconds of adverts make the news.
    for _ in 0..<3 {
      time.pass(seconds: 1)
      try await receive(minor: minor)
    }
    for await items in feed {
      for case .event(let committed) in items where committed.event.subject.description == subject { return }
      time.pass(seconds: 1)
      try await receive(minor: minor)
    }
  }

  /// A path with its names filled in by things that are there.
  func example(_ path: String) -> String {
    // The site file has what the others ask about; only what was made over HTTP can be changed over HTTP.
    if path == "/v1/beacons/{id}" { return path.replacing("{id}", with: Self.tag) }
    if ["/v1/observers/{id}", "/v1/zones/{id}"].contains(path) {
      return path.replacing("{id}", with: "attic")
    }
    let webhook = backend.webhooks.list().first?.definition.id ?? "none"
    let token = backend.tokens.list().first?.id ?? "none"
    let key = backend.signingKeys.observers.first?.keys.first?.key.idText ?? "none"
    let comparison = (try? backend.journal.documents(kind: "comparison"))?.first?.key ?? "none"
    let file = "app.js"
    var example = path.replacing("{app}", with: "shop").replacing("{name}", with: "tills")
      .replacing("{subject}", with: "visitor").replacing("{viewer}", with: "guest")
      .replacing("{sequence}", with: "1")
      .replacing("{file}", with: file).replacing("{building}", with: "main")
      .replacing("{level}", with: "0").replacing("{key}", with: key)
      .replacing(
        "nearest/v1/{profile}/{coordinates}",
        with: "nearest/v1/{profile}/18.06864,59.32932"
      )
      .replacing("{coordinates}", with: Self.coordinates).replacing("{profile}", with: "foot")
      .replacing("{font}", with: "Pharos%20Sans").replacing("{range}", with: "0-255")
      .replacing("{z}", with: "0").replacing("{x}", with: "0").replacing("{y}", with: "0")
    for (part, id) in [
      ("/regions/", "till"), ("/observers/", "front-desk"), ("/notifications/", "hello"),
      ("/webhooks/", webhook),
      ("/tokens/", token), ("/venues/", "museum"), ("/comparisons/", comparison),
      ("/recordings/", backend.recordings.newest ?? "none"),
      ("/history/zones/", "lobby"),
    ] where example.contains(part + "{id}") {
      example = example.replacing(part + "{id}", with: part + id)
    }
    return example + (Self.queries[path] ?? "")
  }

  /// Two positions in the museum, as clients of OSRM write them.
  private static let coordinates = "18.06864,59.32932;18.06912,59.32932"

  /// The queries of operations that need one.
  private static let queries = [
    "/v1/regions/{id}/state": "?subject=visitor",
    "/venues/{id}/routes": "?from=main%20door&to=cafe&language=fr",
    "/v1/venues/{id}/routes": "?from=main%20door&to=cafe",
    "/v1/venues/{id}/search": "?q=caf",
    "/v1/venues/{id}/at": "?latitude=59.32939&longitude=18.06867&level=1",
    "/v1/venues/{id}/nearest": "?category=foodservice&from=main%20door",
    "/v1/venues/{id}/matrix": "?from=main%20door&to=cafe&to=main%20door",
  ]

  /// Every operation that changes something, in an order in which each finds what it needs.
  var changes: [Change] {
    let app = "/v1/applications/{app}"
    let (region, ranging) = (app + "/regions/{id}", app + "/ranging/{name}")
    let uuid = #"{"uuid":"\#(String.galleryUUID)","major":1}"#
    return [
      Change("POST", "/v1/tickets", status: 201),
      Change(
        "PUT",
        app,
        #"{"purpose":"To greet you.","accuracy":"floor","temporaryPurposes":{"way":"To show the way."}}"#,
        status: 200
      ),
      Change("POST", app + "/accuracy", #"{"purposeKey":"way","duration":"10m"}"#, status: 200),
      Change("DELETE", app + "/accuracy", status: 204),
      Change("PUT", region, uuid.replacing("}", with: #","title":"The till"}"#), status: 200),
      Change("POST", region + "/requestState", #"{"subject":"front-desk"}"#, status: 202),
      Change("PUT", ranging, uuid, status: 200),
      Change("PUT", app + "/notifications/{id}", Self.notification, status: 200),
      Change("PUT", app + "/authorisations/{subject}", #"{"state":"denied"}"#, status: 200),
      Change("PUT", "/v1/observers/{id}", #"{"name":"attic","rssiOffset":-2.5,"lag":"500ms"}"#, status: 200),
      Change(
        "PUT",
        "/v1/zones/{id}",
        #"{"observers":["attic"],"adjacent":["lobby"],"floor":3}"#,
        status: 200
      ),
      Change(
        "POST",
        "/v1/zones",
        #"{"zones":[{"id":"attic","observers":["attic"],"adjacent":["lobby"],"floor":3}],"removed":[]}"#,
        status: 204
      ),
      Change(
        "PUT",
        "/v1/beacons/{id}",
        #"{"name":"Wheelchair 5","interval":"1s","properties":{"seats":"1"}}"#,
        status: 200
      ),
      Change("POST", "/v1/observers/{id}/displayOn", status: 202),
      Change("POST", "/v1/observers/{id}/accept", status: 202),
      Change("POST", "/v1/observers/{id}/keys", #"{"overlap":"1d","radios":["roof"]}"#, status: 201),
      Change("DELETE", "/v1/observers/{id}/keys/{key}", status: 204),
      Change("DELETE", "/v1/observers/{id}/keys", status: 204),
      Change("POST", "/v1/adverts", #"{"observer":"a","displayOn":true}"#, status: 202),
      Change("POST", "/v1/tokens", Self.token, status: 201),
      Change("DELETE", "/v1/tokens/{id}", status: 204),
      Change("POST", "/v1/webhooks", Self.webhook, status: 201),
      Change("PUT", "/v1/webhooks/{id}", Self.webhook, status: 200),
      Change("POST", "/v1/webhooks/{id}/dead/replay", "{}", status: 202),
      Change("POST", "/v1/webhooks/{id}/test", status: 200),
      Change("POST", "/v1/comparisons", #""a capture""#, status: 201),
      Change("DELETE", "/v1/comparisons/{id}", status: 204),
      Change("POST", "/v1/recordings", #"{"seconds":60,"bytes":1048576}"#, status: 201),
      Change("POST", "/v1/recordings/{id}/end", status: 200),
      Change("POST", "/v1/recordings/{id}/comparison", #"{"timeout":20}"#, status: 201),
      Change("DELETE", "/v1/recordings/{id}", status: 204),
      Change("PUT", "/v1/subjects/{subject}/itinerary", Self.itinerary, status: 200),
      Change("DELETE", "/v1/subjects/{subject}/itinerary", status: 204),
      Change("PUT", "/v1/subjects/{subject}/guidance", Self.guidance, status: 200),
      Change("DELETE", "/v1/subjects/{subject}/guidance", status: 204),
      Change("PUT", "/v1/subjects/{subject}/shares/{viewer}", #"{"state":"accepted"}"#, status: 200),
      Change("DELETE", "/v1/subjects/{subject}/shares/{viewer}", status: 204),
      Change("DELETE", "/v1/subjects/{subject}", status: 200),
      Change("DELETE", "/v1/beacons/{id}", status: 204),
      Change("DELETE", "/v1/observers/{id}", status: 204), Change("DELETE", "/v1/zones/{id}", status: 204),
      Change("DELETE", "/v1/webhooks/{id}", status: 204),
      Change("DELETE", app + "/notifications/{id}", status: 204),
      Change("DELETE", ranging, status: 204),
      Change("DELETE", region, status: 204), Change("DELETE", app, status: 204),
    ]
  }

  static let guidance = #"{"destination":"cafe","language":"fr"}"#
  static let itinerary =
    #"{"waypoints":[{"latitude":52.5,"longitude":13.4},{"latitude":52.501,"longitude":13.4,"level":1}]}"#
  static let notification =
    #"{"region":"till","on":"enter","text":"Hello {name}","atMostOncePer":"1h","quietHours":{"from":"22:00","#
    + #""to":"06:00","timeZone":"Europe/Berlin"},"onlyIfStillInsideAfter":"30s"}"#
  private static let token =
    #"{"name":"a","application":"shop","expiresAt":"2100-01-01T00:00:00Z"}"#
  /// A port without a listener: the trial fails and reports that.
  private static let webhook =
    #"{"url":"http://127.0.0.1:9/hook","filter":{"kinds":["region.enter"]}}"#
}
