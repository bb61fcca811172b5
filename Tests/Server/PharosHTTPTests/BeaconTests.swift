import Pharos
import PharosDelivery
import PharosDocuments
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// Beacons that owners name, and the names and rooms that stand beside identities.
@Suite("Beacons over HTTP", .timeLimit(.minutes(20)))
struct BeaconTests {
  private static let path = "/v1/beacons/\(String.galleryUUID)%2F1%2F9"
  private static let tag = "\(String.galleryUUID)/1/9"

  @Test("a tag that an owner names has its name in lists, states and events, and in the exported site file")
  func naming() async throws {
    try await TestService.run { service async throws in
      #expect(try await service.request("GET", Self.path).status == 404)
      let name = #"{"name":"Wheelchair 4","interval":"2s"}"#
      #expect(try await service.request("PUT", Self.path, body: name).status == 201)
      #expect(try await service.request("PUT", Self.path, body: name).status == 200)
      let unheard = try await service.request("GET", Self.path).json
      #expect(unheard["name"].string == "Wheelchair 4")
      #expect(unheard["source"].string == "http")
      #expect(unheard["lastHeard"].value == nil)

      try await service.receive(minor: 9)
      try await service.committed(about: Self.tag)
      let beacons = try await service.request("GET", "/v1/beacons?named=true").json["beacons"].elements
      let known = beacons.map { [$0["id"], $0["name"], $0["source"]].map { $0.string } }
      #expect(known == [[String.galleryUUID + "/1/7", "door", "site"], [Self.tag, "Wheelchair 4", "http"]])
      #expect(beacons.last?["regions"][0]["region"].string == "tags")
      let states = try await service.request("GET", "/v1/applications/gallery/states?region=tags").json[
        "states"
      ]
      #expect(states[0]["name"].string == "Wheelchair 4")
      #expect(states[0]["observerName"].string == "front desk")
      let kinds = "/v1/events?kind=region.enter&region=tags"
      let event = try await service.request("GET", kinds).json["events"][0]["event"]["data"]
      #expect(event["name"].string == "Wheelchair 4")
      #expect(event["observerName"].string == "front desk")
      // It is in no zone yet: the room is that of the gateway which heard it.
      #expect(event["room"].string == "Lobby")
      let site = try SiteFile.parse(try await service.request("GET", "/v1/site").text, path: "site.yaml").site
      #expect(site == service.backend.owner.site)
      #expect(site.beacons.contains { $0.name == "Wheelchair 4" && $0.interval == .seconds(2) })
    }
  }

  @Test("pages, single events, streams and visits have the names of the time, and lists the present ones")
  func renaming() async throws {
    try await TestService.run { service async throws in
      let tag = try #require(SubjectID(Self.tag))
      func rename(_ name: String) async throws {
        service.time.pass(seconds: 60)
        let body = #"{"name":"\#(name)"}"#
        #expect(try await [200, 201].contains(service.request("PUT", Self.path, body: body).status))
        let zone = #"{"name":"\#(name)'s room","observers":["roof"]}"#
        #expect(try await [200, 201].contains(service.request("PUT", "/v1/zones/attic", body: zone).status))
        service.time.pass(seconds: 60)
        let now = service.backend.clock()
        let place = VisitDetail.Place(kind: .zone, identifier: "attic")
        let visit = VisitDetail(
          visit: EventID(high: 0, low: UInt64(now.nanoseconds)),
          arrival: now,
          departure: nil,
          venue: "",
          horizontalAccuracy: 2,
          place: place,
          evidence: VisitDetail.Evidence(fixes: 1, end: .lasting)
        )
        let move = ZoneTransition(from: nil, to: "attic", margin: nil, dwell: nil, reason: .margin)
        service.backend.commitPublisher.publish(
          [(EventKind.zoneEnter, EventDetail.zone(move)), (.visitArrive, .visit(visit))].map { kind, detail in
            Event(
              stream: service.backend.owner.site.stream,
              kind: kind,
              time: now,
              decidedAt: now,
              stage: 2,
              subject: tag,
              region: "attic",
              counter: UInt64(now.nanoseconds),
              detail: detail
            )
          }
        )
        await service.backend.commitPublisher.drain()
      }
      for name in ["Anna", "Bert", "Carl"] { try await rename(name) }
      let events = try await service.request("GET", "/v1/events?kind=zone.enter&after=0").json["events"]
        .elements
      let names = events.map { $0["event"]["data"]["name"].string }
      #expect(names == ["Anna", "Bert", "Carl"])
      #expect(events.map { $0["event"]["data"]["room"].string } == names.map { "\($0 ?? "")'s room" })
      for event in events {
        let one = try await service.request("GET", "/v1/events/\(event["sequence"].integer ?? 0)").json
        #expect(one["event"]["data"]["name"].string == event["event"]["data"]["name"].string)
      }
      let visits = try await service.request("GET", "/v1/visits").json["visits"].elements
      #expect(visits.map { $0["name"].string } == ["Carl", "Bert", "Anna"])
      #expect(visits.map { $0["room"].string } == ["Carl's room", "Bert's room", "Anna's room"])
      #expect(try await service.request("GET", Self.path).json["name"].string == "Carl")
      let path = "/v1/subjects/\(Self.tag.replacing("/", with: "%2F"))"
      let erased = try await service.request("DELETE", path).json
      #expect(erased["removed"]["formerNames"].integer == 1)
      #expect(service.backend.owner.names.history.names.keys.allSatisfy { "\($0)" != "beacon/\(Self.tag)" })
    }
  }

  @Test("a tag in a zone is in its room, by name, in every list")
  func room() async throws {
    try await TestService.run { service async throws in
      let place = PublishedState.ZoneRecord(
        beacon: try #require(BeaconID(Self.tag)),
        zone: "lobby",
        time: service.backend.clock(),
        decidedAt: service.backend.clock()
      )
      let enter = Event(
        stream: service.backend.owner.site.stream,
        kind: .zoneEnter,
        time: place.time,
        decidedAt: place.decidedAt,
        stage: 2,
        subject: .beacon(place.beacon),
        region: "lobby",
        counter: 1,
        detail: .zone(ZoneTransition(from: nil, to: "lobby", margin: nil, dwell: nil, reason: .margin))
      )
      service.backend.commitPublisher.publish([enter])
      try await service.receive(minor: 9)
      try await service.committed(about: Self.tag)
      await service.backend.commitPublisher.drain()
      let states = try await service.request("GET", "/v1/applications/gallery/states?region=tags").json[
        "states"
      ]
      #expect(states[0]["room"].string == "Lobby")
      let tracks = try await service.request("GET", "/v1/tracks").json["tracks"]
      #expect(tracks[0]["room"].string == "Lobby")
      let heard = try await service.request("GET", "/v1/heard").json["beacons"]
      #expect(heard[0]["room"].string == "Lobby")
      #expect(heard[0]["observerName"].string == "front desk")
      let entered = try await service.request("GET", "/v1/events?kind=zone.enter").json["events"][0]["event"][
        "data"
      ]
      #expect(entered["room"].string == "Lobby")
      #expect(entered["toName"].string == "Lobby")
    }
  }

  @Test("a beacon of the site file is not changed over HTTP; one that is removed or erased is gone")
  func refusals() async throws {
    try await TestService.run { service async throws in
      let declared = "/v1/beacons/\(String.galleryUUID)%2F1%2F7"
      #expect(try await service.request("PUT", declared, body: #"{"name":"gate"}"#).status == 409)
      #expect(try await service.request("DELETE", declared).status == 409)
      #expect(try await service.request("DELETE", Self.path).status == 404)
      #expect(try await service.request("PUT", "/v1/beacons/nothing", body: "{}").status == 404)
      #expect(try await service.request("PUT", Self.path, body: #"{"name":""}"#).status == 422)
      #expect(try await service.request("PUT", Self.path, body: #"{"name":"Anna"}"#).status == 201)
      let subject = "/v1/subjects/\(String.galleryUUID)%2F1%2F9"
      let erased = try await service.request("DELETE", subject).json
      #expect(erased["removed"]["beacons"].integer == 1)
      #expect(!service.backend.owner.site.beacons.contains { $0.name == "Anna" })
      #expect(try service.backend.journal.documents(kind: "http.beacon").isEmpty)
    }
  }

  @Test("names outlive a restart")
  func restart() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    try await TestService.run(journal: journal) { service async throws in
      #expect(try await service.request("PUT", Self.path, body: #"{"name":"Bed 3"}"#).status == 201)
    }
    let parts = try TestService.parts(site: .gallery, journal: journal)
    #expect(parts.owner.names.given(to: try #require(SubjectID(Self.tag))) == "Bed 3")
  }

  @Test("an address that is part of an identity names one tag of many that advertise the same")
  func keyed() throws {
    let uuid = try #require(UUID128(String.galleryUUID))
    let address = try #require(DeviceAddress("c0:de:00:00:00:01"))
    let names = SiteNames(
      Site(beacons: [
        BeaconEntry(constraint: .proximity(uuid), name: "a badge"),
        BeaconEntry(constraint: .proximity(uuid, major: 1, minor: 7), name: "the badge"),
        BeaconEntry(constraint: .address(address), name: "my badge"),
      ])
    )
    #expect(names.given(to: .beacon(.proximity(uuid, major: 1, minor: 7))) == "the badge")
    #expect(names.given(to: .beacon(.proximity(uuid, major: 1, minor: 8))) == "a badge")
    #expect(names.given(to: .beacon(.address(address))) == "my badge")
  }
}

/// Which room? Whatever carries a position or a tag answers it, and names what it identifies.
@Suite("Which room")
struct WhichRoomTests {
  /// What names no one who could be in a room, each with the reason.
  private static let exceptions: [String: String] = [
    "Region": "a condition, not a place where someone is", "RegionDocument": "a condition",
    "CloudEvent": "its data are checked event by event",
    "Erasure": "the subject is gone", "SubjectHistory": "its steps have the rooms",
    "SubjectFeatures": "its points have the rooms",
    "Track.regions": "the kind of subject that a region has",
    "Authorisation": "an application's right, whether the subject is there or not",
    "Notification": "a rule", "NotificationDocument": "a rule",
    "Nearest": "the counterpart of a subject whose room stands beside it",
    "Beacon.fix": "it has its room", "Diagnostic": "its subject is the one that is asked about",
    "Zone": "the room itself", "Share": "a right, whether the subject is there or not",
    "Friend": "its fix has the room, where the share shows it",
  ]

  @Test("every schema that carries a subject, a tag or a position has its name and its room")
  func schemas() async throws {
    let description = try await TestService.description()
    let schemas = description["components"]["schemas"].members ?? [:]
    var missing: [String] = []
    func check(_ schema: JSON, _ name: String) {
      if let members = schema["properties"].members {
        let isExempt = Self.exceptions.keys.contains { name == $0 || name.hasPrefix($0 + ".") }
        let isSubject = members["subject"] != nil || members["beacon"] != nil
        let isPosition = members["latitude"] != nil && members["horizontalAccuracy"] != nil
        if !isExempt {
          if isSubject || isPosition, members["room"] == nil { missing.append("\(name).room") }
          if isSubject, members["name"] == nil { missing.append("\(name).name") }
        }
        if members["observer"] != nil, members["observerName"] == nil, !name.hasPrefix("ObserverHistory") {
          missing.append("\(name).observerName")
        }
        for key in members.keys.sorted() { check(schema["properties"][key], "\(name).\(key)") }
      }
      if schema["items"].members != nil { check(schema["items"], name) }
    }
    for name in schemas.keys.sorted() { check(description["components"]["schemas"][name], name) }
    #expect(missing.isEmpty, "\(missing.joined(separator: ", "))")
  }

  @Test(
    "every kind of event that is about a tag, a person or a zone names it, and says the room that it decides about"
  )
  func events() throws {
    let uuid = try #require(UUID128(String.galleryUUID))
    var site = Site.gallery
    site.observers.append(ObserverEntry(id: .name("phone"), name: "Anna"))
    let names = SiteNames(site)
    let tag = SubjectID.beacon(.proximity(uuid, major: 1, minor: 7))
    let person = SubjectID.observer(.name("phone"))
    var evidence = Evidence(rule: .samples)
    evidence.zone = "lobby"
    let inside = RegionTransition(
      from: .outside,
      to: .inside,
      observer: .name("front-desk"),
      evidence: evidence
    )
    let plain = RegionTransition(
      from: .outside,
      to: .inside,
      observer: .name("front-desk"),
      evidence: Evidence(rule: .samples)
    )
    var fix = FixDetail(venue: "museum", building: "main", horizontalAccuracy: 2, sources: .wifi, age: .zero)
    fix.room = "Great hall"
    var visit = VisitDetail(visit: EventID(high: 0, low: 1), arrival: .distantPast)
    visit.place = VisitDetail.Place(kind: .zone, identifier: "lobby")
    let move = ZoneTransition(from: nil, to: "lobby", margin: nil, dwell: nil, reason: .margin)
    let cases: [(SubjectID, EventKind, String, EventDetail, String)] = [
      (tag, .regionEnter, "tags", .region(inside), "Lobby"),
      (tag, .regionEnter, "tags", .region(plain), "Lobby"),
      (tag, .zoneEnter, "lobby", .zone(move), "Lobby"),
      (tag, .beaconBattery, "", .battery(millivolts: 3_000, observer: .name("front-desk")), "Lobby"),
      (person, .fix, "", .fix(fix), "Great hall"), (tag, .visitArrive, "lobby", .visit(visit), "Lobby"),
    ]
    for (subject, kind, region, detail, room) in cases {
      let event = Event(
        stream: "pharos",
        kind: kind,
        time: .distantPast,
        decidedAt: .distantPast,
        stage: 2,
        subject: subject,
        region: region,
        counter: 1,
        detail: detail
      )
      var json = JSONText()
      json.names = names
      event.write(to: &json, stream: "pharos")
      let data = try JSON(json.utf8)["data"]
      #expect(data["name"].string == (subject == tag ? "door" : "Anna"), "\(kind)")
      #expect(data["room"].string == room, "\(kind)")
    }
  }
}
