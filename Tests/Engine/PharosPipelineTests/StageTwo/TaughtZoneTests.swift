import PharosDocuments
import PharosModel
import PharosPipeline
import PharosRooms
import PharosTestSupport
import Testing

/// Zones with fingerprints: two rooms where the gateway of the one is the louder one in both.
@Suite("Taught zones")
struct TaughtZoneTests {
  private static let names = ["a", "b", "c"]
  /// The levels of a beacon in room a and in room b: gateway a is the loudest in both.
  private static let levels = ["a": [-60.0, -75, -85], "b": [-64.0, -68, -66]]

  /// The rooms, taught or not.
  private static func site(isTaught: Bool, learnedAt: Timestamp = LinkScript.start) -> Site {
    let zones = ["a", "b"].map { name in
      var zone = Zone(identifier: name, observers: [.name(name)])
      if name == "b" { zone.observers.append(.name("c")) }
      guard isTaught else { return zone }
      zone.fingerprint = ZoneFingerprint(
        levels: zip(names, levels[name] ?? []).map {
          ZoneFingerprint.Level(observer: .name($0), mean: $1, deviation: 3, heard: 1)
        },
        looks: 60,
        learnedAt: learnedAt
      )
      return zone
    }
    return LinkScript.site(zones: zones)
  }

  /// A beacon that rests a minute in each of some rooms, its levels drawn.
  private static func links(_ rooms: [String], power: Double = 0, seed: UInt64) -> [StageLink] {
    var chance = SeededGenerator(seed: seed)
    return rooms.enumerated().flatMap { index, room in
      (0..<60).flatMap { second in
        zip(names, levels[room] ?? []).map { name, level in
          let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &chance) }
          return LinkScript.summary(name, level + power + 1.5 * noise, at: Double(60 * index + second))
        }
      }
    }
  }

  /// The share of the seconds from the twentieth of each stay on in which the zone is right.
  private static func right(_ rooms: [String], _ events: [Event]) -> Double {
    var count = 0
    for (index, room) in rooms.enumerated() {
      for second in 20..<60 {
        let instant = LinkScript.time(Double(60 * index + second))
        let last = events.last { ($0.kind == .zoneEnter || $0.kind == .zoneExit) && $0.decidedAt <= instant }
        if last?.move?.to == room { count += 1 }
      }
    }
    return Double(count) / Double(rooms.count * 40)
  }

  private static let rooms = ["a", "b", "a", "b"]

  @Test(
    "rooms that the loudest gateway cannot separate are separated by taught levels",
    arguments: Seeds.fixed(0..<10)
  )
  func apart(seed: UInt64) {
    let links = Self.links(Self.rooms, seed: seed)
    let untaught = LinkScript.events(Self.site(isTaught: false), links, until: 240)
    let taught = LinkScript.events(Self.site(isTaught: true), links, until: 240)
    #expect(Self.right(Self.rooms, untaught) < 0.6)
    #expect(Self.right(Self.rooms, taught) > 0.95)
    let moves = taught.compactMap(\.move)
    #expect(moves.count >= 4 && moves.allSatisfy { $0.reason == .fingerprint && $0.margin == nil })
    #expect(moves.allSatisfy { $0.probability ?? 0 > 0.5 })
  }

  @Test("a beacon of another power is in the same rooms", arguments: [-6.0, 6])
  func power(power: Double) {
    let links = Self.links(Self.rooms, power: power, seed: 3)
    #expect(Self.right(Self.rooms, LinkScript.events(Self.site(isTaught: true), links, until: 240)) > 0.9)
  }

  @Test("a fingerprint of years ago does not count")
  func age() {
    let links = Self.links(Self.rooms, seed: 4)
    let old = LinkScript.start - .minutes(3 * 365 * 24 * 60)
    let events = LinkScript.events(Self.site(isTaught: true, learnedAt: old), links, until: 240)
    #expect(events == LinkScript.events(Self.site(isTaught: false), links, until: 240))
  }

  @Test("without the fingerprints everything is decided as before, to the byte")
  func removal() {
    let links = Self.links(Self.rooms, seed: 5)
    var taught = StageTwo(site: Self.site(isTaught: true))
    var other = StageTwo(site: Self.site(isTaught: false))
    var (events, others) = ([Event](), [Event]())
    // Removed before anything is heard: the plan is the only difference that there was.
    taught.apply(.declare(Self.site(isTaught: false)), at: LinkScript.start - .seconds(1), into: &events)
    for link in links.sorted(by: StageLink.isOrderedBefore) {
      taught.restore(link, into: &events)
      other.restore(link, into: &others)
    }
    taught.advance(to: LinkScript.time(240), into: &events)
    other.advance(to: LinkScript.time(240), into: &others)
    #expect(events == others && !events.isEmpty)
  }

  @Test("teaching and forgetting while beacons are heard keeps their zones")
  func edits() {
    var stage = StageTwo(site: Self.site(isTaught: false))
    var events: [Event] = []
    let links = Self.links(Self.rooms, seed: 6).sorted(by: StageLink.isOrderedBefore)
    for (index, isTaught) in [(0, true), (1, false), (2, true), (3, false)] {
      let start = LinkScript.time(Double(60 * index))
      for link in links where link.decidedAt >= start && link.decidedAt < start + .seconds(60) {
        stage.restore(link, into: &events)
      }
      let count = events.count
      stage.apply(.declare(Self.site(isTaught: isTaught)), at: start + .seconds(60), into: &events)
      #expect(events.dropFirst(count).allSatisfy { $0.kind != .zoneExit })
    }
  }

  @Test("a state goes on after a restart as if there had been none")
  func restart() throws {
    let links = Self.links(Self.rooms, seed: 8).sorted(by: StageLink.isOrderedBefore)
    var stage = StageTwo(site: Self.site(isTaught: true))
    var (events, others) = ([Event](), [Event]())
    for link in links.prefix(links.count / 2) { stage.restore(link, into: &events) }
    var writer = FieldWriter()
    stage.writeState(to: &writer)
    var restored = StageTwo(site: Self.site(isTaught: true))
    var reader = FieldReader(writer.bytes[...])
    try restored.restoreState(from: &reader)
    events = []
    for link in links.dropFirst(links.count / 2) {
      stage.restore(link, into: &events)
      restored.restore(link, into: &others)
    }
    stage.advance(to: LinkScript.time(240), into: &events)
    restored.advance(to: LinkScript.time(240), into: &others)
    #expect(events == others && !events.isEmpty)
  }
}
