import PharosDocuments
import PharosModel
import PharosPipeline
import Testing

@Suite("Stage two takes over an edited site")
struct StageTwoAdoptionTests {
  private static let links = RandomLinks.make(seed: 111, count: 2_000)

  /// The first link behind the middle that begins an instant.
  private static let middle =
    (1_000..<links.count).first { links[$0].decidedAt > links[$0 - 1].decidedAt } ?? 1_000

  /// Returns the events if a site is adopted in the middle.
  private static func events(adopting next: Site?) -> [Event] {
    var stage = StageTwo(site: StateLawTests.site)
    var events: [Event] = []
    for (index, link) in links.enumerated() {
      if index == middle, let next {
        for change in StateLawTests.site.changes(to: next) {
          stage.apply(change, at: link.decidedAt - .milliseconds(1), into: &events)
        }
      }
      stage.restore(link, into: &events)
    }
    stage.advance(to: LinkScript.time(1_000), into: &events)
    return events.sorted(by: Event.isOrderedBefore)
  }

  @Test("a region more changes nothing about the others")
  func more() {
    var edited = StateLawTests.site
    edited.applications[0].regions.append(LinkScript.region("yard"))
    #expect(Self.events(adopting: edited) == Self.events(adopting: nil))
  }

  @Test("no further event of a removed region is published")
  func less() {
    var edited = StateLawTests.site
    edited.applications[0].regions = [LinkScript.region("yard")]
    let (with, without) = (Self.events(adopting: edited), Self.events(adopting: nil))
    let edge = Self.links[Self.middle].decidedAt - .milliseconds(1)
    #expect(with.filter { $0.decidedAt < edge } == without.filter { $0.decidedAt < edge })
    #expect(!with.contains { $0.decidedAt >= edge && $0.transition != nil })
    #expect(without.contains { $0.decidedAt >= edge && $0.transition != nil })
    // Zones go on: their beacons are still asked about.
    #expect(with.contains { $0.decidedAt >= edge && $0.move != nil })
  }

  @Test("zones in another order with one more keep their tags")
  func zones() {
    var edited = StateLawTests.site
    edited.zones = ["d", "c", "b", "a"].map { Zone(identifier: $0, observers: [.name($0)]) }
    var stage = StageTwo(site: StateLawTests.site)
    var events: [Event] = []
    for link in Self.links.prefix(1_000) { stage.restore(link, into: &events) }
    stage.advance(to: Self.links[999].decidedAt, into: &events)
    let before = stage.tagStandings()
    var later: [Event] = []
    for change in StateLawTests.site.changes(to: edited) {
      stage.apply(change, at: Self.links[999].decidedAt + .oneNanosecond, into: &later)
    }
    let after = stage.tagStandings()
    #expect(later.isEmpty)
    #expect(after.map(\.zone) == before.map(\.zone))
    #expect(after.map(\.hearings) == before.map(\.hearings))
    #expect(before.contains { $0.zone != nil })
  }

  @Test("a beacon leaves a removed zone, also if it is removed while the server is down")
  func removedZone() throws {
    var stage = StageTwo(site: StateLawTests.site)
    var events: [Event] = []
    for link in Self.links.prefix(1_000) { stage.restore(link, into: &events) }
    let end = Self.links[999].decidedAt
    stage.advance(to: end, into: &events)
    let zone = try #require(stage.tagStandings().compactMap(\.zone).first)
    let inside = stage.tagStandings().filter { $0.zone == zone }.map { SubjectID.beacon($0.beacon) }
    var edited = StateLawTests.site
    edited.zones.removeAll { $0.identifier == zone }
    func left(_ events: [Event]) -> [SubjectID] {
      events.filter { event in
        guard case .zone(let move) = event.detail else { return false }
        return event.kind == .zoneExit && event.region == zone && move.reason == .removed
      }
      .map(\.subject).sorted()
    }

    var live = stage
    var later: [Event] = []
    for change in StateLawTests.site.changes(to: edited) {
      live.apply(change, at: end + .oneNanosecond, into: &later)
    }
    #expect(left(later) == inside.sorted())

    var writer = FieldWriter()
    stage.writeState(to: &writer)
    var restarted = StageTwo(site: edited)
    var reader = FieldReader(writer.bytes[...])
    try restarted.restoreState(from: &reader)
    var resumed: [Event] = []
    restarted.resume(at: end + .seconds(60), publishedState: PublishedState(), into: &resumed)
    #expect(left(resumed) == inside.sorted())

    // Without a checkpoint, what was published says who was in it.
    var published = PublishedState()
    for subject in inside {
      guard case .beacon(let beacon) = subject else { continue }
      published.zones.append(PublishedState.ZoneRecord(beacon: beacon, zone: zone, time: end, decidedAt: end))
    }
    published.sort()
    var fresh = StageTwo(site: edited)
    var first: [Event] = []
    fresh.resume(at: end + .seconds(60), publishedState: published, into: &first)
    #expect(left(first) == inside.sorted())
  }

  @Test("a beacon that is erased is no beacon that a limit crowded out")
  func erased() throws {
    var stage = StageTwo(site: StateLawTests.site)
    var events: [Event] = []
    for link in Self.links.prefix(1_000) { stage.restore(link, into: &events) }
    let end = Self.links[999].decidedAt
    stage.advance(to: end, into: &events)
    let (tags, beacon) = (stage.counters.tags, try #require(stage.tagStandings().first?.beacon))
    let traces = try #require(SubjectTraces("\(beacon)"))
    stage.apply(.forget(traces), at: end + .oneNanosecond, into: &events)
    #expect(stage.counters.tags == tags - 1)
    #expect(stage.counters.evictions == 0)
  }
}
