import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// The fast way in must decide what the ordinary one decides.
@Suite("Batches")
struct BatchTests {
  static let uuids = (0..<4).map { UUID128(high: 0x1111, low: UInt64($0)) }

  /// With venues, what handsets hear goes on: an observer is one from the first report on that no gateway makes.
  static let scopes: [SensingScope?] = [
    nil, SensingScope(fixedObservers: [.eui48(0)], beaconAddresses: [3, 4]),
  ]

  @Test(
    "a batch decides what its reports decide one by one",
    arguments: Seeds.drawn(0..<20, first: 5),
    scopes
  )
  func equivalence(seed: Int, scope: SensingScope?) {
    var world = BatchWorld(seed: UInt64(seed))
    var together = MonitoringEngine(site: world.site, limits: world.limits, sensing: scope)
    var single = together
    var outputs = (StageOutput(), StageOutput())
    var decided = 0
    for _ in 0..<250 {
      let batch = world.nextBatch()
      together.ingest(batch, into: &outputs.0)
      for report in batch.reports { single.ingest(report, in: batch, into: &outputs.1) }
      let now = world.now
      together.advance(to: now, into: &outputs.0)
      single.advance(to: now, into: &outputs.1)
      #expect(outputs.0.events == outputs.1.events)
      #expect(outputs.0.links == outputs.1.links)
      #expect(together.counters == single.counters)
      decided += outputs.0.events.count
      outputs.0.removeAll()
      outputs.1.removeAll()
    }
    #expect(decided > 50)
    #expect((together.counters.sensings > 0) == (scope != nil))
    #expect(together.observers() == single.observers())
    #expect(together.standings() == single.standings())
  }

  @Test("where a batch is cut changes nothing", arguments: [1, 5, 10, 13], scopes)
  func cuts(seed: Int, scope: SensingScope?) {
    var world = BatchWorld(seed: UInt64(seed))
    var whole = MonitoringEngine(site: world.site, limits: world.limits, sensing: scope)
    var cut = whole
    var outputs = (StageOutput(), StageOutput())
    for _ in 0..<80 {
      let batches = (0..<8).map { _ in world.nextBatch() }
      var together = ReportBatch()
      for batch in batches {
        for report in batch.reports { together.append(report, from: batch) }
        cut.ingest(batch, into: &outputs.1)
      }
      whole.ingest(together, into: &outputs.0)
    }
    whole.advance(to: world.now, into: &outputs.0)
    cut.advance(to: world.now, into: &outputs.1)
    #expect(outputs.0.events.count > 50)
    #expect(outputs.0.events == outputs.1.events)
    #expect(outputs.0.links == outputs.1.links)
    #expect(whole.counters == cut.counters)
    #expect(whole.observers() == cut.observers())
  }

  @Test("timestamps out of range are treated in a batch as they are one by one", arguments: 0..<4)
  func farTimes(seed: Int) {
    var world = BatchWorld(seed: UInt64(seed))
    var together = MonitoringEngine(site: world.site, limits: world.limits)
    var single = together
    var outputs = (StageOutput(), StageOutput())
    for step in 0..<90 {
      if step == 30 { world.jump(toYear: 2_116) }
      if step == 60 { world.jump(toYear: 2_217) }
      let batch = world.nextBatch()
      together.ingest(batch, into: &outputs.0)
      for report in batch.reports { single.ingest(report, in: batch, into: &outputs.1) }
      #expect(outputs.0.events == outputs.1.events)
      #expect(outputs.0.links == outputs.1.links)
      #expect(together.counters == single.counters)
    }
    together.advance(to: world.now, into: &outputs.0)
    single.advance(to: world.now, into: &outputs.1)
    #expect(outputs.0.events == outputs.1.events)
    #expect(outputs.0.events.count > 50)
    #expect(together.observers() == single.observers())
  }

  @Test("a copy of an engine goes its own way")
  func copies() {
    var world = BatchWorld(seed: 77)
    var engine = MonitoringEngine(site: world.site, limits: world.limits)
    var output = StageOutput()
    for _ in 0..<60 { engine.ingest(world.nextBatch(), into: &output) }
    var copy = engine
    var (left, right) = (StageOutput(), StageOutput())
    let batches = (0..<60).map { _ in world.nextBatch() }
    for batch in batches { engine.ingest(batch, into: &left) }
    for batch in batches { copy.ingest(batch, into: &right) }
    #expect(left.events == right.events)
    #expect(engine.counters == copy.counters)
  }
}

/// Traffic with everything that turns a report from the fast way: late ones, other frames, other reports, timers, outages,
/// more observers and tracks than there is room for.
private struct BatchWorld {
  private var generator: SeededGenerator
  private var time: Int64 = 1_420_070_400_000_000_000
  private var step: UInt32 = 0
  private var here = [Bool](repeating: true, count: 60)
  private let seed: UInt64
  private var sequences = [UInt32](repeating: 0, count: 20)
  let limits: MonitoringLimits

  init(seed: UInt64) {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    limits = MonitoringLimits(observers: 16, tracksPerObserver: seed % 2 == 0 ? 24 : 65_536)
  }

  var now: Timestamp { Timestamp(nanoseconds: time) }

  /// Goes on in February of a year.
  mutating func jump(toYear year: Int64) { time = ((year - 1_970) * 31_557_600 + 2_900_000) * 1_000_000_000 }

  var site: Site {
    var levels = PresencePolicy(enterRSSI: -70, exitRSSI: -75)
    levels.silence = .fixed(.seconds(5))
    var regions = [
      Region(identifier: "all", constraint: .proximity(BatchTests.uuids[0])),
      Region(identifier: "major", constraint: .proximity(BatchTests.uuids[0], major: 1)),
      Region(
        identifier: "tags",
        constraint: .proximity(BatchTests.uuids[1]),
        subject: .beacon(observers: nil)
      ),
      Region(identifier: "levels", constraint: .proximity(BatchTests.uuids[1], major: 2), presence: levels),
    ]
    if seed % 4 == 1 {
      let constraint = BeaconConstraint.proximity(BatchTests.uuids[2])
      regions.append(Region(identifier: "keyed", constraint: constraint, keyedByAddress: true))
    }
    if seed % 5 == 1 || seed % 5 == 3 {
      for tag in [7, 11] as [UInt64] {
        let address = DeviceAddress(bits: tag, kind: .public)
        regions.append(Region(identifier: "address-\(tag)", constraint: .address(address)))
      }
    }
    if seed % 5 == 2 {
      let keyed = Region(
        identifier: "beside",
        constraint: .proximity(BatchTests.uuids[0], major: 2),
        keyedByAddress: true
      )
      regions.append(keyed)
    }
    let ranging = RangingRequest(constraint: .proximity(BatchTests.uuids[0]))
    let application = Application(
      identifier: "gallery",
      regions: regions,
      ranging: seed % 3 == 0 ? [ranging] : []
    )
    let zones = seed % 4 == 3 ? [Zone(identifier: "hall", observers: [.eui48(0), .eui48(1)])] : []
    let entries = [
      ObserverEntry(id: .eui48(1), rssiOffset: -2.5, liveness: .heartbeat),
      ObserverEntry(id: .eui48(2), liveness: .traffic),
    ]
    return Site(applications: [application], observers: entries, zones: zones)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func nextBatch() -> ReportBatch {
    var batch = ReportBatch()
    step += 1
    if below(60) == 0 { time += Int64(below(90)) * 1_000_000_000 }
    for _ in 0...below(6) {
      time += Int64(below(300)) * 1_000_000
      let number = below(10) < 9 ? below(4) : below(20)
      let observer = batch.index(of: number == 3 ? .name("gate-3") : .eui48(UInt64(number)))
      let received = Timestamp(nanoseconds: time - (below(200) == 0 ? 5_000_000_000 : 0))
      if number % 2 == 0 { appendHead(to: &batch, observer: observer, number: number, received: received) }
      if below(5) == 0 {
        let heartbeat = Heartbeat(advertsHeard: below(3) == 0 ? nil : UInt32(below(20)))
        batch.append(
          Report(observer: observer, received: received, timing: .received, body: .heartbeat(heartbeat))
        )
      }
      if below(100) == 0 {
        let state: [ScanState] = [.off, .windowed, .foreground]
        batch.append(
          Report(observer: observer, received: received, timing: .received, body: .scanState(state[below(3)]))
        )
      }
      for _ in 0..<below(26) { append(to: &batch, observer: observer, received: received) }
    }
    return batch
  }

  /// The head of a datagram: nearly always the next one, sometimes a lost, a repeated or a restarted one's.
  private mutating func appendHead(
    to batch: inout ReportBatch,
    observer: UInt32,
    number: Int,
    received: Timestamp
  ) {
    switch below(40) {
    case 0: sequences[number] += 4
    case 1: sequences[number] -= sequences[number] == 0 ? 0 : 1
    default: sequences[number] += 1
    }
    let boot = UInt32(1 + step / 100)
    let head = Transmission(bootID: boot, sequence: sequences[number], uptime: .seconds(1))
    batch.append(
      Report(observer: observer, received: received, timing: .received, body: .transmission(head))
    )
  }

  /// A payload without an iBeacon: nothing, a name, another maker's frame, or one of Eddystone's.
  private mutating func unknownPayload() -> [UInt8] {
    switch below(6) {
    case 0: []
    case 1: [0x02, 0x01, 0x06, 0x03, 0x09, 0x41, 0x42]
    case 2: [0x05, 0xFF, 0x4C, 0x00, 0x10, 0x05]
    case 3: [0x15, 0x16, 0xAA, 0xFE, 0x00, 0xEB] + [UInt8](repeating: 7, count: 16)
    case 4: [0x11, 0x16, 0xAA, 0xFE, 0x20, 0x00, 0x0B, 0xB8, 0x15, 0x00, 0, 0, 0, 9, 0, 0, 1, 0]
    default:
      [0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC] + [0, 0, 0, 0, 0, 0, 0x11, 0x11] + [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0xC5, 0,
      ]
    }
  }

  private mutating func append(to batch: inout ReportBatch, observer: UInt32, received: Timestamp) {
    let tag = below(60)
    if below(1_000) == 0 { here[tag].toggle() }
    guard here[tag] else { return }
    var payload: [UInt8] = below(8) == 0 ? [] : [0x02, 0x01, 0x06]
    payload += [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [0, 0, 0, 0, 0, 0, 0x11, 0x11, 0, 0, 0, 0, 0, 0, 0]
    payload += [UInt8(tag % 4), 0, UInt8(tag % 3), 0, UInt8(tag), 0xC5]
    if below(20) == 0 { payload += [0x03, 0x09, 0x41, 0x42] }
    if below(30) == 0 { payload[below(payload.count)] ^= 1 << UInt8(below(8)) }
    if below(6) == 0 { payload = unknownPayload() }
    let timing: ReportTiming =
      switch below(20) {
      case 0: .received
      case 1: .age(.milliseconds(Int64(below(4_000))))
      case 2: .sent(received - .minutes(60) - .milliseconds(Int64(below(100))))
      default: .age(.milliseconds(Int64(below(300))))
      }
    let kind: DeviceAddress.Kind = below(10) == 0 ? .random : .public
    let advert = Advert(
      address: below(30) == 0 ? nil : DeviceAddress(bits: UInt64(tag), kind: kind),
      rssi: below(50) == 0 ? nil : RSSI(dBm: Int8(-60 - below(20))),
      advertisingSet: below(30) == 0 ? 1 : 255,
      payload: batch.append(payload: payload)
    )
    batch.append(Report(observer: observer, received: received, timing: timing, body: .advert(advert)))
  }
}
