import Atomics
import Foundation
import NIOCore
import PharosCaptures
import PharosIngest
import PharosModel
import PharosPresence
import PharosTestSupport
import PharosWire
import Testing

@Suite("More than fits", .serialized, .timeLimit(.minutes(20)))
struct OverloadTests {
  @Test(
    "datagrams that the kernel drops are counted, the others are decided, and the server recovers",
    arguments: [1, 2]
  )
  func accountsForDrops(loops: Int) async throws {
    let clock = GatedClock()
    let harness = try await ServerHarness.start {
      $0.loops = loops
      $0.receiveBuffer = 32_768
      $0.clock = clock.ingest
    }
    var sent: UInt64 = 0
    for burst in 0..<3 {
      // With two loops only one is sure to stand still; the other takes what the kernel gives it.
      await clock.close()
      let sender = try harness.sender()
      for number in 0..<2_000 {
        try sender.sendWaiting(Samples.raddec(observer: UInt64(number % 40), minor: 1))
      }
      sent += 2_000
      clock.open()
      let probe = ObserverID.eui48(0xAC23_3FA0_0000 | UInt64(burst))
      let prober = try harness.sender()
      // Recovery: the first datagram that comes when there is room again makes its decision.
      var isHeard = false
      while !isHeard {
        try prober.sendWaiting(
          Samples.raddec(observer: 0xAC23_3FA0_0000 | UInt64(burst), minor: UInt16(burst + 2))
        )
        sent += 1
        let snapshot = await harness.snapshot(datagrams: sent)
        isHeard = snapshot.observers.contains { $0.id == probe }
      }
      await harness.output.wait { events in
        events.contains { $0.kind == .regionEnter && $0.subject == .observer(probe) }
      }
    }
    let before = await harness.snapshot(datagrams: sent)
    await harness.server.shutdown()
    let snapshot = await harness.server.snapshot()
    #expect(before.datagrams + before.kernelDrops == sent)
    #expect(snapshot.datagrams == before.datagrams)
    #expect(loops > 1 || snapshot.kernelDrops > 3_000)
    #expect(snapshot.decoding.totalReports == snapshot.datagrams)
    #expect(snapshot.monitoring.reports == snapshot.datagrams)
    #expect(snapshot.sockets.allSatisfy { $0.receiveBuffer <= 32_768 })
    #expect(snapshot.kernelDrops == 0 || harness.logs.lines.contains { $0.contains("The kernel dropped") })
  }

  @Test("deadlines fire and requests are answered in the midst of a flood", arguments: [1, 2])
  func staysAwake(loops: Int) async throws {
    // The machine's own time, since a deadline is to come by itself while the flood lasts.
    let harness = try await ServerHarness.start {
      $0.loops = loops
      $0.clock = .system
    }
    let address = try #require(harness.server.localAddresses.first)
    async let sent = Flood.send(to: address)
    _ = await harness.snapshot(datagrams: 20_000)
    let quiet = ObserverID.eui48(0xAC23_3FA0_0009)
    let datagram = Samples.raddec(observer: 0xAC23_3FA0_0009, minor: 3)
    let source = Endpoint(IPAddress(v4: 0x0A00_0001), port: 9)
    #expect(
      try await harness.server.receive([datagram], from: source, under: .open)
        == [.accepted(format: .raddec, reports: 1)]
    )
    let region = Region(identifier: "late", constraint: .proximity(Samples.uuid, major: 9))
    try await harness.server.apply(.startMonitoring(application: "app", region))
    // The observer was heard once; its exit is due two seconds later, however much the others send.
    await harness.output.wait { events in
      events.contains { $0.kind == .regionExit && $0.subject == .observer(quiet) }
    }
    let times = harness.output.all.filter { $0.subject == .observer(quiet) }
    let entered = times.first { $0.kind == .regionEnter }?.time
    let exited = times.first { $0.kind == .regionExit }?.time
    #expect(try #require(exited) - #require(entered) >= .seconds(2))
    await harness.server.shutdown()
    #expect(await sent > 20_000)
  }

  @Test(
    "while the receiver of events is full no loop reads, the kernel counts what it drops, and silence is no absence",
    arguments: [1, 2]
  )
  func standsStill(loops: Int) async throws {
    let (isFull, clock) = (ManagedAtomic(false), ManualClock())
    let harness = try await ServerHarness.start {
      $0.loops = loops
      $0.receiveBuffer = 32_768
      $0.clock = clock.ingest(minimumPause: .seconds(1))
      $0.isReceiverFull = { isFull.load(ordering: .relaxed) }
    }
    let sender = try harness.sender()
    try sender.sendWaiting(Samples.raddec(observer: 1, minor: 1))
    await harness.output.wait { $0.contains { $0.kind == .regionEnter } }
    isFull.store(true, ordering: .relaxed)
    let before = await harness.snapshot(datagrams: 1)
    var sent: UInt64 = 1
    while await harness.server.snapshot().kernelDrops == 0 {
      try sender.sendWaiting(Samples.raddec(observer: 2, minor: 2))
      sent += 1
    }
    #expect(await harness.server.snapshot().datagrams == before.datagrams)
    // Longer than any silence that the regions allow.
    await harness.pass(.seconds(60), on: clock)
    isFull.store(false, ordering: .relaxed)
    let after = await harness.snapshot(datagrams: sent)
    #expect(after.datagrams + after.kernelDrops == sent && after.datagrams > 1)
    await harness.output.wait { events in
      events.contains { $0.kind == .regionEnter && $0.subject == .observer(.eui48(2)) }
    }
    #expect(!harness.output.all.contains { $0.kind == .regionExit })
    #expect(harness.logs.lines.contains { $0.contains("The server was paused") })
    await harness.server.shutdown()
  }

  @Test("any number of unknown devices leaves every table within its bounds")
  func staysBounded() {
    var intake = Intake(shard: 0, shards: 1, iBeaconCompanies: [])
    var generator = SeededGenerator(seed: 11)
    let start = Timestamp(seconds: 1_780_000_000)
    for number in 0..<60_000 {
      let call = Intake.Call(
        received: start + .milliseconds(Int64(number)),
        destination: Endpoint(IPAddress(v4: 0x7F00_0001), port: 1),
        isRecorded: false
      )
      let source = Endpoint(IPAddress(v4: UInt32.random(in: 1...(.max), using: &generator)), port: 7)
      let isGarbage = number % 3 == 0
      let datagram: [UInt8] =
        isGarbage
        ? [UInt8.random(in: 0x80...0xFF, using: &generator), 1, 2]
        : Samples.raddec(
          observer: UInt64.random(in: 0..<1 << 48, using: &generator),
          minor: UInt16.random(in: 0...(.max), using: &generator)
        )
      _ = datagram.withUnsafeBytes { intake.receive($0, isTruncated: false, of: call) { source } }
      intake.incoming.removeAll()
      intake.lines.removeAll()
    }
    let heard = intake.heard.heard(at: start)
    #expect(heard.observers.count <= HeardTable.capacity)
    #expect(heard.beacons.count <= HeardTable.capacity)
    #expect(heard.observers.count > HeardTable.capacity / 2)
    #expect(intake.refusals.sources.count <= 1_024)
    #expect(intake.refusals.sources.count > 512)
    #expect(intake.decoder.counters.totalRefusals == 20_000)
    #expect(intake.decoder.counters.totalReports == 40_000)
  }

  @Test("a merger that takes nothing stops the reading, and nothing is lost when it goes on")
  func holdsBack() throws {
    let exchange = Exchange(loops: 1, isRecording: false, merger: Wake { _ in })
    var shard = Shard(index: 0, exchange: exchange, engine: MonitoringEngine(site: Samples.site))
    var time = Timestamp(seconds: 1_780_000_000)
    var pushed = 0
    while exchange.hasRoom(from: 0) {
      var batch = ReportBatch()
      time = time + .milliseconds(10)
      // Each batch has an observer of its own, so that each brings an event.
      batch.appendAdvert(
        by: .eui48(UInt64(pushed + 1)),
        address: 1,
        rssi: -60,
        data: Samples.iBeacon(minor: 1),
        at: time
      )
      let parcel = ShardParcel(received: time, content: .reports(batch))
      let isPushed = exchange.toShards[0][0].full.push(parcel)
      try #require(isPushed)
      exchange.publishInputs(of: 0, through: time)
      _ = shard.run()
      pushed += 1
      try #require(pushed < 10_000, "nothing holds the reading back")
    }
    #expect(pushed <= Exchange.Capacity.shards + Exchange.Capacity.merger)
    var events = 0
    while shard.through < time {
      while let result = exchange.toMerger[0].full.pop() {
        events += result.output.events.count { $0.kind == .observerOnline }
      }
      _ = shard.run()
    }
    while let result = exchange.toMerger[0].full.pop() {
      events += result.output.events.count { $0.kind == .observerOnline }
    }
    #expect(events == pushed)
    #expect(exchange.hasRoom(from: 0))
  }

  @Test("datagrams for a shard that is behind wait in the socket, unless they fit into a turn")
  func congestion() throws {
    let exchange = Exchange(loops: 2, isRecording: false, merger: Wake { _ in })
    let start = Timestamp(seconds: 1_780_000_000)
    for shard in 0..<2 { exchange.publishDecisions(of: shard, through: start) }
    let ring = exchange.toShards[0][1].full
    let late = start + Exchange.maximumBehind + .oneNanosecond
    for number in 0...Exchange.Capacity.turn {
      #expect(!exchange.isCongested(from: 0, at: late), "\(number) are at most a turn's")
      #expect(ring.push(ShardParcel(received: start, content: .reports(ReportBatch()))))
    }
    #expect(exchange.isCongested(from: 0, at: late))
    #expect(!exchange.isCongested(from: 0, at: start + Exchange.maximumBehind))
    #expect(!exchange.isCongested(from: 1, at: late), "another loop's rings are empty")
    exchange.publishDecisions(of: 1, through: start + .milliseconds(1))
    #expect(!exchange.isCongested(from: 0, at: late))
    #expect(exchange.isCongested(from: 0, at: late + .milliseconds(1)))
    _ = ring.pop()
    #expect(!exchange.isCongested(from: 0, at: late + .milliseconds(1)))
  }

  @Test("a shard that is out of time takes one parcel a run, and decides the same")
  func shortRuns() throws {
    let times = (1...40).map { Timestamp(seconds: 1_780_000_000 + $0) }
    let committed = try [nil, NIODeadline.uptimeNanoseconds(1)].map { deadline in
      let exchange = Exchange(loops: 1, isRecording: false, merger: Wake { _ in })
      var shard = Shard(index: 0, exchange: exchange, engine: MonitoringEngine(site: Samples.site))
      for (number, time) in times.enumerated() {
        var batch = ReportBatch()
        let data = Samples.iBeacon(minor: 1)
        batch.appendAdvert(by: .eui48(UInt64(number + 1)), address: 1, rssi: -60, data: data, at: time)
        let isPushed = exchange.toShards[0][0].full.push(
          ShardParcel(received: time, content: .reports(batch))
        )
        try #require(isPushed)
      }
      exchange.publishInputs(of: 0, through: times[times.count - 1])
      var runs = 1
      while shard.run(until: deadline) == .more { runs += 1 }
      #expect(runs == (deadline == nil ? 1 : times.count))
      var events: [Event] = []
      while let result = exchange.toMerger[0].full.pop() { events += result.output.events }
      return events
    }
    #expect(committed[0].count { $0.kind == .observerOnline } == times.count)
    #expect(committed[1] == committed[0])
  }

  @Test("a change of regions that takes several turns holds the watermark back, and no event is other for it")
  func alternates() throws {
    let exchange = Exchange(loops: 1, isRecording: false, merger: Wake { _ in })
    var shard = Shard(index: 0, exchange: exchange, engine: MonitoringEngine(site: Samples.site))
    var reference = MonitoringEngine(site: Samples.site)
    var expected = StageOutput()
    let start = Timestamp(seconds: 1_780_000_000)
    let instant = start + .milliseconds(10)
    let again = start + .milliseconds(500)
    let end = start + .seconds(10)
    let adverts = { (time: Timestamp) -> ReportBatch in
      var batch = ReportBatch()
      for observer in 1...60 as ClosedRange<UInt64> {
        for minor in 0..<100 as Range<UInt16> {
          let data = Samples.iBeacon(minor: minor)
          batch.appendAdvert(by: .eui48(observer), address: UInt64(minor), rssi: -60, data: data, at: time)
        }
      }
      return batch
    }
    let presence = PresencePolicy(enterSamples: 1, silence: .fixed(.seconds(2)))
    let region = Region(identifier: "more", constraint: .proximity(Samples.uuid), presence: presence)
    let change = RegionChange.startMonitoring(application: "app", region)
    reference.ingest(adverts(start), into: &expected)
    reference.apply(change, at: instant, into: &expected)
    reference.ingest(adverts(again), into: &expected)
    reference.advance(to: end, into: &expected)

    let ring = exchange.toShards[0][0].full
    var events: [Event] = []
    var turns = 0
    let run = { (time: Timestamp) in
      exchange.publishInputs(of: 0, through: time)
      while shard.through < time {
        _ = shard.run()
        turns += 1
        if shard.through < time { #expect(exchange.decisionsThrough(0) < instant) }
        while let result = exchange.toMerger[0].full.pop() { events += result.output.events }
      }
    }
    #expect(ring.push(ShardParcel(received: start, content: .reports(adverts(start)))))
    #expect(ring.push(ShardParcel(received: instant, content: .changes([change]))))
    run(instant + .milliseconds(1))
    #expect(turns > 1)
    #expect(ring.push(ShardParcel(received: again, content: .reports(adverts(again)))))
    run(end)
    #expect(events.contains { $0.region == "more" })
    events.sort(by: Event.isOrderedBefore)
    #expect(events == expected.events.sorted(by: Event.isOrderedBefore))
  }
}
