import PharosDocuments
import PharosFixes
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

@Suite("Stage two restored from a checkpoint continues as if it had never stopped")
struct StateLawTests {
  static let site = LinkScript.site(
    [LinkScript.region(hold: .seconds(40))],
    zones: ["a", "b", "c"].map { Zone(identifier: $0, observers: [.name($0)]) }
  )

  /// The state as bytes.
  static func bytes(_ stage: StageTwo) -> [UInt8] {
    var writer = FieldWriter()
    stage.writeState(to: &writer)
    return writer.bytes
  }

  /// An engine that reads a state back.
  static func restored(
    _ bytes: [UInt8],
    _ site: Site = site,
    limits: PositioningLimits = PositioningLimits()
  ) throws -> StageTwo {
    var stage = StageTwo(site: site, limits: limits)
    var reader = FieldReader(bytes[...])
    try stage.restoreState(from: &reader)
    try reader.finish()
    return stage
  }

  @Test("at any cut, with tags that are forgotten for others", arguments: 61..<65 as Range<UInt64>)
  func random(seed: UInt64) throws {
    let links = RandomLinks.make(seed: seed, count: 2_000)
    let limits = PositioningLimits(tags: seed % 2 == 0 ? 16 : 65_536)
    let expected = LinkScript.events(Self.site, links, until: 2_000, limits: limits)
    var random = SeededGenerator(seed: seed)
    var stage = StageTwo(site: Self.site, limits: limits)
    var events: [Event] = []
    var cuts = 0
    for (index, link) in links.enumerated() {
      stage.restore(link, into: &events)
      guard index + 1 < links.count, links[index + 1].decidedAt > link.decidedAt else { continue }
      guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
      let room = (links[index + 1].decidedAt - link.decidedAt).nanoseconds
      let instant = link.decidedAt + TimeSpan(nanoseconds: Int64.random(in: 0..<room, using: &random))
      stage.advance(to: instant, into: &events)
      let bytes = Self.bytes(stage)
      stage = try Self.restored(bytes, limits: limits)
      #expect(Self.bytes(stage) == bytes, "what is read back is written otherwise")
      cuts += 1
    }
    stage.advance(to: LinkScript.time(2_000), into: &events)
    #expect(events.sorted(by: Event.isOrderedBefore) == expected)
    #expect(cuts > 5)
    #expect(expected.count > 100)
  }

  @Test(
    "entries that the site no longer has are left out, unchanged ones stay",
    arguments: 71..<73 as Range<UInt64>
  )
  func editedSite(seed: UInt64) throws {
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    for link in RandomLinks.make(seed: seed, count: 1_000) { stage.restore(link, into: &events) }
    // The zone a is gone, c comes first, d is new; the region is another one.
    let edited = LinkScript.site(
      [LinkScript.region("hall", observers: ["a", "b"]), LinkScript.region("yard")],
      zones: ["c", "d", "b"].map { Zone(identifier: $0, observers: [.name($0)]) }
    )
    let before = stage.tagStandings()
    let restored = try Self.restored(Self.bytes(stage), edited)
    #expect(restored.beaconStandings().isEmpty)
    for standing in restored.tagStandings() {
      let old = before.first { $0.beacon == standing.beacon }
      #expect(standing.zone == (old?.zone == "a" ? nil : old?.zone))
      #expect(!standing.hearings.contains { $0.observer == .name("a") })
    }
    #expect(before.contains { $0.zone == "b" || $0.zone == "c" })
    // It goes on: nothing of the old numbering is left to trip over.
    var further = restored
    for link in RandomLinks.make(seed: seed &+ 1, count: 1_000) {
      further.restore(link, into: &events)
    }
    further.advance(to: LinkScript.time(3_000), into: &events)
  }

  @Test("the bytes are those that servers of before have written")
  func layout() throws {
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    for link in RandomLinks.make(seed: 51, count: 1_500) { stage.restore(link, into: &events) }
    let bytes = Self.bytes(stage)
    #expect(bytes.count == 4_636)
    #expect(RadioMap.checksum(of: bytes[...]) == 15_231_507_658_206_004_712)
  }

  @Test("bytes that were cut are refused, and the engine is as it was")
  func cuts() throws {
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    for link in RandomLinks.make(seed: 81, count: 400) { stage.restore(link, into: &events) }
    let bytes = Self.bytes(stage)
    let empty = Self.bytes(StageTwo(site: Self.site))
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 200)) {
      var fresh = StageTwo(site: Self.site)
      var reader = FieldReader(bytes[..<length])
      #expect(throws: FieldError.self) { try fresh.restoreState(from: &reader) }
      #expect(Self.bytes(fresh) == empty)
    }
  }

  @Test("flipped bytes give an error or an engine that works", arguments: 91..<94 as Range<UInt64>)
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var stage = StageTwo(site: Self.site)
    var events: [Event] = []
    let links = RandomLinks.make(seed: seed, count: 600)
    for link in links.prefix(500) { stage.restore(link, into: &events) }
    let bytes = Self.bytes(stage)
    var (accepted, refused) = (0, 0)
    for _ in 0..<80 {
      var mutated = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        mutated[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard var restored = try? Self.restored(mutated) else {
        refused += 1
        continue
      }
      accepted += 1
      // Whatever it believes now, it takes what comes and says where it stands.
      var said: [Event] = []
      if Bool.random(using: &random) {
        restored.resume(at: LinkScript.time(200), publishedState: PublishedState(), into: &said)
      }
      for link in links.suffix(100) { restored.restore(link, into: &said) }
      restored.advance(to: LinkScript.time(160), into: &said)
      _ = restored.tagStandings()
      _ = restored.beaconStandings()
      _ = restored.calibrations()
    }
    #expect(accepted > 0 && refused > 0)
  }
}
