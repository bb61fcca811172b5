import PharosHTTP
import PharosModel
import PharosSecurity
import PharosSite
import Testing

/// Keys that observers sign with, over HTTP: made, shown once, listed, revoked.
@Suite("Keys over HTTP", .timeLimit(.minutes(20)))
struct KeyTests {
  @Test("a key is shown once, listed by its fingerprint, and gone when it is revoked")
  func life() async throws {
    try await TestService.run { service in
      let body = #"{"radios":["roof"],"overlap":"2h"}"#
      let made = try await service.request("POST", "/v1/observers/ac:23:3f:a0:00:01/keys", body: body)
      #expect(made.status == 201)
      #expect(made.headers["cache-control"] == "no-store")
      let text = try #require(try made.json["key"].string)
      let key = try ObserverKey(text: text)
      #expect(try made.json["fingerprint"].string == key.fingerprint)
      let again = try await service.request("POST", "/v1/observers/ac:23:3f:a0:00:01/keys", body: body)
      #expect(again.status == 201)
      let listed = try await service.request("GET", "/v1/keys")
      for secret in [text, try again.json["key"].string ?? ""] {
        #expect(!listed.text.contains(secret.suffix(64)))
      }
      let keys = try listed.json["observers"].elements.first?["keys"].elements ?? []
      #expect(keys.compactMap { $0["id"].string }.first == key.idText)
      // The first one is on its way out, the second one lasts.
      #expect(keys.map { $0["expiresAt"].string != nil } == [true, false])
      // Who has a key counts.
      let site = service.backend.owner.site
      #expect(site.observers.contains { $0.id == .eui48(0xAC23_3FA0_0001) })
      #expect(site.observers.contains { $0.id == .name("roof") })
      let path = "/v1/observers/ac:23:3f:a0:00:01/keys/\(key.idText)"
      #expect(try await service.request("DELETE", path).status == 204)
      #expect(try await service.request("DELETE", path).status == 404)
      #expect(try await service.request("DELETE", "/v1/observers/ac:23:3f:a0:00:01/keys").status == 204)
      #expect(try await service.request("GET", "/v1/observers/ac:23:3f:a0:00:01/keys").status == 404)
    }
  }

  @Test(
    "an invalid key is refused with what was expected",
    arguments: [
      (#"{"overlap":"7"}"#, "overlap"), (#"{"overlap":"400d"}"#, "overlap"),
      (#"{"radios":"roof"}"#, "radios"),
      (#"{"radios":[1]}"#, "radios[0]"), (#"{"radios":[""]}"#, "radios[0]"),
      (#"{"radios":["desk"]}"#, "radios"),
      (#"{"secret":"x"}"#, "secret"),
    ]
  )
  func mistakes(body: String, field: String) async throws {
    try await TestService.run { service in
      let answer = try await service.request("POST", "/v1/observers/desk/keys", body: body)
      #expect(answer.status == 422)
      #expect(try answer.json["errors"].elements.contains { $0["field"].string == field })
      #expect(service.backend.signingKeys.observers.isEmpty)
    }
  }
}
