import PharosCaptures
import PharosIngest
import PharosModel
import PharosPresence
import PharosTestSupport
import PharosWire
import Testing

@Suite("An ingest server on the loopback interface", .serialized, .timeLimit(.minutes(20)))
struct IngestServerTests {
  @Test("accounts for every datagram, whatever its bytes", arguments: [1, 2])
  func countsExactly(loops: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = loops }
    var generator = SeededGenerator(seed: 7)
    var expected = DatagramDecoder()
    var batch = ReportBatch()
    var bytes = 0
    let datagrams = (0..<600).map { number -> [UInt8] in
      switch number % 3 {
      case 0: return Samples.raddec(observer: UInt64(number % 20), minor: 1)
      case 1:
        var damaged = Samples.raddec(observer: 1, minor: 2)
        damaged[Int.random(in: damaged.indices, using: &generator)] ^= 0x10
        return damaged
      default:
        let length = Int.random(in: 0..<1_500, using: &generator)
        return (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      }
    }
    for part in 0..<6 {
      let sender = try harness.sender()
      for datagram in datagrams[part * 100..<part * 100 + 100] {
        try sender.sendWaiting(datagram)
        bytes += datagram.count
        _ = expected.decode(datagram.span.bytes, received: .distantPast, into: &batch)
      }
    }
    _ = await harness.snapshot(datagrams: 600)
    await harness.server.shutdown()
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.kernelDrops == 0)
    #expect(snapshot.datagrams == 600)
    #expect(snapshot.bytes == UInt64(bytes))
    #expect(snapshot.decoding == expected.counters)
    #expect(snapshot.monitoring.reports == expected.counters.totalReports)
    #expect(snapshot.refusedSources.map(\.count) == [expected.counters.totalRefusals])
    #expect(snapshot.refusedSources.first?.source == IPAddress(v4: 0x7F00_0001))
    let lines = harness.logs.lines.filter { $0.hasPrefix("warning A datagram was refused") }
    #expect(lines.count > 0)
    #expect(lines.count <= loops * DatagramRefusal.allCases.count)
  }

  @Test("gives the events that its recording gives, byte for byte", arguments: [1, 2, 3])
  func recordingRoundTrip(loops: Int) async throws {
    // Time runs a hundred times faster than the test, so that minutes of deadlines pass.
    let clock = ManualClock()
    let harness = try await ServerHarness.start(isRecording: true) {
      $0.loops = loops
      $0.clock = clock.ingest
    }
    var generator = SeededGenerator(seed: UInt64(loops))
    for round in 0..<20 {
      let sender = try harness.sender()
      for _ in 0..<20 {
        let datagram = Samples.raddec(
          observer: UInt64.random(in: 0..<12, using: &generator),
          minor: UInt16.random(in: 0..<6, using: &generator),
          rssi: Int8.random(in: -90 ... -40, using: &generator)
        )
        try sender.sendWaiting(datagram)
        clock.pass(.milliseconds(Int64.random(in: 0...120, using: &generator)))
      }
      let region = Region(identifier: "extra-\(round)", constraint: .proximity(Samples.uuid, major: 1))
      try? await harness.server.apply(.startMonitoring(application: "app", region))
      if round % 5 == 4 { clock.pass(.seconds(5)) }
    }
    _ = await harness.snapshot(datagrams: 400)
    clock.pass(.seconds(60))
    await harness.server.shutdown()
    let served = harness.output.all
    #expect(served.contains { $0.kind == .observerOnline })
    #expect(served.count { $0.kind == .regionLimitExceeded } == 20 - 18)
    let lines = served.map { $0.cloudEvent(stream: "test") }
    for shards in [1, 3] {
      #expect(try harness.replayed(shards: shards).map { $0.cloudEvent(stream: "test") } == lines)
    }
    #expect(zip(served, served.dropFirst()).allSatisfy { !Event.isOrderedBefore($1, $0) })
  }

  @Test("counts and refuses datagrams that are longer than it takes, at a wake-up and behind one")
  func refusesTruncated() async throws {
    let harness = try await ServerHarness.start(isRecording: true) { $0.largestDatagram = 256 }
    let sender = try harness.sender()
    let whole = Samples.raddec(observer: 1, minor: 1)
    for count in 1...40 {
      try sender.sendWaiting(Array(repeating: 0x10, count: 257 + count))
      _ = await harness.snapshot(datagrams: UInt64(count))
    }
    for _ in 0..<40 { try sender.sendWaiting(Array(repeating: 0x10, count: 2_000)) }
    try sender.sendWaiting(whole + Array(repeating: 0, count: 256 - whole.count))
    try sender.sendWaiting(whole)
    let snapshot = await harness.snapshot(datagrams: 82)
    #expect(snapshot.truncated == 80)
    #expect(snapshot.decoding.refusals(.raddec, .truncated) == 80)
    #expect(snapshot.decoding.totalRefusals == 81)
    #expect(snapshot.decoding.datagrams(.raddec) == 1)
    await harness.server.shutdown()
    let replayed = try harness.replayed(shards: 1)
    #expect(replayed == harness.output.all)
  }

  @Test("takes datagrams of 65,507 bytes whole")
  func usesTheLargest() async throws {
    let harness = try await ServerHarness.start()
    let sender = try harness.sender()
    for _ in 0..<3 { try sender.sendWaiting(Array(repeating: 0x20, count: 65_507)) }
    let snapshot = await harness.snapshot(datagrams: 3)
    #expect(snapshot.truncated == 0)
    #expect(snapshot.bytes == 3 * 65_507)
    await harness.server.shutdown()
  }

  @Test("shows an unknown device once it has received it")
  func showsUnregistered() async throws {
    let harness = try await ServerHarness.start(site: Site())
    let sender = try harness.sender()
    try sender.sendWaiting(Samples.raddec(observer: 0xAC23_3FA0_0001, minor: 42, rssi: -71))
    let heard = await harness.snapshot(datagrams: 1).heard
    #expect(heard.observers.map(\.id) == [.eui48(0xAC23_3FA0_0001)])
    #expect(heard.observers.first?.source == sender.source)
    #expect(heard.beacons.first?.identities == [.proximity(Samples.uuid, major: 1, minor: 42)])
    #expect(heard.beacons.first?.rssi == RSSI(dBm: -71))
    await harness.server.shutdown()
  }

  @Test("takes all that its sockets hold through to the events before it stops", arguments: [1, 2])
  func drainsOnShutdown(loops: Int) async throws {
    let harness = try await ServerHarness.start { $0.loops = loops }
    for _ in 0..<8 {
      let sender = try harness.sender()
      for observer in 0..<250 {
        try sender.sendWaiting(Samples.raddec(observer: UInt64(observer), minor: 1))
      }
    }
    await harness.server.shutdown()
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.datagrams == 2_000)
    #expect(harness.output.all.count { $0.kind == .observerOnline } == 250)
    #expect(snapshot.monitoring.reports == 2_000)
    await harness.server.shutdown()
    await #expect(throws: IngestError.stopped) {
      try await harness.server.apply(.stopMonitoring(application: "app", identifier: "any"))
    }
  }

  @Test("stops under a flood")
  func stopsUnderAFlood() async throws {
    let harness = try await ServerHarness.start()
    let address = try #require(harness.server.localAddresses.first)
    async let sent = Flood.send(to: address)
    _ = await harness.snapshot(datagrams: 2_000)
    await harness.server.shutdown()
    let snapshot = await harness.server.snapshot()
    #expect(snapshot.datagrams >= 2_000)
    #expect(await sent >= snapshot.datagrams)
  }
}
