import Pharos
import PharosHTTP
import PharosModel
import PharosSecurity
import PharosSite
import Testing

/// Observers that are named and zones that are made over HTTP, and the site file that declares them.
@Suite("Names and zones over HTTP", .timeLimit(.minutes(20)))
struct PlaceTests {
  @Test("a room that is made over HTTP is in the listings, in the engine and in the exported site file")
  func room() async throws {
    try await TestService.run(site: Site()) { service async throws in
      try await service.receive(minor: 7, by: "roof")
      let named = try await service.request("PUT", "/v1/observers/roof", body: #"{"name":"the roof"}"#)
      #expect(named.status == 201)
      let zone = #"{"name":"The attic","observers":["roof"]}"#
      #expect(try await service.request("PUT", "/v1/zones/attic", body: zone).status == 201)
      let region = #"{"uuid":"\#(String.galleryUUID)","subject":"beacon","enter":{"samples":1}}"#
      let path = "/v1/applications/default/regions/tags"
      #expect(try await service.request("PUT", path, body: region).status == 201)
      let observer = try await service.request("GET", "/v1/observers/roof").json
      #expect(observer["name"].string == "the roof")
      #expect(try await service.request("GET", "/v1/zones").json["zones"].elements.count == 1)
      #expect(service.backend.server.site == service.backend.owner.site)

      let answer = try await service.request("GET", "/v1/site")
      let read = try SiteFile.parse(answer.text, path: "site.yaml")
      #expect(read.site == service.backend.owner.site)
      #expect(read.site.zones.first?.name == "The attic")
    }
  }

  @Test("a name that is withdrawn is gone; what the site file declares is not changed over HTTP")
  func refusals() async throws {
    try await TestService.run { service async throws in
      #expect(try await service.request("PUT", "/v1/observers/roof", body: "{}").status == 201)
      #expect(try await service.request("DELETE", "/v1/observers/roof").status == 204)
      #expect(try await service.request("DELETE", "/v1/observers/roof").status == 404)
      #expect(service.backend.owner.site.observers.map(\.id) == [.name("front-desk")])
      #expect(try await service.request("PUT", "/v1/observers/front-desk", body: "{}").status == 409)
      let listed = try await service.request("DELETE", "/v1/observers/front-desk")
      #expect(listed.status == 409 && listed.text.contains("declared by the site file"))
      let zone = #"{"observers":["roof"]}"#
      #expect(try await service.request("PUT", "/v1/zones/lobby", body: zone).status == 409)
      #expect(try await service.request("DELETE", "/v1/zones/lobby").status == 409)
      #expect(try await service.request("DELETE", "/v1/zones/attic").status == 404)
      let lost = #"{"observers":["roof"],"adjacent":["nowhere"]}"#
      #expect(try await service.request("PUT", "/v1/zones/attic", body: lost).status == 422)
      let name = #"{"name":"a\u0007"}"#
      #expect(try await service.request("PUT", "/v1/observers/roof", body: name).status == 422)
    }
  }

  @Test("zones that are changed at once all change, or none does")
  func together() async throws {
    try await TestService.run(site: Site()) { service async throws in
      func zones() -> [String: Zone] {
        Dictionary(uniqueKeysWithValues: service.backend.owner.site.zones.map { ($0.identifier, $0) })
      }
      func post(_ body: String) async throws -> Int {
        try await service.request("POST", "/v1/zones", body: body).status
      }
      // Neighbours that are made with a zone are there.
      let two =
        #"{"zones":[{"id":"a","observers":["x"],"adjacent":["b"]},{"id":"b","observers":["y"],"adjacent":["a"]}]}"#
      #expect(try await post(two) == 204)
      let before = zones()
      #expect(before.count == 2 && before["a"]?.adjacent == ["b"])
      for (refused, status) in [
        (#"{"zones":[{"id":"a","observers":["z"],"adjacent":["c"]}]}"#, 422),
        (#"{"zones":[{"id":"a","observers":["z"]}],"removed":["c"]}"#, 404),
        (#"{"zones":[{"id":"a","observers":["z"],"adjacent":["b"]}],"removed":["b"]}"#, 422),
        (#"{"zones":[{"id":"a","observers":["z"]},{"id":"d","observers":[]}]}"#, 422),
        (#"{"zones":[{"id":"a","observers":["z"]}],"removed":["a"]}"#, 422),
        (#"{"zones":[{"observers":["z"]}]}"#, 422), (#"{"zone":[]}"#, 422),
      ] {
        #expect(try await post(refused) == status, "\(refused)")
        #expect(zones() == before, "\(refused)")
      }
      // A merge: one zone takes over the other's observer, which goes.
      #expect(try await post(#"{"zones":[{"id":"a","observers":["x","y"]}],"removed":["b"]}"#) == 204)
      #expect(zones().keys.sorted() == ["a"] && zones()["a"]?.observers.count == 2)
      // And its reverse.
      #expect(try await post(two) == 204)
      #expect(zones() == before)
    }
  }

  @Test("a zone's fingerprint is set, shown and removed with its document")
  func fingerprint() async throws {
    try await TestService.run(site: Site()) { service async throws in
      let level = #"{"id":"x","mean":-60.5,"deviation":3,"heard":0.9}"#
      let fingerprint = #"{"learnedAt":"2026-12-01T10:00:00Z","looks":12.5,"levels":[\#(level)]}"#
      let taught = #"{"observers":["x"],"fingerprint":\#(fingerprint)}"#
      #expect(try await service.request("PUT", "/v1/zones/a", body: taught).status == 201)
      #expect(service.backend.owner.site.zones.first?.fingerprint?.levels.first?.mean == -60.5)
      let listed = try await service.request("GET", "/v1/zones").json["zones"].elements.first
      #expect(listed?["fingerprint"]["looks"].number == 12.5)
      #expect(try await service.request("PUT", "/v1/zones/a", body: #"{"observers":["x"]}"#).status == 200)
      #expect(service.backend.owner.site.zones.first?.fingerprint == nil)
      let wrong = taught.replacing("12.5", with: "-1")
      #expect(try await service.request("PUT", "/v1/zones/a", body: wrong).status == 422)
    }
  }

  @Test("a zone with the observers of another one is made with the warning of `check`, and can be sent back")
  func sameObservers() async throws {
    try await TestService.run(site: Site()) { service async throws in
      let zone = #"{"observers":["roof"]}"#
      let first = try await service.request("PUT", "/v1/zones/attic", body: zone)
      #expect(first.status == 201)
      #expect(try first.json["warnings"].value == nil)
      let second = try await service.request("PUT", "/v1/zones/loft", body: zone)
      #expect(second.status == 201)
      #expect(try second.json["warnings"].elements.first?.string?.contains("those of zone \"attic\"") == true)
      #expect(try await service.request("PUT", "/v1/zones/loft", body: second.text).status == 200)
    }
  }

  @Test(
    "a body that is no object is refused in words, not by an empty list of fields",
    arguments: ["null", "[]", "7"]
  )
  func noObject(body: String) async throws {
    try await TestService.run(site: Site()) { service async throws in
      for path in ["/v1/zones/attic", "/v1/observers/roof", "/v1/applications/a/regions/b"] {
        let answer = try await service.request("PUT", path, body: body)
        #expect(answer.status == 422)
        let detail = try #require(answer.json["detail"].string)
        #expect(
          !detail.contains("Correct:") && detail.hasPrefix("Nothing was changed. ")
            && detail.contains("expected")
        )
      }
    }
  }

  @Test("identity keys of tags do not leave over HTTP")
  func keys() async throws {
    var site = Site.gallery
    let address = try #require(DeviceAddress("c0:de:00:00:00:01"))
    let key = try #require(IdentityKey(octets: Array(0..<16)))
    site.beacons.append(BeaconEntry(constraint: .address(address), identityKey: key))
    try await TestService.run(site: site) { service async throws in
      let text = try await service.request("GET", "/v1/site").text
      #expect(!text.contains("000102"))
      #expect(text.hasPrefix("# 1 irk left out"))
      #expect(try SiteFile.parse(text, path: "site.yaml").site.beacons.count == 2)
    }
  }
}
