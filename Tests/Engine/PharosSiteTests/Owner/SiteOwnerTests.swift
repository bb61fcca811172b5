import PharosDocuments
import PharosModel
import PharosSite
import Testing

@Suite("The owner of the site")
struct SiteOwnerTests {
  private let store = MemoryDocuments()

  private func owner(of declared: Site = OwnedGallery.site) throws -> SiteOwner {
    try SiteOwner(declared: declared, store: store, logger: OwnedGallery.logger)
  }

  @Test("an edited site gives the changes that lead to it once, from the site that it takes the place of")
  func adoption() throws {
    let first = Site(applications: [Application(identifier: "a", regions: [OwnedGallery.region("one")])])
    var second = first
    second.applications[0].regions = [OwnedGallery.region("two")]
    let owner = SiteOwner(declared: first)
    _ = try owner.carryOut(.changes([.startMonitoring(application: "a", OwnedGallery.region("own"))]))
    #expect(
      try owner.carryOut(.file(second)) == [
        .stopMonitoring(application: "a", identifier: "one"),
        .startMonitoring(application: "a", OwnedGallery.region("two")),
      ]
    )
    #expect(try owner.carryOut(.file(second)).isEmpty)
    #expect(owner.site.applications[0].regions.map(\.identifier) == ["own", "two"])
    // A refused file changes nothing.
    let before = owner.site
    second.applications[0].regionLimit = 1
    #expect(throws: RegionRefusal.self) { try owner.carryOut(.file(second)) }
    #expect(owner.site == before)
    #expect(owner.sources.declared.applications[0].regionLimit == Application.defaultRegionLimit)
  }

  @Test("registrations leave the file's declarations as they are, and an edited file is merged with them")
  func registrations() throws {
    let (one, own) = (OwnedGallery.region("one"), OwnedGallery.region("own"))
    let owner = SiteOwner(declared: Site(applications: [Application(identifier: "a", regions: [one])]))
    var sources = owner.sources
    sources.made["a"] = MadeApplication(regions: ["own": own])
    sources.zones["hall"] = Zone(identifier: "hall", observers: [OwnedGallery.desk])
    let changes: [RegionChange] = [
      .declare(sources.settings), .startMonitoring(application: "a", own),
    ]
    #expect(try owner.carryOut(.changes(changes, sources: sources)) == changes)
    #expect(owner.sources == sources)
    #expect(owner.site == sources.site)
    #expect(owner.site.zones.map(\.identifier) == ["hall"])
    var file = sources.declared
    file.applications[0].regions.append(OwnedGallery.region("own", major: 9))
    #expect(
      try owner.carryOut(.file(file)) == [
        .startMonitoring(application: "a", file.applications[0].regions[1])
      ]
    )
    #expect(owner.sources.declared == file)
    // What the file no longer declares is the registration again.
    _ = try owner.carryOut(.file(sources.declared))
    #expect(owner.site == sources.site)
  }

  @Test("the settings that a program declares take the place of the file's, and its applications stay")
  func programs() throws {
    let owner = SiteOwner(declared: OwnedGallery.site)
    let settings = Site(pathLossExponent: 3)
    _ = try owner.carryOut(.changes([.declare(settings)]))
    #expect(owner.sources.declared == settings.with(OwnedGallery.site.applications))
    #expect(owner.site == owner.sources.site)
    #expect(try owner.carryOut(.file(OwnedGallery.site)) == [.declare(OwnedGallery.site.settings)])
    #expect(owner.names.given(to: .observer(OwnedGallery.desk)) == "front desk")
  }

  @Test("a registration is checked, stored and made, and the next owner finds it in the store")
  func kept() async throws {
    let owner = try owner()
    let engine = PausingEngine(owner)
    let shelf = OwnedGallery.region("shelf", major: 2)
    #expect(try await owner.put(region: shelf, application: "gallery"))
    #expect(engine.changes == [.startMonitoring(application: "gallery", shelf)])
    let attic = Zone(identifier: "attic", observers: [OwnedGallery.desk], adjacent: ["lobby"])
    #expect(try await owner.change(zones: [attic]) == ["attic"])
    #expect(owner.site == owner.sources.site)
    #expect(try self.owner().sources == owner.sources)
    try await owner.delete(region: "shelf", application: "gallery")
    #expect(engine.changes.last == .stopMonitoring(application: "gallery", identifier: "shelf"))
    #expect(try self.owner().site == owner.site)
    #expect(store.changes == 3)
  }

  @Test("a registration that the engine or the store refuses is neither stored nor made")
  func refused() async throws {
    var small = OwnedGallery.site
    small.applications[0].regionLimit = 2
    let owner = try owner(of: small)
    let engine = PausingEngine(owner)
    let refusal = RegionRefusal.regionLimitExceeded(limit: 2, application: "gallery", identifier: "more")
    await #expect(throws: refusal) {
      _ = try await owner.put(region: OwnedGallery.region("more"), application: "gallery")
    }
    store.isFull = true
    await #expect(throws: MemoryDocuments.Full.self) {
      _ = try await owner.put(region: OwnedGallery.region("more"), application: "shop")
    }
    #expect(owner.sources == SiteSources(declared: small))
    #expect(owner.site == small)
    #expect(engine.changes.isEmpty)
    #expect(store.changes == 0)
  }

  @Test("registrations that are asked for at once are made one after the other")
  func turns() async throws {
    let owner = try owner()
    let engine = PausingEngine(owner)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<25 {
        group.addTask {
          _ = try? await owner.put(region: OwnedGallery.region("r\(number)"), application: "shop")
        }
      }
    }
    #expect(engine.overlaps == 0)
    #expect(engine.changes.count == Application.defaultRegionLimit)
    #expect(owner.application("shop")?.regions.count == Application.defaultRegionLimit)
    #expect(try self.owner().sources == owner.sources)
  }

  @Test("before there is an engine only acceptances are taken, for the next start")
  func starting() async throws {
    let owner = try owner()
    await #expect(throws: RegistrationRefusal.starting) {
      _ = try await owner.put(region: OwnedGallery.region("shelf"), application: "gallery")
    }
    let roof = ObserverID.name("roof")
    try await owner.accept(roof)
    #expect(owner.site.observers.map(\.id) == [OwnedGallery.desk, roof])
    #expect(try self.owner().sources.accepted == [roof])
    #expect(try await owner.forget(roof))
    #expect(try self.owner().sources == SiteSources(declared: OwnedGallery.site))
  }

  @Test("the owner does not keep an engine that is gone")
  func released() async throws {
    let owner = try owner()
    do { _ = PausingEngine(owner) }
    await #expect(throws: RegistrationRefusal.starting) {
      _ = try await owner.put(region: OwnedGallery.region("shelf"), application: "gallery")
    }
  }

  @Test("registrations change nothing that the site file declares")
  func declared() async throws {
    let owner = try owner()
    let engine = PausingEngine(owner)
    await #expect(throws: RegistrationRefusal.declaredBySite("Region", "tags", of: "gallery")) {
      _ = try await owner.put(region: OwnedGallery.region("tags"), application: "gallery")
    }
    await #expect(throws: RegistrationRefusal.declaredBySite("Application", "gallery")) {
      _ = try await owner.put(application: "gallery", ApplicationSettings())
    }
    await #expect(throws: RegistrationRefusal.declaredBySite("Zone", "lobby")) {
      _ = try await owner.change(removing: ["lobby"])
    }
    await #expect(throws: RegistrationRefusal.declaredBySite("Observer", "front-desk")) {
      _ = try await owner.put(observer: ObserverEntry(id: OwnedGallery.desk))
    }
    await #expect(throws: RegistrationRefusal.unknownNeighbour("cellar")) {
      _ = try await owner.change(zones: [Zone(identifier: "attic", observers: [], adjacent: ["cellar"])])
    }
    #expect(engine.changes.isEmpty && store.changes == 0)
  }

  @Test("the access of an application ends in the transaction in which the site file drops it")
  func endings() async throws {
    let owner = try owner()
    let engine = PausingEngine(owner)
    func ending(_ application: String) -> PendingChange {
      PendingChange(documents: [DocumentChange(kind: "ended", key: application, document: [])])
    }
    try owner.endRemoved(ending)
    #expect(try store.documents(kind: "ended").isEmpty)
    try await owner.reload(Site(), ending: ending)
    #expect(try store.documents(kind: "ended").map(\.key) == ["gallery"])
    #expect(store.changes == 2)
    #expect(owner.site == Site())
    #expect(!engine.changes.isEmpty)
  }
}
