import Foundation
import PharosDelivery
import PharosHTTP
import PharosModel
import PharosSite
import PharosTestSupport
import Synchronization
import Testing

/// Who may ask what: tokens, other people's pages, and addresses beyond this machine.
@Suite("Access over HTTP", .timeLimit(.minutes(20)))
struct AccessTests {
  private func locked(origins: [String] = []) -> HTTPConfiguration {
    HTTPConfiguration(
      address: HostPort(host: "127.0.0.1", port: 0),
      allowedOrigins: { origins },
      tokensRequired: true
    )
  }

  @Test("without a token only health, the pages and the description are served")
  func tokenNeeded() async throws {
    try await TestService.run(configuration: locked()) { service in
      for path in ["/healthz", "/readyz", "/", "/openapi.json"] {
        #expect(try await service.request("GET", path).status == 200)
      }
      for path in ["/v1/applications", "/v1/status", "/metrics", "/v1/events", "/v1/tokens"] {
        let answer = try await service.request("GET", path)
        #expect(answer.status == 401)
        #expect(answer.headers["www-authenticate"] == "Bearer realm=\"pharos\"")
      }
      for field in ["Bearer", "Bearer pht_unknown", "Basic cGhhcm9z", "pht_x", "Bearer \u{7f}"] {
        let headers = ["Authorization": field]
        let answer = try await service.request("GET", "/v1/applications", headers: headers)
        #expect(answer.status == 401, "\(field)")
      }
      #expect(try await service.request("POST", "/v1/adverts", body: "{}").status == 401)
    }
  }

  @Test("a deleted application takes its tokens and webhooks with it, also for the next one of its name")
  func deletedApplication() async throws {
    try await TestService.run(configuration: locked()) { service in
      var (operatorsOwn, own) = (service, service)
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      operatorsOwn.token = try tokens.create(name: "op", role: .operator, at: now).secret
      own.token = try tokens.create(name: "till", role: .application("shop"), at: now).secret
      #expect(try await operatorsOwn.request("PUT", "/v1/applications/shop").status == 201)
      #expect(try await own.request("GET", "/v1/applications/shop").status == 200)
      let hook = try await own.request("POST", "/v1/webhooks", body: #"{"url":"https://a.example/"}"#)
      #expect(hook.status == 201)
      #expect(try await operatorsOwn.request("DELETE", "/v1/applications/shop").status == 204)
      #expect(try await own.request("GET", "/v1/applications/shop").status == 401)
      #expect(try await operatorsOwn.request("PUT", "/v1/applications/shop").status == 201)
      #expect(try await own.request("GET", "/v1/applications/shop").status == 401)
      #expect(try await operatorsOwn.request("GET", "/v1/webhooks").json["webhooks"].elements.isEmpty)
    }
  }

  @Test("an application's token sees and changes what is its own, and nothing else")
  func applicationToken() async throws {
    try await TestService.run(configuration: locked()) { service in
      var (operatorsOwn, own) = (service, service)
      let now = service.backend.clock()
      operatorsOwn.token = try service.backend.tokens.create(name: "op", role: .operator, at: now)
        .secret
      let body = #"{"name":"shop floor","application":"shop"}"#
      let made = try await operatorsOwn.request("POST", "/v1/tokens", body: body)
      #expect(made.status == 201)
      #expect(made.headers["cache-control"] == "no-store")
      own.token = try made.json["secret"].string
      let region = #"{"uuid":"\#(String.galleryUUID)"}"#
      #expect(
        try await own.request("PUT", "/v1/applications/shop/regions/a", body: region).status == 201
      )
      #expect(
        try await operatorsOwn.request("GET", "/v1/applications/shop/regions/a").status == 200
      )
      let list = try await own.request("GET", "/v1/applications")
      #expect(try list.json["applications"].elements.map { $0["id"].string } == ["shop"])
      for path in [
        "/v1/applications/gallery/regions", "/v1/applications/gallery/states", "/v1/observers",
        "/v1/tokens",
        "/v1/status", "/v1/tags", "/v1/tracks", "/v1/heard", "/v1/quarantine", "/metrics",
        "/v1/events?application=gallery", "/v1/applications/gallery/notifications",
      ] {
        #expect(try await own.request("GET", path).status == 403, "\(path)")
      }
      #expect(
        try await own.request("DELETE", "/v1/applications/gallery/regions/anywhere").status == 403
      )
      #expect(
        try await own.request("PUT", "/v1/applications/shop", body: #"{"regionLimit":900}"#).status
          == 403
      )
      #expect(try await own.request("POST", "/v1/adverts", body: "{}").status == 403)
      try await operatorsOwn.receive(minor: 7)
      let events = try await own.request("GET", "/v1/events")
      #expect(
        try events.json["events"].elements.allSatisfy {
          $0["event"]["data"]["application"].string == "shop"
        }
      )
      let id = try #require(try made.json["id"].string)
      #expect(try await operatorsOwn.request("DELETE", "/v1/tokens/\(id)").status == 204)
      #expect(try await own.request("GET", "/v1/applications").status == 401)
    }
  }

  private static let advert = """
    {"address":"c3:00:00:0a:0b:0c","rssi":-61,"data":"0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5"}
    """

  @Test("a gateway proves itself in each way that its maker foresees, and posts adverts alone")
  func gatewayToken() async throws {
    try await TestService.run(configuration: locked()) { service in
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      let secret = try tokens.create(name: "hall", role: .gateway(.name("hall")), at: now).secret
      func basic(_ text: String) -> [String: String] {
        ["Authorization": "Basic " + Data(text.utf8).base64EncodedString()]
      }
      let path = "/v1/adverts"
      for (target, headers) in [
        (path, ["Authorization": "Bearer \(secret)"]), (path, ["Authorization": "Token \(secret)"]),
        (path, ["X-API-Key": secret]), (path, basic("gw:\(secret)")), (path, basic("\(secret):")),
        ("\(path)?token=\(secret)", [:]), ("\(path)/\(secret)", [:]),
      ] as [(String, [String: String])] {
        let answer = try await service.request("POST", target, headers: headers, body: Self.advert)
        #expect(answer.status == 202, "\(target) \(headers) \(answer.text)")
        #expect(try answer.json["reports"].number == 1)
        #expect(try answer.json["format"].string == "json")
      }
      for headers in [
        basic("gw:wrong"), basic("wrong:"), basic("gw:\(secret)x"), ["X-API-Key": "pht_x"], [:],
      ] {
        #expect(try await service.request("POST", path, headers: headers, body: Self.advert).status == 401)
      }
      // A page's request with a password that the browser keeps.
      var headers = basic("gw:\(secret)")
      headers["Sec-Fetch-Site"] = "cross-site"
      #expect(try await service.request("POST", path, headers: headers, body: Self.advert).status == 401)
      var own = service
      own.token = secret
      for (method, target) in [
        ("GET", "/v1/applications"), ("GET", "/v1/status"), ("GET", "/v1/tokens"), ("GET", "/v1/events"),
        ("GET", "/v1/applications/gallery"), ("PUT", "/v1/applications/gallery/regions/a"),
        ("POST", "/v1/tickets"), ("GET", "/v1/venues"), ("POST", "/v1/tokens"), ("GET", "/metrics"),
      ] {
        #expect(try await own.request(method, target, body: "{}").status == 403, "\(method) \(target)")
      }
    }
  }

  @Test("a gateway's token names its gateway and no other; one for all posts what any hears")
  func gatewayNames() async throws {
    try await TestService.run(configuration: locked()) { service in
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      var (one, all, operatorsOwn) = (service, service, service)
      operatorsOwn.token = try tokens.create(name: "op", role: .operator, at: now).secret
      for (document, status) in [
        (#"{"name":"a","gateway":"hall"}"#, 201), (#"{"name":"b","role":"gateway"}"#, 201),
        (#"{"name":"c","role":"operator","gateway":"hall"}"#, 422), (#"{"name":"d","gateway":"a/b"}"#, 422),
        (#"{"name":"e","application":"x","gateway":"hall"}"#, 422), (#"{"name":"f"}"#, 422),
      ] {
        let made = try await operatorsOwn.request("POST", "/v1/tokens", body: document)
        #expect(made.status == status, "\(document) \(made.text)")
        if document.contains("\"a\",") { one.token = try made.json["secret"].string }
        if document.contains("\"b\",") { all.token = try made.json["secret"].string }
      }
      let rows = try await operatorsOwn.request("GET", "/v1/tokens").json["tokens"].elements
      #expect(rows.map { $0["role"].string } == ["operator", "gateway", "gateway"])
      #expect(rows.map { $0["gateway"].string } == [nil, "hall", nil])
      func advert(of observer: String) -> String {
        "{\"observer\":\"\(observer)\"," + Self.advert.dropFirst()
      }
      #expect(try await one.request("POST", "/v1/adverts", body: advert(of: "hall")).status == 202)
      let other = try await one.request("POST", "/v1/adverts", body: advert(of: "desk"))
      #expect(other.status == 403 && other.text.contains("desk"))
      let mixed = "[\(Self.advert),\(advert(of: "hall"))]"
      #expect(try await one.request("POST", "/v1/adverts", body: mixed).json["reports"].number == 2)
      #expect(try await all.request("POST", "/v1/adverts", body: advert(of: "desk")).status == 202)
      #expect(try await all.request("POST", "/v1/adverts", body: Self.advert).status == 400)
      // An operator's token stands in no address, and every token is revoked in every way.
      let secret = try #require(operatorsOwn.token)
      #expect(
        try await service.request("POST", "/v1/adverts/\(secret)", body: advert(of: "desk")).status == 401
      )
      let id = try #require(rows[1]["id"].string)
      #expect(try await operatorsOwn.request("DELETE", "/v1/tokens/\(id)").status == 204)
      #expect(try await one.request("POST", "/v1/adverts", body: advert(of: "hall")).status == 401)
    }
  }

  @Test("Cisco Meraki gets its validator, and its posts are let in by their secret")
  func meraki() async throws {
    func post(_ secret: String) -> String {
      #"{"version":"3.0","secret":"\#(secret)","type":"Bluetooth","data":{"reportingAps":[],"observations":["#
        + #"{"clientMac":"c3:00:00:0a:0b:0c","latestRecord":{"nearestApMac":"00:18:0a:00:00:01","nearestApRssi":-61}}]}}"#
    }
    try await TestService.run(configuration: locked()) { service in
      #expect(try await service.request("GET", "/v1/adverts").status == 404)
      #expect(try await service.request("POST", "/v1/adverts", body: post("shared-secret")).status == 401)
      let now = service.backend.clock()
      let token = try service.backend.tokens.create(name: "cloud", role: .gateways, at: now).secret
      #expect(try await service.request("POST", "/v1/adverts", body: post(token)).status == 202)
    }
    var configuration = locked()
    configuration.validator = "0f1e2d3c"
    configuration.postSecret = "shared-secret"
    try await TestService.run(configuration: configuration) { service in
      let answer = try await service.request("GET", "/v1/adverts")
      #expect(answer.status == 200 && answer.text == "0f1e2d3c")
      #expect(answer.headers["content-type"]?.hasPrefix("text/plain") == true)
      #expect(try await service.request("POST", "/v1/adverts", body: post("shared-secret")).status == 202)
      for body in [post("shared-secre"), post(""), "{}", "", "nonsense", #"{"secret":7}"#, "[]"] {
        #expect(try await service.request("POST", "/v1/adverts", body: body).status == 401, "\(body)")
      }
      let operatorsOwn = try service.backend.tokens.create(
        name: "op",
        role: .operator,
        at: service.backend.clock()
      )
      #expect(
        try await service.request("POST", "/v1/adverts", body: post(operatorsOwn.secret)).status == 401
      )
    }
  }

  @Test("lists of tokens never hold a secret")
  func secretsStaySecret() async throws {
    try await TestService.run { service in
      let made = try await service.request(
        "POST",
        "/v1/tokens",
        body: #"{"name":"a","role":"operator"}"#
      )
      let secret = try #require(try made.json["secret"].string)
      let list = try await service.request("GET", "/v1/tokens")
      #expect(list.status == 200)
      #expect(!list.text.contains(secret))
      #expect(!list.text.contains("pht_"))
    }
  }

  @Test("a name that leads here from elsewhere is refused while no token is needed")
  func rebinding() async throws {
    try await TestService.run { service in
      let port = service.address.port
      for host in [
        "evil.example.org", "evil.example.org:\(port)", "127.0.0.1.evil.org", "", "[::2]", "a b",
      ] {
        let answer = try await service.request("GET", "/v1/applications", headers: ["Host": host])
        #expect(answer.status == (host.isEmpty ? 400 : 403), "\(host)")
      }
      for host in [
        "localhost:\(port)", "LOCALHOST", "[::1]:\(port)", "127.9.9.9", "pharos.localhost",
      ] {
        #expect(
          try await service.request("GET", "/v1/applications", headers: ["Host": host]).status
            == 200
        )
      }
    }
  }

  @Test("a page elsewhere may change nothing while no token is needed")
  func forgery() async throws {
    try await TestService.run { service in
      let path = "/v1/applications/gallery/regions/forged"
      let body = #"{"uuid":"\#(String.galleryUUID)"}"#
      for headers in [
        ["Origin": "https://evil.example.org"], ["Origin": "null"],
        ["Sec-Fetch-Site": "cross-site"],
        ["Sec-Fetch-Site": "same-site"], ["Origin": "http://127.0.0.1:1"],
        ["Origin": "https://\(service.address)"],
      ] {
        let answer = try await service.request("PUT", path, headers: headers, body: body)
        #expect(answer.status == 403, "\(headers)")
      }
      #expect(try await service.request("GET", path).status == 404)
      let ours = ["Origin": "http://\(service.address)", "Sec-Fetch-Site": "same-origin"]
      #expect(try await service.request("PUT", path, headers: ours, body: body).status == 201)
    }
  }

  @Test("pages of an allowed origin may read, and others learn nothing")
  func crossOrigin() async throws {
    let origin = "https://floor.example.org"
    try await TestService.run(configuration: locked(origins: [origin])) { service in
      var service = service
      let now = service.backend.clock()
      service.token = try service.backend.tokens.create(name: "op", role: .operator, at: now).secret
      let allowed = try await service.request(
        "GET",
        "/v1/applications",
        headers: ["Origin": origin]
      )
      #expect(allowed.headers["access-control-allow-origin"] == origin)
      #expect(allowed.headers["vary"] == "Origin")
      let other = try await service.request(
        "GET",
        "/v1/applications",
        headers: ["Origin": "https://b.org"]
      )
      #expect(other.headers["access-control-allow-origin"] == nil)
      service.token = nil
      let preflight = try await service.request(
        "OPTIONS",
        "/v1/applications/gallery",
        headers: ["Origin": origin, "Access-Control-Request-Method": "PUT"]
      )
      #expect(preflight.status == 204)
      #expect(preflight.headers["access-control-allow-methods"] == "GET, HEAD, PUT, DELETE")
      #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") == true)
    }
  }

  @Test(
    "beyond this machine only with tokens",
    arguments: [
      ("127.0.0.1", false, false, true), ("::1", false, false, true),
      ("localhost", false, true, true),
      ("0.0.0.0", false, false, false), ("0.0.0.0", true, false, false), ("::", true, true, true),
      ("192.168.1.5", false, true, false), ("floor.example.org", true, true, true),
    ]
  )
  func binding(host: String, required: Bool, hasTokens: Bool, isServed: Bool) throws {
    let address = HostPort(host: host, port: 8_080)
    let configuration = HTTPConfiguration(address: address, tokensRequired: required)
    guard !isServed else { return try configuration.check(hasTokens: hasTokens) }
    #expect(throws: HTTPServiceError.openToAll(address)) {
      try configuration.check(hasTokens: hasTokens)
    }
    #expect("\(HTTPServiceError.openToAll(address))".contains("pharos token create"))
  }

  @Test(
    "about persons nothing is shown until it is allowed, and nothing more once that is withdrawn"
  )
  func authorisation() async throws {
    try await TestService.run { service in
      let states = "/v1/applications/gallery/states"
      let path = "/v1/applications/gallery/authorisations/visitor"
      let person = try await service.request("PUT", path, body: #"{"person":true}"#)
      #expect(person.status == 200)
      #expect(try person.json["state"].string == "notDetermined")
      try await service.receive(minor: 7, by: "visitor")
      try await service.committed(about: "beacon")
      #expect(try await !service.request("GET", states).text.contains(#""subject":"visitor""#))
      let refused = try await service.request("PUT", path, body: #"{"state":"always"}"#)
      #expect(refused.status == 422)
      #expect(refused.text.contains("purpose"))
      try service.backend.journal.carryOut(
        service.backend.authorisations.settingPurpose("To greet you.", application: "gallery")
      )
      #expect(try await service.request("PUT", path, body: #"{"state":"always"}"#).status == 200)
      #expect(try await service.request("GET", states).text.contains(#""subject":"visitor""#))
      #expect(try await service.request("PUT", path, body: #"{"state":"denied"}"#).status == 200)
      #expect(try await !service.request("GET", states).text.contains(#""subject":"visitor""#))
      let history = try await service.request(
        "GET",
        "/v1/events?subject=visitor&kind=pharos.region.enter"
      )
      #expect(try history.json["events"].elements.isEmpty)
    }
  }

  @Test("a ticket opens one live stream with the rights of its token, within half a minute")
  func tickets() async throws {
    try await TestService.run(configuration: locked()) { service in
      let token = try service.backend.tokens.create(
        name: "page",
        role: .application("gallery"),
        at: service.backend.clock()
      )
      let bearer = ["Authorization": "Bearer \(token.secret)"]
      func ticket() async throws -> String {
        let answer = try await service.request("POST", "/v1/tickets", headers: bearer)
        #expect(answer.status == 201 && answer.headers["cache-control"] == "no-store")
        return try #require(try answer.json["ticket"].string)
      }
      // HEAD opens the stream and reads nothing of it.
      func status(_ ticket: String, _ query: String = "", stream: Bool = true) async throws -> Int {
        try await service.request(
          "HEAD",
          "/v1/events?ticket=\(ticket)" + query,
          headers: stream ? ["Accept": "text/event-stream"] : [:]
        ).status
      }
      #expect(try await service.request("POST", "/v1/tickets").status == 401)
      let first = try await ticket()
      #expect(try await status(first) == 200)
      #expect(try await status(first) == 401, "used twice")
      #expect(try await status("phk_unknown") == 401)
      let second = try await ticket()
      #expect(try await status(second, stream: false) == 401, "pages need a token")
      #expect(try await status(second, "&application=gallery") == 200)
      let third = try await ticket()
      #expect(try await status(third, "&application=shop") == 403)
      #expect(try await status(token.secret) == 401, "a token is no ticket")
      let fourth = try await ticket()
      let elsewhere = try await service.request("GET", "/v1/venues?ticket=\(fourth)")
      #expect(elsewhere.status == 401)

      let late = try await ticket()
      service.time.pass(seconds: 29)
      let fresh = try await ticket()
      service.time.pass(seconds: 2)
      #expect(try await status(late) == 401, "expired")
      #expect(try await status(fresh) == 200)

      let orphan = try await ticket()
      let isRevoked = try service.backend.tokens.revoke(token.token.id)
      #expect(isRevoked)
      #expect(try await status(orphan) == 401, "its token was revoked")
    }
  }

  @Test("a client holds a limited number of unused tickets")
  func ticketLimit() {
    let tickets = Tickets()
    let page = Principal.application(id: "page", name: "gallery")
    let issued = (0..<80).compactMap { _ in tickets.issue(to: page, at: .zero) }
    #expect(issued.count == Tickets.maximumOfClient)
    #expect(tickets.issue(to: .operator(id: "desk"), at: .zero) != nil)
    #expect(tickets.redeem(issued[0], at: .zero) == page)
    #expect(tickets.issue(to: page, at: .zero) != nil)
    #expect(tickets.issue(to: page, at: .zero) == nil)
    #expect(tickets.issue(to: page, at: Tickets.lifetime) != nil)
  }

  @Test("a token is taken as a password for reading, and not for changes")
  func passwords() async throws {
    try await TestService.run(configuration: locked()) { service in
      let token = try service.backend.tokens.create(name: "map", role: .operator, at: service.backend.clock())
      func basic(_ text: String) -> [String: String] {
        ["Authorization": "Basic " + Data(text.utf8).base64EncodedString()]
      }
      let right = basic("qgis:\(token.secret)")
      #expect(try await service.request("GET", "/v1/venues", headers: right).status == 200)
      #expect(
        try await service.request("HEAD", "/v1/venues", headers: basic(":\(token.secret)")).status == 200
      )
      for wrong in ["qgis:\(token.secret)x", "\(token.secret)x:", ""] {
        #expect(try await service.request("GET", "/v1/venues", headers: basic(wrong)).status == 401)
      }
      #expect(try await service.request("POST", "/v1/tickets", headers: right).status == 401)
      #expect(try await service.request("DELETE", "/v1/subjects/x", headers: right).status == 401)
    }
  }

  @Test("origins are those that hold at the request")
  func originsChange() async throws {
    let origins = Mutex(["https://floor.example.org"])
    var configuration = locked()
    configuration.allowedOrigins = { origins.withLock { $0 } }
    try await TestService.run(configuration: configuration) { service in
      func allowed(_ origin: String) async throws -> String? {
        try await service.request(
          "OPTIONS",
          "/v1/tickets",
          headers: ["Origin": origin, "Access-Control-Request-Method": "POST"]
        ).headers["access-control-allow-origin"]
      }
      for holding in ["https://floor.example.org", "https://map.example.org"] {
        origins.withLock { $0 = [holding] }
        for origin in ["https://floor.example.org", "https://map.example.org"] {
          let found = try await allowed(origin)
          #expect(found == (origin == holding ? origin : nil))
        }
      }
    }
  }
}
