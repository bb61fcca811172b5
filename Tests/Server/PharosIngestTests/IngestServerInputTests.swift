import PharosIngest
import PharosModel
import PharosPresence
import PharosSite
import PharosWire
import Synchronization
import Testing

@Suite("Inputs of a server that no observer sends", .serialized, .timeLimit(.minutes(20)))
struct IngestServerInputTests {
  @Test(
    "refuses the 21st region, says so in an event, and still replaces one of the twenty",
    arguments: [1, 2]
  )
  func keepsTheLimit(loops: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = loops }
    func region(_ number: Int) -> Region {
      Region(identifier: "r\(number)", constraint: .proximity(Samples.uuid, major: 1, minor: UInt16(number)))
    }
    // Two of the site's own are there already.
    for number in 0..<18 {
      try await harness.server.apply(.startMonitoring(application: "app", region(number)))
    }
    let refusal = RegionRefusal.regionLimitExceeded(limit: 20, application: "app", identifier: "r18")
    await #expect(throws: refusal) {
      try await harness.server.apply(.startMonitoring(application: "app", region(18)))
    }
    try await harness.server.apply(.startMonitoring(application: "app", region(7)))
    await harness.output.wait { events in events.contains { $0.kind == .regionLimitExceeded } }
    await harness.server.shutdown()
    let event = try #require(harness.output.all.first { $0.kind == .regionLimitExceeded })
    #expect(event.detail == .regionLimit(limit: 20, refused: "r18"))
    #expect(event.application == "app")
    #expect(harness.output.all.count { $0.kind == .regionLimitExceeded } == 1)
  }

  @Test("checks a change before it is committed, and makes it only if the commit succeeds")
  func commits() async throws {
    struct Failure: Error {}
    let harness = try await ServerHarness.start(isRecording: true)
    let before = harness.server.site
    let add = RegionChange.startMonitoring(
      application: "app",
      Region(identifier: "r", constraint: .proximity(Samples.uuid))
    )
    let lower = RegionChange.setRegionLimit(application: "app", 0)
    await #expect(throws: RegionRefusal.self) {
      try await harness.server.change(.changes([add, lower])) {
        Issue.record("a refused change was committed")
      }
    }
    await #expect(throws: Failure.self) {
      try await harness.server.change(.changes([add])) { throw Failure() }
    }
    #expect(harness.server.site == before)
    try await harness.server.change(.changes([add])) { #expect(harness.server.site == before) }
    #expect(harness.server.site != before)
    await harness.server.shutdown()
    #expect(try harness.replayed(shards: 2) == harness.output.all)
  }

  @Test("does not start with a site that breaks the limit")
  func checksTheSite() async throws {
    let regions = (0..<21).map { Region(identifier: "\($0)", constraint: .proximity(Samples.uuid)) }
    let site = Site(applications: [Application(identifier: "app", regions: regions)])
    await #expect(throws: RegionRefusal.self) { _ = try await ServerHarness.start(site: site) }
  }

  @Test("tells of a step of the wall clock and decides nothing by it", arguments: [3_600.0, -3_600.0])
  func survivesClockSteps(seconds: Double) async throws {
    let clock = ManualClock()
    let harness = try await ServerHarness.start(isRecording: true) { $0.clock = clock.ingest }
    let start = clock.ingest.wall()
    let sender = try harness.sender()
    try sender.sendWaiting(Samples.raddec(observer: 1, minor: 1))
    _ = await harness.snapshot(datagrams: 1)
    clock.setWall(by: .seconds(seconds))
    clock.pass(.milliseconds(1_500))
    await harness.output.wait { events in events.contains { $0.kind == .clockStepped } }
    try sender.sendWaiting(Samples.raddec(observer: 2, minor: 1))
    _ = await harness.snapshot(datagrams: 2)
    await harness.server.shutdown()
    let events = harness.output.all
    let step = try #require(events.first { $0.kind == .clockStepped })
    #expect(step.detail == .clockStep(.seconds(seconds)))
    // Before the step by the old time, behind it by the new one; in between nothing was decided by it.
    for (observer, offset) in [(1, 0), (2, seconds)] {
      let online = try #require(
        events.first { $0.kind == .observerOnline && $0.subject == .observer(.eui48(UInt64(observer))) }
      )
      #expect((start + .seconds(offset)..<start + .seconds(offset + 2)).contains(online.decidedAt))
    }
    #expect(try harness.replayed(shards: 2) == events)
    #expect(harness.logs.lines.contains { $0.hasPrefix("notice The wall clock was set") })
  }

  @Test("tells the right date on a machine that learns it late")
  func followsTheFirstStep() async throws {
    let clock = ManualClock()
    let harness = try await ServerHarness.start { $0.clock = clock.ingest }
    let start = clock.ingest.wall()
    clock.setWall(by: .seconds(1e9))
    clock.pass(.milliseconds(1_500))
    await harness.output.wait { events in events.contains { $0.kind == .clockStepped } }
    try harness.sender().sendWaiting(Samples.raddec(observer: 1, minor: 1))
    await harness.output.wait { events in events.contains { $0.kind == .observerOnline } }
    await harness.server.shutdown()
    let online = try #require(harness.output.all.first { $0.kind == .observerOnline })
    #expect(online.time >= start + .seconds(1e9))
  }

  @Test("continues when its recording cannot be written, and logs that once")
  func survivesAFullDisc() async throws {
    struct DiscFull: Error {}
    let written = Mutex(0)
    let harness = try await ServerHarness.start {
      $0.record = { bytes in
        let total = written.withLock { total in
          total += bytes.count
          return total
        }
        if total > 4_000 { throw DiscFull() }
      }
    }
    #expect(await harness.server.snapshot().isRecording)
    let sender = try harness.sender()
    for number in 0..<200 { try sender.sendWaiting(Samples.raddec(observer: UInt64(number), minor: 1)) }
    _ = await harness.snapshot(datagrams: 200)
    while await harness.server.snapshot().isRecording { await Task.yield() }
    try sender.sendWaiting(Samples.raddec(observer: 200, minor: 1))
    _ = await harness.snapshot(datagrams: 201)
    await harness.server.shutdown()
    #expect(harness.output.all.count { $0.kind == .observerOnline } == 201)
    #expect(harness.logs.lines.count { $0.hasPrefix("error Recording stopped") } == 1)
  }
}

@Suite("Messages of a broker at the intake", .serialized, .timeLimit(.minutes(20)))
struct BrokerMessageTests {
  /// A message of a gateway that hears the iBeacon of the samples.
  private static func message(_ gateway: String, minor: Int) throws -> [UInt8] {
    let payload =
      #"{"id":"11:22:33:44:55:66","rssi":-60,"uuid":"\#(Samples.uuid)","major":1,"minor":\#(minor)}"#
    return try #require(MQTTFormat.datagram(topic: "home/\(gateway)/BTtoMQTT/X".utf8, payload: payload.utf8))
  }

  @Test("many are taken at once, decided like datagrams and recorded, so that a replay decides the same")
  func batches() async throws {
    let harness = try await ServerHarness.start(isRecording: true) { $0.loops = 2 }
    let source = Endpoint(IPAddress(v4: 0x0A00_0002), port: 1_883)
    for round in 0..<20 {
      let messages = try (0..<IngestServer.maximumAtOnce).map {
        try Self.message("gateway-\($0)", minor: round)
      }
      let receipts = try await harness.server.receive(messages, from: source, under: .open)
      #expect(receipts == Array(repeating: .accepted(format: .mqtt, reports: 1), count: messages.count))
    }
    let broken = try await harness.server.receive([[0x4D, 0x51, 0x54, 0x54]], from: source, under: .open)
    #expect(broken == [.refused(.tooShort)])
    await harness.server.shutdown()
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.decoding.datagrams(.mqtt) == UInt64(20 * IngestServer.maximumAtOnce))
    #expect(snapshot.decoding.refusals(.mqtt, .tooShort) == 1)
    #expect(snapshot.refusedSources.map(\.source) == [source.address])
    #expect(harness.output.all.count { $0.kind == .observerOnline } == IngestServer.maximumAtOnce)
    #expect(try harness.replayed(shards: 3) == harness.output.all)
  }

  @Test(
    "under an allowlist, only the messages of listed gateways count; under a policy of signatures, none does"
  )
  func policies() async throws {
    var site = Samples.site
    site.observers = [ObserverEntry(id: .name("desk"))]
    let harness = try await ServerHarness.start(site: site)
    let source = Endpoint(IPAddress(v4: 1), port: 1)
    let messages = [try Self.message("desk", minor: 1), try Self.message("hall", minor: 1)]
    let listed = try await harness.server.receive(messages, from: source, under: .allowlist)
    #expect(listed == [.accepted(format: .mqtt, reports: 1), .refused(.notListed)])
    let signed = try await harness.server.receive(messages, from: source, under: .signed)
    #expect(signed == [.refused(.notSigned), .refused(.notSigned)])
    await harness.server.shutdown()
  }
}
