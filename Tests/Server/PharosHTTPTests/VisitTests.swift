import PharosDelivery
import PharosHTTP
import PharosModel
import Testing

/// Visits and dwell times over HTTP, from the journal.
@Suite("Visits over HTTP", .timeLimit(.minutes(20)))
struct VisitTests {
  private func publish(_ events: [Event], _ service: TestService) async {
    service.backend.commitPublisher.publish(events)
    await service.backend.commitPublisher.drain()
  }

  /// Two visits of the café that have ended, and one of the shop that lasts.
  private static let stays: [Event] = [
    .visit(of: "a", 10, at: "cafe"), .visit(of: "b", 20, at: "cafe"),
    .visit(of: "a", 10, until: 70, at: "cafe"),
    .visit(of: "a", 100, at: "shop"), .visit(of: "b", 20, until: 320, at: "cafe"),
  ]

  @Test("each visit is listed once, complete if it has ended, the newest decision first, in pages")
  func list() async throws {
    try await TestService.run { service in
      await publish(Self.stays, service)
      let all = try await service.request("GET", "/v1/visits").json["visits"].elements
      #expect(all.map { $0["subject"].string } == ["b", "a", "a"])
      #expect(all.map { $0["place"]["id"].string } == ["cafe", "shop", "cafe"])
      #expect(all.map { $0["duration"].number } == [300, nil, 60])
      #expect(all[1]["departureDate"].string == "4001-01-01T00:00:00Z")
      var target = "/v1/visits?limit=1"
      var pages: [String?] = []
      while true {
        let page = try await service.request("GET", target).json
        pages += page["visits"].elements.map { $0["visit"].string }
        guard let next = page["next"].string else { break }
        target = "/v1/visits?limit=1&cursor=\(next)"
      }
      #expect(pages == all.map { $0["visit"].string })
      let own = try await service.request("GET", "/v1/visits?subject=a&place=cafe").json["visits"].elements
      #expect(own.map { $0["visit"].string } == [all[2]["visit"].string])
      #expect(try await service.request("GET", "/v1/visits?cursor=x").status == 400)
    }
  }

  @Test("dwell times have the count, the median, the ninth decile and those present, as JSON and as CSV")
  func dwell() async throws {
    try await TestService.run { service in
      await publish(Self.stays, service)
      let range = "from=0&to=1000"
      let places = try await service.request("GET", "/v1/dwell?\(range)").json["places"].elements
      #expect(places.map { $0["id"].string } == ["cafe", "shop"])
      #expect(places.map { $0["count"].number } == [2, 0])
      #expect(places[0]["median"].number == 180)
      #expect(places[0]["p90"].number == 276)
      #expect(places.map { $0["current"].number } == [0, 1])
      let csv = try await service.request(
        "GET",
        "/v1/dwell?\(range)&place=cafe",
        headers: ["Accept": "text/csv"]
      )
      #expect(csv.text.contains("cafe,pointOfInterest,,2,180,276,0"))
      #expect(try await service.request("GET", "/v1/dwell?by=floor").status == 400)
      #expect(try await service.request("GET", "/v1/dwell?from=9&to=1").status == 400)
    }
  }

  @Test("dwell times by zone are those of beacons that came and went in the range")
  func zones() async throws {
    try await TestService.run { service in
      let tag = "12:34:56:78:9a:bc"
      await publish([.zone(.zoneEnter, of: tag, at: 10), .zone(.zoneExit, of: tag, at: 50)], service)
      let answer = try await service.request("GET", "/v1/dwell?by=zone&from=0&to=1000").json
      let lobby = try #require(answer["places"].elements.first { $0["id"].string == "lobby" })
      #expect(lobby["count"].number == 1 && lobby["median"].number == 40)
      let cut = try await service.request("GET", "/v1/dwell?by=zone&from=20&to=1000").json
      #expect(cut["places"].elements.first { $0["id"].string == "lobby" }?["count"].number == 0)
    }
  }
}

extension Event {
  /// A visit of a subject, which lasts or ends.
  static func visit(of subject: String, _ start: Int64, until end: Int64? = nil, at place: String) -> Event {
    Event(
      stream: Site.gallery.stream,
      kind: end == nil ? .visitArrive : .visitDepart,
      time: Timestamp(seconds: end ?? start),
      decidedAt: Timestamp(seconds: (end ?? start) + 1),
      stage: 2,
      subject: SubjectID(subject) ?? .none,
      region: place,
      counter: UInt64(start),
      detail: .visit(
        VisitDetail(
          visit: EventID(high: 0, low: UInt64(start)),
          arrival: Timestamp(seconds: start),
          departure: end.map { Timestamp(seconds: $0) },
          venue: "museum",
          horizontalAccuracy: 2,
          place: VisitDetail.Place(kind: .pointOfInterest, identifier: place),
          evidence: VisitDetail.Evidence(fixes: 45, end: end == nil ? .lasting : .moved)
        )
      )
    )
  }

  /// A tag's change of zone.
  static func zone(_ kind: EventKind, of tag: String, at second: Int64) -> Event {
    let isEnter = kind == .zoneEnter
    return Event(
      stream: Site.gallery.stream,
      kind: kind,
      time: Timestamp(seconds: second),
      decidedAt: Timestamp(seconds: second),
      stage: 2,
      subject: SubjectID(tag) ?? .none,
      region: "lobby",
      counter: UInt64(second),
      detail: .zone(
        ZoneTransition(
          from: isEnter ? nil : "lobby",
          to: isEnter ? "lobby" : nil,
          margin: nil,
          dwell: nil,
          reason: .margin
        )
      )
    )
  }
}
