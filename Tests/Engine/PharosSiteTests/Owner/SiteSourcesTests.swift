import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// What the site file declares and what was made over HTTP, merged.
@Suite("Registrations and the site file")
struct SiteSourcesTests {
  @Test(
    "the site file's own takes precedence over what was made over HTTP, which is reported and comes back"
  )
  func fileWins() throws {
    var sources = SiteSources(declared: OwnedGallery.site)
    let hidden = OwnedGallery.region("anywhere", major: 9)
    sources.made["gallery"] = MadeApplication(regions: [
      "anywhere": hidden, "more": OwnedGallery.region("more"),
    ])
    let shown = try #require(sources.application("gallery"))
    #expect(shown.regions.map(\.region.identifier) == ["anywhere", "tags", "more"])
    #expect(shown.regions.map(\.source) == [.site, .site, .http])
    #expect(sources.conflicts.count == 1)
    #expect(sources.conflicts[0].contains("\"anywhere\""))
    sources.declared = Site()
    #expect(sources.application("gallery")?.regions.map(\.region) == [hidden, OwnedGallery.region("more")])
    #expect(sources.conflicts.isEmpty)
  }

  @Test("registrations above the limit are left out and reported")
  func limit() throws {
    var sources = SiteSources(declared: OwnedGallery.site)
    sources.declared.applications[0].regionLimit = 3
    sources.made["gallery"] = MadeApplication(regions: [
      "a": OwnedGallery.region("a"), "b": OwnedGallery.region("b"),
    ])
    #expect(sources.site.applications[0].regions.map(\.identifier) == ["anywhere", "tags", "a"])
    #expect(sources.conflicts.count == 1)
    #expect(sources.conflicts[0].contains("\"b\""))
  }

  @Test("registrations are read back from their documents unchanged")
  func documents() throws {
    var generator = SeededGenerator(seed: 11)
    let store = MemoryDocuments()
    var sources = SiteSources(declared: OwnedGallery.site)
    for _ in 0..<60 {
      let former = sources
      let application = ["shop", "a/b %", "gallery", "é"].randomElement(using: &generator) ?? ""
      let name = ["one", "two/three", "%41", "ü b"].randomElement(using: &generator) ?? ""
      var made = sources.made[application] ?? MadeApplication()
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        made.settings = ApplicationSettings(regionLimit: Int.random(in: 1...50, using: &generator))
      case 1:
        made.regions[name] = OwnedGallery.region(name, major: UInt16.random(in: 0...9, using: &generator))
      case 2: made.regions[name] = nil
      case 3:
        made.ranging[name] = RangingRequest(
          constraint: try #require(OwnedGallery.region(name).constraint),
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
      try store.change(RegistrationDocuments.changes(to: sources, from: former))
      var read = SiteSources(declared: OwnedGallery.site)
      try RegistrationDocuments.read(from: store, into: &read, logger: OwnedGallery.logger)
      #expect(read == sources)
    }
  }

  @Test("a document that cannot be read is left alone, and the others hold")
  func damage() throws {
    let store = MemoryDocuments()
    var sources = SiteSources(declared: OwnedGallery.site)
    sources.made["shop"] = MadeApplication(regions: ["good": OwnedGallery.region("good")])
    try store.change(
      RegistrationDocuments.changes(to: sources, from: SiteSources(declared: OwnedGallery.site))
    )
    try store.change([
      DocumentChange(kind: "http.region", key: "shop/bad", document: Array("{\"uuid\":7".utf8)),
      DocumentChange(kind: "http.region", key: "%%%", document: Array("{}".utf8)),
    ])
    var read = SiteSources(declared: OwnedGallery.site)
    try RegistrationDocuments.read(from: store, into: &read, logger: OwnedGallery.logger)
    #expect(read == sources)
    #expect(try store.documents(kind: "http.region").map(\.key) == ["%%%", "shop/bad", "shop/good"])
  }

  @Test(
    "an observer and a zone of the site file hide those of the same name, and neighbours that are gone are left out"
  )
  func places() throws {
    let (desk, roof) = (try #require(ObserverID("front-desk")), try #require(ObserverID("roof")))
    var sources = SiteSources(declared: OwnedGallery.site, accepted: [roof])
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
