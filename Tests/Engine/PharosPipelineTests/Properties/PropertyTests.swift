import PharosModel
import PharosPipeline
import Testing

@Suite("Invariants of every world")
struct PropertyTests {
  /// The worlds; a failure names the seed, and the same seed makes the same world.
  static let seeds: Range<UInt64> = 0..<14

  @Test(
    "enter and exit alternate, states follow one another, times are in order, ids are used once",
    arguments: seeds
  )
  func stream(seed: UInt64) throws {
    let world = World(seed: seed)
    let played = try world.play()
    var check = StreamCheck(RegionBook(world.site))
    for entry in played.log {
      switch entry {
      case .events(let events): for event in events { check.receive(event) }
      case .change(let change, _): check.follow(change)
      }
    }
    check.finish()
    #expect(check.complaints.isEmpty, "seed \(seed)")
    let inside = check.rows.filter { $0.value.state == .inside }.map(\.key)
    let board = played.inside.map {
      StreamCheck.Key(application: $0.application, region: $0.region, subject: $0.subject)
    }
    #expect(Set(inside).isSubset(of: board), "seed \(seed): a subject is missing")
    // A subject that an application assumes to be inside when it registers a region is inside without an event.
    let assumed = world.inputs.compactMap { input -> [String]? in
      guard case .change(.startMonitoring(let application, let region, assuming: .inside), _) = input else {
        return nil
      }
      return [application, region.identifier]
    }
    for key in Set(board).subtracting(inside) {
      #expect(
        assumed.contains([key.application, key.region]),
        "seed \(seed): \(key) is listed without an event"
      )
    }
  }

  @Test("a beacon inside a region is inside the enclosing regions, at every instant", arguments: seeds)
  func nesting(seed: UInt64) throws {
    let world = World(seed: seed)
    var check = NestingCheck(RegionBook(world.site))
    for entry in try world.play().log {
      switch entry {
      case .events(let events): for event in events { check.receive(event) }
      case .change(let change, let instant): check.follow(change, at: instant)
      }
    }
    check.finish()
    #expect(check.complaints.isEmpty, "seed \(seed)")
    #expect(check.children > 0, "seed \(seed): no subject was ever inside a child")
  }

  @Test(
    "no subject is inside long after the last advert, unless silence proves nothing",
    arguments: seeds.prefix(10)
  )
  func ending(seed: UInt64) throws {
    let world = World(seed: seed)
    let played = try world.play(tail: .minutes(30))
    var book = RegionBook(world.site)
    for case .change(let change, _) in played.log { _ = book.follow(change) }
    for standing in played.inside {
      let region = try #require(book.region(standing.application, standing.region))
      #expect(region.presence.silence == .never, "seed \(seed): \(standing)")
    }
  }

  @Test("the worlds are rich: each kind of event and each rule occurs in some of them")
  func richness() throws {
    var kinds: Set<EventKind> = []
    var rules: Set<Evidence.Rule> = []
    for seed in PropertyTests.seeds.prefix(8) {
      for event in try World(seed: seed).events() {
        kinds.insert(event.kind)
        if case .region(let transition) = event.detail { rules.insert(transition.evidence.rule) }
      }
    }
    let expected: Set<EventKind> = [
      .regionState, .regionEnter, .regionExit, .regionUnmonitored, .ranging, .observerOnline,
      .observerOffline,
      .observerRestarted, .regionHoldExceeded,
    ]
    #expect(expected.subtracting(kinds).isEmpty)
    let decisive: Set<Evidence.Rule> = [
      .samples, .level, .adaptiveSilence, .fixedSilence, .neverHeard, .observerOutage, .scanOff, .recovery,
      .alreadyInside, .requested, .displayOn,
    ]
    #expect(decisive.subtracting(rules).isEmpty)
  }
}

extension World {
  /// All events, whatever changed in between.
  func events() throws -> [Event] {
    try play().log.flatMap { entry -> [Event] in
      if case .events(let events) = entry { events } else { [] }
    }
  }
}
