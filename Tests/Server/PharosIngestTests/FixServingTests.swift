import PharosFixes
import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import PharosSpace
import PharosTestSupport
import PharosWire
import Synchronization
import Testing

@Suite("Fixes over the loopback interface", .serialized, .timeLimit(.minutes(20)))
struct FixServingTests {
  private static let posts = [(8.0, 5.0), (32, 5), (8, 15), (32, 15), (20, 10)].map { Point(x: $0, y: $1) }

  private static func bssid(_ index: Int) -> DeviceAddress {
    DeviceAddress(bits: 0x0200_0000_0000 | UInt64(index), kind: .unknown)
  }

  /// A room of 40 by 20 m with five access points.
  private static func ground() throws -> LocatableVenue {
    let origin = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let corner = Point(x: 40, y: 20)
    let floor = Floor(
      level: 2,
      names: ["Second floor"],
      plane: .ground(GroundPlane(origin: origin)),
      walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: corner))],
      accessPoints: posts.indices.map { PlacedAccessPoint(bssid($0), at: posts[$0]) }
    )
    let building = Building(identifier: "main", floors: [floor])
    return LocatableVenue(venue: Venue(identifier: "museum", buildings: [building]))
  }

  /// A datagram with a scan at a place, of which the entries are as old as they may be.
  private static func scan(
    at place: Point,
    by phone: ObserverID,
    _ encoder: inout PharosDatagramEncoder,
    _ random: inout SeededGenerator
  ) -> [UInt8] {
    var batch = ReportBatch()
    var points: [AccessPoint] = []
    for (index, post) in posts.enumerated() {
      let meters = max(1, (place - post).length)
      // 20 dB a tenfold distance, near enough by halvings.
      var level = -40.0
      var distance = 1.0
      while distance < meters {
        distance *= 1.2
        level -= 1.6
      }
      points.append(
        AccessPoint(
          bssid: bssid(index),
          rssi: RSSI(dBm: Int8(level + Double.random(in: -3...3, using: &random))),
          frequency: 2_437,
          lastHeard: .milliseconds(Int64.random(in: 0...3_000, using: &random))
        )
      )
    }
    let range = batch.append(accessPoints: points)
    let report = Report(
      observer: batch.index(of: phone),
      received: Timestamp(seconds: 1),
      timing: .age(.milliseconds(Int64.random(in: 0...700, using: &random))),
      body: .wifiScan(range)
    )
    let fits = encoder.append(report, from: batch)
    #expect(fits)
    return encoder.finish(uptime: .seconds(1))
  }

  @Test("are those that the recording gives, byte for byte, at any number of loops", arguments: [1, 2, 4])
  func recordingRoundTrip(loops: Int) async throws {
    let clock = ManualClock()
    let ground = try FixServingTests.ground()
    let sensed = Mutex<[Sensing]>([])
    let harness = try await ServerHarness.start(
      venues: [ground],
      isRecording: true,
      configure: {
        $0.loops = loops
        $0.clock = clock.ingest
      },
      sense: { batch in sensed.withLock { $0 += batch } }
    )
    var random = SeededGenerator(seed: UInt64(loops))
    let phones = (0..<6).map { ObserverID.name("phone-\($0)") }
    var encoders = phones.map { PharosDatagramEncoder(observer: $0, bootID: 1) }
    let sender = try harness.sender()
    for round in 0..<60 {
      for phone in encoders.indices {
        let place = Point(x: 4 + Double(round) / 2, y: 4 + Double(phone) * 2)
        try sender.sendWaiting(
          FixServingTests.scan(at: place, by: phones[phone], &encoders[phone], &random)
        )
      }
      _ = await harness.snapshot(datagrams: UInt64((round + 1) * encoders.count))
      await harness.pass(.milliseconds(500), on: clock)
    }
    await harness.pass(.seconds(5), on: clock)
    await harness.server.shutdown()
    let served = harness.output.all
    let fixes = served.filter { $0.kind == .fix }
    #expect(Set(fixes.map(\.subject)).count == encoders.count)
    #expect(fixes.count > 6 * 25)
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 2, 4] {
      let replayed = try harness.replayed(shards: shards, on: [ground])
      #expect(replayed.map { $0.cloudEvent(stream: "test") } == lines)
    }
    #expect(zip(served, served.dropFirst()).allSatisfy { !Event.isOrderedBefore($1, $0) })
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.positioning.locating.fixes == UInt64(fixes.count))
    #expect(snapshot.positioning.sensings == 360)
    #expect(sensed.withLock { $0.count } == 360)
    #expect(try harness.replayed(shards: 1).allSatisfy { $0.kind != .fix })
  }

  @Test("are those of a recording that begins while the server runs", arguments: [1, 3])
  func recordedFromTheMiddle(loops: Int) async throws {
    let clock = ManualClock()
    let ground = try FixServingTests.ground()
    let harness = try await ServerHarness.start(venues: [ground]) {
      $0.loops = loops
      $0.clock = clock.ingest
    }
    var random = SeededGenerator(seed: UInt64(loops))
    let phones = (0..<4).map { ObserverID.name("phone-\($0)") }
    var encoders = phones.map { PharosDatagramEncoder(observer: $0, bootID: 1) }
    let sender = try harness.sender()
    var start = Timestamp.distantFuture
    for round in 0..<40 {
      if round == 20 {
        let output = harness.output
        let order = RecordingOrder(
          duration: .minutes(60),
          maximumBytes: 1 << 30,
          sink: { output.record($0) },
          ended: { _ in }
        )
        start = try await harness.server.record(order)
      }
      for phone in encoders.indices {
        let place = Point(x: 4 + Double(round) / 2, y: 4 + Double(phone) * 2)
        try sender.sendWaiting(
          FixServingTests.scan(at: place, by: phones[phone], &encoders[phone], &random)
        )
      }
      _ = await harness.snapshot(datagrams: UInt64((round + 1) * encoders.count))
      await harness.pass(.milliseconds(500), on: clock)
    }
    await harness.pass(.seconds(5), on: clock)
    await harness.server.shutdown()
    let served = harness.output.all.filter { $0.decidedAt > start }
    #expect(served.count { $0.kind == .fix } >= 4 * 10)
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 4] {
      let replayed = try harness.replayed(shards: shards, on: [ground])
      #expect(replayed.map { $0.cloudEvent(stream: "test") } == lines)
    }
  }

  @Test("continue exactly at a server that starts from an exact checkpoint", arguments: [(1, 1), (3, 2)])
  func continued(before: Int, after: Int) async throws {
    let clock = ManualClock()
    let ground = try FixServingTests.ground()
    var random = SeededGenerator(seed: UInt64(before))
    let phones = (0..<4).map { ObserverID.name("phone-\($0)") }
    var encoders = phones.map { PharosDatagramEncoder(observer: $0, bootID: 1) }
    var runs: [ServerHarness] = []
    for (index, loops) in [before, after].enumerated() {
      let harness = try await ServerHarness.start(
        venues: [ground],
        isRecording: true,
        restoring: try runs.last?.continuation()
      ) {
        $0.loops = loops
        $0.clock = clock.ingest
        $0.continuesExactly = true
      }
      let sender = try harness.sender()
      for round in 0..<20 {
        for phone in encoders.indices {
          let place = Point(x: 4 + Double(index * 20 + round) / 2, y: 4 + Double(phone) * 2)
          try sender.sendWaiting(
            FixServingTests.scan(at: place, by: phones[phone], &encoders[phone], &random)
          )
        }
        _ = await harness.snapshot(datagrams: UInt64((round + 1) * encoders.count))
        await harness.pass(.milliseconds(500), on: clock)
      }
      await harness.server.shutdown()
      runs.append(harness)
    }
    let served = runs.flatMap(\.output.all)
    #expect(runs[1].output.all.count { $0.kind == .fix } >= 4 * 10)
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 4] {
      let replayed = try ServerHarness.replayed(runs, shards: shards, on: [ground])
      #expect(replayed.map { $0.cloudEvent(stream: "test") } == lines)
    }
  }

  @Test("a tap alone gives what handsets sense, in order, and no fix")
  func sensings() async throws {
    let sensed = Mutex<[Sensing]>([])
    let harness = try await ServerHarness.start(sense: { batch in sensed.withLock { $0 += batch } })
    var random = SeededGenerator(seed: 9)
    let phone = ObserverID.name("phone")
    var encoder = PharosDatagramEncoder(observer: phone, bootID: 1)
    let sender = try harness.sender()
    for number in 1...20 {
      try sender.sendWaiting(FixServingTests.scan(at: Point(x: 10, y: 10), by: phone, &encoder, &random))
      _ = await harness.snapshot(datagrams: UInt64(number))
    }
    await harness.server.shutdown()
    let committed = sensed.withLock { $0 }
    #expect(committed.count == 20)
    #expect(
      zip(committed, committed.dropFirst()).allSatisfy {
        ($0.decidedAt, $0.ordinal) < ($1.decidedAt, $1.ordinal)
      }
    )
    #expect(harness.output.all.allSatisfy { $0.kind != .fix })
  }

  @Test("a server that is not asked hands no sensings on")
  func off() async throws {
    let harness = try await ServerHarness.start()
    var random = SeededGenerator(seed: 9)
    let phone = ObserverID.name("phone")
    var encoder = PharosDatagramEncoder(observer: phone, bootID: 1)
    try harness.sender().sendWaiting(
      FixServingTests.scan(at: Point(x: 10, y: 10), by: phone, &encoder, &random)
    )
    let snapshot = await harness.snapshot(datagrams: 1)
    #expect(snapshot.monitoring.sensings == 0)
    await harness.server.shutdown()
  }
}
