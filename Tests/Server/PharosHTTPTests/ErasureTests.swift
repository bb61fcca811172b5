import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import Testing

/// A subject that is erased from a server that runs.
@Suite("Erasing over HTTP", .timeLimit(.minutes(20)))
struct ErasureTests {
  @Test("an observer goes from events, states, tracks and rules' memories; others stay, and a stream resumes")
  func observer() async throws {
    try await TestService.run { service in
      for name in ["front-desk", "visitor"] {
        try await service.receive(minor: 7, by: name)
        try await service.committed(about: name)
      }
      let allow = "/v1/applications/gallery/authorisations/visitor"
      _ = try await service.request("PUT", "/v1/applications/gallery", body: #"{"purpose":"tours"}"#)
      #expect(try await service.request("PUT", allow, body: #"{"state":"always"}"#).status == 200)
      await service.backend.commitPublisher.drain()
      let before = try await service.request("GET", "/v1/events").json["events"].elements
      #expect(before.contains { $0["event"]["subject"].string == "visitor" })

      let answer = try await service.request("DELETE", "/v1/subjects/visitor")
      #expect(answer.status == 200, "\(answer.text)")
      let removed = try answer.json["removed"]
      #expect(try answer.json["subject"].string == "visitor")
      #expect((removed["events"].integer ?? 0) > 0)
      #expect((removed["rows"].integer ?? 0) > 0)
      #expect(removed["authorisations"].integer == 1)

      for path in ["/v1/events", "/v1/observers", "/v1/applications/gallery/states", "/v1/tracks", allow] {
        let text = try await service.request("GET", path).text
        #expect(path == allow || !text.contains("visitor"), "\(path): \(text)")
      }
      let after = try service.backend.journal.events(after: 0, limit: .max)
      #expect(after.contains { $0.event.subject == .observer(.name("front-desk")) })
      // Behind every number, erased or not, follows what is left.
      for sequence in 0...service.backend.journal.head {
        let page = try service.backend.journal.events(after: sequence, limit: 1)
        #expect(page.first?.sequence == after.first { $0.sequence > sequence }?.sequence)
      }
      // It is as good as new when it comes again.
      let head = service.backend.journal.head
      try await service.receive(minor: 7, by: "visitor")
      try await service.committed(about: "visitor")
      await service.backend.commitPublisher.drain()
      let again = try service.backend.journal.events(after: head, limit: .max)
      #expect(
        again.contains { $0.event.kind == .regionEnter && $0.event.subject == .observer(.name("visitor")) }
      )
    }
  }

  @Test("a beacon that others met is no longer named anywhere")
  func beacon() async throws {
    try await TestService.run { service in
      for minor in [7, 8] { try await service.receive(minor: minor) }
      for minor in [7, 8] { try await service.committed(about: "\(String.galleryUUID)/1/\(minor)") }
      let path = "/v1/subjects/\(String.galleryUUID)%2F1%2F7"
      let answer = try await service.request("DELETE", path)
      #expect(answer.status == 200, "\(answer.text)")
      #expect((try answer.json["removed"]["mentions"].integer ?? 0) > 0)
      let events = try await service.request("GET", "/v1/events").text
      #expect(!events.contains("/1/7"))
      #expect(events.contains("/1/8"))
      #expect(try await service.request("GET", "/v1/tracks").text.contains("/1/8"))
      #expect(try await !service.request("GET", "/v1/tracks").text.contains("/1/7"))
      let second = try await service.request("DELETE", path)
      #expect(try second.json["removed"]["events"].integer == 0)
    }
  }

  @Test("an unknown name is not found")
  func noone() async throws {
    try await TestService.run { service in
      let long = String(repeating: "x", count: 65)
      let answer = try await service.request("DELETE", "/v1/subjects/\(long)")
      #expect(answer.status == 404)
    }
  }
}
