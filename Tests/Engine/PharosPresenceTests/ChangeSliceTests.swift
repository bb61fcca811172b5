import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A change of the regions that observers catch up with one after the other")
struct ChangeSliceTests {
  @Test(
    "events, links and states are those of an engine that finishes every change at once",
    arguments: Seeds.drawn(0..<60)
  )
  func equivalence(seed: Int) {
    var world = ChangeWorld(seed: UInt64(seed))
    var whole = MonitoringEngine(site: world.site)
    var sliced = whole
    // One change of an observer at a time, about one observer, or a few.
    sliced.sliceCost = [5, 50, 400][seed % 3]
    var outputs = (StageOutput(), StageOutput())
    var final = Timestamp.distantPast
    var unfinished = 0
    for _ in 0..<160 {
      for change in world.nextChanges() {
        whole.apply(change, at: world.now, into: &outputs.0)
        whole.finishChanges(into: &outputs.0)
        sliced.apply(change, at: world.now, into: &outputs.1)
      }
      let batch = world.nextBatch()
      whole.ingest(batch, into: &outputs.0)
      sliced.ingest(batch, into: &outputs.1)
      whole.advance(to: world.now, into: &outputs.0)
      let before = outputs.1.events.count
      let reached = sliced.advance(toward: world.now, into: &outputs.1)
      #expect(reached >= final, "what was final stays final")
      #expect(outputs.1.events[before...].allSatisfy { $0.decidedAt > final })
      final = reached
      if reached < world.now { unfinished += 1 }
    }
    whole.advance(to: world.now, into: &outputs.0)
    sliced.advance(to: world.now, into: &outputs.1)
    #expect(unfinished > 0, "some changes took more than one slice")
    #expect(outputs.0.events.count > 500)
    #expect(
      outputs.0.events.sorted(by: Event.isOrderedBefore) == outputs.1.events.sorted(by: Event.isOrderedBefore)
    )
    #expect(
      outputs.0.links.sorted(by: StageLink.isOrderedBefore)
        == outputs.1.links.sorted(by: StageLink.isOrderedBefore)
    )
    #expect(whole.standings() == sliced.standings())
    #expect(whole.observers() == sliced.observers())
    #expect(whole.counters == sliced.counters)
  }

  @Test("a change reaches the subjects that it concerns, and no others")
  func concerned() {
    let other = UUID128(high: 7, low: 7)
    let region = Region(identifier: "other", constraint: .proximity(other))
    var timeline = Timeline(Timeline.site([Timeline.region("door", silence: .seconds(60)), region]))
    timeline.receive(1, 7, at: 0)
    timeline.advert(Timeline.iBeacon(1, 7, uuid: other), at: 0.1)
    timeline.advert(Timeline.iBeacon(1, 7, uuid: other), at: 1)
    timeline.apply(.stopMonitoring(application: "gallery", identifier: "other"), at: 2)
    #expect(timeline.engine.observers().first?.tracks == 1)
    #expect(timeline.engine.standings().map(\.region) == ["door"])
    let front = Timeline.region("front", major: 1, silence: .seconds(60))
    timeline.apply(.startMonitoring(application: "gallery", front), at: 3)
    #expect(timeline.states(of: "front") == ["unknown>inside@3.0"])
  }
}

/// More observers and tracks than a change is finished with at once, and changes of every kind among their traffic.
private struct ChangeWorld {
  private static let uuids = (0..<3).map { UUID128(high: 0x2222, low: UInt64($0)) }
  private static let observers = 24
  private var generator: SeededGenerator
  private var time: Int64 = 1_420_070_400_000_000_000

  init(seed: UInt64) { generator = SeededGenerator(seed: seed &+ 500) }

  var now: Timestamp { Timestamp(nanoseconds: time) }

  var site: Site {
    let regions = [
      region("all", 0, nil, samples: 1), region("tags", 1, nil, samples: 1, subject: .beacon(observers: nil)),
    ]
    let entries = (0..<UInt64(ChangeWorld.observers)).map {
      ObserverEntry(id: .eui48($0), liveness: $0 % 5 == 0 ? .traffic : .assumed)
    }
    return Site(applications: [Application(identifier: "gallery", regions: regions)], observers: entries)
  }

  private func region(
    _ identifier: String,
    _ uuid: Int,
    _ major: UInt16?,
    samples: Int,
    subject: Region.Subject = .observer
  ) -> Region {
    Region(
      identifier: identifier,
      constraint: .proximity(ChangeWorld.uuids[uuid], major: major),
      subject: subject,
      presence: PresencePolicy(
        enterSamples: samples,
        silence: uuid == 2 ? .adaptive : .fixed(.seconds(4)),
        silenceFloor: .seconds(3)
      )
    )
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  /// None, or a few that come in one go, now and then one that takes back what the one before did.
  mutating func nextChanges() -> [RegionChange] {
    guard below(3) == 0 else { return [] }
    // Behind what has been given out already.
    time += 1_000_000
    return (0...below(5)).map { _ in
      let name = "moving\(below(4))"
      let uuid = below(3)
      switch below(8) {
      case 0, 1: return .stopMonitoring(application: "gallery", identifier: name)
      case 2:
        return .startRanging(
          application: "gallery",
          RangingRequest(constraint: .proximity(ChangeWorld.uuids[uuid], major: 1))
        )
      case 3:
        return .stopRanging(
          application: "gallery",
          .proximity(ChangeWorld.uuids[uuid], major: 1)
        )
      case 4:
        let observer = ObserverID.eui48(UInt64(below(ChangeWorld.observers)))
        return .requestState(application: "gallery", identifier: "all", subject: .observer(observer))
      default:
        let major = below(2) == 0 ? nil : UInt16(below(3))
        let subject: Region.Subject = below(4) == 0 ? .beacon(observers: [.eui48(3), .eui48(4)]) : .observer
        let region = region(name, uuid, major, samples: 1 + below(2), subject: subject)
        let assumed: RegionState = below(6) == 0 ? .inside : .unknown
        return .startMonitoring(application: "gallery", region, assuming: assumed)
      }
    }
  }

  mutating func nextBatch() -> ReportBatch {
    var batch = ReportBatch()
    for _ in 0..<40 {
      time += Int64(below(40)) * 1_000_000
      let payload = Timeline.iBeacon(
        UInt16(below(3)),
        UInt16(below(6)),
        uuid: ChangeWorld.uuids[below(3)]
      )
      let observer = below(6) == 0 ? 100 + below(20) : below(ChangeWorld.observers)
      let advert = Advert(address: nil, rssi: RSSI(dBm: -60), payload: batch.append(payload: payload))
      batch.append(
        Report(
          observer: batch.index(of: .eui48(UInt64(observer))),
          received: now,
          timing: .age(.milliseconds(Int64(below(200)))),
          body: .advert(advert)
        )
      )
    }
    return batch
  }
}
