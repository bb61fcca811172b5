import PharosModel
import PharosRooms
import PharosTestSupport
import Testing

/// One picture: a line for each observer, which stands in the zone of its letter, a column for each second.
///
/// A digit is a level (`5` is −50 dBm), `-` silence, `D` and `U` an observer that goes down or comes back, `L` one that proves that it
/// lives.
@Suite("Zones")
struct ZoneTests {
  private static func zones(_ adjacent: [String: [String]] = [:]) -> [Zone] {
    ["a", "b", "c"].map { Zone(identifier: $0, observers: [.name($0)], adjacent: adjacent[$0] ?? []) }
  }

  private static func run(
    _ lines: [String],
    zones: [Zone] = zones(),
    regions: [Region] = [LinkScript.region()],
    until seconds: Double = 200
  ) -> [Event] {
    var links: [StageLink] = []
    for (row, line) in lines.enumerated() {
      let name = ["a", "b", "c"][row]
      for (second, mark) in line.enumerated() {
        switch mark {
        case "-": break
        case "D": links.append(LinkScript.link(name, isUp: false, at: Double(second)))
        case "U": links.append(LinkScript.link(name, isUp: true, at: Double(second)))
        case "L": links.append(LinkScript.life(name, at: Double(second)))
        default:
          let level = -10 * Double(mark.wholeNumberValue ?? 0)
          links.append(LinkScript.summary(name, level, at: Double(second)))
        }
      }
    }
    return LinkScript.events(LinkScript.site(regions, zones: zones), links, until: seconds)
  }

  private static func words(_ events: [Event]) -> [String] {
    events.map { event in
      let verbs: [EventKind: String] = [
        .zoneEnter: "+", .zoneExit: "-", .zoneUnmonitored: "?", .zoneMonitored: "!", .zoneHoldExceeded: "*",
      ]
      let verb = verbs[event.kind] ?? event.kind.type
      return "\(verb)\(event.region)@\(Int((event.time - LinkScript.start).seconds))"
    }
  }

  @Test("a first zone is entered once it has been heard three times and is clearly ahead")
  func enter() throws {
    let events = Self.run(["66666666", "88888888"], until: 7)
    #expect(Self.words(events) == ["+a@1"])
    let move = try #require(events.first?.move)
    #expect(move.from == nil && move.to == "a" && move.reason == .margin)
    #expect(move.margin == 20)
    #expect(move.dwell == .zero)
    #expect(try #require(move.probability) >= 0.9)
    #expect(move.runnerUp?.zone == "b")
    #expect(try #require(move.runnerUp).probability < 0.1)
    #expect(move.hearings.map(\.observer) == [.name("a"), .name("b")])
    #expect(move.hearings.map(\.level) == [-60, -80])
  }

  @Test("without the margin nothing is sure, and nothing is published")
  func notSureAtFirst() {
    #expect(Self.run(["66666666", "66666666"], until: 7).isEmpty)
  }

  @Test("a walk from one zone into the next changes zones once")
  func walk() {
    let steps = [String(repeating: "5", count: 15) + String(repeating: "8", count: 25)]
    let other = String(repeating: "8", count: 15) + String(repeating: "5", count: 25)
    let events = Self.run(steps + [other], until: 40)
    #expect(
      events.map(\.kind) == [.zoneEnter, .zoneExit, .zoneEnter]
        || events.map(\.kind) == [.zoneEnter, .zoneEnter, .zoneExit]
    )
    #expect(Set(Self.words(events).map { $0.prefix(2) }) == ["+a", "-a", "+b"])
    let exit = events.first { $0.kind == .zoneExit }
    let delay = exit.map { ($0.time - LinkScript.time(15)).seconds } ?? .infinity
    #expect(delay > 0 && delay <= 6, "the change took \(delay) s")
  }

  @Test("a body in the way for two seconds changes nothing")
  func shadow() {
    let events = Self.run(["555555555588555555555555", "777777777777777777777777"], until: 23)
    #expect(Self.words(events) == ["+a@1"])
  }

  @Test("where time jumps by a century nothing is looked at on the way, and a proof of life settles it soon")
  func silenceOfACentury() {
    let century = 3.2e9
    var links = (0..<6).map { LinkScript.summary("a", -50, at: Double($0)) }
    links.append(LinkScript.life("a", at: 6))
    let site = LinkScript.site(zones: Self.zones())
    // It is unknown whether the observer is alive, so its silence proves nothing.
    #expect(Self.words(LinkScript.events(site, links, until: century)) == ["+a@1"])
    links.append(LinkScript.life("a", at: century))
    #expect(Self.words(LinkScript.events(site, links, until: century)) == ["+a@1"])
    let events = LinkScript.events(site, links, until: century + 1)
    #expect(Self.words(events).map { $0.prefix(2) } == ["+a", "-a"])
    #expect(events.last?.move?.reason == .silence)
    // Who hears it again after all that time is believed at once.
    links.append(LinkScript.link("a", isUp: false, at: 7))
    links += (0..<6).map { LinkScript.summary("b", -50, at: century + Double($0)) }
    let handed = LinkScript.events(site, links, until: century + 10)
    #expect(Self.words(handed).map { $0.prefix(2) } == ["+a", "?a", "*a", "-a", "+b"])
    #expect(handed[1].move?.reason == .observerDown)
    #expect(handed[1].decidedAt <= LinkScript.time(8))
    #expect(handed[3].decidedAt <= LinkScript.time(century + 3))
  }

  @Test("a single loud advert changes nothing")
  func spike() {
    var links = (0..<20).map { LinkScript.summary("a", -60, at: Double($0)) }
    links.append(LinkScript.summary("b", -30, at: 10, count: 1))
    let events = LinkScript.events(LinkScript.site(zones: Self.zones()), links, until: 19)
    #expect(Self.words(events) == ["+a@1"])
  }

  @Test("a zone that is not adjacent is believed only after the longer dwell")
  func adjacency() {
    let near = String(repeating: "5", count: 10) + String(repeating: "9", count: 50)
    let far = String(repeating: "9", count: 10) + String(repeating: "5", count: 50)
    let open = Self.run([near, far], until: 59)
    let walled = Self.run([near, far], zones: Self.zones(["a": ["c"]]), until: 59)
    let first = open.first { $0.region == "b" }?.time ?? .distantFuture
    let second = walled.first { $0.region == "b" }?.time ?? .distantFuture
    #expect((second - first).seconds >= 9)
    #expect(walled.first { $0.region == "b" }?.move?.dwell == .seconds(10))
  }

  @Test("silence at all observers ends the stay")
  func silence() {
    let events = Self.run([String(repeating: "6", count: 40)])
    #expect(events.map(\.kind) == [.zoneEnter, .zoneExit])
    #expect(events.last?.move?.reason == .silence)
    let gap = events.last.map { ($0.time - LinkScript.time(39)).seconds } ?? 0
    #expect(gap >= 10 && gap <= 30, "left after \(gap) s")
  }

  @Test("silence of a loud live observer counts against its zone")
  func silentRoom() {
    let events = Self.run([String(repeating: "5", count: 20), String(repeating: "7", count: 60)], until: 59)
    #expect(Set(Self.words(events).map { $0.prefix(2) }) == ["+a", "-a", "+b"])
  }

  @Test("an observer that goes down leaves its beacons where they are, unmonitored")
  func outage() {
    let dead = String(repeating: "5", count: 20) + "D"
    let next = String(repeating: "7", count: 180)
    let events = Self.run([dead, next], until: 179)
    #expect(Self.words(events) == ["+a@1", "?a@20"])
    #expect(events.last?.move?.reason == .observerDown)
    #expect(events.last?.move?.to == "a")
  }

  @Test("the silence of an observer without a sign of life since is no silence of its beacons")
  func unproven() {
    let heard = String(repeating: "5", count: 20)
    let dead = Self.run([heard + "L" + String(repeating: "-", count: 39) + "D"])
    #expect(dead.map(\.kind) == [.zoneEnter, .zoneUnmonitored])
    let alive = Self.run([heard + String(repeating: "L", count: 40) + "D"])
    #expect(alive.map(\.move?.reason) == [.margin, .silence])
  }

  @Test("a beacon that walks away during the outage is found next door")
  func movedDuringOutage() {
    let dead = String(repeating: "5", count: 20) + "D"
    let next = String(repeating: "7", count: 40) + String(repeating: "5", count: 40)
    let events = Self.run([dead, next], until: 79)
    #expect(Set(Self.words(events).map { $0.prefix(2) }) == ["+a", "?a", "-a", "+b"])
    #expect(events.last?.move?.from == "a")
  }

  @Test("after the outage the beacon is found where it stayed")
  func recovery() {
    let dead = String(repeating: "5", count: 20) + "D---------U" + String(repeating: "5", count: 20)
    let next = String(repeating: "7", count: 60)
    let events = Self.run([dead, next], until: 50)
    #expect(Self.words(events).map { $0.prefix(2) } == ["+a", "?a", "!a"])
    #expect(events.last?.move?.reason == .confirmed)
  }

  @Test("after the outage a beacon that left meanwhile is not found again")
  func leftDuringOutage() {
    let events = Self.run([String(repeating: "5", count: 20) + "D" + String(repeating: "-", count: 20) + "U"])
    #expect(events.map(\.move?.reason) == [.margin, .observerDown, .silence])
    #expect(events.last.map { $0.decidedAt >= LinkScript.time(41 + 10) } == true)
  }

  @Test("of two observers the one that is up keeps the zone monitored, and its own silence is no exit")
  func halfDown() {
    let zones = [
      Zone(identifier: "ward", observers: [.name("a"), .name("b")]),
      Zone(identifier: "c", observers: [.name("c")]),
    ]
    let dead = String(repeating: "5", count: 20) + "D"
    let live = String(repeating: "6", count: 40) + String(repeating: "L", count: 100)
    #expect(Self.words(Self.run([dead, live], zones: zones)).map { $0.prefix(2) } == ["+w", "?w"])
    let heard = String(repeating: "6", count: 140)
    #expect(Self.words(Self.run([dead, heard], zones: zones, until: 139)).map { $0.prefix(2) } == ["+w"])
  }

  @Test("a beacon that stays unmonitored for the hold of its regions raises one alarm")
  func hold() throws {
    var links = (0..<20).map { LinkScript.summary("a", -50, at: Double($0)) }
    links.append(LinkScript.presence("a", .inside, at: 1))
    links.append(LinkScript.link("a", isUp: false, at: 20))
    let site = LinkScript.site([LinkScript.region(hold: .seconds(60))], zones: Self.zones())
    let events = LinkScript.events(site, links, until: 500).filter { $0.move != nil }
    #expect(Self.words(events).map { $0.prefix(2) } == ["+a", "?a", "*a"])
    let alarm = try #require(events.last)
    #expect((alarm.time - LinkScript.time(20)).seconds.rounded() == 60)
    #expect(alarm.move?.to == "a")
  }

  @Test("a region that holds the beacon keeps its room")
  func regionHolds() {
    let heard = (0..<40).map { LinkScript.summary("a", -60, at: Double($0)) }
    let alive = (0..<200).map { LinkScript.life("a", at: Double($0)) }
    let inside = [LinkScript.presence("a", .inside, at: 1)]
    let gone = [LinkScript.presence("a", .outside, at: 120, lastHeard: 39)]
    let site = LinkScript.site(zones: Self.zones())
    let held = LinkScript.events(site, heard + alive + inside, until: 199).filter { $0.move != nil }
    #expect(Self.words(held) == ["+a@1"])
    let left = LinkScript.events(site, heard + alive + inside + gone, until: 199).filter { $0.move != nil }
    #expect(Self.words(left).map { $0.prefix(2) } == ["+a", "-a"])
    #expect(
      left.last.map { $0.decidedAt >= LinkScript.time(120) && $0.decidedAt < LinkScript.time(122) } == true
    )
  }

  @Test(
    "gaps of an observer end no room by silence while the region holds the beacon",
    arguments: Seeds.fixed(0..<8 as Range<UInt64>)
  )
  func neverBeforeTheRegion(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let allowed = Double.random(in: 12...120, using: &random)
    var links: [StageLink] = [LinkScript.presence("a", .inside, at: 0)]
    var holds: [ClosedRange<Double>] = []
    var (now, since, isLongAway) = (0.0, 0.0, false)
    while now < 3_000 {
      links.append(LinkScript.summary("a", -60, at: now))
      let isLong = Int.random(in: 0..<20, using: &random) == 0
      let next = now + (isLong ? Double.random(in: 2...200, using: &random) : 0.5)
      if next - now > allowed {
        holds.append(since...(now + allowed))
        links.append(LinkScript.presence("a", .outside, at: now + allowed, lastHeard: now))
        links.append(LinkScript.presence("a", .inside, at: next))
        isLongAway = isLongAway || next - now > allowed + 60
        since = next
      }
      now = next
    }
    holds.append(since...now)
    links += (0..<Int(now)).map { LinkScript.life("a", at: Double($0) + 0.25) }
    let exits = LinkScript.events(LinkScript.site(zones: Self.zones()), links, until: now).filter {
      $0.kind == .zoneExit
    }
    #expect(!isLongAway || !exits.isEmpty)
    for exit in exits {
      let at = (exit.decidedAt - LinkScript.start).seconds
      #expect(exit.move?.reason == .silence)
      #expect(
        !holds.contains { $0.lowerBound < at && at < $0.upperBound },
        "ended at \(at) s, allowed \(allowed) s"
      )
    }
  }

  @Test(
    "no threshold is crossed while an observer of the zone is down, and the number is compared once it is back"
  )
  func occupancyWaits() {
    var zones = Self.zones()
    zones[0].occupancy = [OccupancyThreshold(above: 0, below: 1)]
    let site = LinkScript.site(zones: zones)
    var links = (0..<20).map { LinkScript.summary("a", -50, at: Double($0)) }
    links.append(LinkScript.link("a", isUp: false, at: 20))
    let words = { (links: [StageLink]) in
      LinkScript.events(site, links, until: 200).compactMap { event -> String? in
        guard case .occupancy(let transition) = event.detail else { return nil }
        return "\(transition.direction.rawValue)@\(Int((event.time - LinkScript.start).seconds))"
      }
    }
    #expect(words(links) == ["above@2"])
    // It walks next door, and its room may have been entered by others meanwhile.
    let moved = (21..<80).map { LinkScript.summary("b", -50, at: Double($0)) }
    #expect(words(links + moved) == ["above@2"])
    links.append(LinkScript.link("a", isUp: true, at: 80))
    #expect(words(links + moved) == ["above@2", "below@80"])
  }

  @Test("a zone beaten without a clear winner is left as not sure")
  func notSure() {
    let own = String(repeating: "5", count: 10) + String(repeating: "9", count: 40)
    let left = String(repeating: "9", count: 10) + String(repeating: "5", count: 40)
    let events = Self.run([own, left, left], until: 49)
    #expect(Self.words(events).map { $0.prefix(2) } == ["+a", "-a"])
    #expect(events.last?.move?.reason == .notSure)
  }

  @Test("a beacon that speaks every ten seconds keeps its zone")
  func slowBeacon() {
    let line = String(repeating: "6---------", count: 20)
    let events = Self.run([line], until: 195)
    #expect(events.map(\.kind) == [.zoneEnter])
  }

  @Test("a zone places the beacons that it lists, otherwise those that a region asks about")
  func placedBeacons() {
    let other = BeaconID.proximity(UUID128(high: 1, low: 2), major: 3, minor: 4)
    let links = (0..<10).flatMap {
      [
        LinkScript.summary("a", -60, at: Double($0), beacon: other),
        LinkScript.summary("b", -60, at: Double($0)),
      ]
    }
    var zones = Self.zones()
    #expect(LinkScript.events(LinkScript.site(zones: zones), links, until: 9).map(\.region) == ["b"])
    zones[0].beacons = [.proximity(UUID128(high: 1, low: 2))]
    #expect(
      LinkScript.events(LinkScript.site(zones: zones), links, until: 9).map(\.region) == ["b", "a"].sorted()
    )
  }

  @Test(
    "a beacon is in one zone at a time, and enters and exits alternate",
    arguments: [1, 2, 3, 4, 5] as [UInt64]
  )
  func invariants(seed: UInt64) {
    let links = RandomLinks.make(seed: seed, count: 4_000)
    let events = LinkScript.events(LinkScript.site(zones: Self.zones()), links, until: 5_000)
    var zone: [SubjectID: String] = [:]
    for group in RandomLinks.byInstant(events.filter { $0.move != nil }) {
      for event in group where event.kind == .zoneExit {
        #expect(zone[event.subject] == event.region)
        zone[event.subject] = nil
      }
      for event in group where event.kind == .zoneEnter {
        #expect(zone[event.subject] == nil)
        zone[event.subject] = event.region
      }
    }
    #expect(events.contains { $0.kind == .zoneEnter })
  }
}
