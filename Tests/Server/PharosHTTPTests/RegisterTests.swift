import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
import Testing

@Suite("Registrations over HTTP")
struct RegisterTests {
  @Test("an application goes with its regions, authorisations, purpose and rules in one transaction")
  func oneTransaction() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    try await TestService.run(journal: journal) { service in
      let path = "/v1/applications/shop"
      let body = #"{"purpose":"To find the way.","regionLimit":20}"#
      #expect(try await service.request("PUT", path, body: body).status == 201)
      for number in 0..<20 {
        let region = #"{"uuid":"\#(String.galleryUUID)","major":\#(number)}"#
        #expect(try await service.request("PUT", "\(path)/regions/r\(number)", body: region).status == 201)
      }
      let kinds = try journal.documents(kind: "http.region").count
      #expect(kinds == 20)
      let before = (journal.changes, journal.head)
      #expect(try await service.request("DELETE", path).status == 204)
      // The events that the regions are reset come in transactions of their own.
      #expect(journal.changes - before.0 <= 1 + Int(journal.head - before.1))
      #expect(try journal.documents(kind: "http.region").isEmpty)
      #expect(try journal.documents(kind: "access.purpose").isEmpty)
      #expect(service.backend.authorisations.purpose(of: "shop") == nil)
    }
  }

  @Test("a registration that the engine refuses is never written to the journal")
  func refusedBeforeCommit() async throws {
    let journal = try Journal.open(.memory, stream: Site.gallery.stream)
    try await TestService.run(journal: journal) { service in
      let path = "/v1/applications/shop"
      let body = #"{"uuid":"\#(String.galleryUUID)"}"#
      let made = try await service.request("PUT", path, body: #"{"regionLimit":2}"#)
      #expect(made.status == 201)
      for name in ["a", "b"] {
        #expect(try await service.request("PUT", "\(path)/regions/\(name)", body: body).status == 201)
      }
      // A follower of the journal may save its place meanwhile, once; a refusal that wrote anything would do so each time.
      var isUntouched = false
      for _ in 0..<5 where !isUntouched {
        let before = journal.changes
        #expect(try await service.request("PUT", "\(path)/regions/c", body: body).status == 409)
        #expect(try await service.request("PUT", path, body: #"{"regionLimit":1}"#).status == 409)
        isUntouched = journal.changes == before
      }
      #expect(isUntouched)
      #expect(service.backend.owner.application("shop")?.regions.count == 2)
    }
  }
}
