import PharosHTTP
import PharosModel
import PharosSite
import Testing

/// Members that are null, answers that are sent back, and bodies without a byte.
@Suite("Documents that are sent back", .timeLimit(.minutes(20)))
struct DocumentReturnTests {
  private static let uuid = String.galleryUUID

  @Test("a member that is null is one that is missing")
  func null() async throws {
    try await TestService.run { service async throws in
      for (path, plain, members) in [
        (
          "/v1/applications/shop/regions/a", #""uuid":"\#(Self.uuid)""#,
          ["major", "minor", "enter", "exit", "subject"]
        ),
        ("/v1/applications/shop/ranging/a", #""uuid":"\#(Self.uuid)""#, ["major", "minor", "whileInside"]),
        ("/v1/applications/shop", "", ["purpose", "regionLimit"]),
        ("/v1/observers/roof", #""name":"Roof""#, ["lag", "liveness", "rssiOffset"]),
        ("/v1/beacons/\(Self.uuid)%2F1%2F9", #""name":"Cart""#, ["measuredPower", "interval", "title"]),
        ("/v1/zones/loft", #""observers":["roof"]"#, ["name", "floor", "adjacent"]),
      ] {
        let nulls = members.map { "\"\($0)\":null" }
        let body = "{\((plain.isEmpty ? nulls : [plain] + nulls).joined(separator: ","))}"
        let first = try await service.request("PUT", path, body: body)
        #expect(first.status == 201 || first.status == 200, "\(path) \(first.text)")
        #expect(try await service.request("PUT", path, body: "{\(plain)}").text == first.text)
      }
      let missing = try await service.request("PUT", "/v1/zones/hall", body: #"{"observers":null}"#)
      let empty = try await service.request("PUT", "/v1/zones/hall", body: "{}")
      #expect(missing.status == empty.status && missing.text == empty.text)
    }
  }

  @Test(
    "an answer of GET can be sent back with PUT, and changes nothing",
    arguments: [
      ("/v1/applications/shop", #"{"regionLimit":30}"#),
      (
        "/v1/applications/shop/regions/d",
        #"{"uuid":"U","major":1,"exit":{"silence":"7s"},"subject":"beacon"}"#
      ),
      (
        "/v1/applications/shop/regions/e",
        #"{"uuid":"U","description":"Two\nlines","link":"https://example.org/e"}"#
      ),
      ("/v1/applications/shop/ranging/d", #"{"uuid":"U","whileInside":true}"#),
      ("/v1/observers/roof", #"{"name":"Roof","lag":"2s","rssiOffset":-3}"#),
      ("/v1/observers/desk", #"{}"#),
      (
        "/v1/beacons/U%2F1%2F9",
        #"{"name":"Cart","measuredPower":-61,"interval":"2s","title":"Cart 9","properties":{"seats":"1"}}"#
      ),
    ]
  )
  func returned(path: String, document: String) async throws {
    try await TestService.run(site: Site()) { service async throws in
      let path = path.replacing("U%", with: "\(Self.uuid)%")
      let document = document.replacing("\"U\"", with: "\"\(Self.uuid)\"")
      #expect(try await service.request("PUT", path, body: document).status == 201)
      let site = service.backend.owner.site
      let answer = try await service.request("GET", path)
      #expect(answer.status == 200)
      let again = try await service.request("PUT", path, body: answer.text)
      #expect(again.status == 200, "\(again.text)")
      #expect(service.backend.owner.site == site)
      #expect(try await service.request("GET", path).text == answer.text)
      // A member that is in neither is a mistake as ever.
      let wrong = "{\"colour\":1," + answer.text.dropFirst()
      #expect(
        try await service.request("PUT", path, body: wrong).status == 422 || path.hasPrefix("/v1/observers")
      )
    }
  }

  @Test("a body without a byte is a document without members: the answer names what is missing")
  func empty() async throws {
    try await TestService.run { service async throws in
      let path = "/v1/applications/gallery/regions/tags/requestState"
      for body in ["", " \n", "{}"] {
        let answer = try await service.request("POST", path, body: body)
        #expect(answer.status == 422)
        #expect(try answer.json["errors"][0]["field"].string == "subject")
      }
      #expect(try await service.request("PUT", "/v1/observers/roof", body: "").status == 201)
      #expect(try await service.request("PUT", "/v1/applications/shop", body: "").status == 201)
      #expect(try await service.request("PUT", "/v1/applications/shop/regions/a", body: "").status == 422)
    }
  }
}
