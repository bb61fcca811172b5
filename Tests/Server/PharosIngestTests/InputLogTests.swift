import Atomics
import PharosIngest
import PharosModel
import PharosPipeline
import PharosPresence
import PharosSite
import PharosTestSupport
import PharosWire
import Testing

@Suite("Servers that decide through one log", .serialized, .timeLimit(.minutes(20)))
struct InputLogTests {
  /// Servers on one log and one clock, and random inputs for them.
  private struct Cluster {
    let clock = ManualClock()
    let log: MemoryLog
    /// The servers that run.
    private(set) var nodes: [ServerHarness] = []
    /// Their numbers.
    private var numbers: [Int] = []
    private var random: SeededGenerator
    private var announcements: UInt64 = 0

    init(loops: [Int], seed: UInt64) async throws {
      random = SeededGenerator(seed: seed)
      log = MemoryLog(seed: seed, clock: clock)
      for (index, count) in loops.enumerated() {
        try await start(index, start: 1, loops: count)
      }
    }

    /// Starts a server, from where another one was at the end if there is one.
    mutating func start(
      _ index: Int,
      start: UInt32,
      loops: Int,
      behind former: ServerHarness? = nil
    ) async throws {
      let (log, clock) = (self.log, self.clock)
      let place = try former?.output.kept.last.map { try LoggedCheckpoint(decoding: $0.bytes).place }
      let node = try await ServerHarness.start(
        owner: place.map { SiteOwner($0.sources, changedTo: $0.site) },
        restoring: try former?.continuation()
      ) {
        $0.loops = loops
        $0.clock = clock.ingest
        $0.continuesExactly = true
        $0.log = LoggedIngest(
          log: log,
          node: "node-\(index)",
          start: start,
          reading: place?.reading ?? LogReading()
        )
      }
      nodes.append(node)
      numbers.append(index)
    }

    /// Stops the last server in order.
    mutating func stopLast() async -> ServerHarness {
      numbers.removeLast()
      let node = nodes.removeLast()
      await node.server.shutdown()
      return node
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Lets less than a second pass, and waits until each server has published something since.
    func advance() async {
      clock.pass(.milliseconds(300))
      let (publishers, now) = (numbers.map { "node-\($0)/0" }, clock.ingest.wall())
      while !log.hasPublished(publishers, since: now) { await Task.yield() }
    }

    /// Waits for what a server is asked, while time goes on.
    func wait(for body: @escaping @Sendable () async -> Void) async {
      let isDone = ManagedAtomic(false)
      let task = Task {
        await body()
        isDone.store(true, ordering: .releasing)
      }
      while !isDone.load(ordering: .acquiring) { await advance() }
      await task.value
    }

    /// Gives inputs to servers at random.
    mutating func traffic(rounds: Range<Int>) async throws {
      for round in rounds {
        let node = nodes[number(0...(nodes.count - 1))]
        let sender = try node.sender()
        for _ in 0..<number(0...6) {
          let datagram = Samples.raddec(
            observer: UInt64(number(0...7)),
            minor: UInt16(number(0...5)),
            rssi: Int8(number(-90 ... -40))
          )
          try sender.sendWaiting(datagram)
        }
        switch number(0...7) {
        case 0:
          let region = Region(
            identifier: "extra-\(number(0...3))",
            constraint: .proximity(Samples.uuid, major: 1, minor: UInt16(round % 6))
          )
          // Some are one more than the application may hold.
          let changes: [RegionChange] = [
            .setRegionLimit(application: "app", number(3...5)),
            .startMonitoring(application: "app", region),
          ]
          let both = number(0...1) == 0
          await wait { try? await node.server.apply(all: both ? changes : [changes[1]]) }
        case 1:
          let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
          let message = Samples.raddec(observer: UInt64(number(0...7)), minor: 3)
          _ = try await node.server.receive([message], from: source, under: .open)
        case 2:
          var edited = node.server.site
          edited.zones = [Zone(identifier: "hall-\(round)", observers: [.eui48(1), .eui48(2)])]
          let site = edited
          await wait { try? await node.server.adopt(site) }
        case 3: announce(at: node)
        default: break
        }
        await advance()
      }
    }

    @discardableResult
    mutating func announce(at node: ServerHarness) -> Event {
      announcements += 1
      let now = clock.ingest.wall()
      let event = Event(
        stream: "test",
        kind: .authorisationChanged,
        time: now,
        decidedAt: now,
        stage: 0,
        subject: .observer(.eui48(1)),
        application: "app",
        counter: announcements,
        detail: .authorisation(
          AuthorisationTransition(from: .notDetermined, to: .always, purpose: "to find the way")
        )
      )
      node.server.announce([event]) { _ in Issue.record("the server was listening") }
      return event
    }

    /// Waits until all servers have read all that was published so far: what was published last is the last event.
    mutating func catchUp() async {
      for node in nodes {
        let last = announce(at: node)
        for node in nodes {
          while !node.output.all.contains(where: { $0.id == last.id }) { await advance() }
        }
      }
    }

    /// The events that one thread makes of the log.
    func processed() throws -> [Event] {
      var (reading, decoder) = (LogReading(), DatagramDecoder())
      var pipeline = try Pipeline(site: Samples.site, shards: 2)
      let owner = SiteOwner(declared: Samples.site)
      var events: [Event] = []
      for entry in log.entries {
        guard let placed = try reading.read(entry) else { continue }
        if let pause = placed.pause { events += pipeline.pause(through: pause.through, at: pause.at) }
        if let step = placed.clockStep { events += pipeline.stepClock(by: step.span, at: step.at) }
        for (input, instant) in placed.inputs.map({ ($0.input, $0.instant) }) {
          switch input {
          case .datagram(let bytes, from: _, to: _, at: _):
            var batch = ReportBatch()
            _ = decoder.decode(bytes.span.bytes, received: instant, into: &batch)
            events += pipeline.ingest(batch)
          case .changes(let changes, documents: let documents, at: _):
            let made = try? owner.carryOut(.logged(changes, documents))
            events += pipeline.apply(all: made ?? changes, at: instant)
          case .announced(let announced, at: _):
            for event in announced { events += pipeline.announce(event, at: instant) }
          }
        }
        events += pipeline.advance(to: placed.through)
      }
      return events
    }
  }

  private static func lines(_ events: [Event]) -> [String] { events.map { $0.cloudEvent(stream: "test") } }

  /// Where two runs part while both go on, or nil; a server may have read more of the log than another one.
  private static func parting(_ left: [Event], _ right: [Event]) -> String? {
    for (index, pair) in zip(lines(left), lines(right)).enumerated() where pair.0 != pair.1 {
      return "event \(index):\n\(pair.0)\n\(pair.1)"
    }
    return nil
  }

  @Test(
    "give equal events with equal ids, whichever was asked, and those that one thread makes of the log",
    arguments: Seeds.drawn(0..<12 as Range<UInt64>, first: 2)
  )
  func alike(seed: UInt64) async throws {
    var cluster = try await Cluster(loops: [1, 3, 2], seed: seed)
    try await cluster.traffic(rounds: 0..<60)
    await cluster.catchUp()
    let all = cluster.nodes.map(\.output.all)
    #expect(all[0].contains { $0.kind == .regionEnter } && all[0].contains { $0.kind == .regionExit })
    let processed = try cluster.processed()
    #expect(processed.count > 50)
    for events in all {
      #expect(events.count > 50)
      #expect(Self.parting(events, processed) == nil)
    }
    for node in cluster.nodes {
      #expect(node.server.site.applications == cluster.nodes[0].server.site.applications)
      #expect(node.server.site.zones == cluster.nodes[0].server.site.zones)
    }
    for node in cluster.nodes { await node.server.shutdown() }
    cluster.log.finish()
  }

  @Test(
    "one that stops and starts again from its last checkpoint reads on, and loses and repeats nothing",
    arguments: Seeds.drawn(0..<8 as Range<UInt64>, first: 1)
  )
  func restarts(seed: UInt64) async throws {
    var cluster = try await Cluster(loops: [1, 2], seed: seed)
    var former: [Event] = []
    for life in 1..<4 as Range<UInt32> {
      try await cluster.traffic(rounds: Int(life) * 20..<Int(life) * 20 + 20)
      let node = await cluster.stopLast()
      former += node.output.all
      // The others go on meanwhile.
      try await cluster.traffic(rounds: 0..<10)
      try await cluster.start(1, start: life + 1, loops: Int(life), behind: node)
    }
    await cluster.catchUp()
    let (steady, restarted) = (cluster.nodes[0].output.all, former + cluster.nodes[1].output.all)
    #expect(steady.contains { $0.kind == .regionExit })
    #expect(abs(steady.count - restarted.count) < 20 && restarted.count > 50)
    #expect(Self.parting(steady, restarted) == nil)
    for node in cluster.nodes { await node.server.shutdown() }
    cluster.log.finish()
  }

  @Test("the limit of regions is decided where the log is read: of two servers asked at once, one is refused")
  func limit() async throws {
    var cluster = try await Cluster(loops: [1, 1], seed: 5)
    let first = cluster.nodes[0].server
    await cluster.wait { try? await first.apply(.setRegionLimit(application: "app", 3)) }
    let outcomes = ManagedAtomic(0)
    for node in cluster.nodes {
      let server = node.server
      let name = "of-\(cluster.nodes.firstIndex { $0 === node } ?? 0)"
      let region = Region(identifier: name, constraint: .proximity(Samples.uuid, major: 9))
      Task {
        do {
          try await server.apply(.startMonitoring(application: "app", region))
          // It reads what it wrote.
          let regions = server.site.applications.first { $0.identifier == "app" }?.regions ?? []
          #expect(regions.contains { $0.identifier == name })
          outcomes.wrappingIncrement(by: 1, ordering: .relaxed)
        } catch {
          #expect(error is RegionRefusal)
          outcomes.wrappingIncrement(by: 100, ordering: .relaxed)
        }
      }
    }
    let answers = [2, 101, 200]
    while !answers.contains(outcomes.load(ordering: .relaxed)) { await cluster.advance() }
    #expect(outcomes.load(ordering: .relaxed) == 101)
    await cluster.catchUp()
    for node in cluster.nodes {
      #expect(node.output.all.count { $0.kind == .regionLimitExceeded } == 1)
      #expect(node.server.site.applications == cluster.nodes[0].server.site.applications)
    }
    for node in cluster.nodes { await node.server.shutdown() }
    cluster.log.finish()
  }

  @Test("a server that stops answers who waits for the log")
  func stopped() async throws {
    /// Stores nothing.
    struct Away: InputLog {
      func publish(_: BatchID, _: [UInt8]) {}
      func read(behind _: UInt64, _: @escaping @Sendable ([LogEntry]) throws -> Void) {}
    }
    let harness = try await ServerHarness.start {
      $0.log = LoggedIngest(log: Away(), node: "alone", start: 1)
    }
    let server = harness.server
    let request = Task {
      _ = await #expect(throws: IngestError.stopped) {
        try await server.apply(.stopMonitoring(application: "app", identifier: "any"))
      }
    }
    // Behind the request, or before it: it is refused in either case.
    _ = await server.snapshot()
    await server.shutdown()
    _ = await request.value
    #expect(harness.output.all.isEmpty)
    #expect(server.site.applications == Samples.site.applications)
  }
}
