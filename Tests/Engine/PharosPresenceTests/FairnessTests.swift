import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Fairness: a flood lets nothing go but its own")
struct FairnessTests {
  /// Two observers of one cell, and a third of another one.
  private static let (flooder, neighbour, outsider) = {
    let first = ObserverID.eui48(1)
    let others = (2...10_000).map { ObserverID.eui48($0) }
    let neighbour = others.first { $0.cell == first.cell } ?? first
    let outsider = others.first { $0.cell != first.cell } ?? first
    return (first, neighbour, outsider)
  }()
  private static let limits = MonitoringLimits(observers: 1_024, tracksPerObserver: 128, tracks: 64 * 160)
  private static let site = Timeline.site([Timeline.region("all", samples: 2, silence: .seconds(600))])

  private static func flood(
    _ engine: inout MonitoringEngine,
    _ numbers: Range<Int>,
    from observer: ObserverID
  ) -> Int {
    var output = StageOutput()
    var maximum = 0
    for number in numbers {
      var batch = ReportBatch()
      let range = batch.append(payload: Timeline.iBeacon(UInt16(number >> 16), UInt16(number & 0xFFFF)))
      batch.append(
        Report(
          observer: batch.index(of: observer),
          received: Timeline.at(20 + Double(number) / 1_000),
          timing: .received,
          body: .advert(Advert(address: nil, rssi: RSSI(dBm: -60), payload: range))
        )
      )
      engine.ingest(batch, into: &output)
      output.removeAll()
      maximum = max(maximum, Int(engine.counters.tracks))
    }
    return maximum
  }

  @Test(
    "random identities at one observer let none of another observer's tracks go, and none of those that are here"
  )
  func flood() {
    var timeline = Timeline(FairnessTests.site, limits: FairnessTests.limits)
    for second in 0..<4 {
      for minor in UInt16(0)..<40 {
        timeline.receive(9, minor, at: Double(second), from: FairnessTests.neighbour)
        timeline.receive(9, minor, at: Double(second), from: FairnessTests.outsider)
        if minor < 20 { timeline.receive(9, minor, at: Double(second), from: FairnessTests.flooder) }
      }
    }
    var engine = timeline.engine
    let maximum = FairnessTests.flood(&engine, 0..<20_000, from: FairnessTests.flooder)
    let counts = Dictionary(uniqueKeysWithValues: engine.observers().map { ($0.id, $0.tracks) })
    #expect(counts[FairnessTests.neighbour] == 40)
    #expect(counts[FairnessTests.outsider] == 40)
    #expect(maximum <= 128 + 40 + 40)
    #expect(engine.counters.trackEvictions > 19_000)
    // What is here stays: made-up identities are heard once and are here by no rule.
    for minor in UInt16(0)..<20 {
      #expect(engine.insight(observer: FairnessTests.flooder, beacon: Timeline.beacon(9, minor)) != nil)
    }
  }

  @Test("where a cell is full, the observer with most tracks there gives its own")
  func fullCell() {
    var timeline = Timeline(FairnessTests.site, limits: FairnessTests.limits)
    for minor in UInt16(0)..<50 { timeline.receive(9, minor, at: 0, from: FairnessTests.neighbour) }
    var engine = timeline.engine
    _ = FairnessTests.flood(&engine, 0..<5_000, from: FairnessTests.flooder)
    let counts = Dictionary(uniqueKeysWithValues: engine.observers().map { ($0.id, $0.tracks) })
    #expect(counts[FairnessTests.neighbour] == 50)
    #expect(counts[FairnessTests.flooder].map { $0 <= 110 && $0 > 100 } == true, "160 for both together")
  }

  @Test("a flood of made-up observers lets those of the house stay, and memory stays bounded")
  func madeUpObservers() {
    let limits = MonitoringLimits(observers: 1_024, tracksPerObserver: 64)
    var timeline = Timeline(FairnessTests.site, limits: limits)
    let house = (0..<20).map { ObserverID.eui48(0xAC23_3F00_0000 | UInt64($0)) }
    for second in 0...90 where second % 10 == 0 {
      for observer in house { timeline.receive(1, 7, at: Double(second), from: observer) }
    }
    for number in 0..<20_000 {
      timeline.receive(1, 7, at: 91 + Double(number) / 1_000, from: .eui48(0x1000_0000_0000 | UInt64(number)))
    }
    let known = Set(timeline.engine.observers().map(\.id))
    #expect(known.isSuperset(of: house))
    #expect(timeline.engine.counters.observers <= 1_024)
    #expect(timeline.engine.counters.tracks <= 1_024)
    #expect(timeline.engine.counters.observerEvictions > 18_000)
    #expect(timeline.engine.observerEngines.count <= 1_024, "places are used again")
    #expect(!timeline.story([.regionExit]).contains { $0.hasPrefix("regionExit") })
  }

  @Test("evictions do not depend on the number of engines")
  func shards() {
    var generator = SeededGenerator(seed: 11)
    let reports = (0..<6_000).map { step in
      (
        observer: ObserverID.eui48(UInt64(Int.random(in: 0..<6, using: &generator))),
        minor: UInt16.random(in: 0..<2_000, using: &generator), time: Double(step) / 50
      )
    }
    // Stage two receives each track that comes and each that is removed.
    let tags = Timeline.region("tags", samples: 1, silence: .seconds(600), subject: .beacon(observers: nil))
    func links(_ shards: Int) -> [StageLink] {
      let limits = MonitoringLimits(observers: 1_024, tracksPerObserver: 48, tracks: 64 * 64)
      var timelines = (0..<shards).map { _ in Timeline(Timeline.site([tags]), limits: limits) }
      for report in reports {
        let shard = report.observer.shard(of: shards)
        timelines[shard].receive(1, report.minor, at: report.time, from: report.observer)
      }
      for shard in timelines.indices { timelines[shard].advance(to: 2_000) }
      return timelines.flatMap(\.links).sorted(by: StageLink.isOrderedBefore)
    }
    let one = links(1)
    let evicted = one.count { link in
      guard case .presence(let change) = link else { return false }
      return change.evidence.rule == .eviction
    }
    #expect(evicted > 1_000)
    #expect(links(2) == one)
    #expect(links(5) == one)
  }

  @Test("the oldest are found as in a sorted list", arguments: Seeds.drawn(0..<10))
  func oldest(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    struct Track {
      var beacon: BeaconID
      var lastHeard: Timestamp
      var isHere: Bool
    }
    let tracks = (0..<200).map { number in
      Track(
        beacon: Timeline.beacon(1, UInt16(number)),
        lastHeard: Timestamp(seconds: Int64.random(in: 0..<40, using: &generator)),
        isHere: Bool.random(using: &generator)
      )
    }
    for room in [1, 7, 64, 300] {
      var found = OldestTracks(room: room)
      for (place, track) in tracks.enumerated() {
        found.offer(
          isHere: track.isHere,
          lastHeard: track.lastHeard,
          beacon: track.beacon,
          at: Int32(place)
        )
      }
      let expected = tracks.indices.sorted { left, right in
        let (one, other) = (tracks[left], tracks[right])
        if one.isHere != other.isHere { return other.isHere }
        return (one.lastHeard, one.beacon) < (other.lastHeard, other.beacon)
      }
      #expect(found.places == expected.prefix(room).map { Int32($0) })
    }
  }
}
