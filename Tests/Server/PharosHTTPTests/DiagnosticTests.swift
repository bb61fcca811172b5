import PharosDelivery
import PharosHTTP
import PharosModel
import PharosTestSupport
import Testing

/// Why an application gets nothing, as it asks over HTTP.
@Suite("Diagnostics over HTTP", .timeLimit(.minutes(20)))
struct DiagnosticTests {
  private static let path = "/v1/applications/gallery/diagnostics"
  private static let tag = "\(String.galleryUUID)%2F1%2F7"
  private static let unheard = "\(String.galleryUUID)%2F2%2F7"

  private func reasons(_ service: TestService, _ path: String = path) async throws -> [String] {
    let answer = try await service.request("GET", path)
    try #require(answer.status == 200, "\(answer.text)")
    return try answer.json["diagnostics"].elements.compactMap { $0["reason"].string }
  }

  @Test("an observer that is not there, a subject that none hears, and a condition that is missing")
  func coverage() async throws {
    try await TestService.run { service in
      #expect(try await reasons(service) == ["noCoverage"])
      try await service.receive(minor: 7)
      #expect(try await reasons(service).isEmpty)
      #expect(try await reasons(service, "\(Self.path)?subject=\(Self.tag)").isEmpty)
      #expect(try await reasons(service, "\(Self.path)?subject=front-desk").isEmpty)
      #expect(try await reasons(service, "\(Self.path)?subject=visitor") == ["noCoverage"])
      // The gallery ranges all of its UUID, so a tag that is no region's is still one of its own.
      #expect(try await reasons(service, "\(Self.path)?subject=\(Self.unheard)") == ["noCoverage"])
      let other = "eddystone:00112233445566778899%2F000000000001"
      #expect(try await reasons(service, "\(Self.path)?subject=\(other)") == ["conditionMissing"])
      let empty = "/v1/applications/shop"
      #expect(try await service.request("PUT", empty).status == 201)
      #expect(try await reasons(service, "\(empty)/diagnostics") == ["conditionMissing"])
      let answer = try await service.request("GET", "\(Self.path)?subject=visitor")
      let found = try answer.json["diagnostics"].elements[0]
      #expect(found["subject"].string == "visitor")
      for member in ["message", "expected", "remedy"] { #expect(found[member].string?.isEmpty == false) }
    }
  }

  @Test(
    "a handset without a venue is located where it says: for areas, diagnostics and significant changes alike"
  )
  func reported() async throws {
    try await TestService.run { service in
      let yard = #"{"kind":"circle","latitude":48.1,"longitude":11.5,"radius":"10m"}"#
      #expect(
        try await service.request("PUT", "/v1/applications/shop/regions/yard", body: yard).status == 201
      )
      let path = "/v1/applications/shop/diagnostics?subject=walker"
      #expect(try await reasons(service, path) == ["noCoverage", "locationUnavailable"])
      let updates = "/v1/subjects/walker/significant-changes"
      #expect(try await service.request("GET", updates).json["locationUnavailable"].bool == true)
      let fix =
        #"{"observer":"walker","fix":{"latitude":48.1,"longitude":11.5,"accuracy":2,"source":"gnss"}}"#
      for _ in 0..<6 {
        #expect(try await service.request("POST", "/v1/adverts", body: fix).status == 202)
        service.time.pass(seconds: 1)
      }
      try await service.committed([.regionsOutside], about: "walker")
      #expect(try await reasons(service, path).isEmpty)
      #expect(try await service.request("GET", updates).json["location"]["latitude"].number == 48.1)
      #expect(try await service.request("GET", "/v1/fixes/walker").status == 200)
    }
  }

  @Test("the limit of regions, and an area that nothing can decide")
  func conditions() async throws {
    try await TestService.run { service in
      try await service.receive(minor: 7)
      let shop = "/v1/applications/shop"
      let area = #"{"kind":"circle","latitude":52.5,"longitude":13.4,"radius":"20m","level":2}"#
      let made = try await service.request("PUT", "\(shop)/regions/court", body: area)
      try #require(made.status == 201, "\(made.text)")
      #expect(try await reasons(service, "\(shop)/diagnostics") == ["conditionUnsupported"])
      for number in 1...19 {
        let region = #"{"uuid":"\#(String.galleryUUID)","major":\#(number)}"#
        let path = "\(shop)/regions/r\(number)"
        #expect(try await service.request("PUT", path, body: region).status == 201)
      }
      let full = try await service.request("GET", "\(shop)/diagnostics").json["diagnostics"].elements
      #expect(full.map { $0["reason"].string } == ["conditionLimitExceeded", "conditionUnsupported"])
      #expect(full.last?["region"].string == "court")
      #expect(full.last?["message"].string?.contains("on a floor") == true)
    }
  }

  @Test(
    "of a subject that is not to be learnt of, the authorisation is all that is stated, heard or not",
    arguments: [
      (AuthorisationState.denied, "authorizationDenied"), (.restricted, "authorizationRestricted"),
      (.notDetermined, "authorizationRequestInProgress"), (.whenInUse, "alwaysAuthorizationDenied"),
    ]
  )
  func authorisation(state: AuthorisationState, reason: String) async throws {
    let locked = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0), tokensRequired: true)
    try await TestService.run(configuration: locked) { service in
      let (tokens, now) = (service.backend.tokens, service.backend.clock())
      var (boss, own, other) = (service, service, service)
      boss.token = try tokens.create(name: "op", role: .operator, at: now).secret
      own.token = try tokens.create(name: "g", role: .application("gallery"), at: now).secret
      other.token = try tokens.create(name: "s", role: .application("shop"), at: now).secret
      try service.backend.journal.carryOut(
        service.backend.authorisations.settingPurpose("To greet you.", application: "gallery")
      )
      let subject = "/v1/applications/gallery/authorisations/\(Self.tag)"
      let body = #"{"state":"\#(state.name)","person":true}"#
      #expect(try await boss.request("PUT", subject, body: body).status == 200)
      let path = "\(Self.path)?subject=\(Self.tag)"
      let before = try await own.request("GET", path)
      try await boss.receive(minor: 7)
      let after = try await own.request("GET", path)
      #expect(before.text == after.text)
      #expect(try after.json["diagnostics"].elements.map { $0["reason"].string } == [reason])
      #expect(!after.text.contains("door"), "the name of the tag")
      #expect(try await reasons(own) == [reason], "the numbers of all subjects")
      #expect(try await other.request("GET", path).status == 403)
    }
  }

  @Test("mistakes of the query are named, and an application that is not there is 404")
  func mistakes() async throws {
    try await TestService.run { service in
      #expect(try await service.request("GET", "/v1/applications/none/diagnostics").status == 404)
      for query in ["subject=", "subject=a&subject=b", "region=x"] {
        let answer = try await service.request("GET", "\(Self.path)?\(query)")
        #expect(answer.status == 400, "\(query): \(answer.text)")
      }
    }
  }
}
