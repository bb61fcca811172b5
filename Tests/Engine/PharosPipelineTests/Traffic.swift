import PharosModel
import PharosPipeline
import PharosTestSupport
import PharosWire

/// A made-up site with gateways, handsets and tags, and inputs for it at random from a seed.
struct Traffic {
  /// One input before it is put into batches.
  enum Input {
    case report(ObserverID, Timestamp, ReportTiming, Body)
    case change(RegionChange, Timestamp)

    var instant: Timestamp {
      switch self {
      case .report(_, let instant, _, _), .change(_, let instant): instant
      }
    }
  }

  /// What a report says, without a batch to point into.
  enum Body {
    case advert(minor: UInt16, level: Int8)
    case heartbeat
    case displayOn
    case transmission(UInt32)
    case scanState(ScanState)
  }

  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let start = Timestamp(seconds: 1_700_000_000)
  static let gateways: [ObserverID] = [.eui48(0xAC23_3FA0_0001), .eui48(0xAC23_3FA0_0002), .name("attic")]
  static let handset = ObserverID.uuid(UUID128(high: 5, low: 6))

  static let site = Site(
    stream: "test",
    applications: [
      Application(
        identifier: "gallery",
        regions: [
          Region(identifier: "any", constraint: .proximity(uuid)),
          Region(
            identifier: "tags",
            constraint: .proximity(uuid, major: 1),
            subject: .beacon(observers: nil)
          ),
          Region(
            identifier: "downstairs",
            constraint: .proximity(uuid, major: 1),
            subject: .beacon(observers: [gateways[0], gateways[1]]),
            presence: PresencePolicy(silence: .fixed(.seconds(8)))
          ),
        ],
        ranging: [RangingRequest(constraint: .proximity(uuid, major: 1))]
      ),
      Application(
        identifier: "depot",
        regions: [Region(identifier: "seven", constraint: .proximity(uuid, major: 1, minor: 3))],
        regionLimit: 1
      ),
    ],
    zones: gateways.enumerated().map { Zone(identifier: "zone\($0.offset)", observers: [$0.element]) }
  )

  /// Inputs in order of R: bursts of adverts with pauses between, and region changes among them if asked for.
  static func inputs(seed: UInt64, count: Int, changes: Bool) -> [Input] {
    var random = SeededGenerator(seed: seed)
    var inputs: [Input] = []
    var now = start
    for index in 0..<count {
      // Several reports often share one R, as those of one drain do.
      if Int.random(in: 0..<3, using: &random) > 0 {
        now = now + TimeSpan(nanoseconds: Int64.random(in: 1...300_000_000, using: &random))
      }
      if Int.random(in: 0..<200, using: &random) == 0 {
        now = now + .seconds(Double.random(in: 5...60, using: &random))
      }
      if changes, Int.random(in: 0..<60, using: &random) == 0 {
        now = now + TimeSpan(nanoseconds: 1)
        inputs.append(.change(change(index, &random), now))
        continue
      }
      let observer = (gateways + [handset]).randomElement(using: &random) ?? handset
      let age = TimeSpan.milliseconds(Int64.random(in: 0...400, using: &random))
      // A sender whose own clock is a quarter of an hour ahead.
      let timings: [ReportTiming] = [.received, .age(age), .sent(now - age + .minutes(15))]
      let timing = timings.randomElement(using: &random) ?? .received
      inputs.append(.report(observer, now, timing, body(UInt32(index), &random)))
    }
    return inputs
  }

  private static func body(_ index: UInt32, _ random: inout SeededGenerator) -> Body {
    switch Int.random(in: 0..<40, using: &random) {
    case 0: .heartbeat
    case 1: .displayOn
    case 2: .transmission(index)
    case 3 where index % 3 == 0: .scanState(index % 2 == 0 ? .off : .windowed)
    case 4: .scanState(.foreground)
    default:
      .advert(
        minor: UInt16.random(in: 1...5, using: &random),
        level: Int8.random(in: -95 ... -45, using: &random)
      )
    }
  }

  private static func change(_ index: Int, _ random: inout SeededGenerator) -> RegionChange {
    let minor = UInt16.random(in: 1...5, using: &random)
    let constraint = BeaconConstraint.proximity(uuid, major: 1, minor: minor)
    let subject: Region.Subject = Bool.random(using: &random) ? .observer : .beacon(observers: nil)
    let region = Region(identifier: "r\(index % 3)", constraint: constraint, subject: subject)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .stopMonitoring(application: "gallery", identifier: "r\(index % 3)")
    case 1: return .startMonitoring(application: "depot", region)
    case 2:
      let beacon = BeaconID.proximity(uuid, major: 1, minor: minor)
      return .requestState(application: "gallery", identifier: "tags", subject: .beacon(beacon))
    case 3: return .startRanging(application: "depot", RangingRequest(constraint: constraint))
    default: return .startMonitoring(application: "gallery", region)
    }
  }

  /// Appends a report to a batch.
  static func append(_ input: Input, to batch: inout ReportBatch) {
    guard case .report(let observer, let received, let timing, let body) = input else { return }
    let reportBody: ReportBody
    switch body {
    case .advert(let minor, let level):
      let payload = batch.append(payload: iBeacon(minor: minor))
      let address = DeviceAddress(bits: 0xC000_0000_0000 | UInt64(minor), kind: .random)
      reportBody = .advert(Advert(address: address, rssi: RSSI(dBm: level), payload: payload))
    case .heartbeat: reportBody = .heartbeat(Heartbeat())
    case .displayOn: reportBody = .displayOn
    case .transmission(let sequence):
      reportBody = .transmission(Transmission(bootID: 1 + sequence / 400, sequence: sequence, uptime: .zero))
    case .scanState(let state): reportBody = .scanState(state)
    }
    let index = batch.index(of: observer)
    batch.append(Report(observer: index, received: received, timing: timing, body: reportBody))
  }

  /// The AD structures of an iBeacon of the site's UUID with major 1.
  static func iBeacon(minor: UInt16) -> [UInt8] {
    var bytes: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for word in [uuid.high, uuid.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes + [0, 1, UInt8(minor >> 8), UInt8(minor & 0xFF), 0xC5]
  }

  /// What a pipeline says to the inputs, as lines, with ticks put in between where they have a seed.
  static func lines(
    _ inputs: [Input],
    shards: Int = 1,
    batchSize: Int = .max,
    ticks: UInt64? = nil,
    tail: TimeSpan = .seconds(400)
  ) throws -> [String] {
    var pipeline = try Pipeline(site: site, shards: shards)
    var events: [Event] = []
    var batch = ReportBatch()
    var random = SeededGenerator(seed: ticks ?? 0)
    var latest = start
    for input in inputs {
      let room = (input.instant - latest).nanoseconds
      if ticks != nil, room > 1, Int.random(in: 0..<3, using: &random) == 0 {
        events += pipeline.ingest(batch)
        batch.removeAll()
        let ahead = TimeSpan(nanoseconds: Int64.random(in: 0..<room, using: &random))
        events += pipeline.advance(to: latest + ahead)
      }
      latest = input.instant
      if case .change(let change, let instant) = input {
        events += pipeline.ingest(batch)
        batch.removeAll()
        events += pipeline.apply(change, at: instant)
      } else {
        append(input, to: &batch)
        guard batch.reports.count >= batchSize else { continue }
        events += pipeline.ingest(batch)
        batch.removeAll()
      }
    }
    events += pipeline.ingest(batch)
    events += pipeline.finish(tail: tail)
    return events.map { $0.cloudEvent(stream: site.stream) }
  }
}
