import PharosDashboard
import PharosDocuments
import PharosFiles
import PharosHTTP
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// What every request meets: paths, methods, queries, bodies, headers.
@Suite("The HTTP service", .timeLimit(.minutes(20)))
struct ServiceTests {
  @Test("health, readiness, metrics, status and the description answer")
  func basics() async throws {
    try await TestService.run { service in
      let health = try await service.request("GET", "/healthz")
      #expect(health.status == 200)
      #expect(health.text == #"{"status":"ok"}"#)
      let ready = try await service.request("GET", "/readyz")
      #expect(ready.text == #"{"status":"ready","checks":[{"name":"journal","ok":true}]}"#)
      let metrics = try await service.request("GET", "/metrics")
      #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(metrics.text.contains("pharos_up 1"))
      let status = try await service.request("GET", "/v1/status")
      #expect(status.status == 200)
      #expect(status.text.contains(#""version":"0.0.0""#))
      #expect(status.text.contains(#""formats":["raddec","pharos","json","#))
      let description = try await service.request("GET", "/openapi.json")
      #expect(description.headers["content-type"] == "application/json")
      #expect(description.text.contains(#"{"openapi":"3.1.0","#))
    }
  }

  @Test("the dashboard is served with its own policy, and an unchanged asset is answered with 304")
  func dashboard() async throws {
    try await TestService.run { service in
      for path in Dashboard.paths {
        let asset = try #require(Dashboard.asset(path))
        let answer = try await service.request("GET", path)
        #expect(answer.status == 200)
        #expect(answer.body == asset.bytes)
        #expect(answer.headers["content-type"] == asset.contentType)
        #expect(answer.headers["etag"] == asset.entityTag)
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.contains("script-src 'self'"))
        #expect(!policy.contains("unsafe"))
        let again = try await service.request(
          "GET",
          path,
          headers: ["If-None-Match": asset.entityTag]
        )
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
      }
      let missing = try await service.request("GET", "/assets/../secret")
      #expect(missing.status == 404)
    }
  }

  @Test("unknown paths and wrong methods are problems that say what there is")
  func unknown() async throws {
    try await TestService.run { service in
      let missing = try await service.request("GET", "/v1/nothing")
      #expect(missing.status == 404)
      #expect(missing.headers["content-type"] == "application/problem+json")
      #expect(missing.text.contains(#""type":"urn:pharos:problem:notFound""#))
      let wrong = try await service.request("DELETE", "/v1/applications")
      #expect(wrong.status == 405)
      #expect(wrong.headers["allow"] == "GET, HEAD")
      let unusual = try await service.request("PATCH", "/v1/tokens")
      #expect(unusual.status == 405)
      #expect(unusual.headers["allow"] == "GET, HEAD, POST")
      let options = try await service.request(
        "OPTIONS",
        "/v1/applications/gallery/regions/anywhere"
      )
      #expect(options.status == 204)
      #expect(options.headers["allow"] == "GET, HEAD, PUT, DELETE")
      #expect(options.headers["access-control-allow-methods"] == nil)
    }
  }

  @Test("HEAD says what GET would, without the body")
  func head() async throws {
    try await TestService.run { service in
      for path in ["/v1/applications", "/healthz", "/", "/v1/nothing"] {
        let get = try await service.request("GET", path)
        let head = try await service.request("HEAD", path)
        #expect(head.status == get.status)
        #expect(head.headers["content-type"] == get.headers["content-type"])
        #expect(head.headers["content-length"] == get.headers["content-length"])
        #expect(head.body.isEmpty)
      }
      let stream = try await service.request(
        "HEAD",
        "/v1/events",
        headers: ["Accept": "text/event-stream"]
      )
      #expect(stream.headers["content-type"] == "text/event-stream")
    }
  }

  @Test(
    "queries are strict and name what is known",
    arguments: [
      ("/v1/events?kinds=pharos.region.enter", "kinds"), ("/v1/events?limit=0", "limit"),
      ("/v1/events?limit=1001", "limit"), ("/v1/events?limit=10&limit=20", "limit"),
      ("/v1/events?kind=pharos.nothing", "kind"), ("/v1/events?since=yesterday", "since"),
      ("/v1/events?after=1&before=9", "before"), ("/v1/events?rate=1", "rate"),
      ("/v1/events?kind=", "kind"),
      ("/v1/tags?cursor=c00", "cursor"), ("/v1/applications/gallery/states?state=gone", "state"),
      ("/v1/heard?unregistered=maybe", "unregistered"), ("/v1/applications?limit=3", "limit"),
      ("/v1/tracks?beacon=unknown", "beacon"),
    ]
  )
  func queries(target: String, field: String) async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", target)
      #expect(answer.status == 400)
      #expect(answer.text.contains(#""field":"\#(field)""#), "\(answer.text)")
      #expect(answer.text.contains(#""expected":"#))
    }
  }

  @Test(
    "kinds are asked for by group as well, and a kind that there is not is answered with those that there are"
  )
  func kindGroups() async throws {
    #expect(EventKind.named("visit") == [.visitArrive, .visitDepart])
    #expect(EventKind.named("pharos.fix") == EventKind.named("fix"))
    try await TestService.run { service in
      for kind in ["visit", "zone,visit.arrive", "state"] {
        #expect(try await service.request("GET", "/v1/events?kind=\(kind)").status == 200)
      }
      let answer = try await service.request("GET", "/v1/events?kind=visits")
      #expect(answer.status == 400)
      for name in EventKind.names { #expect(answer.text.contains(name), "\(name)") }
    }
  }

  @Test(
    "targets that cannot be decoded are refused",
    arguments: [("/v1/%zz", 400), ("/v1/tags?zone=%f", 400), ("/%00", 404), ("/v1/%ff", 400)]
  )
  func undecodable(target: String, status: Int) async throws {
    try await TestService.run { service in
      let answer = try await service.request("GET", target)
      #expect(answer.status == status)
      #expect(answer.headers["content-type"] == "application/problem+json")
    }
  }

  @Test("a body beyond the limit is refused, whether its length was declared or not")
  func largeBodies() async throws {
    var configuration = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0))
    configuration.largestBody = 1_000
    try await TestService.run(configuration: configuration, isLive: true) { service in
      let path = "/v1/applications/gallery/regions/large"
      let body = String(repeating: " ", count: 1_001)
      let committed = try await service.request("PUT", path, body: body)
      #expect(committed.status == 413)
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let head = service.head("PUT", path, headers: ["Transfer-Encoding": "chunked"])
        try await connection.send(
          head + "400\r\n" + String(repeating: " ", count: 1_024) + "\r\n0\r\n\r\n"
        )
        let answer = try await connection.answer()
        #expect(answer.status == 413)
      }
    }
  }

  @Test(
    "a body that is packed with gzip is read as the same without, named or not",
    arguments: Seeds.drawn(0..<6)
  )
  func gzip(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...40, using: &random)
    let adverts = (0..<count).map { _ in
      let address = Hex.text(UInt64.random(in: 0..<1 << 48, using: &random), bytes: 6)
      return
        #"{"observer":"desk","mac":"\#(address)","rssi":\#(Int.random(in: -99 ... -30, using: &random))}"#
    }
    let plain = Array("[\(adverts.joined(separator: ","))]".utf8)
    let packed = try #require(Gzip.packed(plain))
    try await TestService.run { service in
      let expected = try await service.post(plain, to: "/v1/adverts")
      #expect(expected.status == 202)
      for coding in ["gzip", "X-GZIP", "identity", nil] {
        let headers = coding.map { ["Content-Encoding": $0] } ?? [:]
        let answer = try await service.post(packed, to: "/v1/adverts", headers: headers)
        #expect(answer.status == 202, "\(answer.text)")
        #expect(try answer.json["reports"].number == Double(count))
      }
      let cut = Array(packed.prefix(Int.random(in: 2..<packed.count, using: &random)))
      #expect(try await service.post(cut, to: "/v1/adverts").status == 400)
      let headers = ["Content-Encoding": "gzip"]
      #expect(try await service.post(plain, to: "/v1/adverts", headers: headers).status == 400)
    }
  }

  @Test("a body that unpacks to more than the limit is refused, and a body in another coding names gzip")
  func gzipBombs() async throws {
    let limit = HTTPConfiguration().largestBody
    try await TestService.run { service in
      for length in [limit + 1, 64 * limit] {
        let bomb = try #require(Gzip.packed([UInt8](repeating: 0x20, count: length)))
        #expect(bomb.count < limit)
        #expect(try await service.post(bomb, to: "/v1/adverts").status == 413)
      }
      let whole = try #require(Gzip.packed(Array("[]".utf8) + [UInt8](repeating: 0x20, count: limit - 2)))
      #expect(try await service.post(whole, to: "/v1/adverts").status == 202)
      for coding in ["br", "deflate", "gzip, zstd"] {
        let answer = try await service.post(whole, to: "/v1/adverts", headers: ["Content-Encoding": coding])
        #expect(answer.status == 415 && answer.headers["accept-encoding"] == "gzip", "\(answer.text)")
      }
    }
  }

  @Test("bodies that are no JSON, or no JSON for this, are refused with the place")
  func badBodies() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/gallery/regions/new"
      let text = try await service.request(
        "PUT",
        path,
        headers: ["Content-Type": "text/plain"],
        body: "{}"
      )
      #expect(text.status == 415)
      for body in ["{", "[1", "nonsense", "{\"uuid\":}", "\u{1}"] {
        let answer = try await service.request("PUT", path, body: body)
        #expect(answer.status == 400, "\(body): \(answer.text)")
        #expect(answer.text.contains("urn:pharos:problem:notJSON"), "\(answer.text)")
      }
      let token = try await service.request(
        "POST",
        "/v1/tokens",
        body: "{\"name\":7,\"colour\":\"red\"}"
      )
      #expect(token.status == 422)
      for field in ["name", "colour", "application"] {
        #expect(token.text.contains(#""field":"\#(field)""#), "\(token.text)")
      }
    }
  }

  @Test("requests of one connection are answered in their order, and a malformed one ends it")
  func pipelining() async throws {
    try await TestService.run(isLive: true) { service in
      try await WireConnection.with(port: Int(service.address.port)) { connection in
        let open = ["Connection": "keep-alive"]
        let requests = ["/healthz", "/v1/nothing", "/v1/applications"].map {
          service.head("GET", $0, headers: open)
        }
        try await connection.send(requests.joined())
        #expect(try await connection.answer().status == 200)
        #expect(try await connection.answer().status == 404)
        #expect(try await connection.answer().text.contains("gallery"))
        try await connection.send("what is this\r\n\r\n")
        #expect(try await connection.answer().status == 400)
      }
    }
  }

  @Test("a head that is too large is refused")
  func largeHead() async throws {
    try await TestService.run(isLive: true) { service in
      let large = String(repeating: "a", count: 40_000)
      let answer = try await service.request("GET", "/healthz", headers: ["X-Large": large])
      #expect(answer.status == 431)
    }
  }

  @Test("every answer says to browsers what they may do with it")
  func securityFields() async throws {
    try await TestService.run { service in
      for path in ["/healthz", "/v1/nothing", "/v1/applications"] {
        let answer = try await service.request("GET", path)
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["x-frame-options"] == "DENY")
        #expect(
          answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        )
        #expect(answer.headers["access-control-allow-origin"] == nil)
      }
    }
  }

  @Test("a list that has not changed is not sent again")
  func conditional() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/gallery/regions"
      let first = try await service.request("GET", path)
      let tag = try #require(first.headers["etag"])
      let second = try await service.request(
        "GET",
        path,
        headers: ["If-None-Match": "\"other\", \(tag)"]
      )
      #expect(second.status == 304)
      #expect(second.headers["etag"] == tag)
      #expect(second.body.isEmpty)
      let body = #"{"uuid":"\#(String.galleryUUID)","major":9}"#
      #expect(try await service.request("PUT", path + "/nine", body: body).status == 201)
      let third = try await service.request("GET", path, headers: ["If-None-Match": tag])
      #expect(third.status == 200)
      #expect(third.headers["etag"] != tag)
    }
  }

  @Test("a port in use is reported as such")
  func portInUse() async throws {
    try await TestService.run(isLive: true) { service in
      let configuration = HTTPConfiguration(address: service.address)
      await #expect {
        try await TestService.run(configuration: configuration, isLive: true) { _ in }
      } throws: { error in
        "\(error)".contains("\(service.address): the address is in use")
      }
    }
  }
}

extension String {
  /// The UUID of the gallery's beacons.
  static let galleryUUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
}
