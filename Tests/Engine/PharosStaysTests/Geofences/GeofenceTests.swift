import PharosDocuments
import PharosModel
import PharosPipeline
import PharosStays
import PharosTestSupport
import Testing

@Suite("Geofences in stage two")
struct GeofenceTests {
  /// A character a second: `o` 40 m outside, `i` in the middle, `e` on the edge, `-` no fix.
  private static func picture(_ fixes: String, accuracy: Double = 3, radius: Double = 10) -> String {
    var links: [StageLink] = []
    for (second, character) in fixes.enumerated() where character != "-" {
      let east = character == "i" ? 0 : character == "e" ? radius : radius + 40
      links.append(GeofenceScript.fix(east, at: Double(second), accuracy: accuracy))
    }
    let site = GeofenceScript.site([("yard", GeofenceScript.circle(radius))])
    let events = GeofenceScript.events(site, links, until: Double(fixes.count - 1))
    var picture = Array(repeating: Character("-"), count: fixes.count)
    for event in events {
      let second = Int((event.decidedAt - GeofenceScript.start).seconds)
      switch event.kind {
      case .regionEnter: picture[second] = "E"
      case .regionExit: picture[second] = "X"
      case .regionUnmonitored: picture[second] = "U"
      default: break
      }
    }
    return String(picture)
  }

  @Test(
    "a subject enters and leaves after the dwell, and not by a fix on the edge",
    arguments: [
      ("ooooiiiiiioooooo", "------E-----X---"),
      ("iiiiii", "--E---"),
      ("ooooioooooo", "-----------"),
      ("ooooeeeeeeeeeeeee", "-----------------"),
      ("iiiieeeeeeeeeeeii", "--E--------------"),
      ("iiiiiioiiiiii", "--E----------"),
      ("ii--iiiii", "----E----"),
    ]
  )
  func dwell(fixes: String, expected: String) {
    #expect(Self.picture(fixes, accuracy: 2) == expected)
  }

  @Test(
    "a subject without fixes becomes unmonitored, which is no exit, and is compared when it is located again"
  )
  func stale() {
    let gap = String(repeating: "-", count: 40)
    let found = Self.picture("iiiiii" + gap + "iiii" + gap + "oooo", accuracy: 2)
    #expect(found.filter { $0 != "-" } == "EUUX")
    #expect(found.firstIndex(of: "U").map { found.distance(from: found.startIndex, to: $0) } == 35)
  }

  /// An outage ends a location at the time of its decision, and fixes come late: they are older than the outage.
  @Test("the times of a geofence never go back, though fixes after an outage are older than the outage")
  func times() throws {
    var yard = GeofenceScript.circle(10)
    yard.policy.enterDwell = .zero
    yard.policy.exitDwell = .zero
    var links = (0..<6).map { GeofenceScript.fix(0, at: Double($0), accuracy: 1, lag: 10) }
    links += (0..<3).map { GeofenceScript.fix(40, at: 36 + 0.2 * Double($0), accuracy: 1, lag: 10) }
    links += (0..<15).map { GeofenceScript.fix(0, at: 37 + 0.2 * Double($0), accuracy: 1, lag: 10) }
    let events = GeofenceScript.events(GeofenceScript.site([("yard", yard)]), links, until: 41)
      .filter { $0.kind.group != .state }
    #expect(events.map(\.kind) == [.regionEnter, .regionUnmonitored, .regionExit, .regionEnter])
    for (event, next) in zip(events, events.dropFirst()) {
      #expect(event.time <= next.time, "\(event.kind) at \(event.time), \(next.kind) at \(next.time)")
    }
    let exit = try #require(events.first { $0.kind == .regionExit }?.transition)
    #expect(exit.enteredAt == events[0].time)
  }

  @Test("fixes coarser than the geofence neither enter nor leave it, unless they are far from it for long")
  func coarse() {
    let links =
      (0..<5).map { GeofenceScript.fix(0, at: Double($0), accuracy: 2) }
      + (5..<60).map { GeofenceScript.fix(Double($0 % 2 == 0 ? 15 : -15), at: Double($0), accuracy: 40) }
    let site = GeofenceScript.site([("yard", GeofenceScript.circle(10))])
    #expect(GeofenceScript.words(GeofenceScript.events(site, links, until: 60)) == ["enter yard @2"])
    let coarse = (0..<60).map { GeofenceScript.fix(0, at: Double($0), accuracy: 40) }
    #expect(GeofenceScript.words(GeofenceScript.events(site, coarse, until: 60)) == [])
    let gone =
      (0..<5).map { GeofenceScript.fix(0, at: Double($0), accuracy: 2) }
      + (5..<60).map { GeofenceScript.fix(400, at: Double($0), accuracy: 40) }
    #expect(
      GeofenceScript.words(GeofenceScript.events(site, gone, until: 60)).map { $0.prefix(5) } == [
        "enter", "exit ",
      ]
    )
  }

  @Test("a fast walker passes a narrow gate between two fixes, and one beside it does not")
  func gate() throws {
    let site = GeofenceScript.site([("gate", GeofenceScript.rectangle(-1...1, -4...4))])
    let through = (0..<20).map { GeofenceScript.fix(-30 + 3 * Double($0) + 1, at: Double($0), accuracy: 1) }
    let events = GeofenceScript.events(site, through, until: 20)
    #expect(GeofenceScript.words(events).map { $0.prefix(10) } == ["enter gate", "exit gate "])
    let enter = try #require(events.first { $0.kind == .regionEnter }?.transition)
    #expect(enter.evidence.rule == .crossing)
    #expect((enter.evidence.geofence?.probability ?? 0) >= 0.9)
    let beside = (0..<20).map { GeofenceScript.fix(-30 + 3 * Double($0), 5, at: Double($0), accuracy: 1) }
    #expect(GeofenceScript.words(GeofenceScript.events(site, beside, until: 20)) == [])
  }

  @Test("inside a child implies inside its parent, by area and by rotation")
  func nesting() {
    let room = Region(identifier: "room", geofence: GeofenceScript.circle(12, east: 200))
    // The wing is drawn beside the room, and above it in the tree.
    let wing = Region(identifier: "wing", geofence: GeofenceScript.rectangle(100...180, -40...40))
    let site = GeofenceScript.site(
      [
        ("table", GeofenceScript.circle(6)), ("hall", GeofenceScript.circle(30)),
      ],
      rotation: [RegionNode(region: wing, children: [RegionNode(region: room)])]
    )
    var links = (0..<6).map { GeofenceScript.fix(0, at: Double($0), accuracy: 1) }
    links += (6..<12).map { GeofenceScript.fix(60, at: Double($0), accuracy: 1) }
    links += (20..<26).map { GeofenceScript.fix(200, at: Double($0), accuracy: 1) }
    links += (26..<34).map { GeofenceScript.fix(300, at: Double($0), accuracy: 1) }
    let events = GeofenceScript.events(site, links, until: 34)
    var inside: Set<String> = []
    for event in events.sorted(by: { $0.ordinal < $1.ordinal && $0.decidedAt <= $1.decidedAt })
    where event.kind == .regionState {
      if event.transition?.to == .inside { inside.insert(event.region) } else { inside.remove(event.region) }
    }
    #expect(inside.isEmpty)
    let words = GeofenceScript.words(events)
    for region in ["table", "hall", "room", "wing"] {
      #expect(words.filter { $0.contains(" \(region) ") }.map { $0.prefix(2) } == ["en", "ex"], "\(words)")
    }
  }

  @Test("a region that is stopped falls silent, and one that is added judges from then on")
  func changes() {
    var stage = StageTwo(site: GeofenceScript.site([("yard", GeofenceScript.circle(10))]))
    var events: [Event] = []
    for second in 0..<5 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    let stop = RegionChange.stopMonitoring(application: "gallery", identifier: "yard")
    stage.apply(stop, at: GeofenceScript.time(5), into: &events)
    let other = Region(identifier: "other", geofence: GeofenceScript.circle(20, east: 5))
    let start = RegionChange.startMonitoring(application: "gallery", other)
    stage.apply(start, at: GeofenceScript.time(5), into: &events)
    for second in 6..<12 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    let subject = SubjectID.observer(GeofenceScript.visitor)
    let ask = RegionChange.requestState(application: "gallery", identifier: "other", subject: subject)
    stage.apply(ask, at: GeofenceScript.time(12), into: &events)
    stage.advance(to: GeofenceScript.time(12), into: &events)
    #expect(GeofenceScript.words(events) == ["enter yard @2", "reset yard @5", "enter other @8"])
    #expect(events.last?.transition?.isAnswer == true)
    #expect(events.last?.transition?.to == .inside)
  }

  @Test("a state that is written and restored goes on with the same events")
  func restored() throws {
    let site = GeofenceScript.site([
      ("yard", GeofenceScript.circle(10)), ("gate", GeofenceScript.rectangle(30...32, -9...9)),
    ])
    let links = (0..<60).map { second in
      GeofenceScript.fix(Double(second % 40) - 2, at: Double(second), accuracy: 1.5)
    }
    let whole = GeofenceScript.events(site, links, until: 120)
    #expect(whole.count >= 8)
    for cut in stride(from: 3, to: 60, by: 7) {
      var first = StageTwo(site: site)
      var events: [Event] = []
      for link in links[..<cut] { first.decide(by: link, into: &events) }
      first.advance(to: GeofenceScript.time(Double(cut) - 0.5), into: &events)
      var writer = FieldWriter()
      first.writeState(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      var second = StageTwo(site: site)
      try second.restoreState(from: &reader)
      for link in links[cut...] { second.decide(by: link, into: &events) }
      second.advance(to: GeofenceScript.time(120), into: &events)
      #expect(events.sorted(by: Event.isOrderedBefore) == whole)
    }
  }

  @Test("after a restart without a checkpoint a subject goes on from what was published")
  func resumed() {
    let site = GeofenceScript.site([("yard", GeofenceScript.circle(10))])
    let before = (0..<5).map { GeofenceScript.fix(0, at: Double($0)) }
    let published = StateTable(after: GeofenceScript.events(site, before, until: 5)).state
    var stage = StageTwo(site: site)
    var events: [Event] = []
    stage.resume(at: GeofenceScript.time(100), publishedState: published, into: &events)
    for second in 101..<105 { stage.decide(by: GeofenceScript.fix(0, at: Double(second)), into: &events) }
    #expect(events.isEmpty)
    for second in 105..<112 { stage.decide(by: GeofenceScript.fix(90, at: Double(second)), into: &events) }
    #expect(GeofenceScript.words(events).map { $0.prefix(9) } == ["exit yard"])
    var silent = StageTwo(site: site)
    events = []
    silent.resume(at: GeofenceScript.time(100), publishedState: published, into: &events)
    silent.advance(to: GeofenceScript.time(140), into: &events)
    #expect(GeofenceScript.words(events) == ["unmonitored yard @130"])
  }

  @Test("neither ticks between fixes nor other subjects change what is decided")
  func invariance() {
    var generator = SeededGenerator(seed: 7)
    let site = GeofenceScript.site([
      ("yard", GeofenceScript.circle(8)), ("hall", GeofenceScript.circle(25, east: 10)),
    ])
    var east = 30.0
    let links = (0..<600).map { second in
      east += Double.random(in: -4...4, using: &generator)
      return GeofenceScript.fix(east, Double.random(in: -3...3, using: &generator), at: Double(second))
    }
    let whole = GeofenceScript.events(site, links, until: 700)
    var stage = StageTwo(site: site)
    var events: [Event] = []
    for (second, link) in links.enumerated() {
      stage.decide(by: GeofenceScript.fix(0, at: Double(second), of: .name("another")), into: &events)
      stage.decide(by: link, into: &events)
      if second % 3 == 0 { stage.advance(to: GeofenceScript.time(Double(second)), into: &events) }
    }
    stage.advance(to: GeofenceScript.time(700), into: &events)
    let own = events.filter { $0.subject == .observer(GeofenceScript.visitor) }.sorted(
      by: Event.isOrderedBefore
    )
    #expect(own == whole)
  }
}
