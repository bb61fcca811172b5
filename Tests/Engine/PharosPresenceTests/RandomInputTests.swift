import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// A random run of inputs: adverts of known and strange beacons, bytes that are none, heartbeats, scan states, changes.
struct RandomInputs {
  enum Input {
    case report(ReportBody, payload: [UInt8], ObserverID, ReportTiming)
    case change(RegionChange)
    case nothing
  }

  var inputs: [(time: Double, input: Input)] = []

  static let observers: [ObserverID] = [.eui48(1), .eui48(2), .name("three"), .eui64(4)]

  static let site: Site = {
    let regions = [
      Timeline.region("all", samples: 2, silence: .seconds(4)),
      Timeline.region("level", samples: 2, silence: .seconds(6), enter: -70, exit: -80),
      Region(identifier: "adaptive", constraint: .proximity(Timeline.uuid, major: 1)),
      Timeline.region("tags", subject: .beacon(observers: nil)),
    ]
    let tree = [
      RegionNode(
        region: Timeline.region("venue"),
        children: (UInt16(1)...6).map { RegionNode(region: Timeline.region("floor\($0)", major: $0)) }
      )
    ]
    return Site(
      applications: [
        Application(
          identifier: "gallery",
          regions: regions,
          ranging: [
            RangingRequest(constraint: .proximity(Timeline.uuid)),
            RangingRequest(constraint: .proximity(Timeline.uuid, major: 2), whileInside: true),
            RangingRequest(constraint: .proximity(Timeline.uuid, major: 1)),
          ],
          rotation: tree,
          regionLimit: 7
        )
      ],
      zones: [Zone(identifier: "lobby", observers: [.eui48(1), .eui48(2)])]
    )
  }()

  init(seed: Int, count: Int = 700) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var time = 0.0
    for _ in 0..<count {
      time += Double.random(in: 0...0.3, using: &generator)
      if Int.random(in: 0..<200, using: &generator) == 0 {
        time += Double.random(in: 0...120, using: &generator)
      }
      inputs.append(((time * 1e6).rounded() / 1e6, RandomInputs.input(&generator)))
    }
  }

  private static func input(_ generator: inout SeededGenerator) -> Input {
    let observer = observers.randomElement(using: &generator) ?? .eui48(1)
    let timing: ReportTiming =
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: .age(.milliseconds(Int64.random(in: 0...3_000, using: &generator)))
      case 1: .age(.milliseconds(Int64.random(in: 0...200, using: &generator)))
      default: .received
      }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<80:
      let major = UInt16.random(in: 1...3, using: &generator)
      let payload = Timeline.iBeacon(major, UInt16.random(in: 1...2, using: &generator))
      return .report(advert(&generator), payload: payload, observer, timing)
    case 80..<88:
      let payload = (0..<Int.random(in: 0...31, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      return .report(advert(&generator), payload: payload, observer, timing)
    case 88..<92:
      let heard = UInt32.random(in: 0...20, using: &generator)
      return .report(.heartbeat(Heartbeat(advertsHeard: heard)), payload: [], observer, timing)
    case 92: return .report(.displayOn, payload: [], observer, timing)
    case 93:
      let states: [ScanState] = [.off, .windowed, .foreground, .foreground]
      return .report(
        .scanState(states.randomElement(using: &generator) ?? .off),
        payload: [],
        observer,
        timing
      )
    case 94:
      let region = Timeline.region("moving", major: UInt16.random(in: 1...3, using: &generator))
      return .change(.startMonitoring(application: "gallery", region))
    case 95: return .change(.stopMonitoring(application: "gallery", identifier: "moving"))
    case 96:
      return .change(.requestState(application: "gallery", identifier: "all", subject: .observer(observer)))
    default: return .nothing
    }
  }

  private static func advert(_ generator: inout SeededGenerator) -> ReportBody {
    let rssi = Int8.random(in: -95 ... -45, using: &generator)
    let bits = UInt64.random(in: 0...0xFFFF_FFFF_FFFF, using: &generator)
    return .advert(
      Advert(
        address: Bool.random(using: &generator) ? DeviceAddress(bits: bits, kind: .random) : nil,
        rssi: Int.random(in: 0..<20, using: &generator) == 0 ? nil : RSSI(dBm: rssi),
        payload: 0..<0
      )
    )
  }

  /// Runs the inputs over so many engines, with ticks as drawn, and gives events and links in their published order.
  func run(
    shards: Int,
    ticks: Double,
    limits: MonitoringLimits = .init(),
    seed: Int = 0
  ) -> ([Event], [StageLink]) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var engines = (0..<shards).map { _ in MonitoringEngine(site: RandomInputs.site, limits: limits) }
    for index in engines.indices { engines[index].sharesModes = shards > 1 }
    var output = StageOutput()
    var previous = 0.0
    for (time, input) in inputs {
      // A tick anywhere between the last input and this one.
      if Double.random(in: 0..<1, using: &generator) < ticks, time > previous {
        let tick = previous + (time - previous) * Double.random(in: 0..<1, using: &generator)
        for index in engines.indices { engines[index].advance(to: Timeline.at(tick), into: &output) }
      }
      switch input {
      case .nothing: break
      case .change(let change):
        for index in engines.indices {
          if case .requestState(_, _, .observer(let id)) = change,
            id.shard(of: shards) != index
          {
            continue
          }
          engines[index].apply(change, at: Timeline.at(time), into: &output)
        }
      case .report(var body, let payload, let observer, let timing):
        var batch = ReportBatch()
        if case .advert(var advert) = body {
          advert.payload = batch.append(payload: payload)
          body = .advert(advert)
        }
        let report = Report(
          observer: batch.index(of: observer),
          received: Timeline.at(time),
          timing: timing,
          body: body
        )
        engines[observer.shard(of: shards)].ingest(report, in: batch, into: &output)
      }
      for index in engines.indices {
        let found = engines[index].drainFoundModes()
        guard !found.isEmpty else { continue }
        for other in engines.indices where other != index { engines[other].learn(found) }
      }
      previous = time
    }
    for index in engines.indices { engines[index].advance(to: Timeline.at(previous + 2_000), into: &output) }
    return (
      output.events.sorted(by: Event.isOrderedBefore), output.links.sorted(by: StageLink.isOrderedBefore)
    )
  }
}

@Suite("The same inputs give the same events")
struct DeterminismTests {
  @Test("ticks anywhere, and any number of shards, change nothing", arguments: Seeds.drawn(0..<8))
  func invariance(seed: Int) {
    let inputs = RandomInputs(seed: seed)
    let (events, links) = inputs.run(shards: 1, ticks: 0)
    #expect(events.count > 100)
    #expect(links.count > 100)
    for (shards, ticks) in [(1, 1.0), (2, 0.3), (3, 1.0)] {
      let (others, otherLinks) = inputs.run(shards: shards, ticks: ticks, seed: seed)
      #expect(others == events, "seed \(seed), \(shards) shards")
      #expect(otherLinks == links, "seed \(seed), \(shards) shards")
    }
  }

  @Test("the invariants hold in every run", arguments: Seeds.drawn(8..<16))
  func invariants(seed: Int) {
    let (events, links) = RandomInputs(seed: seed).run(shards: 1, ticks: 0.5, seed: seed)
    #expect(Set(events.map(\.id)).count == events.count, "no id is used twice")
    var states: [String: RegionState] = [:]
    var isInside: [String: Bool] = [:]
    for event in events {
      guard case .region(let transition) = event.detail else { continue }
      let key = "\(event.subject)/\(event.application)/\(event.region)"
      #expect(event.time <= event.decidedAt)
      switch event.kind {
      case .regionState where !transition.isAnswer:
        if event.region != "moving", !event.region.hasPrefix("floor") {
          #expect(transition.from == states[key] ?? transition.from, "states join up: \(key)")
        }
        #expect(transition.from != transition.to)
        states[key] = transition.to
      case .regionEnter where event.region != "moving":
        #expect(isInside[key] != true, "enter and exit alternate: \(key)")
        isInside[key] = true
      case .regionExit where event.region != "moving":
        #expect(isInside[key] == true, "enter and exit alternate: \(key)")
        isInside[key] = false
      default: break
      }
    }
    for (earlier, later) in zip(links, links.dropFirst()) where earlier.observer == later.observer {
      #expect((earlier.decidedAt, earlier.ordinal) < (later.decidedAt, later.ordinal))
    }
  }

  @Test("after a tick no event is decided at or before it", arguments: Seeds.drawn(0..<6))
  func finality(seed: Int) {
    let inputs = RandomInputs(seed: seed)
    var engine = MonitoringEngine(site: RandomInputs.site)
    var output = StageOutput()
    for (time, input) in inputs.inputs {
      guard case .report(let body, _, let observer, let timing) = input, case .heartbeat = body else {
        continue
      }
      var batch = ReportBatch()
      let index = batch.index(of: observer)
      let report = Report(observer: index, received: Timeline.at(time), timing: timing, body: body)
      engine.ingest(report, in: batch, into: &output)
      output.removeAll()
      engine.advance(to: Timeline.at(time), into: &output)
      #expect(output.events.allSatisfy { $0.decidedAt <= Timeline.at(time) })
    }
  }

  @Test(
    "few tracks and observers are kept when many are heard, and no exit is false for it",
    arguments: 0..<4
  )
  func bounds(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let region = Timeline.region(samples: 1, silence: .seconds(5_000))
    var timeline = Timeline(
      Timeline.site([region]),
      limits: MonitoringLimits(observers: 8, tracksPerObserver: 32)
    )
    for step in 0..<2_000 {
      timeline.receive(
        UInt16.random(in: 0...3, using: &generator),
        UInt16.random(in: 0...UInt16.max, using: &generator),
        at: Double(step) / 10,
        from: .eui48(UInt64.random(in: 0..<20, using: &generator))
      )
    }
    let counters = timeline.engine.counters
    #expect(counters.observers <= 8)
    #expect(counters.tracks <= 8 * 32)
    #expect(counters.observerEvictions > 0)
    #expect(counters.observers > 0 && counters.tracks >= counters.observers)
    #expect(!timeline.story().contains { $0.hasPrefix("regionExit") })
  }

  @Test("any bytes and any times leave the engine standing", arguments: 0..<4)
  func flood(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed) &+ 77)
    var timeline = Timeline(RandomInputs.site)
    for step in 0..<3_000 {
      let payload = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let age = Int64.random(in: .min ... .max, using: &generator)
      let timing: [ReportTiming] = [
        .received, .age(TimeSpan(nanoseconds: age)), .sent(Timestamp(nanoseconds: age)),
      ]
      timeline.advert(
        payload + Timeline.iBeacon(1, 1),
        at: Double(step) + Double.random(in: -5...5, using: &generator),
        timing: timing.randomElement(using: &generator) ?? .received
      )
    }
    timeline.advance(to: 1e9)
    #expect(timeline.engine.counters.reports == 3_000)
    #expect(timeline.engine.counters.backwards > 0)
  }
}
