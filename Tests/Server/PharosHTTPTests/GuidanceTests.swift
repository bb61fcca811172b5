import Pharos
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosWays
import Testing

@Suite("Guidance over HTTP", .timeLimit(.minutes(20)))
struct GuidanceEndpointTests {
  private static let path = "/v1/subjects/visitor/guidance"

  @Test("guidance is asked for, read, ended, and erased with its subject")
  func life() async throws {
    try await TestService.run { service in
      #expect(try await service.request("GET", Self.path).status == 404)
      #expect(try await service.request("DELETE", Self.path).status == 404)
      let body = #"{"destination":"Café","accessible":true,"language":"de"}"#
      #expect(try await service.request("PUT", Self.path, body: body).status == 200)
      let read = try await service.request("GET", Self.path).json
      #expect(read["destination"].string == "Café" && read["language"].string == "de")
      let list = try await service.request("GET", "/v1/guidance?subject=visitor").json["guidance"].elements
      #expect(list.map { $0["subject"].string } == ["visitor"])
      let others = try await service.request("GET", "/v1/guidance?subject=other").json["guidance"].elements
      #expect(others.isEmpty)
      #expect(try await service.request("DELETE", Self.path).status == 204)
      #expect(try await service.request("GET", Self.path).status == 404)
      #expect(try await service.request("PUT", Self.path, body: TestService.guidance).status == 200)
      #expect(try await service.request("DELETE", "/v1/subjects/visitor").status == 200)
      #expect(try await service.request("GET", Self.path).status == 404)
    }
  }

  @Test("guidance that a killed server had accepted resumes, and guidance that it had ended does not")
  func restart() async throws {
    let visitor = try #require(SubjectID("visitor")), other = try #require(SubjectID("other"))
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    let guided = RegionChange.setGuidance(subject: visitor, GuidanceRequest(to: .place("Café")))
    try await TestService.run(journal: journal) { service in
      let put = try await service.request("PUT", Self.path, body: #"{"destination":"Café"}"#)
      #expect(put.status == 200)
      try await expect([guided], of: service)
    }
    // The next server starts without any checkpoint, as if none had been taken since.
    try await TestService.run(journal: journal) { service in
      let ended = RegionChange.setGuidance(subject: other, GuidanceRequest(to: .place("Hall")))
      try await service.backend.server.apply(ended)
      try await expect([ended], of: service)
      try await service.backend.assignments.resume()
      try await expect([guided], of: service)
      #expect(try await service.request("DELETE", Self.path).status == 204)
      try await expect([], of: service)
    }
  }

  @Test("guidance to a person waits until the person may be seen, and again when the person no longer may")
  func moving() async throws {
    let (visitor, guest) = (try #require(SubjectID("visitor")), try #require(SubjectID("guest")))
    func wanted(isWithheld: Bool) -> Set<RegionChange> {
      let moving = GuidanceRequest.Moving(guest, isWithheld: isWithheld)
      return [.setGuidance(subject: visitor, GuidanceRequest(to: .subject(moving)))]
    }
    try await TestService.run { service in
      let authorisations = service.backend.authorisations
      let itself = #"{"destination":{"subject":"visitor"}}"#
      let toItself = try await service.request("PUT", Self.path, body: itself)
      #expect(toItself.status == 422, "\(toItself.text)")
      let body = #"{"destination":{"subject":"guest"}}"#
      let seen = try await service.request("PUT", Self.path, body: body)
      #expect(seen.status == 200 && seen.text.contains(#""destination":"guest""#), "\(seen.text)")
      try await expect(wanted(isWithheld: false), of: service)
      // A thing became a person, of whom nothing is allowed.
      try authorisations.mark(guest, isPerson: true)
      try await expect(wanted(isWithheld: true), of: service)
      let hidden = try await service.request("GET", Self.path)
      #expect(hidden.text.contains(#""withheld":true"#) && !hidden.text.contains("guest"), "\(hidden.text)")
      let list = try await service.request("GET", "/v1/guidance")
      #expect(list.text.contains("visitor") && !list.text.contains("guest"), "\(list.text)")
      try authorisations.mark(guest, isPerson: false)
      try await expect(wanted(isWithheld: false), of: service)
      #expect(try await service.request("DELETE", "/v1/subjects/guest").status == 200)
      #expect(try await service.request("GET", Self.path).status == 404, "the guidance to one who is erased")
    }
  }

  /// Expects that the engine comes to have these assignments: a change takes effect once all loops have passed its instant.
  private func expect(_ wanted: Set<RegionChange>, of service: TestService) async throws {
    var found = try await service.backend.server.assignments()
    for _ in 0..<100_000 where found != wanted {
      await Task.yield()
      found = try await service.backend.server.assignments()
    }
    #expect(found == wanted)
  }

  @Test("a place that no venue has is refused by its name, and a request without sense by its field")
  func refused() async throws {
    try await TestService.run { service in
      let unknown = try await service.request("PUT", Self.path, body: #"{"destination":"Cafe Luna"}"#)
      #expect(unknown.status == 404 && unknown.text.contains("Cafe Luna"), "\(unknown.text)")
      for body in [
        "{}", #"{"destination":""}"#, #"{"destination":"Café","language":"xx"}"#,
        #"{"destination":{"latitude":91,"longitude":2}}"#, #"{"destination":"Café","speed":1}"#,
      ] {
        let answer = try await service.request("PUT", Self.path, body: body)
        #expect(answer.status == 422, "\(body): \(answer.text)")
      }
      #expect(try await service.request("GET", Self.path).status == 404)
    }
  }
}
