import Foundation
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosModel
import PharosPublishing
import PharosSite
import Testing

/// Who is where, as lists and streams tell it, and to whom.
@Suite("Fixes over HTTP", .timeLimit(.minutes(20)))
struct FixTests {
  private func locked() -> HTTPConfiguration {
    HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
  }

  /// Publishes events, and waits until they are published.
  private func publish(_ events: [Event], _ service: TestService) async {
    service.backend.commitPublisher.publish(events)
    await service.backend.commitPublisher.drain()
  }

  private func subjects(_ answer: WireAnswer) throws -> [String] {
    try answer.json["fixes"].elements.compactMap { $0["subject"].string }
  }

  @Test("a list holds the last fix of each subject, with what a fix event says")
  func list() async throws {
    try await TestService.run { service in
      await publish(
        [.fix(of: "b", at: 5), .fix(of: "front-desk", at: 6), .fix(of: "b", at: 7, x: 3.25)],
        service
      )
      let answer = try await service.request("GET", "/v1/fixes")
      #expect(try subjects(answer) == ["b", "front-desk"])
      let fix = try answer.json["fixes"][0]
      #expect(fix["time"].string == "1970-01-01T00:00:07.000000000Z")
      #expect(fix["subjectKind"].string == "observer")
      #expect(fix["x"].number == 3.25)
      #expect(fix["horizontalAccuracy"].number == 4.5)
      #expect(fix["course"].number == 90)
      #expect(fix["sources"].elements.compactMap(\.string) == ["wifi", "motion"])
      #expect(fix["satellites"].string == "notNeeded")
      #expect(try answer.json["fixes"][1]["name"].string == "front desk")
      let single = try await service.request("GET", "/v1/fixes/b")
      #expect(try single.json["x"].number == 3.25)
      let tag = "\(String.galleryUUID)/1/7"
      await publish([.fix(of: tag, at: 8)], service)
      let coded = tag.replacing("/", with: "%2F")
      let named = try await service.request("GET", "/v1/fixes/\(coded)")
      #expect(try named.json["subjectKind"].string == "beacon")
      #expect(try named.json["name"].string == "door")
      #expect(try await service.request("GET", "/v1/fixes/unknown").status == 404)
    }
  }

  @Test(
    "filters let through what they name",
    arguments: [
      ("subject=a", ["a"]), ("subject=a&subject=c", ["a", "c"]), ("venue=museum", ["a", "b"]),
      ("venue=mall", ["c"]), ("floor=main/0", ["a"]), ("floor=main/1&floor=main/0", ["a", "b"]),
      ("floor=west/wing/-1", ["c"]), ("floor=/0", nil), ("floor=main", nil), ("floor=main/up", nil),
      ("level=0", nil), ("subject=a&venue=mall", []),
    ]
  )
  func filters(query: String, expected: [String]?) async throws {
    try await TestService.run { service in
      let events: [Event] = [
        .fix(of: "a", at: 1), .fix(of: "b", at: 2, level: 1),
        .fix(of: "c", at: 3, venue: "mall", building: "west/wing", level: -1),
      ]
      await publish(events, service)
      let answer = try await service.request("GET", "/v1/fixes?\(query)")
      if let expected {
        #expect(try subjects(answer) == expected)
      } else {
        #expect(answer.status == 400)
      }
    }
  }

  @Test("pages hold every subject once, in order", arguments: [1, 4, 1_000])
  func pages(limit: Int) async throws {
    try await TestService.run { service in
      let names = (0..<11).map { "handset-\($0)" }
      await publish(names.map { .fix(of: $0, at: 1) }, service)
      var seen: [String] = []
      var target: String? = "/v1/fixes?limit=\(limit)"
      while let next = target {
        let answer = try await service.request("GET", next)
        seen += try subjects(answer)
        target = try answer.json["next"].string.map { "/v1/fixes?limit=\(limit)&cursor=\($0)" }
      }
      #expect(seen.count == names.count)
      #expect(Set(seen) == Set(names))
    }
  }

  @Test("a table and points say of each fix what the list says, and lead to the next page")
  func forms() async throws {
    try await TestService.run { service in
      await publish(
        [.fix(of: "a", at: 6), .fullFix(of: "b", at: 7), .placelessFix(of: "c", at: 8)],
        service
      )
      let list = try await service.request("GET", "/v1/fixes").json["fixes"].elements
      let table = try await service.request("GET", "/v1/fixes", headers: ["Accept": "text/csv"])
      #expect(table.headers["content-type"] == "text/csv; charset=utf-8; header=present")
      #expect(table.headers["link"] == nil)
      let lines = table.text.split(separator: "\r\n").map { EscapedText.csvFields(Array($0.utf8)) }
      let head = try #require(lines.first)
      try #require(list.count == 3 && lines.count == 4)
      #expect(Set(head).count == head.count)
      #expect(head.contains("attitude.w") && head.contains("itinerary.share"))
      for (line, fix) in zip(lines.dropFirst(), list) {
        try #require(line.count == head.count)
        for (column, field) in zip(head, line) {
          let value = column.split(separator: ".").reduce(fix) { $0[String($1)] }
          #expect(says(field, value), "\(column): \(field)")
        }
      }
      let columns = Set(head.compactMap { $0.split(separator: ".").first.map(String.init) })
      #expect(columns.isSuperset(of: (list[1].members ?? [:]).keys))

      let points = try await service.request("GET", "/v1/fixes", headers: ["Accept": "application/geo+json"])
      #expect(points.headers["content-type"] == "application/geo+json")
      let features = try points.json["features"].elements
      for (feature, fix) in zip(features, list) {
        #expect(try sorted(feature["properties"]) == sorted(fix))
      }
      #expect(
        features.map { $0["geometry"]["coordinates"].elements.map(\.number) } == [
          [13.4, 52.5], [13.4, 52.5, 36.75], [],
        ]
      )
      #expect(features.map(\.["geometry"].isNull) == [false, false, true])
      let checker = SchemaChecker(description: try await service.request("GET", "/openapi.json").json)
      let mistakes = checker.mistakes(try points.json, checker.resolve("#/components/schemas/FixFeatures"))
      #expect(mistakes.isEmpty, "\(mistakes)")

      let query = "/v1/fixes?limit=1&floor=main/0"
      let first = try await service.request("GET", query, headers: ["Accept": "text/csv"])
      let link = try #require(first.headers["link"])
      let address = try #require(link.wholeMatch(of: /<(\?limit=1&floor=main\/0&cursor=.+)>; rel="next"/))
      let next = "/v1/fixes\(address.output.1)"
      let second = try await service.request("GET", next, headers: ["Accept": "text/csv"])
      #expect(second.text.contains("\r\nb,") && !second.text.contains("\r\na,"))
      #expect(second.headers["link"] != link)
    }
  }

  /// The text of an object with its members in alphabetical order.
  private func sorted(_ object: JSON) throws -> String {
    let bytes = try JSONSerialization.data(withJSONObject: object.members ?? [:], options: .sortedKeys)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether a field of a table says what a value of JSON says.
  private func says(_ field: String, _ value: JSON) -> Bool {
    if let text = value.string { return field == text }
    if value.value is [Any] { return field == value.elements.compactMap(\.string).joined(separator: " ") }
    if field == "true" || field == "false" { return value.bool == Bool(field) }
    if let number = value.number { return Double(field) == number }
    return field.isEmpty && value.members == nil
  }

  @Test(
    "live updates end at a rest, resume when it has ended, and give the reason where nothing may be learnt"
  )
  func updates() async throws {
    try await run { desk, shop in
      let path = "/v1/subjects/visitor/updates"
      let empty = try await shop.request("GET", path).json
      #expect(empty["locationUnavailable"].bool == true && empty["location"].members == nil)
      try await stream(path, of: shop) { connection in
        var seen: [JSON] = []
        await publish((0...40).map { .fix(of: "visitor", at: $0, speed: 0) }, desk)
        try await read(until: 21, from: connection, into: &seen)
        #expect(seen.prefix(20).allSatisfy { $0["stationary"].bool == false })
        #expect(seen.last?["stationary"].bool == true)
        #expect(seen.last?["stationarySince"].string == "1970-01-01T00:00:00.000000000Z")
        await publish([.fix(of: "visitor", at: 41)], desk)
        try await read(until: 22, from: connection, into: &seen)
        #expect(seen.count == 22 && seen.last?["stationary"].bool == false)
        #expect(seen.last?["location"]["speed"].number == 1.2)
        let last = try await shop.request("GET", path).json
        #expect(last["location"]["time"].string == seen.last?["location"]["time"].string)
        #expect(last["stationary"].bool == nil)
        try await deny(desk)
        try await read(until: 23, from: connection, into: &seen)
        #expect(seen.last?["authorizationDenied"].bool == true && seen.last?["location"].members == nil)
        let hidden = try await shop.request("GET", path).json
        #expect(hidden["authorizationDenied"].bool == true && hidden["location"].members == nil)
      }
    }
  }

  @Test("significant changes are other floors after five minutes, and the reason where nothing may be learnt")
  func significantChanges() async throws {
    try await run { desk, shop in
      let path = "/v1/subjects/visitor/significant-changes"
      #expect(try await shop.request("GET", path).json["locationUnavailable"].bool == true)
      #expect(try await shop.request("GET", "\(path)?distanceFilter=5").status == 400)
      try await stream(path, of: shop) { connection in
        var seen: [JSON] = []
        // A floor every 200 s: of the second one the fix after five minutes, of the third one the next after ten.
        let times = Array(stride(from: 0, through: 600, by: 10))
        await publish(times.map { .fix(of: "visitor", at: $0, level: min($0 / 200, 2)) }, desk)
        try await read(until: 3, from: connection, into: &seen)
        #expect(seen.map { seconds($0["location"]["time"]) } == [0, 300, 600])
        #expect(seen.map { $0["location"]["level"].integer } == [0, 1, 2])
        #expect(seen.allSatisfy { $0["stationary"].bool == false && $0["locationUnavailable"].bool == false })
        let last = try await shop.request("GET", path).json
        #expect(seconds(last["location"]["time"]) == 600 && last["stationary"].bool == nil)
        try await deny(desk)
        try await read(until: 4, from: connection, into: &seen)
        #expect(seen.last?["authorizationDenied"].bool == true && seen.last?["location"].members == nil)
        let hidden = try await shop.request("GET", path).json
        #expect(hidden["authorizationDenied"].bool == true && hidden["location"].members == nil)
      }
    }
  }

  @Test("live updates keep back fixes within the distance filter, and those that are vaguer than desired")
  func filteredUpdates() async throws {
    try await TestService.run(isLive: true) { service in
      let path = "/v1/subjects/visitor/updates"
      try await stream("\(path)?distanceFilter=10", of: service) { connection in
        var seen: [JSON] = []
        await publish((0...30).map { .fix(of: "visitor", at: $0, x: 1.25 * Double($0)) }, service)
        await publish([.fix(of: "visitor", at: 31, level: 1, x: 37.5)], service)
        try await read(until: 5, from: connection, into: &seen)
        #expect(seen.map { seconds($0["location"]["time"]) } == [0, 8, 16, 24, 31])
      }
      try await stream("\(path)?desiredAccuracy=3", of: service) { connection in
        var seen: [JSON] = []
        let fixes = (100...124).map { second in
          Event.fix(of: "visitor", at: second, x: 2 * Double(second), accuracy: second == 104 ? 2 : 3.5)
        }
        await publish(fixes, service)
        try await read(until: 4, from: connection, into: &seen)
        #expect(seen.map { seconds($0["location"]["time"]) } == [100, 104, 114, 124])
        #expect(seen.map { $0["accuracyLimited"].bool } == [true, false, true, true])
      }
      for query in ["distanceFilter=-1", "desiredAccuracy=x", "distanceFilter=1&distanceFilter=2"] {
        #expect(try await service.request("GET", "\(path)?\(query)").status == 400, "\(query)")
      }
    }
  }

  @Test("a stream of events keeps back the fixes of each subject within the filters, and no other events")
  func filteredEvents() async throws {
    try await TestService.run(isLive: true) { service in
      for (start, query, expected) in [
        (0, "distanceFilter=10", [0, 8, 16, 24, 31]), (100, "desiredAccuracy=3", [0, 4, 14, 24, 31]),
      ] {
        try await stream("/v1/events?kind=fix&\(query)", of: service) { connection in
          var seen: [JSON] = []
          var events = (0...30).map { second in
            Event.fix(
              of: "visitor",
              at: start + second,
              x: 1.25 * Double(second),
              accuracy: second == 4 ? 2 : 3.5
            )
          }
          events.insert(.fix(of: "trolley", at: start), at: 1)
          events.append(.fix(of: "visitor", at: start + 31, level: 1, accuracy: 2))
          await publish(events, service)
          try await read(until: expected.count + 1, from: connection, into: &seen)
          #expect(seen.map { $0["subject"].string }.firstIndex(of: "trolley") == 1)
          let shown = seen.filter { $0["subject"].string == "visitor" }
          #expect(shown.map { seconds($0["time"]) } == expected.map { start + $0 }, "\(query)")
        }
        let page = try await service.request("GET", "/v1/events?\(query)")
        #expect(page.status == 400 && page.text.contains(query.prefix { $0 != "=" }), "\(page.text)")
      }
    }
  }

  /// Runs a test with the clients of an operator and of the application `shop`, which may learn of all.
  private func run(_ body: (_ desk: TestService, _ shop: TestService) async throws -> Void) async throws {
    try await TestService.run(configuration: locked(), isLive: true) { service in
      var (desk, shop) = (service, service)
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      desk.token = try tokens.create(name: "op", role: .operator, at: now).secret
      shop.token = try tokens.create(name: "s", role: .application("shop"), at: now).secret
      let application = #"{"purpose":"To greet you."}"#
      #expect(try await desk.request("PUT", "/v1/applications/shop", body: application).status == 201)
      try await body(desk, shop)
    }
  }

  /// Withdraws what the shop may learn of the visitor.
  private func deny(_ desk: TestService) async throws {
    let path = "/v1/applications/shop/authorisations/visitor"
    #expect(try await desk.request("PUT", path, body: #"{"state":"denied"}"#).status == 200)
  }

  /// Opens a live stream, and reads its preamble.
  private func stream(
    _ target: String,
    of service: TestService,
    _ body: (WireConnection) async throws -> Void
  ) async throws {
    try await WireConnection.with(port: Int(service.address.port)) { connection in
      try await connection.send(service.head("GET", target, headers: ["Accept": "text/event-stream"]))
      let head = try await connection.head()
      #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
      _ = try await connection.chunk()
      try await body(connection)
    }
  }

  /// Reads the documents of a live stream until there are so many.
  private func read(until count: Int, from connection: WireConnection, into seen: inout [JSON]) async throws {
    while seen.count < count, let chunk = try await connection.chunk() {
      for line in String(decoding: chunk, as: UTF8.self).split(separator: "\n") where line.hasPrefix("data: ")
      {
        seen.append(try JSON(Array(line.dropFirst(6).utf8)))
      }
    }
  }

  /// The seconds since the epoch of a time, or −1 without one.
  private func seconds(_ time: JSON) -> Int {
    Timestamp(text: time.string ?? "").map { Int($0.nanoseconds / 1_000_000_000) } ?? -1
  }

  @Test("the cache evicts the oldest fixes when there are too many, and never the newest")
  func bound() {
    var cache = StateCache()
    for number in 0..<(StateCache.maximumFixes + 10) { cache.record(.fix(of: "s\(number)", at: number)) }
    #expect(cache.fixes.count <= StateCache.maximumFixes)
    #expect(cache.fixes.count > StateCache.maximumFixes / 2)
    #expect(cache.fix(of: .observer(.name("s0"))) == nil)
    #expect(cache.fix(of: .observer(.name("s\(StateCache.maximumFixes + 9)"))) != nil)
  }

  @Test("an application sees a person's fixes only while that is granted")
  func persons() async throws {
    try await TestService.run(configuration: locked(), isLive: true) { service in
      var (desk, shop, other) = (service, service, service)
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      desk.token = try tokens.create(name: "op", role: .operator, at: now).secret
      shop.token = try tokens.create(name: "s", role: .application("shop"), at: now).secret
      other.token = try tokens.create(name: "o", role: .application("other"), at: now).secret
      let path = "/v1/applications/shop/authorisations/visitor"
      for application in ["shop", "other"] {
        let made = try await desk.request(
          "PUT",
          "/v1/applications/\(application)",
          body: #"{"purpose":"To greet you."}"#
        )
        #expect(made.status == 201)
      }
      func allow(_ state: String) async throws {
        let body = #"{"state":"\#(state)","person":true}"#
        #expect(try await desk.request("PUT", path, body: body).status == 200)
        await publish([.fix(of: "visitor", at: 10), .fix(of: "trolley", at: 10)], service)
      }
      func seen(by client: TestService) async throws -> [String] {
        try subjects(await client.request("GET", "/v1/fixes"))
      }
      try await allow("denied")
      for client in [desk, shop, other] { #expect(try await seen(by: client) == ["trolley"]) }
      #expect(try await shop.request("GET", "/v1/fixes/visitor").status == 404)
      try await allow("always")
      #expect(try await seen(by: shop) == ["trolley", "visitor"])
      #expect(try await seen(by: desk) == ["trolley", "visitor"])
      #expect(try await seen(by: other) == ["trolley"])
      try await allow("whenInUse")
      for client in [desk, shop, other] { #expect(try await seen(by: client) == ["trolley"]) }
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = shop.head("GET", "/v1/events", headers: ["Accept": "application/x-ndjson"])
        try await connection.send(head)
        _ = try await connection.head()
        try await allow("whenInUse")
        #expect(try await seen(by: shop) == ["trolley", "visitor"])
        #expect(try await seen(by: desk) == ["trolley"])
        #expect(try await seen(by: other) == ["trolley"])
        try await allow("denied")
        #expect(try await seen(by: shop) == ["trolley"])
      }
    }
  }

  @Test(
    "an application's stream tells fixes of those whom it may learn of, and none where it asks for regions"
  )
  func streams() async throws {
    try await TestService.run(configuration: locked(), isLive: true) { service in
      var (desk, shop) = (service, service)
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      desk.token = try tokens.create(name: "op", role: .operator, at: now).secret
      shop.token = try tokens.create(name: "s", role: .application("shop"), at: now).secret
      let application = try await desk.request(
        "PUT",
        "/v1/applications/shop",
        body: #"{"purpose":"P."}"#
      )
      #expect(application.status == 201)
      let person = #"{"state":"denied","person":true}"#
      let path = "/v1/applications/shop/authorisations/visitor"
      #expect(try await desk.request("PUT", path, body: person).status == 200)
      try await WireConnection.with(port: Int(service.address.port)) { open in
        try await WireConnection.with(port: Int(service.address.port)) { narrow in
          for (connection, query) in [(open, "kind=fix&kind=zone.enter"), (narrow, "region=till")] {
            let accept = ["Accept": "application/x-ndjson"]
            try await connection.send(shop.head("GET", "/v1/events?\(query)", headers: accept))
            #expect(try await connection.head().status == 200)
          }
          await publish(
            [
              .fix(of: "visitor", at: 1), .quiet(1), .fix(of: "trolley", at: 2), .fix(of: "trolley", at: 3),
              .quiet(2), .stateOf("till", 4),
            ],
            service
          )
          var lines: [JSON] = []
          while lines.count < 2, let chunk = try await open.chunk() {
            // A slow machine lets heartbeats come between.
            lines += try chunk.split(separator: UInt8(ascii: "\n")).map { try JSON(Array($0)) }
              .filter { $0["event"]["type"].string != nil }
          }
          #expect(lines.map { $0["event"]["type"].string } == ["pharos.fix", "pharos.fix"])
          #expect(lines.map { $0["event"]["subject"].string } == ["trolley", "trolley"])
          #expect(lines.allSatisfy { $0["event"]["data"]["horizontalAccuracy"].number == 4.5 })
          let first = try #require(try await narrow.chunk())
          #expect(String(decoding: first, as: UTF8.self).contains("pharos.region.state"))
        }
      }
    }
  }
}

extension Event {
  /// Returns a fix of a subject in the museum, or at the given place.
  static func fix(
    of subject: String,
    at second: Int,
    venue: String = "museum",
    building: String = "main",
    level: Int = 0,
    x: Double = 1.5,
    accuracy: Double = 4.5,
    speed: Double = 1.2
  ) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: .fix,
      time: Timestamp(seconds: Int64(second)),
      decidedAt: Timestamp(seconds: Int64(second) + 1),
      stage: 2,
      subject: SubjectID(subject) ?? .none,
      counter: UInt64(second),
      detail: .fix(
        FixDetail(
          venue: venue,
          building: building,
          level: level,
          floorName: "Ground floor",
          latitude: 52.5,
          longitude: 13.4,
          x: x,
          y: -2.25,
          horizontalAccuracy: accuracy,
          speed: speed,
          course: .pi / 2,
          sources: [.wifi, .motion],
          age: .seconds(0.4),
          satellites: .notNeeded
        )
      )
    )
  }

  /// Returns a fix of which all members are known.
  fileprivate static func fullFix(of subject: String, at second: Int) -> Event {
    let event = fix(of: subject, at: second)
    guard case .fix(var fix) = event.detail else { return event }
    (fix.room, fix.place) = ("Lobby, \"old\"", "=desk")
    (fix.floorCertainty, fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (0.5, -3.25, 36.75, 2)
    (fix.speedAccuracy, fix.courseAccuracy, fix.heading, fix.headingAccuracy) = (0.25, .pi / 8, .pi, .pi / 4)
    fix.sourceInformation = [.simulatedBySoftware, .visualPositioning]
    fix.attitude = .identity
    fix.progress = ItineraryProgress(distance: 12.5, share: 0.25, deviation: 1.5, isOffRoute: true)
    return event.with(.fix(fix))
  }

  /// Returns a fix on a floor that is bound to no place on the Earth.
  fileprivate static func placelessFix(of subject: String, at second: Int) -> Event {
    let event = fix(of: subject, at: second)
    guard case .fix(var fix) = event.detail else { return event }
    (fix.latitude, fix.longitude) = (nil, nil)
    return event.with(.fix(fix))
  }

  /// Returns an event of no application and about no subject.
  fileprivate static func quiet(_ number: Int) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: .clockStepped,
      time: Timestamp(seconds: 1),
      decidedAt: Timestamp(seconds: 1),
      stage: 0,
      subject: .none,
      counter: UInt64(number),
      detail: .clockStep(.seconds(1))
    )
  }

  /// A state of a region of the shop.
  fileprivate static func stateOf(_ region: String, _ second: Int) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: .regionState,
      time: Timestamp(seconds: Int64(second)),
      decidedAt: Timestamp(seconds: Int64(second)),
      stage: 1,
      subject: .observer(.name("trolley")),
      application: "shop",
      region: region,
      counter: 1,
      detail: .region(RegionTransition(from: .unknown, to: .inside, evidence: Evidence(rule: .samples)))
    )
  }
}
