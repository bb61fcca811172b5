import PharosHTTP
import PharosModel
import PharosSite
import PharosSpace
import Testing

/// The public page of a venue, and what everyone may read of it.
@Suite("The page for visitors", .timeLimit(.minutes(20)))
struct VisitorTests {
  private static let paths = ["", "/data", "/routes?from=main%20door&to=cafe"]
  private static let locked = HTTPConfiguration(
    address: HostPort(host: "127.0.0.1", port: 0),
    tokensRequired: true
  )

  @Test(
    "a venue without a page answers as one that does not exist, with a token or without",
    arguments: paths
  )
  func withdrawn(path: String) async throws {
    var museum = try ServedVenue.museum()
    museum.visitors = nil
    try await TestService.run(venues: [museum]) { service in
      let hidden = try await service.request("GET", "/venues/museum" + path)
      let missing = try await service.request("GET", "/venues/nowhere" + path)
      #expect(hidden.status == 404 && missing.status == 404)
      #expect(hidden.text.replacing("museum", with: "nowhere") == missing.text)
    }
  }

  @Test("the page and its data need no token, and the rest of the interface still does")
  func open() async throws {
    try await TestService.run(configuration: Self.locked, venues: [try .museum(isComplete: true)]) {
      service in
      for path in Self.paths {
        let answer = try await service.request("GET", "/venues/museum" + path)
        #expect(answer.status == 200, "\(path): \(answer.text)")
      }
      let page = try await service.request("GET", "/venues/museum")
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["content-security-policy"]?.contains("script-src 'self'") == true)
      #expect(page.text.contains("/assets/visitor.js"))
      let worker = try await service.request("GET", "/assets/visitor-worker.js")
      #expect(worker.headers["service-worker-allowed"] == "/venues/")
      #expect(try await service.request("GET", "/assets/visitor.js").headers["service-worker-allowed"] == nil)
      for path in ["/v1/venues/museum", "/v1/venues/museum/places", "/v1/venues/museum/search?q=a"] {
        #expect(try await service.request("GET", path).status == 401, "\(path)")
      }
    }
  }

  @Test("the data hold floors, outlines and captions, and neither radios nor who is there")
  func data() async throws {
    try await TestService.run(venues: [try .museum()]) { service in
      try await service.fill()
      let answer = try await service.request("GET", "/venues/museum/data")
      let json = try answer.json
      #expect(json["name"].string == "The museum" && json["nearMe"].string == "https://example.org/app")
      #expect(json["floors"].elements.map { $0["level"].integer } == [-1, 0, 1])
      #expect(json["floors"][1]["entrances"][0]["id"].string == "main door")
      let place = json["floors"][2]["places"][0]
      #expect(place["title"].string == "Café under the roof" && place["level"].integer == 1)
      let kinds = json["floors"].elements.flatMap { floor in
        floor["outlines"]["features"].elements.compactMap { $0["properties"]["kind"].string }
      }
      #expect(Set(kinds).isSuperset(of: ["walkable", "wall", "place", "lift", "entrance"]))
      #expect(Set(kinds).isDisjoint(with: ["beacon", "observer", "accessPoint"]))
      for word in ["front-desk", "visitor", "02:00:00:00:00:01"] {
        #expect(!answer.text.contains(word), "\(word)")
      }
    }
  }

  @Test("ways lead between places in the three languages, and never from a subject")
  func ways() async throws {
    try await TestService.run(venues: [try .museum()]) { service in
      try await service.fill()
      var sentences: Set<[String]> = []
      for language in ["en", "de", "fr"] {
        let query = "from=main%20door&to=cafe&language=\(language)"
        let route = try await service.request("GET", "/venues/museum/routes?\(query)").json["routes"][0]
        let steps = route["legs"][0]["steps"].elements.compactMap { $0["instruction"].string }
        #expect(steps.count > 2 && steps.last?.contains("Café") == true, "\(steps)")
        sentences.insert(steps)
      }
      #expect(sentences.count == 3)
      let subject = try await service.request("GET", "/venues/museum/routes?from=subject:visitor&to=cafe")
      #expect(subject.status == 404 && subject.text.contains("has no place"))
      for query in [
        "", "from=cafe", "from=cafe&to=", "from=cafe&to=cafe&language=xx", "from=cafe&to=cafe&avoid=lift",
      ] {
        #expect(try await service.request("GET", "/venues/museum/routes?\(query)").status == 400, "\(query)")
      }
    }
  }
}
