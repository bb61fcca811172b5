import Logging
import PharosDelivery
import PharosHTTP
import PharosJournal
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// What the site file declares and what was made over HTTP, merged.
@Suite("Registrations and the site file")
struct RegisterTests {
  private func region(_ identifier: String, major: UInt16? = nil) throws -> Region {
    let uuid = try #require(UUID128(String.galleryUUID))
    return Region(identifier: identifier, constraint: .proximity(uuid, major: major))
  }

  @Test(
    "the site file's own takes precedence over what was made over HTTP, which is reported and comes back"
  )
  func fileWins() throws {
    var sources = SiteSources(declared: .gallery)
    let hidden = try region("anywhere", major: 9)
    sources.made["gallery"] = MadeApplication(regions: [
      "anywhere": hidden, "more": try region("more"),
    ])
    let shown = try #require(sources.application("gallery"))
    #expect(shown.regions.map(\.region.identifier) == ["anywhere", "tags", "more"])
    #expect(shown.regions.map(\.source) == [.site, .site, .http])
    #expect(sources.conflicts.count == 1)
    #expect(sources.conflicts[0].contains("\"anywhere\""))
    sources.declared = Site()
    #expect(sources.application("gallery")?.regions.map(\.region) == [hidden, try region("more")])
    #expect(sources.conflicts.isEmpty)
  }

  @Test("registrations above the limit are left out and reported")
  func limit() throws {
    var sources = SiteSources(declared: .gallery)
    sources.declared.applications[0].regionLimit = 3
    sources.made["gallery"] = MadeApplication(regions: [
      "a": try region("a"), "b": try region("b"),
    ])
    #expect(sources.site.applications[0].regions.map(\.identifier) == ["anywhere", "tags", "a"])
    #expect(sources.conflicts.count == 1)
    #expect(sources.conflicts[0].contains("\"b\""))
  }

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
      #expect(service.backend.registrar.application("shop")?.regions.count == 2)
    }
  }

  @Test("registrations are read back from their documents unchanged")
  func documents() throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var generator = SeededGenerator(seed: 11)
    let journal = try Journal.open(.memory, stream: "test")
    var sources = SiteSources(declared: .gallery)
    for _ in 0..<60 {
      let former = sources
      let application = ["shop", "a/b %", "gallery", "é"].randomElement(using: &generator) ?? ""
      let name = ["one", "two/three", "%41", "ü b"].randomElement(using: &generator) ?? ""
      var made = sources.made[application] ?? MadeApplication()
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        made.settings = ApplicationSettings(regionLimit: Int.random(in: 1...50, using: &generator))
      case 1:
        made.regions[name] = try region(name, major: UInt16.random(in: 0...9, using: &generator))
      case 2: made.regions[name] = nil
      case 3:
        made.ranging[name] = RangingRequest(
          constraint: try #require(try region(name).constraint),
          whileInside: true
        )
      default: made = MadeApplication()
      }
      sources.made[application] = made.isEmpty ? nil : made
      if let observer = ObserverID("observer-\(Int.random(in: 0..<5, using: &generator))") {
        sources.accepted.formSymmetricDifference([observer])
        sources.observers[observer] =
          Bool.random(using: &generator) ? ObserverEntry(id: observer, name: name, rssiOffset: -2.5) : nil
        sources.zones[name] =
          Bool.random(using: &generator) ? Zone(identifier: name, observers: [observer], floor: 1) : nil
      }
      try journal.change(RegistrationDocuments.changes(to: sources, from: former))
      var read = SiteSources(declared: .gallery)
      try RegistrationDocuments.read(from: journal, into: &read, logger: logger)
      #expect(read == sources)
    }
  }

  @Test("a document that cannot be read is left alone, and the others hold")
  func damage() throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let journal = try Journal.open(.memory, stream: "test")
    var sources = SiteSources(declared: .gallery)
    sources.made["shop"] = MadeApplication(regions: ["good": try region("good")])
    try journal.change(RegistrationDocuments.changes(to: sources, from: SiteSources(declared: .gallery)))
    try journal.put(Array("{\"uuid\":7".utf8), kind: "http.region", key: "shop/bad")
    try journal.put(Array("{}".utf8), kind: "http.region", key: "%%%")
    var read = SiteSources(declared: .gallery)
    try RegistrationDocuments.read(from: journal, into: &read, logger: logger)
    #expect(read == sources)
    #expect(try journal.document(kind: "http.region", key: "shop/bad") != nil)
  }

  @Test(
    "an observer and a zone of the site file hide those of the same name, and neighbours that are gone are left out"
  )
  func places() throws {
    let (desk, roof) = (try #require(ObserverID("front-desk")), try #require(ObserverID("roof")))
    var sources = SiteSources(declared: .gallery, accepted: [roof])
    sources.observers = [
      desk: ObserverEntry(id: desk, name: "other"), roof: ObserverEntry(id: roof, name: "the roof"),
    ]
    sources.zones = [
      "lobby": Zone(identifier: "lobby", observers: [roof]),
      "attic": Zone(identifier: "attic", observers: [roof], adjacent: ["lobby", "gone"]),
    ]
    let site = sources.site
    #expect(site.observers.map(\.name) == ["front desk", "the roof"])
    #expect(site.zones.map(\.identifier) == ["lobby", "attic"])
    #expect(site.zones.map(\.observers) == [[desk], [roof]])
    #expect(site.zones[1].adjacent == ["lobby"])
    #expect(sources.conflicts.count == 2)
  }
}
