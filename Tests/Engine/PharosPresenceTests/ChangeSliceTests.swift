import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

@Suite("A change of the regions that observers catch up with one after the other")
struct ChangeSliceTests {
  @Test(
    "events, links and states are those of an engine that finishes every change at once, on every path, however batches are cut",
    arguments: Seeds.drawn(0..<60)
  )
  func equivalence(seed: Int) {
    var world = ChangeWorld(seed: UInt64(seed))
    var random = SeededGenerator(seed: UInt64(seed))
    let whole = MonitoringEngine(site: world.site)
    var sliced = whole
    // One change of an observer at a time, about one observer, or a few.
    sliced.sliceCost = [5, 50, 400][seed % 3]
    // The last one hears every report by itself, on the general path.
    var engines = [whole, sliced, sliced]
    var outputs = engines.map { _ in StageOutput() }
    var final = engines.map { _ in Timestamp.distantPast }
    var unfinished = 0
    for _ in 0..<160 {
      for change in world.nextChanges() {
        for index in engines.indices { engines[index].apply(change, at: world.now, into: &outputs[index]) }
        engines[0].finishChanges(into: &outputs[0])
      }
      let batch = world.nextBatch()
      var part = ReportBatch()
      for report in batch.reports {
        part.append(report, from: batch)
        engines[2].ingest(report, in: batch, into: &outputs[2])
        guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
        engines[1].ingest(part, into: &outputs[1])
        part.removeAll()
      }
      engines[0].ingest(batch, into: &outputs[0])
      engines[1].ingest(part, into: &outputs[1])
      engines[0].advance(to: world.now, into: &outputs[0])
      for index in 1...2 {
        let before = outputs[index].events.count
        let reached = engines[index].advance(toward: world.now, into: &outputs[index])
        #expect(reached >= final[index], "what was final stays final")
        #expect(outputs[index].events[before...].allSatisfy { $0.decidedAt > final[index] })
        final[index] = reached
        if reached < world.now { unfinished += 1 }
      }
    }
    for index in engines.indices { engines[index].advance(to: world.now, into: &outputs[index]) }
    #expect(unfinished > 0, "some changes took more than one slice")
    #expect(outputs[0].events.count > 500)
    let events = outputs.map { $0.events.sorted(by: Event.isOrderedBefore) }
    let links = outputs.map { $0.links.sorted(by: StageLink.isOrderedBefore) }
    for index in 1...2 {
      #expect(events[index] == events[0])
      #expect(links[index] == links[0])
      #expect(engines[index].standings() == engines[0].standings())
      #expect(engines[index].observers() == engines[0].observers())
      #expect(engines[index].counters == engines[0].counters)
    }
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
///
/// A third of the observers may be carried, others show that they are while it runs, and all walk off now and then: only
/// their heartbeats go on.
private struct ChangeWorld {
  private static let uuids = (0..<3).map { UUID128(high: 0x2222, low: UInt64($0)) }
  private static let observers = 24
  private var generator: SeededGenerator
  private var time: Int64 = 1_420_070_400_000_000_000
  /// Until when each observer hears no beacon.
  private var away: [ObserverID: Int64] = [:]

  init(seed: UInt64) { generator = SeededGenerator(seed: seed &+ 500) }

  private static func observer(_ number: Int) -> ObserverID {
    number % 3 == 0 ? .name("handset-\(number)") : .eui48(UInt64(number))
  }

  var now: Timestamp { Timestamp(nanoseconds: time) }

  var site: Site {
    let regions = [
      region("all", 0, nil, samples: 1), region("tags", 1, nil, samples: 1, subject: .beacon(observers: nil)),
    ]
    let liveness: [ObserverEntry.Liveness] = [.traffic, .assumed, .auto, .assumed, .auto]
    let entries = (0..<ChangeWorld.observers).map {
      ObserverEntry(id: ChangeWorld.observer($0), liveness: liveness[$0 % 5])
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
        let observer = ChangeWorld.observer(below(ChangeWorld.observers))
        return .requestState(application: "gallery", identifier: "all", subject: .observer(observer))
      default:
        let major = below(2) == 0 ? nil : UInt16(below(3))
        let subject: Region.Subject =
          below(4) == 0 ? .beacon(observers: (3...6).map(ChangeWorld.observer)) : .observer
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
      let observer = ChangeWorld.observer(below(6) == 0 ? 100 + below(20) : below(ChangeWorld.observers))
      if below(60) == 0 { away[observer] = time + Int64(below(20)) * 1_000_000_000 }
      batch.append(
        Report(
          observer: batch.index(of: observer),
          received: now,
          timing: .age(.milliseconds(Int64(below(200)))),
          body: body(of: observer, &batch)
        )
      )
    }
    return batch
  }

  private mutating func body(of observer: ObserverID, _ batch: inout ReportBatch) -> ReportBody {
    if below(400) == 0 { return .displayOn }
    if below(12) == 0 || time < away[observer, default: 0] { return .heartbeat(Heartbeat()) }
    let payload = Timeline.iBeacon(UInt16(below(3)), UInt16(below(6)), uuid: ChangeWorld.uuids[below(3)])
    return .advert(Advert(address: nil, rssi: RSSI(dBm: -60), payload: batch.append(payload: payload)))
  }
}
