import Foundation
import Logging
import Pharos
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
import Testing

/// Applications, regions and ranging that are registered over HTTP.
@Suite("Registration over HTTP", .timeLimit(.minutes(20)))
struct RegionTests {
  private let uuid = String.galleryUUID

  @Test("a region is registered, shown as it was understood, replaced and removed")
  func life() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/shop/regions/till%2F1"
      let body = #"{"uuid":"\#(uuid)","major":3,"exit":{"silence":"30s"},"notifyOnExit":false}"#
      let made = try await service.request("PUT", path, body: body)
      #expect(made.status == 201)
      #expect(made.headers["location"] == path)
      #expect(try made.json["id"].string == "till/1")
      let shown = try await service.request("GET", path)
      #expect(shown.text == made.text)
      #expect(try shown.json["exit"]["silence"].string == "30s")
      #expect(try shown.json["source"].string == "http")
      #expect(try shown.json["notifyOnExit"].bool == false)
      #expect(service.backend.server.site.applications.last?.regions.first?.identifier == "till/1")
      let replaced = try await service.request("PUT", path, body: #"{"uuid":"\#(uuid)","major":4}"#)
      #expect(replaced.status == 200)
      #expect(try await service.request("GET", path).json["major"].integer == 4)
      #expect(try await service.request("DELETE", path).status == 204)
      #expect(try await service.request("GET", path).status == 404)
      #expect(try await service.request("DELETE", path).status == 404)
    }
  }

  @Test("a region that is sent back unchanged stays the same")
  func roundTrip() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/shop/regions/a"
      let body =
        #"{"mac":"c0:00:00:00:00:01","subject":"beacon","observers":["front-desk"],"enter":{"samples":3,"#
        + #""within":"2s","rssi":-70},"exit":{"rssi":-80,"dwell":"4s","silence":"adaptive"}}"#
      #expect(try await service.request("PUT", path, body: body).status == 201)
      let first = try await service.request("GET", path)
      var document = try #require(try first.json.members)
      document["states"] = nil
      document["source"] = nil
      let again = try JSON(document).text
      let answer = try await service.request("PUT", path, body: again)
      #expect(answer.status == 200)
      #expect(answer.text == first.text)
    }
  }

  @Test("the 21st region is refused with the limit, an event says so, and nothing else changes")
  func limit() async throws {
    try await TestService.run { service in
      let body = #"{"uuid":"\#(uuid)"}"#
      for index in 1...20 {
        let answer = try await service.request(
          "PUT",
          "/v1/applications/shop/regions/\(index)",
          body: body
        )
        #expect(answer.status == 201)
      }
      let refused = try await service.request("PUT", "/v1/applications/shop/regions/21", body: body)
      #expect(refused.status == 409)
      #expect(try refused.json["type"].string == "urn:pharos:problem:regionLimitExceeded")
      #expect(try refused.json["detail"].string?.contains("20 regions") == true)
      #expect(try await service.request("GET", "/v1/applications/shop/regions/21").status == 404)
      #expect(
        try await service.request("PUT", "/v1/applications/shop/regions/20", body: body).status
          == 200
      )
      try await service.committed([.regionLimitExceeded], about: "")
      let raised = try await service.request(
        "PUT",
        "/v1/applications/shop",
        body: #"{"regionLimit":21}"#
      )
      #expect(raised.status == 200)
      #expect(
        try await service.request("PUT", "/v1/applications/shop/regions/21", body: body).status
          == 201
      )
      let lowered = try await service.request(
        "PUT",
        "/v1/applications/shop",
        body: #"{"regionLimit":5}"#
      )
      #expect(lowered.status == 409)
    }
  }

  @Test("a region of the site file cannot be changed over HTTP")
  func declared() async throws {
    try await TestService.run { service in
      let body = #"{"uuid":"\#(uuid)"}"#
      for (method, path) in [
        ("PUT", "/v1/applications/gallery/regions/anywhere"),
        ("DELETE", "/v1/applications/gallery/regions/tags"), ("DELETE", "/v1/applications/gallery"),
      ] {
        let answer = try await service.request(method, path, body: method == "PUT" ? body : nil)
        #expect(answer.status == 409)
        #expect(try answer.json["type"].string == "urn:pharos:problem:declaredBySite")
      }
      let added = try await service.request(
        "PUT",
        "/v1/applications/gallery/regions/more",
        body: body
      )
      #expect(added.status == 201)
    }
  }

  @Test("an area is registered, shown with its outline and asked about like any other region")
  func area() async throws {
    try await TestService.run { service in
      let circle = #"{"kind":"circle","latitude":48.137,"longitude":11.575,"radius":"20m","level":0}"#
      let made = try await service.request("PUT", "/v1/applications/shop/regions/yard", body: circle)
      #expect(made.status == 201, "\(made.text)")
      let ring = "[[11.5,48.1],[11.6,48.1],[11.6,48.2]]"
      let polygon = #"{"kind":"polygon","coordinates":\#(ring),"exit":{"probability":0.2}}"#
      let other = try await service.request("PUT", "/v1/applications/shop/regions/hall", body: polygon)
      #expect(other.status == 201, "\(other.text)")
      let shown = try await service.request("GET", "/v1/applications/shop/regions/hall").json
      #expect(shown["kind"].string == "polygon")
      #expect(shown["coordinates"].elements.first?.elements.count == 3)
      let record = try await service.request("GET", "/v1/applications/shop/regions/yard/record").json
      #expect(record["condition"].string == "circle 48.137, 11.575 radius 20 m, level 0")
    }
  }

  @Test(
    "mistakes of a region name their fields",
    arguments: [
      (#"{}"#, ""), (#"{"uuid":"nonsense"}"#, "uuid"), (#"{"uuid":"U","major":70000}"#, "major"),
      (#"{"uuid":"U","colour":"red"}"#, "colour"),
      (#"{"uuid":"U","enter":{"samples":0}}"#, "enter.samples"),
      (#"{"uuid":"U","enter":{"rssi":-80},"exit":{"rssi":-70}}"#, "exit.rssi"),
      (#"{"uuid":"U","exit":{"silence":"soon"}}"#, "exit.silence"),
      (#"{"uuid":"U","minor":3}"#, "minor"),
      (#"{"uuid":"U","subject":"cat"}"#, "subject"), (#"{"uuid":"U","id":"other"}"#, "id"),
      (#"{"uuid":"U","subject":"beacon","observers":[1]}"#, "observers[0]"),
      (#"{"uuid":null}"#, ""),
      (#"{"kind":"circle","latitude":48,"longitude":11,"radius":"0m"}"#, "radius"),
      (#"{"kind":"polygon","coordinates":[[11,48],[11.1,48.1],[11.1,48],[11,48.1]]}"#, "coordinates"),
      (#"{"kind":"polygon","file":"hall.geojson"}"#, "file"),
    ]
  )
  func mistakes(body: String, field: String) async throws {
    try await TestService.run { service in
      let body = body.replacing("\"U\"", with: "\"\(uuid)\"")
      let answer = try await service.request("PUT", "/v1/applications/shop/regions/a", body: body)
      #expect(answer.status == 422, "\(answer.text)")
      let fields = try answer.json["errors"].elements.compactMap { $0["field"].string }
      #expect(fields.contains(field), "\(fields)")
      #expect(try await service.request("GET", "/v1/applications/shop").status == 404)
    }
  }

  @Test("names that no application or region may have are refused")
  func names() async throws {
    try await TestService.run { service in
      let body = #"{"uuid":"\#(uuid)"}"#
      let long = String(repeating: "a", count: 129)
      for path in [
        "/v1/applications/\(long)/regions/a", "/v1/applications/a/regions/\(long)",
        "/v1/applications/a%0A/regions/b",
      ] {
        let answer = try await service.request("PUT", path, body: body)
        #expect(answer.status == 422)
      }
      #expect(service.backend.owner.applications.map(\.identifier) == ["gallery"])
    }
  }

  @Test("ranging requests have names, and one constraint has one name")
  func ranging() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/shop/ranging"
      let body = #"{"uuid":"\#(uuid)","major":3,"whileInside":true}"#
      #expect(try await service.request("PUT", path + "/tills", body: body).status == 201)
      #expect(try await service.request("PUT", path + "/tills", body: body).status == 200)
      let twice = try await service.request("PUT", path + "/others", body: body)
      #expect(twice.status == 409)
      #expect(try twice.json["detail"].string?.contains("tills") == true)
      let list = try await service.request("GET", path)
      #expect(try list.json["ranging"][0]["name"].string == "tills")
      #expect(try list.json["ranging"][0]["whileInside"].bool == true)
      let changed = #"{"uuid":"\#(uuid)","major":5}"#
      #expect(try await service.request("PUT", path + "/tills", body: changed).status == 200)
      #expect(service.backend.server.site.applications.last?.ranging.count == 1)
      #expect(try await service.request("DELETE", path + "/tills").status == 204)
      #expect(try await service.request("GET", path + "/tills").status == 404)
      let declared = try await service.request("GET", "/v1/applications/gallery/ranging")
      #expect(try declared.json["ranging"][0]["source"].string == "site")
    }
  }

  @Test("a registration survives a restart and decides events")
  func restart() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    let body = #"{"uuid":"\#(uuid)","major":1,"enter":{"samples":1}}"#
    try await TestService.run(journal: journal) { service in
      let region = try await service.request("PUT", "/v1/applications/shop/regions/a", body: body)
      #expect(region.status == 201)
      let ranging = #"{"uuid":"\#(uuid)"}"#
      #expect(
        try await service.request("PUT", "/v1/applications/shop/ranging/r", body: ranging).status
          == 201
      )
      let purpose = #"{"purpose":"To greet you.","regionLimit":3}"#
      #expect(
        try await service.request("PUT", "/v1/applications/shop", body: purpose).status == 200
      )
    }
    try await TestService.run(journal: journal) { service in
      let application = try await service.request("GET", "/v1/applications/shop")
      #expect(try application.json["regionLimit"].integer == 3)
      #expect(try application.json["purpose"].string == "To greet you.")
      #expect(try application.json["regions"].integer == 1)
      #expect(try application.json["ranging"].integer == 1)
      try await service.receive(minor: 7)
      try await service.committed(about: "front-desk")
      let states = try await service.request("GET", "/v1/applications/shop/states?region=a")
      #expect(try states.json["states"][0]["state"].string == "inside")
      let rule = "/v1/applications/shop/notifications/hello"
      let made = try await service.request("PUT", rule, body: TestService.notification)
      #expect(made.status == 201)
      #expect(try await service.request("DELETE", "/v1/applications/shop").status == 204)
      // An application of the same name begins without the rules of the one before it.
      #expect(try await service.request("PUT", "/v1/applications/shop").status == 201)
      #expect(try await service.request("GET", rule).status == 404)
      #expect(try await service.request("DELETE", "/v1/applications/shop").status == 204)
    }
    try await TestService.run(journal: journal) { service in
      let gone = try await service.request("GET", "/v1/applications/shop")
      #expect(gone.status == 404)
    }
  }

  @Test("an edited site file leaves out what no longer fits, which comes back when there is room")
  func reload() async throws {
    var edited = Site.gallery
    edited.applications[0].regionLimit = 3
    try await TestService.run { service in
      func regions() -> [String]? {
        service.backend.server.site.applications.first?.regions.map(\.identifier)
      }
      for name in ["a", "b"] {
        let path = "/v1/applications/gallery/regions/\(name)"
        #expect(try await service.request("PUT", path, body: #"{"uuid":"\#(uuid)"}"#).status == 201)
      }
      try await service.backend.owner.reload(edited)
      #expect(regions() == ["anywhere", "tags", "a"])
      #expect(try await service.request("DELETE", "/v1/applications/gallery/regions/a").status == 204)
      #expect(regions() == ["anywhere", "tags", "b"])
      let full = try await service.request(
        "PUT",
        "/v1/applications/gallery/regions/c",
        body: #"{"uuid":"\#(uuid)"}"#
      )
      #expect(full.status == 409)
      try await service.backend.owner.reload(.gallery)
      #expect(regions() == ["anywhere", "tags", "b"])
      #expect(service.backend.owner.site == service.backend.server.site)
    }
  }

  @Test(
    "the access of an application ends when the site file no longer declares it, also while the server is stopped"
  )
  func removedFromSite() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    var without = Site.gallery
    without.applications.removeAll()
    func token(_ service: TestService) throws -> String {
      let role = Token.Role.application("gallery")
      return try service.backend.tokens.create(name: "app", role: role, at: service.backend.clock()).secret
    }
    func isValid(_ secret: String, _ service: TestService) -> Bool {
      service.backend.tokens.verify(secret, at: service.backend.clock()) != nil
    }
    var later = ""
    try await TestService.run(journal: journal) { service in
      let backend = service.backend
      try backend.owner.endRemoved(backend.endingAccess)
      let secret = try token(service)
      let client = try #require(backend.tokens.verify(secret, at: backend.clock())).client
      let feed = try backend.feeds.open(FeedRequest(client: client))
      try await backend.owner.reload(.gallery, ending: backend.endingAccess)
      #expect(isValid(secret, service))
      try await backend.owner.reload(without, ending: backend.endingAccess)
      #expect(!isValid(secret, service))
      backend.feeds.tick()
      #expect(feed.poll() == nil, "its stream goes on")
      try await backend.owner.reload(.gallery, ending: backend.endingAccess)
      later = try token(service)
    }
    try await TestService.run(site: without, journal: journal) { service in
      try service.backend.owner.endRemoved(service.backend.endingAccess)
      #expect(!isValid(later, service))
      // One that was never declared makes itself with its first region.
      let early = try service.backend.tokens.create(
        name: "early",
        role: .application("later"),
        at: service.backend.clock()
      )
      try service.backend.owner.endRemoved(service.backend.endingAccess)
      #expect(isValid(early.secret, service))
    }
  }

  @Test("a hundred registrations at once are all made, one after the other")
  func concurrency() async throws {
    try await TestService.run { service in
      let body = #"{"uuid":"\#(uuid)"}"#
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<100 {
          let path = "/v1/applications/app\(index % 10)/regions/r\(index)"
          group.addTask { try await service.request("PUT", path, body: body).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.allSatisfy { $0 == 201 })
      #expect(service.backend.server.site.applications.flatMap(\.regions).count == 102)
      // The server has them in the order in which they came.
      let regions = [service.backend.owner.site, service.backend.server.site].map { site in
        Dictionary(uniqueKeysWithValues: site.applications.map { ($0.identifier, Set($0.regions)) })
      }
      #expect(regions[0] == regions[1])
    }
  }
}

extension JSON {
  /// The value as text.
  var text: String {
    get throws {
      let object = try #require(members)
      return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }
  }
}
